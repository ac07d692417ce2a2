import { describe, expect, test } from '@jest/globals';
import { MemoryDisk } from '../disk/memory-disk.js';
import { DamagedLogError } from '../errors.js';
import { MarkFile } from '../mark.js';
import {
  CHAIN_ROOT,
  type ChainLink,
  decodeRecord,
  encodeRecord,
  FLAG_RELOCATED,
  KIND_COMPACTION,
  KIND_DROP,
  KIND_ENTRY,
  KIND_RESET,
  linkOf,
  paddedBytes,
  SEGMENT_HEADER_BYTES,
  sealRecord,
} from './format.js';
import { logStoreSettings } from './options.js';
import { GroupRecovery } from './recovered-groups.js';
import { type Segment, Segments } from './segments.js';

const GROUP = 5;
const PAYLOAD = Buffer.from('payload');

/** The chain of entries 1 to 20 of a group, by format. */
const CHAINS = [1, 2].map((format) => {
  const links = [CHAIN_ROOT];
  for (let index = 1; index <= 20; index++) {
    const bytes = Buffer.alloc(100);
    encodeRecord(bytes, 0, format, 1, GROUP, KIND_ENTRY, 0, index, 1, links[index - 1]!, index, PAYLOAD);
    links.push(linkOf(bytes, 0, format));
  }
  return links;
});

const STRANGE: ChainLink = { hash: 4711, digest: 'x'.repeat(16) };

type Written = { kind: number; index: number; relocated?: boolean; previous?: ChainLink };

const entry = (index: number): Written => ({ kind: KIND_ENTRY, index });
const copy = (index: number): Written => ({ kind: KIND_ENTRY, index, relocated: true });
const compaction = (index: number): Written => ({ kind: KIND_COMPACTION, index });

/** The first and the last index after recovery from records in this order. */
async function recovered(records: readonly Written[], format: number): Promise<string> {
  const links = CHAINS[format - 1]!;
  const content = Buffer.alloc(8192);
  let at = SEGMENT_HEADER_BYTES;
  for (const { kind, index, relocated, previous } of records) {
    const before = previous ?? links[kind === KIND_ENTRY ? index - 1 : index]!;
    const payload = kind === KIND_ENTRY ? PAYLOAD : Buffer.alloc(0);
    const size = encodeRecord(content, at, format, 1, GROUP, kind, 0, index, 1, before, index, payload);
    sealRecord(content, at, relocated === true ? FLAG_RELOCATED : 0, 0, 0);
    at += size;
  }
  const disk = new MemoryDisk();
  disk.overwrite('segment-000000000001', content);
  const mark = await MarkFile.create(disk, 'mark', [0, 1, 0, 0]);
  const segments = new Segments(disk, mark, logStoreSettings({}));
  const file = await disk.open('segment-000000000001');
  const segment: Segment = { number: 1, file, format, salt: 0, bytes: content.length, end: at, live: 0 };
  segments.adopt(segment);
  const recovery = new GroupRecovery(null);
  for (let from = SEGMENT_HEADER_BYTES; from < at; ) {
    const record = decodeRecord(content, from, content.length, 0, format)!;
    recovery.take(record, content, segment);
    from += paddedBytes(record.length);
  }
  const log = recovery.finish(segments).get(GROUP);
  if (log === undefined) return 'none';
  // A base of format 1 alone does not tell the hash.
  const link = links[log.lastIndex]!;
  expect([link, { ...link, hash: undefined }, { ...link, digest: undefined }]).toContainEqual(log.lastLink);
  for (let index = log.firstIndex; index <= log.lastIndex; index++)
    expect(log.positions.segmentOf(index)).toBe(1);
  return `${log.firstIndex}-${log.lastIndex}`;
}

describe.each([1, 2])('recovery of a group in format %i', (format) => {
  const whole: [string, Written[], string][] = [
    ['plain', [entry(1), entry(2), entry(3)], '1-3'],
    ['truncated', [entry(1), entry(2), entry(3), entry(2)], '1-2'],
    ['copies after all', [entry(3), entry(4), copy(1), copy(2)], '1-4'],
    ['copies with originals', [entry(1), entry(2), copy(1), copy(2), entry(3)], '1-3'],
    ['copies before their successors', [copy(1), copy(2), entry(3)], '1-3'],
    [
      'an entry between two parts of the copies',
      [copy(1), copy(2), entry(5), copy(3), copy(4), entry(6)],
      '1-6',
    ],
    ['two parts of copies, the later first', [copy(3), copy(4), entry(6), copy(1), copy(2), copy(5)], '1-6'],
    ['a compaction first', [compaction(3), entry(4), entry(5)], '4-5'],
    ['a compaction of all', [entry(1), entry(2), compaction(2)], '3-2'],
    ['a compaction beyond what is known', [entry(7), compaction(9), entry(10)], '10-10'],
    ['a compaction after copies', [copy(4), copy(5), entry(6), compaction(5)], '6-6'],
    ['a compaction that makes missing ones needless', [entry(7), entry(8), compaction(7)], '8-8'],
    ['a compaction before the copies', [entry(8), compaction(5), copy(6), copy(7)], '6-8'],
    ['an old compaction again', [compaction(5), entry(6), compaction(3)], '6-6'],
    ['a truncation of what waits for copies', [compaction(2), entry(6), entry(5), copy(3), copy(4)], '3-5'],
    ['a truncation before all that is known', [entry(7), entry(5), compaction(4)], '5-5'],
    ['a reset', [entry(1), entry(2), { kind: KIND_RESET, index: 9 }, entry(10)], '10-10'],
    ['a drop', [entry(1), { kind: KIND_DROP, index: 0 }], 'none'],
    ['a drop and a new beginning', [entry(1), entry(2), { kind: KIND_DROP, index: 0 }, entry(1)], '1-1'],
  ];

  test.each(whole)('%s', async (_name, records, expected) => {
    expect(await recovered(records, format)).toBe(expected);
  });

  const broken: [string, Written[]][] = [
    ['its beginning missing', [entry(3), entry(4)]],
    ['a copy missing', [entry(4), copy(1), copy(3)]],
    ['a copy missing behind the compaction', [compaction(3), entry(6), copy(4)]],
    ['an entry that follows another one', [entry(1), { ...entry(2), previous: STRANGE }]],
    ['a base of another history', [entry(4), { ...compaction(3), previous: STRANGE }]],
    ['a record of an unknown kind', [{ kind: 6, index: 1 }]],
    ['a hard state without a vote', [{ kind: 2, index: 1 }]],
  ];

  test.each(broken)('is refused with %s', async (_name, records) => {
    await expect(recovered(records, format)).rejects.toThrow(DamagedLogError);
  });
});
