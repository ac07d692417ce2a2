import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../../testing/persisted.js';
import { List } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { sharedThing } from '../thing-walk.js';
import type { Transaction } from '../transaction.js';
import { PAGED_PROPERTIES_MIN } from './property-pages.js';

/** Enough for some pieces. */
const MANY = PAGED_PROPERTIES_MIN + 500;

/** A change of the large thing. */
type Change = (transaction: Transaction, big: Thing) => void;

/** A value that lies apart. */
const large = (char: string): string => char.repeat(20_000);

/** A collection with a thing of many properties under `.big`. */
class Fixture extends PersistedCollection {
  constructor(properties: number) {
    super();
    const { store } = this.group;
    this.change((transaction) =>
      transaction.setProperty(store.root, 'big', new Thing(0, store.shapes.empty(), [])),
    );
    this.change((transaction) => {
      for (let i = 0; i < properties; i++) transaction.setProperty(this.big, `k${i}`, i);
    });
  }

  get big(): Thing {
    const { store } = this.group;
    store.load(store.root);
    const big = store.root.get('big');
    if (!(big instanceof Thing)) throw new Error('.big is a thing');
    store.load(big);
    return big;
  }

  set(key: string, value: Value): void {
    this.change((transaction) => transaction.setProperty(this.big, key, value));
  }

  /** Names of the records of the large thing. */
  get names(): string[] {
    return [...this.records.keys()].filter((name) => name.startsWith(`${this.big.id}:`));
  }

  /** The contents of the thing, as text. */
  get lines(): string {
    return this.big
      .entries()
      .map(([key, value]) => `${key}=${textOf(value)}`)
      .join('\n');
  }

  /** The input of a digest of the large thing. */
  get shared(): string {
    const source = { read: (_kind: number, id: number, part: number) => this.records.get(`${id}:${part}`) };
    return Buffer.concat([...sharedThing(this.big.id, source, this.group.store.schema)]).toString('latin1');
  }
}

function textOf(value: Value): string {
  return value instanceof List ? `[${value.items.join()}]` : String(value);
}

