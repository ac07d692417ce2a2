import { describe, expect, test } from '@jest/globals';
import { MemoryDisk } from '../disk/memory-disk.js';
import { MemoryStore } from '../kv/memory-store.js';
import { SOUND_STORES, StoragePlanter, type StoreClasses } from '../testing/plant.js';
import type { StateView } from './snapshot-reads.js';
import { StateStore } from './state-store.js';

const GROUP = 3;
const RECORDS = 40;
const NO_CONTEXT = Buffer.alloc(0);

async function checkpoint(store: StateStore, index: number): Promise<void> {
  const changes = store.beginCheckpoint(GROUP);
  for (let id = 0; id < RECORDS; id++) {
    if (!changes.put(1, id, 0, Buffer.from(`${index}`.padEnd(100)))) await changes.drained();
  }
  await changes.commit({ index, term: 1, context: NO_CONTEXT });
}

/** The value that all records of a view have in common; null if they differ. */
function contentOf(view: StateView): number | null {
  const all = Array.from({ length: RECORDS }, (_, id) => Number(view.read(GROUP, 1, id)?.toString()));
  return all.every((value) => value === all[0]) ? (all[0] ?? null) : null;
}

async function scanned(view: StateView): Promise<string[]> {
  const found: string[] = [];
  for await (const { id, value } of view.scan(GROUP, 1)) found.push(`${id} ${value.toString().trim()}`);
  return found;
}

/** Takes views while checkpoints in several writes go on; gives those that showed something else than what their index says. */
async function wrongViews({ SnapshotReads }: StoreClasses): Promise<string[]> {
  const medium = new MemoryStore();
  const store = await StateStore.open({
    store: medium.attach(),
    disk: new MemoryDisk().attach(),
    slabBytes: 1024,
  });
  const reads = new SnapshotReads(medium.attach(), async () => {});
  await checkpoint(store, 1);
  let isOver = false;
  const writing = (async () => {
    for (let index = 2; index <= 6; index++) await checkpoint(store, index);
    isOver = true;
  })();
  const wrong: string[] = [];
  const held: StateView[] = [];
  while (!isOver) {
    const view = await reads.take([GROUP]);
    const index = view.applied(GROUP)?.index;
    if (contentOf(view) !== index) wrong.push(`${contentOf(view)} at ${index}`);
    held.push(view);
  }
  await writing;
  // A view that was taken stays as it was.
  await store.dropGroup(GROUP);
  await store.swept();
  for (const view of held) {
    const index = view.applied(GROUP)?.index;
    if (contentOf(view) !== index) wrong.push(`${contentOf(view)} at ${index}, afterwards`);
    await view.close();
  }
  await store.close();
  return wrong;
}

/** Reads views ahead that are taken while checkpoints go on; gives whether any were, and those that showed something else than what their index says. */
async function wrongViewsAhead({ SnapshotReads }: StoreClasses): Promise<[ahead: boolean, wrong: string[]]> {
  const medium = new MemoryStore();
  const store = await StateStore.open({ store: medium.attach(), disk: new MemoryDisk().attach() });
  const attached = medium.attach();
  let begun = 0;
  const reads = new SnapshotReads(
    {
      ...attached,
      readAhead: {
        waitedMs: 0,
        prepare: async () => {},
        begin: (range, valuesOnly) => {
          begun += 1;
          attached.readAhead.begin(range, valuesOnly);
        },
        next: () => attached.readAhead.next(),
        end: () => attached.readAhead.end(),
        hold: async (keys) => {
          // A checkpoint may be made before the other thread takes its snapshot.
          if (index % 2 === 0) await checkpoint(store, ++index);
          return attached.readAhead.hold(keys);
        },
        release: () => attached.readAhead.release(),
      },
    },
    async () => {},
  );
  const wrong: string[] = [];
  let index = 0;
  while (index < 8) {
    await checkpoint(store, ++index);
    const view = await reads.take([GROUP]);
    const shown = view.applied(GROUP)?.index;
    await view.readAhead();
    await checkpoint(store, ++index);
    if (contentOf(view) !== shown) wrong.push(`${contentOf(view)} at ${shown}`);
    await view.close();
    if (index % 4 === 0) index += 1;
  }
  await store.close();
  return [begun > 0, wrong];
}

describe('SnapshotReads', () => {
  test('read ahead what they show, and nothing where the state has changed before that could begin', async () => {
    expect(await wrongViewsAhead(SOUND_STORES)).toEqual([true, []]);
    const planted = await new StoragePlanter().plant(new Set(['read_ahead_of_another_state']));
    expect((await wrongViewsAhead(planted))[1]).not.toEqual([]);
  });

  test('show groups as they are at their index, whatever is written, replaced or removed meanwhile', async () => {
    expect(await wrongViews(SOUND_STORES)).toEqual([]);
  });

  test.each(['snapshot_within_redo', 'generation_cleared_under_reader'] as const)(
    'the planted bug %s is found',
    async (bug) => {
      const planted = await new StoragePlanter().plant(new Set([bug]));
      expect(await wrongViews(planted)).not.toEqual([]);
    },
  );

  test('read single records and all of a kind, and know what is not there', async () => {
    const medium = new MemoryStore();
    const store = await StateStore.open({ store: medium.attach(), disk: new MemoryDisk().attach() });
    await checkpoint(store, 9);
    const view = await new SOUND_STORES.SnapshotReads(medium.attach(), async () => {}).take([GROUP, 4]);
    await checkpoint(store, 10);
    expect(view.read(GROUP, 1, RECORDS)).toBeUndefined();
    expect([view.applied(4), view.read(4, 1, 0)]).toEqual([undefined, undefined]);
    expect(await scanned(view)).toEqual(Array.from({ length: RECORDS }, (_, id) => `${id} 9`));
    await view.close();
    expect(() => view.read(GROUP, 1, 0)).toThrow('closed');
    await store.close();
  });
});
