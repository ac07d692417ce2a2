import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { RECORD_LENGTH_MAX } from './csv.js';
import { openRows } from './source.js';

async function linesOf(bytes: AsyncIterable<Uint8Array>, lines: number[]): Promise<void> {
  const { rows } = await openRows(bytes, 'jsonl', null);
  for await (const some of rows) lines.push(...some.map(({ line }) => line));
}

const TOO_LONG = /line 2: a line of more than \d+ characters/;

test('a line of 1 GB is refused as soon as it is too long', async () => {
  let taken = 0;
  const piece = Buffer.alloc(64 * 1024, 'x');
  const bytes = async function* () {
    yield Buffer.from('{}\n{"a":"');
    for (; taken < 1024 ** 3; taken += piece.length) yield piece;
  };
  const lines: number[] = [];
  await expect(linesOf(bytes(), lines)).rejects.toThrow(TOO_LONG);
  expect(lines.length).toBe(1);
  expect(taken).toBeLessThan(2 * RECORD_LENGTH_MAX);
});

test('a compressed line that unpacks to far more than it is, is refused as well', async () => {
  const packed = gzipSync(Buffer.concat([Buffer.from('{}\n'), Buffer.alloc(3 * RECORD_LENGTH_MAX, 'x')]), {
    level: 1,
  });
  const bytes = async function* () {
    yield packed;
  };
  await expect(linesOf(bytes(), [])).rejects.toThrow(TOO_LONG);
});
