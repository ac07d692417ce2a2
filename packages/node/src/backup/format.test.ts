import type { SnapshotChunk } from '@althing/storage';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { seededBytes } from '../testing/random.js';
import { BackupError, type BackupFrame, BackupWriter, readBackup } from './format.js';

const randomBytes = seededBytes(Number(process.env.ALTHING_TEST_SEED));

const HEAD = { version: '1.2.3', cluster: 'ab'.repeat(16), begunAt: 1_800_000_000_000, groups: 2 };

const CHUNKS: readonly SnapshotChunk[] = [
  { sequence: 0, checksum: 7, bytes: Buffer.from('first') },
  { sequence: 1, checksum: 2 ** 32 - 1, bytes: randomBytes(300) },
  { sequence: 2, checksum: 0, bytes: Buffer.alloc(0) },
];

let whole: Buffer;

beforeAll(async () => {
  const writer = new BackupWriter();
  const parts = [writer.begin(HEAD)];
  for (const chunk of CHUNKS) parts.push(await writer.chunk(chunk));
  whole = Buffer.concat([...parts, writer.end()]);
});

/** Bytes in pieces of a size. */
async function* pieces(bytes: Buffer, size = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(source: AsyncIterable<Uint8Array>): Promise<BackupFrame[]> {
  const frames: BackupFrame[] = [];
  for await (const frame of readBackup(source)) frames.push(frame);
  return frames;
}

/** Why bytes are refused; null when they are not. */
async function refusal(bytes: Buffer): Promise<BackupError['reason'] | null> {
  try {
    await read(pieces(bytes));
    return null;
  } catch (error) {
    if (error instanceof BackupError) return error.reason;
    throw error;
  }
}

describe('a backup', () => {
  test.each([1, 7, 64, 100_000])('is read as it was written, %i bytes at a time', async (size) => {
    const expected = [
      { kind: 'head', head: HEAD },
      ...CHUNKS.map((chunk) => ({ kind: 'chunk', chunk })),
      { kind: 'end', digest: whole.subarray(-32).toString('hex') },
    ];
    const frames = await read(pieces(whole, size));
    expect(
      frames.map((frame) =>
        frame.kind === 'chunk'
          ? { ...frame, chunk: { ...frame.chunk, bytes: Buffer.from(frame.chunk.bytes) } }
          : frame,
      ),
    ).toEqual(expected);
  });

  test('a backup with any bit changed is refused', async () => {
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      // A changed number of the format reads as another version.
      const expected = at >= 8 && at < 12 ? 'refused' : 'damaged';
      expect([at, await refusal(changed)]).toEqual([at, expected]);
    }
  });

  test('a backup that was cut anywhere, or goes on, is refused', async () => {
    for (let end = 0; end < whole.length; end++) {
      expect([end, await refusal(whole.subarray(0, end))]).toEqual([end, 'damaged']);
    }
    expect(await refusal(Buffer.concat([whole, Buffer.of(0)]))).toBe('damaged');
  });

  test('a backup of which a whole frame is missing, doubled or in another place is refused', async () => {
    const starts = [12];
    while ((starts.at(-1) ?? 0) < whole.length) {
      const at = starts.at(-1) ?? 0;
      starts.push(at + 9 + whole.readUInt32BE(at + 1));
    }
    const frames = starts.slice(0, -1).map((at, i) => whole.subarray(at, starts[i + 1]));
    const start = whole.subarray(0, 12);
    const [head, a, b, c, end] = frames as [Buffer, Buffer, Buffer, Buffer, Buffer];
    const orders = [
      [head, a, c, end],
      [head, a, a, b, c, end],
      [head, b, a, c, end],
      [a, b, c, end],
      [head, head, a, b, c, end],
      [head, a, b, c],
      [head, a, b, c, end, end],
    ];
    expect(await refusal(Buffer.concat([start, head, a, b, c, end]))).toBeNull();
    for (const order of orders) expect(await refusal(Buffer.concat([start, ...order]))).toBe('damaged');
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('this is something else altogether')],
    ['zeros', Buffer.alloc(10_000)],
    [
      'a frame of 4 GB',
      Buffer.from(`${Buffer.from('ALTHBACK').toString('hex')}0000000101ffffffff00000000`, 'hex'),
    ],
  ])('%s is none', async (_what, bytes) => {
    expect(await refusal(bytes)).toBe('damaged');
  });

  test('a backup that unfolds to more than a chunk is refused before it does', async () => {
    const writer = new BackupWriter();
    const bomb = { sequence: 0, checksum: 0, bytes: Buffer.alloc(64 * 1024 * 1024) };
    const bytes = Buffer.concat([writer.begin(HEAD), await writer.chunk(bomb), writer.end()]);
    expect(await refusal(bytes)).toBe('damaged');
  });
});
