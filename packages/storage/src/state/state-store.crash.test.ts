import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seeded } from 'raft-ts';
import { type DiskOperation, MemoryDisk } from '../disk/memory-disk.js';
import { MemoryStore, type StoreOperation } from '../kv/memory-store.js';
import { EventQueue } from '../testing/events.js';
import type { StorageMutant } from '../testing/mutants.js';
import { SOUND_STORES, StoragePlanter, type StoreClasses } from '../testing/plant.js';
import type { SnapshotChunk } from './snapshot-format.js';
import { type StateRecord, StateStore } from './state-store.js';

/**
 * Random checkpoints, removals and snapshot installations, several at a time, with crashes at any moment,
 * against a model. Each of them took effect as a whole or not at all; if it was acknowledged, it did.
 */
const GROUPS = 3;

type Change = { readonly kind: number; readonly id: number; readonly size: number };
type Action =
  | {
      readonly kind: 'checkpoint';
      readonly group: number;
      readonly changes: Change[];
      readonly abort: boolean;
    }
  | { readonly kind: 'drop'; readonly group: number }
  | { readonly kind: 'install'; readonly group: number; readonly changes: Change[] };
type Step = {
  readonly actions: Action[];
  /** After how many completions the power goes; undefined for never. */
  readonly crashAfter: number | undefined;
  readonly seed: number;
  /** Crashes during the recovery that follows. */
  readonly again: number[];
};

const change: fc.Arbitrary<Change> = fc.record({ kind: fc.nat(1), id: fc.nat(6), size: fc.nat(120) });
const group = fc.nat(GROUPS - 1);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('checkpoint' as const),
      group,
      changes: fc.array(change, { maxLength: 12 }),
      abort: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), group }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('install' as const),
      group,
      changes: fc.array(change, { maxLength: 12 }),
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.record({
  actions: fc.uniqueArray(action, { minLength: 1, maxLength: 3, selector: (one) => one.group }),
  crashAfter: fc.option(fc.nat(25), { nil: undefined }),
  seed: fc.integer(),
  again: fc.array(fc.nat(10), { maxLength: 2 }),
});

/** The state of one group, in a form to compare. */
type GroupState = { readonly index: number; readonly records: ReadonlyMap<string, string> };

/** A snapshot, and what it holds. */
type Donation = { readonly state: GroupState | undefined; readonly chunks: readonly SnapshotChunk[] };

class World {
  readonly events = new EventQueue<DiskOperation | StoreOperation>();
  readonly disk = new MemoryDisk({ defer: (operation, complete) => this.events.push(operation, complete) });
  readonly medium = new MemoryStore({
    defer: (operation, complete) => this.events.push(operation, complete),
  });
  private store: StateStore | undefined;
  /** The states that each group may have; more than one while something is under way. */
  private readonly model = new Map<number, (GroupState | undefined)[]>();
  private values = 0;

  constructor(private readonly stores: StoreClasses) {
    for (let id = 0; id < GROUPS; id++) this.model.set(id, [undefined]);
  }

  async open(): Promise<void> {
    this.store = await this.events.runUntil(this.opened());
    await this.check();
  }

  private opened(): Promise<StateStore> {
    const store = this.medium.attach();
    return this.stores.StateStore.open({
      store,
      disk: this.disk.attach(),
      slabBytes: 400,
      chunkBytes: 1024,
      readAheadAfter: 1,
    });
  }

  async do({ actions, crashAfter, seed, again }: Step): Promise<void> {
    const snapshots = new Map<number, Donation>();
    for (const { kind, group: id, ...rest } of actions) {
      if (kind === 'install' && 'changes' in rest) snapshots.set(id, await this.donate(id, rest.changes));
    }
    const under = actions.map((one) => this.begin(one, snapshots.get(one.group)));
    for (const promise of under) promise.catch(() => undefined);
    if (crashAfter === undefined) {
      await this.events.runUntil(Promise.all(under));
      await this.check();
      return;
    }
    await this.events.run(crashAfter);
    const random = seeded(seed);
    this.crash(random);
    for (const completions of again) {
      this.opened().catch(() => undefined);
      await this.events.run(completions);
      this.crash(random);
    }
    await this.open();
  }

  async close(): Promise<void> {
    await this.events.runUntil(this.live.close());
  }

  /** Each group holds what it may hold, and from now on that. */
  async check(): Promise<void> {
    const found = await this.events.runUntil(contentOf(this.live));
    for (const [id, allowed] of this.model) {
      const state = found.get(id);
      const match = allowed.filter((one) => textOf(one) === textOf(state));
      if (match.length === 0)
        expect({ group: id, state: textOf(state) }).toEqual({ group: id, state: allowed.map(textOf) });
      this.model.set(id, [state]);
    }
    for (const id of this.live.groups())
      expect(this.live.applied(id)?.index).toBe(this.model.get(id)?.[0]?.index);
  }

