import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { utf8Text } from './io.js';

const MODULE = new URL('./io.js', import.meta.url).href;

test('a pipe that its reader closes ends no command', async () => {
  const code = `
    const { processIo, tell, write } = await import(process.argv[1]);
    const io = processIo();
    for (let i = 0; i < 20; i++) await write(io.stdout, 'x'.repeat(100_000));
    await tell(io, 'done');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, MODULE]);
  child.stdout.once('data', () => child.stdout.destroy());
  let errors = '';
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  expect([await once(child, 'close'), errors]).toEqual([[0, null], 'done\n']);
});

test('a text is UTF-8 or none, and begins behind the mark of its encoding', () => {
  expect([utf8Text(Buffer.from('\uFEFFé')), utf8Text(Buffer.from('é')), utf8Text(Buffer.from(''))]).toEqual([
    'é',
    'é',
    '',
  ]);
  for (const bytes of [
    Buffer.from('é', 'latin1'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('\uFEFFa', 'utf16le'),
  ])
    expect(utf8Text(bytes)).toBeNull();
});
