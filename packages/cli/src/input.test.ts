import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readText } from './input.js';
import { processIo } from './io.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-input-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function read(content: Uint8Array | string | null, size?: number): Promise<string> {
  const file = join(folder, 'definitions.ti');
  if (content !== null) writeFileSync(file, content);
  if (size !== undefined) truncateSync(file, size);
  return readText(file, processIo());
}

describe('readText', () => {
  test('reads a text', async () => {
    expect(await read("set_type('Ä', {});\n")).toBe("set_type('Ä', {});\n");
    expect(await read('')).toBe('');
  });

  test.each([
    ['is not there', null, undefined, /can't be read/],
    ['is no text', Uint8Array.of(0x61, 0xff), undefined, /no text in UTF-8/],
    ['is too large, as a device without an end', '', 64 * 1024 ** 2 + 1, /more than 64 MB/],
  ] as const)('refuses a file that %s', async (_what, content, size, message) => {
    await expect(read(content, size)).rejects.toThrow(message);
  });
});