  private get live(): StateStore {
    return this.store!;
  }

  private async begin(one: Action, donation: Donation | undefined): Promise<void> {
    const { group: id } = one;
    const before = this.model.get(id)?.at(-1);
    if (one.kind === 'drop') return this.expecting(id, undefined, () => this.live.dropGroup(id));
    if (one.kind === 'install') {
      const installer = this.live.installSnapshot(id);
      return this.expecting(id, donation?.state, async () => {
        for (const chunk of donation?.chunks ?? []) await installer.write(chunk);
        await installer.commit();
      });
    }
    const checkpoint = this.live.beginCheckpoint(id);
    const records = new Map(before?.records);
    for (const { kind, id: record, size } of one.changes) {
      const name = `${kind} ${record} 0`;
      const value = this.value(size);
      if (size % 5 === 0) checkpoint.delete(kind, record, 0);
      else checkpoint.put(kind, record, 0, value);
      if (size % 5 === 0) records.delete(name);
      else records.set(name, value.toString('hex'));
    }
    if (one.abort) return checkpoint.abort();
    const index = (before?.index ?? 0) + 1;
    const context = Buffer.from(`context ${index}`);
    return this.expecting(id, { index, records }, () => checkpoint.commit({ index, term: 1, context }));
  }

  /** Until it is acknowledged the group may be as before or as after. */
  private async expecting(
    id: number,
    after: GroupState | undefined,
    task: () => Promise<unknown>,
  ): Promise<void> {
    const before = this.model.get(id)?.at(-1);
    this.model.set(id, [before, after]);
    await task();
    this.model.set(id, [after]);
  }

  /** A snapshot as another node would send it. */
  private async donate(id: number, changes: readonly Change[]): Promise<Donation> {
    const donor = await StateStore.open({
      store: new MemoryStore().attach(),
      disk: new MemoryDisk(),
      chunkBytes: 1024,
    });
    const checkpoint = donor.beginCheckpoint(id);
    for (const { kind, id: record, size } of changes) checkpoint.put(kind, record, 0, this.value(size * 20));
    const index = (this.model.get(id)?.at(-1)?.index ?? 0) + 10;
    await checkpoint.commit({ index, term: 1, context: Buffer.alloc(0) });
    const state = (await contentOf(donor)).get(id);
    const source = await donor.openSnapshot(id, index % 2 === 0 ? 1 : 2);
    const chunks: SnapshotChunk[] = [];
    for await (const chunk of source?.chunks() ?? []) chunks.push(chunk);
    await donor.close();
    return { state, chunks };
  }

  private value(size: number): Buffer {
    const value = Buffer.alloc(size, ++this.values);
    value.write(String(this.values));
    return value;
  }

  private crash(random: () => number): void {
    this.events.clear();
    this.disk.crash(random);
    this.medium.crash(random);
  }
}

async function contentOf(store: StateStore): Promise<Map<number, GroupState>> {
  const groups = new Map<number, GroupState>();
  for (const id of store.groups()) {
    const records = new Map<string, string>();
    const scanned: StateRecord[] = [];
    for await (const record of store.scan(id)) scanned.push(record);
    // One behind the other within one job, so that some of them are read ahead.
    for (const { kind, id: record, part, value } of scanned) {
      expect(store.read(id, kind, record, part)?.equals(value)).toBe(true);
      records.set(`${kind} ${record} ${part}`, value.toString('hex'));
    }
    groups.set(id, { index: store.applied(id)?.index ?? -1, records });
  }
  return groups;
}

function textOf(state: GroupState | undefined): string {
  return state === undefined ? 'none' : JSON.stringify([state.index, [...state.records].sort()]);
}

async function play(steps: readonly Step[], stores = SOUND_STORES): Promise<void> {
  const world = new World(stores);
  await world.open();
  for (const one of steps) await world.do(one);
  await world.close();
  await world.open();
}

describe('StateStore over crashes', () => {
  test('takes each checkpoint, removal and installation as a whole, and keeps what it acknowledged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => play(steps)),
      { numRuns: 300 },
    );
  });

  test.each<StorageMutant>(['applied_index_outside_batch', 'snapshot_install_not_atomic'])(
    'finds the planted bug %s',
    async (mutant) => {
      const planted = await new StoragePlanter().plant(new Set([mutant]));
      const found = await fc.check(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => play(steps, planted)),
        { numRuns: 2000, seed: 7, endOnFailure: true },
      );
      expect(found.failed).toBe(true);
    },
  );
});
