import { crc32c } from '@althing/storage';
import { expect, test } from '@jest/globals';
import { LineSender } from './line-sender.js';

test('lines go in batches, the last one when it is asked for', () => {
  const sent: string[] = [];
  const sender = new LineSender({ put: (bytes) => sent.push(Buffer.from(bytes).toString()) });
  sender.line('"a"');
  sender.line('"b"');
  expect(sent).toEqual([]);
  sender.line('x'.repeat(70_000));
  expect(sent).toEqual([`"a"\n"b"\n${'x'.repeat(70_000)}\n`]);
  sender.flush();
  sender.line('"c"');
  sender.flush();
  expect(sent.slice(1)).toEqual(['"c"\n']);
});

test('the last line says how many there were, and their checksum; the next answer begins anew', () => {
  let sent = '';
  const sender = new LineSender({
    put: (bytes) => {
      sent += Buffer.from(bytes).toString();
      return 5;
    },
  });
  sender.line('"of a query that failed"');
  sender.begin();
  sender.line('1234567');
  sender.line('9');
  sender.end(42, '42-9f3a01c2', 'steps=1');
  sender.flush();
  const crc = crc32c(Buffer.from('1234567\n9\n')).toString(16).padStart(8, '0');
  expect(sent).toBe(
    `1234567\n9\n{"end":{"lines":2,"index":42,"at":"42-9f3a01c2","crc":"${crc}","cost":"steps=1"}}\n`,
  );
  expect(sender.waitedMs).toBe(10);
});
