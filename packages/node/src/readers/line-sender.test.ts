import { expect, test } from '@jest/globals';
import { LineSender } from './line-sender.js';

test('lines go in batches, the last one when it is asked for', () => {
  const taken = new Int32Array(new SharedArrayBuffer(4));
  const sent: string[] = [];
  const sender = new LineSender(taken, (bytes) => {
    sent.push(Buffer.from(bytes).toString());
    Atomics.add(taken, 0, 1);
  });
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
