import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seeded } from 'raft-ts';
import { type DiskOperation, MemoryDisk } from '../disk/memory-disk.js';
import { DamagedLogError, MisuseError } from '../errors.js';
import { EventQueue } from '../testing/events.js';
import { LogModel, type ModelState, stateOf, testChain } from '../testing/log-model.js';
import type { StorageMutant } from '../testing/mutants.js';
import { SOUND_STORES, StoragePlanter, type StoreClasses } from '../testing/plant.js';
import { LogStore } from './log-store.js';
import type { AppendEntry, LogOperation } from './types.js';

/**
 * Random operations on a store whose disk completes when the test says so, with crashes at any moment,
 * against a model. After each crash the store must hold exactly what the first n calls made, where n covers
 * all acknowledged ones.
 */
const SEGMENT_BYTES = 2048;
const GROUPS = 3;

type Step =
  | {
      readonly kind: 'entries';
      readonly group: number;
      readonly back: number;
      readonly sizes: number[];
      readonly vote: boolean;
    }
  | { readonly kind: 'reset'; readonly group: number; readonly ahead: number }
  | { readonly kind: 'drop'; readonly group: number }
  | { readonly kind: 'compact'; readonly group: number; readonly keep: number }
  | { readonly kind: 'run'; readonly count: number }
  | { readonly kind: 'crash'; readonly seed: number; readonly duringRecovery: number[] }
  | { readonly kind: 'kill'; readonly seed: number }
  | { readonly kind: 'close' }
  | { readonly kind: 'newFormat' };

const group = fc.nat(GROUPS - 1);
const entries: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('entries' as const),
  group,
  back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
  sizes: fc.array(fc.nat(300), { maxLength: 4 }),
  vote: fc.boolean(),
});
const compact: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('compact' as const),
  group,
  keep: fc.nat(3),
});
const run: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('run' as const), count: fc.nat(12) });
const crash: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('crash' as const),
  seed: fc.integer(),
  duringRecovery: fc.array(fc.nat(8), { maxLength: 2 }),
});
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: entries },
    { weight: 4, arbitrary: run },
    { weight: 3, arbitrary: compact },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), group, ahead: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), group }) },
    { weight: 2, arbitrary: crash },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), seed: fc.integer() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('newFormat' as const) }) },
  ),
  { minLength: 5, maxLength: 60 },
);

class World {
  readonly events = new EventQueue<DiskOperation>();
  readonly disk = new MemoryDisk({ defer: (operation, complete) => this.events.push(operation, complete) });
  private store: LogStore | undefined;
  /** The state after each call; the first is what the store was opened with. */
  private states: LogModel[] = [new LogModel()];
  private acknowledged = 0;
  private payloads = 0;
  /** Format of segments that the next store writes. */
  private format = 1;

  constructor(private readonly stores: StoreClasses) {}

  private get latest(): LogModel {
    return this.states.at(-1)!;
  }

  async open(): Promise<void> {
    this.store = await this.events.runUntil(this.started());
    this.check(stateOf(this.store));
  }

  private started(): Promise<LogStore> {
    const { format } = this;
    const options = { segmentBytes: SEGMENT_BYTES, cacheBytes: 1000, chainHash: testChain, format };
    return this.stores.LogStore.open(this.disk.attach(), options);
  }

  async do(step: Step): Promise<void> {
    switch (step.kind) {
      case 'entries':
        this.append(
          this.latest.entriesFor(step.group, step.back, step.sizes, step.vote, () => ++this.payloads),
        );
        return;
      case 'reset':
        this.append([this.latest.resetFor(step.group, step.ahead)]);
        return;
      case 'drop':
        this.append([{ kind: 'drop', group: step.group }]);
        return;
      case 'compact': {
        const upTo = this.latest.lastIndex(step.group) - step.keep;
        const next = this.latest.compacted(step.group, upTo);
        if (next === this.latest) return;
        this.submit(next, (done) => {
          this.live.compact(step.group, upTo).then(() => done(undefined), done);
        });
        return;
      }
      case 'run':
        await this.events.run(step.count);
        return;
      case 'crash': {
        const random = seeded(step.seed);
        this.die(() => this.disk.crash(random));
        for (const completions of step.duringRecovery) {
          this.started().catch(() => undefined);
          await this.events.run(completions);
          this.die(() => this.disk.crash(random));
        }
        await this.open();
        return;
      }
      case 'kill':
        this.die(() => this.disk.kill());
        await this.open();
        // The entries that a store found at its start must survive a power cut.
        this.die(() => this.disk.crash(seeded(step.seed)));
        await this.open();
        return;
      case 'close':
        await this.events.runUntil(this.live.close());
        expect(this.acknowledged).toBe(this.states.length - 1);
        await this.open();
        return;
      case 'newFormat':
        this.format = 2;
    }
  }

