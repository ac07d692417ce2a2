/**
 * Changes, evictions and reads between the steps of a checkpoint that is encoded bit by bit: at any time each thing holds
 * what it was last given, and what is on disk is the state of the moment in which the checkpoint began.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteWriter } from '../bytes.js';
import { Engine } from '../engine.js';
import { DEFAULT_LIMITS } from '../run/limits.js';
import { clockOfLooks } from '../testing/harness.js';
import { Thing } from '../value/thing.js';
import type { CollectionGroup } from './collection-group.js';
import { RecordKind } from './records.js';
import { Transaction } from './transaction.js';

/** Some pages of things, several times what may stay in memory. */
const COUNT = 400;
const CACHE_BYTES = 10_000;

const NOTHING = (): void => {};

function makeEngine(): Engine {
  return new Engine({
    environment: {
      now: () => 0,
      monotonic: clockOfLooks(),
      randomBytes: (count) => new Uint8Array(count),
      random: () => 0.5,
      heapUsed: () => 0,
      heapFull: () => false,
      isCancelled: () => false,
      log: NOTHING,
      node: null,
      voters: () => [],
      isCommittedUser: () => true,
    },
    limits: DEFAULT_LIMITS,
    quotas: {
      tokensPerUser: 1,
      users: 1,
      collections: 1,
      procedures: 1,
      tasks: 500,
      sessions: { idleMs: 1, maxMs: 1 },
    },
    programCacheBytes: 1000,
    onInternalError: (error) => {
      throw error;
    },
  });
}

class Fixture {
  readonly engine = makeEngine();
  group: CollectionGroup;
  /** The value that each thing was last given, and the one that it had when the last durable checkpoint began. */
  readonly expected: number[] = new Array<number>(COUNT).fill(0);
  durable: number[] = [];
  readonly disk = new Map<string, Uint8Array>();
  private readonly ids: number[] = [];
  /** Records of the checkpoint under way. */
  private written = new Map<string, Uint8Array>();
  private begun: number[] = [];
  private left: number[] = [];

  constructor() {
    this.group = this.open();
    this.group.create();
    const { store } = this.group;
    this.change((transaction) => {
      for (let i = 0; i < COUNT; i++) {
        const thing = new Thing(0, store.shapes.empty(), []);
        transaction.setProperty(thing, 'n', 0);
        transaction.setProperty(thing, 'text', 'x'.repeat(100));
        transaction.setProperty(store.root, `k${i}`, thing);
        this.ids.push(thing.id);
      }
    });
    this.begin();
    this.finish(true);
  }

  /** The present contents of a thing. */
  read(i: number): number {
    const { store } = this.group;
    const thing = store.find(this.ids[i] ?? 0);
    if (thing === undefined) throw new Error(`thing ${i} is gone`);
    store.load(thing);
    return Number(thing.get('n'));
  }

  set(i: number, value: number): void {
    const { store } = this.group;
    const thing = store.find(this.ids[i] ?? 0);
    if (thing === undefined) throw new Error(`thing ${i} is gone`);
    store.load(thing);
    this.change((transaction) => transaction.setProperty(thing, 'n', value));
    this.expected[i] = value;
  }

  get underWay(): boolean {
    return this.left.length > 0 || this.group.dirty.freezing;
  }

  begin(): void {
    const { dirty } = this.group;
    this.written = new Map();
    this.begun = [...this.expected];
    this.left = [...dirty.freeze((thing) => this.save(thing)).things];
  }

  /** Encodes some of what is frozen. */
  encode(count: number): void {
    const { dirty } = this.group;
    for (const id of this.left.splice(0, count)) {
      const thing = dirty.frozenThing(id);
      if (thing === undefined) continue;
      this.save(thing);
      dirty.saved(thing);
    }
  }

  /** Encodes the rest; then all of it is on disk, or nothing. */
  finish(succeeds: boolean): void {
    this.encode(this.left.length);
    if (!succeeds) {
      this.group.abandonCheckpoint();
      return;
    }
    for (const [name, value] of this.written) this.disk.set(name, value);
    this.durable = this.begun;
    this.group.dirty.release();
  }

  evict(): void {
    for (let i = 0; i < 3; i++) this.engine.collections.evict(CACHE_BYTES, Number.POSITIVE_INFINITY);
  }

