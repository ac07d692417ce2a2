import { MemoryDisk, MemoryStore, type SnapshotChunk, StateStore } from '@althing/storage';
import { beforeAll, expect, test } from '@jest/globals';
import { backupContents, verifyBackup } from './contents.js';
import { BackupWriter } from './format.js';

const HEAD = { version: '1.2.3', cluster: 'ab'.repeat(16), begunAt: 1_800_000_000_000 };

/** The chunks of a small snapshot of each group, by its number: header, records, trailer. */
const snapshots: SnapshotChunk[][] = [];

beforeAll(async () => {
  const store = await StateStore.open({
    store: new MemoryStore().attach(),
    disk: new MemoryDisk().attach(),
  });
  for (const group of [0, 1, 2]) {
    const changes = store.beginCheckpoint(group);
    changes.put(1, group, 0, Buffer.from(`of ${group}`));
    await changes.commit({ index: 5, term: 2, context: Buffer.alloc(0) });
    const source = await store.openSnapshot(group, 1);
    const chunks: SnapshotChunk[] = [];
    for await (const chunk of source?.chunks() ?? []) chunks.push(chunk);
    await source?.close();
    snapshots.push(chunks);
  }
  await store.close();
});

/** A backup whose frames fit their checksums, whatever they hold. */
async function* backup(groups: number, chunks: readonly SnapshotChunk[]): AsyncGenerator<Uint8Array> {
  const writer = new BackupWriter();
  yield writer.begin({ ...HEAD, groups });
  for (const chunk of chunks) yield await writer.chunk(chunk);
  yield writer.end();
}

const chunksOf = (...groups: number[]): SnapshotChunk[] => groups.flatMap((group) => snapshots[group] ?? []);

test('a backup gives each of its groups, and says when one is complete', async () => {
  const parts: string[] = [];
  for await (const part of backupContents(backup(3, chunksOf(0, 1, 2))))
    parts.push(part.kind === 'head' || part.kind === 'end' ? part.kind : `${part.kind} ${part.group}`);
  expect(parts).toEqual([
    'head',
    ...[0, 1, 2].flatMap((id) => [`group ${id}`, `records ${id}`, `complete ${id}`]),
    'end',
  ]);
  expect((await verifyBackup(backup(3, chunksOf(0, 1, 2)))).records).toBe(3);
});

test.each([
  ['whose last group has no trailer', 3, () => chunksOf(0, 1, 2).slice(0, -1)],
  ['whose last group has its header alone', 3, () => [...chunksOf(0, 1), ...chunksOf(2).slice(0, 1)]],
  ['whose only group has no trailer', 1, () => chunksOf(0).slice(0, -1)],
  [
    'with a group in the middle that has no trailer',
    3,
    () => [...chunksOf(0), ...chunksOf(1).slice(0, -1), ...chunksOf(2)],
  ],
  ['with fewer groups than its head says', 3, () => chunksOf(0, 1)],
  ['with more groups than its head says', 2, () => chunksOf(0, 1, 2)],
  ['without any', 1, () => []],
  ['with its groups in another order', 3, () => chunksOf(0, 2, 1)],
  ['without the root scope', 2, () => chunksOf(1, 2)],
] as const)('a backup %s is damaged, though all its checksums fit', async (_what, groups, chunks) => {
  await expect(verifyBackup(backup(groups, chunks()))).rejects.toMatchObject({ reason: 'damaged' });
});