  private get live(): LogStore {
    return this.store!;
  }

  private append(operations: LogOperation[]): void {
    this.submit(this.latest.after(operations), (done) => this.live.append(operations, done));
  }

  private submit(next: LogModel, call: (done: (error: Error | undefined) => void) => void): void {
    this.states.push(next);
    const mine = this.states.length - 1;
    const states = this.states;
    call((error) => {
      if (states !== this.states) throw new Error('an append of a dead process was answered');
      expect(error).toBeUndefined();
      this.acknowledged = Math.max(this.acknowledged, mine);
    });
  }

  private die(how: () => void): void {
    this.events.clear();
    how();
  }

  /** The recovered log is the outcome of the first n calls, with none missing that was acknowledged. */
  private check(found: ModelState): void {
    let matching = -1;
    for (let n = this.acknowledged; n < this.states.length; n++) {
      if (JSON.stringify(this.states[n]!.state()) === JSON.stringify(found)) matching = n;
    }
    if (matching < 0) {
      expect({ acknowledged: this.acknowledged, found }).toEqual({
        acknowledged: this.acknowledged,
        found: this.states[this.acknowledged]!.state(),
      });
    }
    this.states = [this.states[matching]!];
    this.acknowledged = 0;
  }
}

async function play(history: readonly Step[], stores = SOUND_STORES): Promise<void> {
  const world = new World(stores);
  await world.open();
  for (const step of history) await world.do(step);
  await world.do({ kind: 'run', count: 3 });
  await world.do({ kind: 'crash', seed: history.length, duringRecovery: [] });
  await world.do({ kind: 'close' });
}

describe('LogStore over crashes', () => {
  test('holds every acknowledged call, whole, and of the others the first ones or none', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (history) => play(history)),
      { numRuns: 400 },
    );
  });

  test.each<StorageMutant>(['ack_before_sync', 'unsynced_tail_trusted'])(
    'finds the planted bug %s',
    async (mutant) => {
      const planted = await new StoragePlanter().plant(new Set([mutant]));
      const found = await fc.check(
        fc.asyncProperty(steps, (history) => play(history, planted)),
        { numRuns: 2000, seed: 7, endOnFailure: true },
      );
      expect(found.failed).toBe(true);
      expect(found.errorInstance).not.toBeInstanceOf(MisuseError);
    },
  );
});

describe('LogStore and lost tails', () => {
  async function lostTail(stores: StoreClasses): Promise<unknown> {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, { segmentBytes: SEGMENT_BYTES });
    const entry: AppendEntry = {
      kind: 'entry',
      group: 1,
      index: 1,
      term: 1,
      type: 0,
      previousHash: 0,
      hash: 1,
      payload: Buffer.from('one'),
    };
    await store.appended([entry]);
    const before = disk.content('segment-000000000001');
    await store.appended([{ ...entry, index: 2, previousHash: 1, hash: 2 }]);
    await store.close();
    disk.overwrite('segment-000000000001', before);
    return stores.LogStore.open(disk, { segmentBytes: SEGMENT_BYTES }).then(
      (opened) => opened.view(1).lastIndex,
      (error: unknown) => error,
    );
  }

  test('a log that ends before its high-water mark is refused', async () => {
    const error = await lostTail(SOUND_STORES);
    expect(error).toBeInstanceOf(DamagedLogError);
    expect(error).toMatchObject({ segment: 'segment-000000000001', offset: 584 });
    expect(String(error)).toContain('records 2 to 2, which were acknowledged, are gone');
  });

  test('the planted bug lost_tail_not_noticed opens it', async () => {
    expect(await lostTail(await new StoragePlanter().plant(new Set(['lost_tail_not_noticed'])))).toBe(1);
  });
});