  /** The state that the next start would find. */
  stored(): number[] {
    const meta = this.group.encodeMeta();
    const group = makeEngine().collections.open(1, this.source());
    group.loadRecord(RecordKind.META, 0, meta);
    return this.ids.map((id) => {
      const thing = group.store.find(id);
      if (thing === undefined) return Number.NaN;
      group.store.load(thing);
      return Number(thing.get('n'));
    });
  }

  private source(): { read(kind: number, id: number, part: number): Uint8Array | undefined } {
    return { read: (kind, id, part) => this.disk.get(`${kind}:${id}:${part}`) };
  }

  private open(): CollectionGroup {
    return this.engine.collections.open(1, this.source());
  }

  private change(work: (transaction: Transaction) => void): void {
    const transaction = new Transaction(this.group.store, true, new ByteWriter(), NOTHING);
    work(transaction);
    transaction.finish();
  }

  private save(thing: Thing): void {
    this.group.saveThing(thing, {
      put: (kind, id, part, value) => this.written.set(`${kind}:${id}:${part}`, value),
      delete: NOTHING,
    });
  }
}

type Step = 'begin' | 'encode' | 'succeed' | 'fail' | 'evict' | { readonly set: number };

/** Goes through some steps and looks at everything. Throws when a thing does not hold what it should. */
function live(steps: readonly Step[], plant: (fixture: Fixture) => void = () => {}): void {
  const fixture = new Fixture();
  plant(fixture);
  let next = 1;
  for (const step of steps) {
    if (typeof step === 'object') {
      // A run of things, so that some of them are frozen.
      for (let i = step.set; i < Math.min(COUNT, step.set + 50); i++) fixture.set(i, next);
      next += 1;
    } else if (step === 'evict') {
      fixture.evict();
    } else if (fixture.underWay !== (step === 'begin')) {
      if (step === 'begin') fixture.begin();
      else if (step === 'encode') fixture.encode(20);
      else fixture.finish(step === 'succeed');
    }
    if (step === 'succeed' || step === 'fail') expect(fixture.stored()).toEqual(fixture.durable);
  }
  expect(fixture.expected.map((_value, i) => fixture.read(i))).toEqual(fixture.expected);
}

/** The check that each planted bug shows in. */
const COPIED: readonly Step[] = [{ set: 0 }, 'begin', 'encode', { set: 10 }, 'succeed'];
const EVICTED: readonly Step[] = [{ set: 0 }, 'begin', 'encode', 'evict', 'evict', { set: 300 }];
const AGAIN: readonly Step[] = [{ set: 0 }, 'begin', 'encode', 'fail', 'evict', 'evict', 'begin', 'succeed'];

describe('a checkpoint that is half done', () => {
  test.each([
    ['what changes meanwhile', COPIED],
    ['what should leave memory meanwhile', EVICTED],
    ['a failure, and another one', AGAIN],
  ])('does not mind %s', (_what, steps) => {
    expect(() => live(steps)).not.toThrow();
  });

  test('holds up in any order of changes, evictions, successes and failures', () => {
    const step = fc.oneof(
      fc.constantFrom<Step>('begin', 'begin', 'encode', 'encode', 'succeed', 'fail', 'evict'),
      fc.record({ set: fc.nat(COUNT - 1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => live(steps)),
      { numRuns: 60 },
    );
  });

  test.each<[string, readonly Step[], (fixture: Fixture) => void]>([
    [
      'what changes is not encoded first',
      COPIED,
      ({ group: { dirty } }) => {
        const freeze = dirty.freeze.bind(dirty);
        dirty.freeze = () => freeze(NOTHING);
      },
    ],
    [
      'what is encoded and not on disk yet leaves memory',
      EVICTED,
      ({ group: { dirty } }) => Object.defineProperty(dirty, 'freezing', { get: () => false }),
    ],
    [
      'what failed is not written again',
      AGAIN,
      ({ group }) => {
        group.abandonCheckpoint = () => group.dirty.release();
      },
    ],
  ])('is noticed to be wrong when %s', (_what, steps, plant) => {
    expect(() => live(steps, plant)).toThrow();
  });
});
