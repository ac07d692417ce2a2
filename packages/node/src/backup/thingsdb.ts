/** Collections of ThingsDB as exports of ours, and back: so they come in by the way that exports take. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ByteSource,
  CollectionGroup,
  dropTasks,
  EMPTY_SOURCE,
  FormatError,
  isRestored,
  LEVEL_NEWEST,
  looksLikeThingsdbDump,
  NoThingsdbDumpError,
  RecordKind,
  readThingsdbDump,
  ShapeTree,
  type ThingsdbDump,
  writeCheckpoint,
  writeThingsdbDump,
} from '@althing/engine';
import { openFolder, StateStore } from '@althing/storage';
import { backupContents } from './contents.js';
import { BackupError, BackupWriter } from './format.js';

/** A collection of ThingsDB that is to become one of ours. */
export interface ThingsdbExport {
  readonly name: string;
  /** The version of Althing. */
  readonly version: string;
  /** Wall clock in milliseconds. */
  readonly begunAt: number;
}

export function isThingsdbDump(file: string): boolean {
  return withFile(file, ({ length, read }) => length > 0 && looksLikeThingsdbDump(read(0, 1)[0] ?? 0));
}

/**
 * Reads the dump of a collection, of any size, into memory.
 *
 * @param takesTasks whether its tasks come, too; without an owner
 * @throws BackupError, with the place where the dump is wrong
 */
export function readDumpFile(file: string, takesTasks: boolean): CollectionGroup {
  const group = withFile(file, readDump);
  if (!takesTasks) dropTasks(group);
  return group;
}

/** As `readDumpFile`, of bytes, with its tasks. */
export function readDump(source: Uint8Array | ByteSource): CollectionGroup {
  try {
    return readThingsdbDump(source, () => {});
  } catch (error) {
    if (error instanceof NoThingsdbDumpError) throw new BackupError('refused', error.message);
    if (error instanceof FormatError)
      throw new BackupError('damaged', `the dump is damaged: ${error.message}`);
    throw error;
  }
}

export function emptyCollection(): CollectionGroup {
  const group = new CollectionGroup(GROUP, new ShapeTree(), EMPTY_SOURCE);
  group.create();
  return group;
}

export async function* exportOfCollection(
  group: CollectionGroup,
  { name, version, begunAt }: ThingsdbExport,
): AsyncGenerator<Uint8Array, void, undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'althing-thingsdb-'));
  try {
    const data = await openFolder(folder, { reserveBytes: 0 });
    const store = await StateStore.open({ store: data.stateStore, disk: data.stateDisk });
    try {
      await save(group, store);
      const source = await store.openSnapshot(GROUP);
      if (source === undefined) throw new Error('what was saved a moment ago is there');
      const writer = new BackupWriter();
      yield writer.begin({ version, cluster: '', begunAt, groups: 1, collection: name, level: LEVEL_NEWEST });
      for await (const chunk of source.chunks()) yield await writer.chunk(chunk);
      yield writer.end();
      await source.close();
    } finally {
      await store.close();
      await data.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Makes a dump of ThingsDB of an export; all of it comes into memory.
 *
 * @param version of ThingsDB that the dump says it is of
 * @throws BackupError
 */
export async function dumpOfExport(
  source: AsyncIterable<Uint8Array>,
  version: string,
): Promise<ThingsdbDump> {
  const records = new Map<string, Uint8Array>();
  const name = (kind: number, id: number, part: number): string => `${kind} ${id} ${part}`;
  const group = new CollectionGroup(GROUP, new ShapeTree(), {
    read: (kind, id, part) => records.get(name(kind, id, part)),
  });
  for await (const part of backupContents(source)) {
    if (part.kind === 'head' && part.head.collection === undefined)
      throw new BackupError('refused', 'this is a backup, and no export of a collection');
    if (part.kind !== 'records') continue;
    // The node keeps records of its own beside those of the collection.
    for (const { kind, id, part: number, value } of part.records.filter(isRestored)) {
      if (kind === RecordKind.THING) records.set(name(kind, id, number), value);
      else group.loadRecord(kind, id, value, number);
    }
  }
  return writeThingsdbDump(group, version, () => {});
}

/** The number of the collection in an export: who imports it gives another. */
const GROUP = 1;

async function save(group: CollectionGroup, store: StateStore): Promise<void> {
  const checkpoint = store.beginCheckpoint(GROUP);
  writeCheckpoint(group, checkpoint);
  checkpoint.put(RecordKind.META, 0, 0, group.encodeMeta());
  await checkpoint.drained();
  await checkpoint.commit({ index: 1, term: 1, context: new Uint8Array(0) });
}

/** Opens a file for reading in windows. */
export function withFile<T>(file: string, work: (source: ByteSource) => T): T {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    return work({
      length: size,
      read: (offset, length) => {
        const bytes = Buffer.allocUnsafe(length);
        for (let done = 0; done < length; ) {
          const count = readSync(handle, bytes, done, length - done, offset + done);
          if (count === 0) throw new BackupError('damaged', 'the file was cut off while it was read');
          done += count;
        }
        return bytes;
      },
    });
  } finally {
    closeSync(handle);
  }
}
