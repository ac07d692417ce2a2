import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  brokenRules,
  CollectionGroup,
  EMPTY_SOURCE,
  groupLines,
  ShapeTree,
  stateLines,
} from '@althing/engine';
import { MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { backupContents } from './contents.js';
import { BackupWriter } from './format.js';
import { dumpOfExport, exportOfCollection, isThingsdbDump, readDumpFile } from './thingsdb.js';

/**
 * A dump of ThingsDB: a thing that the root and an enum refer to, a thing that only an argument of a task refers to, and a
 * list.
 */
const DUMP = Buffer.from(
  'l80F3KwxLjkuMy1hbHBoYTGSS4WgAKDOawTXbKChVKABoJGhWJI7haAFoM7O57mAoACg1wJ8dCxhfG5pbKCQkk2BoSyTzUAAAYKk' +
    'a2VlcIGhLJPNQAADgaFhAaN2ZWOBoSyTzUAAB4GhbJHXBQAAAAAAAAADkkyDoACgkZKhWIGhLJPNQAAEgqRvbmx5pGVudW2hb9cF' +
    'AAAAAAAAAAOgkJI/gqAFoJLAgaEsk81AAAaCpG9ubHmkdGFza6FlgaElkgAA',
  'base64',
);

const MADE = { name: 'shop', version: '1.2.3', begunAt: 1_800_000_000_000 };

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-thingsdb-test-'));
  file = join(folder, 'shop.dump');
  writeFileSync(file, DUMP);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** The collection of an export, as who imports it gets it. */
async function collectionOf(source: AsyncIterable<Uint8Array>): Promise<CollectionGroup> {
  const group = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  for await (const part of backupContents(source)) {
    if (part.kind === 'head') expect(part.head.collection).toBe('shop');
    if (part.kind === 'records') for (const record of part.records) group.restoreRecord(record);
  }
  return group;
}

test.each([true, false])(
  'a dump of ThingsDB becomes an export of ours, with tasks: %s',
  async (takesTasks) => {
    expect(isThingsdbDump(file)).toBe(true);
    const group = readDumpFile(file, takesTasks);
    expect(brokenRules(group)).toEqual([]);
    expect([group.tasks.size, group.store.thingCount]).toEqual(takesTasks ? [1, 5] : [0, 4]);
    const lines = [...stateLines(group), ...groupLines(group)];
    const taken = await collectionOf(exportOfCollection(group, MADE));
    expect([...stateLines(taken), ...groupLines(taken)]).toEqual(lines);
  },
);

test('an export becomes the dump that ThingsDB had made of the collection', async () => {
  const exported = exportOfCollection(readDumpFile(file, true), MADE);
  const { bytes, problems } = await dumpOfExport(exported, '1.9.3-alpha1');
  expect([Buffer.from(bytes).toString('hex'), problems]).toEqual([DUMP.toString('hex'), []]);
});

/** An export of a node, which has records that are no part of the collection. */
async function* exportOfNode(): AsyncGenerator<Uint8Array> {
  const store = await StateStore.open({
    store: new MemoryStore().attach(),
    disk: new MemoryDisk().attach(),
  });
  const checkpoint = store.beginCheckpoint(7);
  for await (const part of backupContents(exportOfCollection(readDumpFile(file, true), MADE))) {
    if (part.kind !== 'records') continue;
    for (const { kind, id, part: number, value } of part.records) checkpoint.put(kind, id, number, value);
  }
  checkpoint.put(KIND_OF_NODE, 1, 0, Buffer.from('a request that was answered'));
  await checkpoint.commit({ index: 1, term: 1, context: Buffer.alloc(0) });
  const source = await store.openSnapshot(7);
  const writer = new BackupWriter();
  yield writer.begin({ version: '1.2.3', cluster: '', begunAt: 0, groups: 1, collection: 'shop', level: 1 });
  for await (const chunk of source?.chunks() ?? []) yield await writer.chunk(chunk);
  yield writer.end();
  await source?.close();
  await store.close();
}

const KIND_OF_NODE = 0x20;

test('an export that a node wrote becomes the same dump', async () => {
  const { bytes } = await dumpOfExport(exportOfNode(), '1.9.3-alpha1');
  expect(Buffer.from(bytes).toString('hex')).toBe(DUMP.toString('hex'));
});

test('a dump that is cut off is damaged, at a place', () => {
  writeFileSync(file, DUMP.subarray(0, 150));
  expect(() => readDumpFile(file, true)).toThrow(/^the dump is damaged: at byte 1\d\d: /);
});

test('another file is no dump of ThingsDB', () => {
  for (const content of ['', 'ALTHBACK', '{"a": 1}']) {
    writeFileSync(file, content);
    expect(isThingsdbDump(file)).toBe(false);
  }
});
