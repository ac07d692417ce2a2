import { expect, test } from '@jest/globals';
import { CutDumpError, Lines } from './lines.js';

const TEXT = '{"n":1}\n[2]\n"three"\n{"end":{"lines":3,"index":42,"at":"42-9f3a01c2","crc":"00000000"}}\n';

async function* inPieces(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length));
}

test('lines come whole however the bytes are cut, and the last one says what there was', async () => {
  for (let length = 1; length <= TEXT.length; length++) {
    const lines = new Lines(inPieces(TEXT, length));
    const found: string[] = [];
    for await (const line of lines.each()) found.push(line);
    expect(found).toEqual(['{"n":1}', '[2]', '"three"']);
    expect(lines.end).toEqual({ lines: 3n, index: 42n, at: '42-9f3a01c2' });
  }
});

test('an answer that is cut anywhere is noticed', async () => {
  for (let length = 0; length < TEXT.length; length++) {
    const read = async (): Promise<void> => {
      for await (const _ of new Lines(inPieces(TEXT.slice(0, length), 7)).pieces());
    };
    await expect(read()).rejects.toThrow(CutDumpError);
  }
  const missing = new Lines(inPieces(TEXT.slice(8), 1000));
  const read = async (): Promise<void> => {
    for await (const _ of missing.pieces());
  };
  await expect(read()).rejects.toThrow('2 lines came of 3');
});