describe('a thing of many properties', () => {
  test('is stored in pieces, of which a change writes one', () => {
    const fixture = new Fixture(100_000);
    fixture.checkpoint();
    expect(fixture.written.length).toBeGreaterThan(300);
    fixture.set('k77777', 'changed');
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(2);
    const bytes = fixture.written.reduce((sum, name) => sum + (fixture.records.get(name)?.length ?? 0), 0);
    expect(bytes).toBeLessThan(5000);
    fixture.set('new', 1);
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(2);
    const { lines } = fixture;
    fixture.reopen();
    expect(fixture.lines).toBe(lines);
    fixture.set('k5', 'again');
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(2);
    fixture.change((transaction) => transaction.setProperty(fixture.group.store.root, 'other', fixture.big));
    fixture.checkpoint();
    expect(fixture.written.sort()).toEqual(['1:0', `${fixture.big.id}:0`]);
  });

  test('leaves no record behind when it is cleared, gets small or is removed', () => {
    const shrinks: ((fixture: Fixture) => void)[] = [
      (fixture) => fixture.change((transaction) => transaction.clearThing(fixture.big)),
      (fixture) => {
        const keys = fixture.big.entries().map(([key]) => key);
        fixture.change((transaction) => transaction.deleteProperties(fixture.big, keys.slice(10)));
      },
    ];
    for (const shrink of shrinks) {
      const fixture = new Fixture(MANY);
      fixture.set('large', large('a'));
      fixture.set('list', new List(Array.from({ length: 2000 }, (_, i) => i)));
      fixture.checkpoint();
      fixture.reopen();
      shrink(fixture);
      fixture.failedCheckpoint();
      fixture.checkpoint();
      expect(fixture.names).toEqual([`${fixture.big.id}:0`]);
      fixture.change((transaction) => transaction.deleteProperty(fixture.group.store.root, 'big'));
      fixture.checkpoint();
      expect([...fixture.records.keys()]).toEqual(['1:0']);
    }
  });

  test('goes with all its records, and comes back when that is taken back', () => {
    const fixture = new Fixture(MANY);
    fixture.set('large', large('a'));
    fixture.checkpoint();
    const { lines } = fixture;
    const removal = fixture.change((transaction) =>
      transaction.deleteProperty(fixture.group.store.root, 'big'),
    );
    fixture.failedCheckpoint();
    removal.rollback();
    fixture.checkpoint();
    fixture.reopen();
    expect(fixture.lines).toBe(lines);
    fixture.change((transaction) => transaction.deleteProperty(fixture.group.store.root, 'big'));
    fixture.checkpoint();
    expect([...fixture.records.keys()]).toEqual(['1:0']);
  });

  test('is stored whole when a change that moved its properties is taken back', () => {
    const fixture = new Fixture(MANY);
    fixture.set('k896', new List(Array.from({ length: 1500 }, (_, i) => i)));
    fixture.checkpoint();
    const { lines } = fixture;
    const removal = fixture.change((transaction) => {
      const keys = fixture.big.entries().map(([key]) => key);
      transaction.deleteProperties(fixture.big, keys.slice(0, 1400));
    });
    removal.rollback();
    fixture.checkpoint();
    fixture.reopen();
    expect(fixture.lines).toBe(lines);
  });

  test.each([
    ['cleared', (t: Transaction, big: Thing) => t.clearThing(big)],
    ['removed', (t: Transaction, _big: Thing, root: Thing) => t.deleteProperty(root, 'big')],
  ] as const)('is stored as it was when a checkpoint began, though it is %s meanwhile', (_what, change) => {
    const fixture = new Fixture(MANY);
    fixture.set('list', new List(new Array<Value>(2000).fill(1)));
    fixture.checkpoint();
    fixture.set('k0', 'new');
    fixture.change((t) => t.append(fixture.big.get('list') as List, 2));
    const { lines } = fixture;
    fixture.begin();
    fixture.encode(1);
    fixture.change((t) => change(t, fixture.big, fixture.group.store.root));
    fixture.finish(true);
    const stored = new Map(fixture.records);
    // Nothing is left behind of what the checkpoint wrote of it.
    fixture.checkpoint();
    expect([...fixture.records.keys()].filter((name) => !name.endsWith(':0'))).toEqual([]);
    fixture.records.clear();
    for (const [name, value] of stored) fixture.records.set(name, value);
    fixture.reopen();
    expect(fixture.lines).toBe(lines);
  });

  test('tells to which things it refers without coming into memory', () => {
    const fixture = new Fixture(MANY);
    const { store } = fixture.group;
    const other = new Thing(0, store.shapes.empty(), []);
    fixture.set('other', other);
    fixture.set('list', new List([...new Array<Value>(2000).fill(1), other]));
    const before = idsIn(fixture);
    fixture.checkpoint();
    fixture.reopen();
    expect(idsIn(fixture)).toEqual(before);
    expect(before).toEqual([other.id, other.id]);
  });

  test('leaves no record of pages that come again while a checkpoint deletes them', () => {
    const fixture = new Fixture(MANY);
    fixture.checkpoint();
    const keys = Array.from({ length: MANY - 700 }, (_, i) => `k${700 + i}`);
    fixture.change((transaction) => transaction.deleteProperties(fixture.big, keys));
    fixture.failedCheckpoint();
    fixture.begin();
    for (const key of keys) fixture.set(key, 1);
    fixture.finish(true);
    fixture.reopen();
    expect(fixture.big.shape.size).toBe(700);
    expect(fixture.names.length).toBe(1 + Math.ceil(700 / 128));
  });

  test('holds what a map would hold after any changes, checkpoints in steps, failures and restarts', () => {
    const key = fc.oneof(
      fc.integer({ min: 0, max: MANY + 50 }).map((i) => `k${i}`),
      fc.constantFrom('a', 'k1', 'k2'),
    );
    const value: fc.Arbitrary<() => Value> = fc.oneof(
      fc.integer({ min: 0, max: 9 }).map((i) => () => i),
      fc.constantFrom('x', 'y').map((char) => () => large(char)),
      fc.constantFrom(3, 1500).map((length) => () => new List(new Array<Value>(length).fill(7))),
    );
    const set = fc.tuple(key, value).map(
      ([at, make]): Change =>
        (t, big) =>
          t.setProperty(big, at, make()),
    );
    const push = key.map(
      (at): Change =>
        (t, big) => {
          const list = big.get(at);
          if (list instanceof List) t.append(list, 1);
        },
    );
    const drop = fc.tuple(key, fc.constantFrom(1, 300, 1400)).map(
      ([at, count]): Change =>
        (t, big) => {
          const keys = big.entries().map(([name]) => name);
          const from = Math.max(0, keys.indexOf(at));
          t.deleteProperties(big, keys.slice(from, from + count));
        },
    );
    const rename = fc.tuple(key, key).map(
      ([from, to]): Change =>
        (t, big) => {
          if (big.get(from) !== undefined && big.get(to) === undefined) t.renameProperty(big, from, to);
        },
    );
    const clear = fc.constant<Change>((t, big) => t.clearThing(big));
    const fill = fc.constant<Change>((t, big) => {
      for (let i = 0; i < MANY; i++) t.setProperty(big, `k${i}`, i);
    });
    const change = fc.oneof(
      { weight: 8, arbitrary: set },
      { weight: 2, arbitrary: push },
      { weight: 3, arbitrary: drop },
      { weight: 2, arbitrary: rename },
      { weight: 1, arbitrary: clear },
      { weight: 1, arbitrary: fill },
    );
    const changes = fc.array(fc.record({ change, fails: fc.boolean(), encoded: fc.nat(2) }), {
      maxLength: 5,
    });
    // Some changes, then a checkpoint with others between its steps, and perhaps a restart.
    const episode = fc.record({
      before: changes,
      between: changes,
      succeeds: fc.boolean(),
      restarts: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(episode, { minLength: 1, maxLength: 6 }), (episodes) => {
        const fixture = new Fixture(MANY);
        fixture.checkpoint();
        let durable = fixture.lines;
        const make = ({
          change: work,
          fails,
        }: {
          readonly change: Change;
          readonly fails: boolean;
        }): void => {
          const before = fixture.lines;
          const transaction = fixture.change((t) => work(t, fixture.big));
          if (!fails) return;
          transaction.rollback();
          expect(fixture.lines).toBe(before);
        };
        for (const { before, between, succeeds, restarts } of episodes) {
          before.forEach(make);
          const begun = fixture.lines;
          fixture.begin();
          for (const each of between) {
            fixture.encode(each.encoded);
            make(each);
          }
          fixture.finish(succeeds);
          if (succeeds) durable = begun;
          if (restarts) fixture.reopen();
          if (restarts) expect(fixture.lines).toBe(durable);
        }
        fixture.checkpoint();
        const { lines, shared } = fixture;
        fixture.reopen();
        expect(fixture.lines).toBe(lines);
        // Its digest does not depend on how it came about.
        const other = new Fixture(0);
        for (const [name, held] of fixture.big.entries())
          other.set(name, held instanceof List ? new List(held.items.slice()) : held);
        other.checkpoint();
        expect(shared).toBe(other.shared);
        const { size } = fixture.big.shape;
        // In between it lies in pieces if it once had more properties.
        if (size > PAGED_PROPERTIES_MIN || size < PAGED_PROPERTIES_MIN / 2)
          expect(fixture.names.length).toBe(countOf(fixture));
      }),
      { numRuns: 60 },
    );
  });
});

/** Ids of the things that the large thing refers to. */
function idsIn(fixture: Fixture): number[] {
  const { store } = fixture.group;
  store.load(store.root);
  const big = store.root.get('big') as Thing;
  const ids: number[] = [];
  store.visitReferences(big.id, (id) => ids.push(id));
  return ids;
}

/** Records that the large thing should have. */
function countOf({ big, group }: Fixture): number {
  let parts = group.store.homeOf(big)?.numbers.all.length ?? 0;
  big.forEach((_, value) => {
    if (typeof value === 'string' && value.length > 1000) parts += 1;
  });
  return 1 + parts + (big.shape.size > PAGED_PROPERTIES_MIN ? Math.ceil(big.slots.length / 128) : 0);
}
