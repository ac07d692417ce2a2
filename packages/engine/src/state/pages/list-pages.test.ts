import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../../testing/persisted.js';
import { List } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import type { Transaction } from '../transaction.js';
import { PAGED_ITEMS_MIN } from './list-pages.js';

/** A collection with a list of ints under `.list`. */
class Fixture extends PersistedCollection {
  constructor(items: number) {
    super();
    const list = new List(Array.from({ length: items }, (_, i) => i));
    this.change((transaction) => transaction.setProperty(this.group.store.root, 'list', list));
  }

  get list(): List {
    const { store } = this.group;
    store.load(store.root);
    const list = store.root.get('list');
    if (!(list instanceof List)) throw new Error('.list is a list');
    return list;
  }
}

describe('a large list', () => {
  test('is stored in pieces, and an append writes one of them', () => {
    const fixture = new Fixture(100_000);
    fixture.checkpoint();
    expect(fixture.written.length).toBeGreaterThan(300);

    fixture.change((transaction) => transaction.spliceList(fixture.list, 100_000, 0, ['last']));
    fixture.checkpoint();

    expect(fixture.written).toHaveLength(2);
    fixture.reopen();
    expect(fixture.list.length).toBe(100_001);
    expect(fixture.list.at(100_000)).toBe('last');
    expect(fixture.list.at(77_777)).toBe(77_777);
  });

  test('takes items one by one at its end, of which the last pieces are written', () => {
    const fixture = new Fixture(10_000);
    fixture.checkpoint();
    fixture.reopen();
    fixture.change((transaction) => {
      for (let i = 10_000; i < 12_000; i++) transaction.append(fixture.list, i);
    });
    fixture.checkpoint();
    // The table, the piece that was the last one, and those behind it.
    expect(fixture.written.length).toBeLessThan(12);
    fixture.reopen();
    expect(fixture.list.items).toEqual(Array.from({ length: 12_000 }, (_, i) => i));
  });

  test('comes into memory by the pieces that are touched', () => {
    const fixture = new Fixture(100_000);
    fixture.checkpoint();
    fixture.reopen();
    const before = fixture.records.size;
    for (const key of [...fixture.records.keys()])
      if (key !== '1:0' && key !== '1:1') fixture.records.delete(key);

    expect(fixture.list.at(0)).toBe(0);
    expect(fixture.list.length).toBe(100_000);
    expect(() => fixture.list.items).toThrow('missing');
    expect(before).toBeGreaterThan(300);
  });

  test('takes no memory for the items that are not there, until many are', () => {
    const fixture = new Fixture(200_000);
    fixture.checkpoint();
    fixture.reopen();
    const { list } = fixture;
    const expected = Array.from({ length: 200_000 }, (_, i): Value => i);
    const taken = (): number => Object.keys(list.held).length;
    expect(list.at(150_000)).toBe(150_000);
    fixture.change((transaction) => {
      transaction.append(list, 'last');
      transaction.spliceList(list, 100_000, 1, ['another']);
      transaction.spliceList(list, 200_000, 1, []);
    });
    expected[100_000] = 'another';
    expect(taken()).toBeLessThan(2000);

    for (let i = 0; i < 20; i++) expect(list.at(i * 10_000)).toBe(expected[i * 10_000]);
    expect(taken()).toBe(200_000);
    expect(list.items).toEqual(expected);
  });

  test.each([
    ['spliced', (transaction: Transaction, list: List) => transaction.spliceList(list, 5, 2, ['one'])],
    ['taken out', (transaction: Transaction, list: List) => transaction.removeItems(list, [5, 199_999])],
  ])('a list of which little is in memory has items %s', (_, change) => {
    const fixture = new Fixture(200_000);
    fixture.checkpoint();
    fixture.reopen();
    expect(fixture.list.at(100_000)).toBe(100_000);
    fixture.change((transaction) => change(transaction, fixture.list));
    const { items } = fixture.list;
    expect(items.slice(0, 8)).toEqual(
      items.length === 199_999 ? [0, 1, 2, 3, 4, 'one', 7, 8] : [0, 1, 2, 3, 4, 6, 7, 8],
    );
    expect(items).not.toContain(undefined);
    expect(items).not.toContain(null);
  });

  test('a list of the form of release 0.1.0 is read, and has the present one when it was touched', () => {
    const fixture = new Fixture(5000);
    const formOf = (): string => Buffer.from(fixture.records.get('1:0') ?? []).toString('latin1');
    fixture.checkpoint();
    // In that form, pages have 256 and 136 entries, and no mark in the lowest bit.
    const first = formOf()
      .replace('list\x1a', 'list\x18')
      .replaceAll('\x80\x04', '\x80\x02')
      .replace('\x90\x02', '\x88\x01');
    expect(first).toContain('list\x18');
    fixture.records.set('1:0', Buffer.from(first, 'latin1'));
    fixture.reopen();
    expect(fixture.list.items).toHaveLength(5000);
    fixture.change((transaction) => transaction.append(fixture.list, 5000));
    fixture.checkpoint();
    expect(formOf()).toContain('list\x1a');
    expect(fixture.written).toHaveLength(2);
    fixture.reopen();
    expect(fixture.list.items).toEqual(Array.from({ length: 5001 }, (_, i) => i));
  });

  test('loses items here and there, for which the pieces that they lie in are read and written', () => {
    const fixture = new Fixture(100_000);
    fixture.checkpoint();
    fixture.reopen();
    // Some at the border of two pieces, all of a third, and the last.
    const gone = [3, 255, 256, ...Array.from({ length: 256 }, (_, i) => 25_600 + i), 99_999];
    const reads = fixture.group.store.recordReads;
    fixture.change((transaction) => transaction.removeItems(fixture.list, gone));
    expect(fixture.group.store.recordReads - reads).toBeLessThan(7);
    fixture.checkpoint();
    // The table, three pieces, and the deletion of one.
    expect(fixture.written.length).toBeLessThan(6);
    fixture.reopen();
    const isGone = new Set(gone);
    expect(fixture.list.items).toEqual(
      Array.from({ length: 100_000 }, (_, i) => i).filter((i) => !isGone.has(i)),
    );
  });

  test('lies in few pieces when most items are gone, in whatever portions they went', () => {
    const fixture = new Fixture(20_000);
    fixture.checkpoint();
    for (let portion = 0; portion < 19; portion++) {
      const first = portion * 50;
      const gone = Array.from({ length: 950 }, (_, i) => first + i);
      fixture.change((transaction) => transaction.removeItems(fixture.list, gone));
      fixture.checkpoint();
    }
    fixture.checkpoint();
    expect(fixture.list.length).toBe(1950);
    expect(fixture.records.size).toBeLessThan(40);
  });

  test('leaves no records behind when it is overwritten', () => {
    const fixture = new Fixture(10_000);
    fixture.checkpoint();
    fixture.reopen();
    fixture.change((transaction) => transaction.setProperty(fixture.group.store.root, 'list', new List([1])));
    fixture.checkpoint();
    expect([...fixture.records.keys()]).toEqual(['1:0']);
  });

  test('leaves no records behind when its thing is removed', () => {
    const fixture = new Fixture(1);
    const { store } = fixture.group;
    const thing = new Thing(0, store.shapes.empty(), []);
    fixture.change((transaction) => {
      transaction.setProperty(thing, 'big', new List(new Array(5000).fill(7)));
      transaction.setProperty(store.root, 'thing', thing);
    });
    fixture.checkpoint();
    expect(fixture.records.size).toBeGreaterThan(10);
    fixture.change((transaction) => transaction.deleteProperty(store.root, 'thing'));
    fixture.checkpoint();
    fixture.records.delete(`${thing.id}:0`);
    expect([...fixture.records.keys()]).toEqual(['1:0']);
  });

  /** Makes a large list, changes it, lets a checkpoint come to nothing, makes another one, and starts again. */
  function afterFailure(plant: (fixture: Fixture) => void): List {
    const fixture = new Fixture(5000);
    fixture.checkpoint();
    plant(fixture);
    fixture.change((transaction) => transaction.spliceList(fixture.list, 2000, 3, ['new']));
    fixture.change((transaction) => transaction.spliceList(fixture.list, fixture.list.length, 0, ['last']));
    fixture.failedCheckpoint();
    fixture.checkpoint();
    fixture.reopen();
    return fixture.list;
  }

  test('is written again, in all its changed pieces, after a checkpoint that failed', () => {
    const expected = Array.from<unknown, unknown>({ length: 5000 }, (_, i) => i).toSpliced(2000, 3, 'new');
    expect(afterFailure(() => {}).items).toEqual([...expected, 'last']);
  });

  test('is noticed to be another one if its pieces were taken for written', () => {
    const forget = ({ group }: Fixture): void => {
      group.saveThingAgain = () => {};
    };
    expect(() => expect(afterFailure(forget).items).toContain('last')).toThrow();
  });

  test('holds what an array would hold after any changes, checkpoints, failures and restarts', () => {
    const splice = fc.record({
      kind: fc.constant('splice' as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.integer({ min: 0, max: 700 }),
      add: fc.integer({ min: 0, max: 1200 }),
      fails: fc.boolean(),
    });
    const other = fc.constantFrom(
      'checkpoint' as const,
      'reopen' as const,
      'rest' as const,
      'abandon' as const,
      'fail' as const,
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(splice, other), { maxLength: 20 }), (steps) => {
        const fixture = new Fixture(PAGED_ITEMS_MIN + 1000);
        let expected = Array.from({ length: PAGED_ITEMS_MIN + 1000 }, (_, i) => i);
        let stored = expected;
        let next = 1_000_000;
        fixture.checkpoint();
        for (const step of steps) {
          if (step === 'checkpoint') {
            fixture.checkpoint();
            stored = expected;
          } else if (step === 'reopen') {
            fixture.reopen();
            expected = stored;
          } else if (step === 'fail') {
            // Everything is encoded, and nothing of it becomes durable.
            fixture.failedCheckpoint();
          } else if (step === 'rest') {
            for (let i = 0; i < 2; i++) fixture.group.store.rest(fixture.group.store.root);
          } else if (step === 'abandon') {
            const { dirty } = fixture.group;
            dirty.freeze(() => {});
            fixture.group.abandonCheckpoint();
          } else {
            const { list } = fixture;
            const start = Math.floor(step.at * list.length);
            const remove = Math.min(step.remove, list.length - start);
            const added = Array.from({ length: step.add }, () => next++);
            const transaction = fixture.change((t) => t.spliceList(list, start, remove, added));
            // Memory may run short while a change is not committed yet.
            for (let i = 0; i < 2; i++) fixture.group.store.rest(fixture.group.store.root);
            if (step.fails) transaction.rollback();
            else expected = expected.toSpliced(start, remove, ...added);
          }
          expect(fixture.list.length).toBe(expected.length);
        }
        expect(fixture.list.items).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a checkpoint of a large list that is encoded in steps', () => {
  type Step =
    | { readonly kind: 'splice'; readonly at: number; readonly remove: number; readonly add: number }
    | { readonly kind: 'append' }
    | { readonly kind: 'drop' }
    | { readonly kind: 'copy' }
    | { readonly kind: 'filter' };

  /** Makes a change of the list; gives what it holds then, null for nothing. */
  function make(
    transaction: Transaction,
    fixture: Fixture,
    step: Step,
    items: readonly Value[],
  ): Value[] | null {
    const { root } = fixture.group.store;
    if (step.kind === 'drop') {
      transaction.deleteProperty(root, 'list');
      return null;
    }
    const { list } = fixture;
    if (step.kind === 'append') {
      for (let i = 0; i < 300; i++) transaction.append(list, -1 - i);
      return [...items, ...Array.from({ length: 300 }, (_, i) => -1 - i)];
    }
    if (step.kind === 'copy') {
      const copy = items.slice(0, 1500);
      transaction.setProperty(root, 'list', new List(copy.slice()));
      return copy;
    }
    if (step.kind === 'filter') {
      transaction.removeItems(
        list,
        Array.from({ length: Math.floor(items.length / 3) }, (_, i) => 3 * i),
      );
      return items.filter((_, i) => i % 3 !== 0 || i >= 3 * Math.floor(items.length / 3));
    }
    const start = Math.floor(step.at * items.length);
    const remove = Math.min(step.remove, items.length - start);
    const added = Array.from({ length: step.add }, (_, i) => `${step.at}-${i}`);
    transaction.spliceList(list, start, remove, added);
    return items.toSpliced(start, remove, ...added);
  }

  test('has the list as it was when it began, though it changes, goes and comes back, pages leave memory, and others fail', () => {
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('splice' as const),
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          remove: fc.constantFrom(0, 1, 300, 700),
          add: fc.constantFrom(0, 1, 600),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.constantFrom<Step>(
          { kind: 'append' },
          { kind: 'drop' },
          { kind: 'copy' },
          { kind: 'filter' },
        ),
      },
    );
    const change = fc.record({ step, fails: fc.boolean(), encoded: fc.nat(4) });
    const episode = fc.record({
      before: fc.array(change, { maxLength: 3 }),
      between: fc.array(change, { maxLength: 4 }),
      succeeds: fc.boolean(),
      after: fc.constantFrom('rest' as const, 'reopen' as const, 'nothing' as const),
      takenBackLater: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(episode, { minLength: 1, maxLength: 5 }), (episodes) => {
        const fixture = new Fixture(3000);
        fixture.checkpoint();
        let items: Value[] | null = fixture.list.items.slice();
        let durable: Value[] | null = items;
        const look = (): Value[] | null => {
          const { store } = fixture.group;
          store.load(store.root);
          const list = store.root.get('list');
          return list instanceof List ? list.items.slice() : null;
        };
        const change = ({ step, fails }: { readonly step: Step; readonly fails: boolean }): void => {
          if (items === null) {
            items = [1, 2, 3];
            const { root } = fixture.group.store;
            fixture.change((t) => t.setProperty(root, 'list', new List([1, 2, 3])));
            return;
          }
          const before = items;
          let after: Value[] | null = null;
          const transaction = fixture.change((t) => {
            after = make(t, fixture, step, before);
          });
          if (fails) transaction.rollback();
          else items = after;
        };
        for (const { before, between, succeeds, after, takenBackLater } of episodes) {
          before.forEach(change);
          // Uncommitted changes are taken back while the checkpoint that holds them is under way, which comes to nothing then.
          const late = takenBackLater && items !== null;
          const uncommitted = late
            ? fixture.change((t) => make(t, fixture, { kind: 'drop' }, items ?? []))
            : null;
          const begun: Value[] | null = items;
          fixture.begin();
          if (uncommitted === null) {
            for (const each of between) {
              fixture.encode(each.encoded);
              change(each);
            }
          } else {
            fixture.encode(2);
            uncommitted.rollback();
          }
          const isDurable = succeeds && uncommitted === null;
          fixture.finish(isDurable);
          if (isDurable) durable = begun;
          if (after === 'reopen') {
            fixture.reopen();
            items = durable;
          } else if (after === 'rest') {
            for (let i = 0; i < 2; i++) fixture.group.store.rest(fixture.group.store.root);
          }
          if (after !== 'rest') expect(look()).toEqual(items);
        }
        expect(look()).toEqual(items);
        fixture.checkpoint();
        fixture.reopen();
        expect(look()).toEqual(items);
        const { store } = fixture.group;
        expect(fixture.records.size).toBe(1 + (store.homeOf(store.root)?.numbers.all.length ?? 0));
      }),
      { numRuns: 70 },
    );
  });
});

describe('a large record', () => {
  test('is cut into slices, which go when it shrinks', () => {
    const fixture = new Fixture(1);
    const { store } = fixture.group;
    const large = 'x'.repeat(20_000_000);
    fixture.change((transaction) => {
      transaction.setProperty(store.root, 'a', large);
      transaction.setProperty(store.root, 'b', large);
    });
    fixture.checkpoint();
    expect(fixture.records.size).toBe(1 + 2 * 3);
    fixture.reopen();
    const reopened = fixture.group.store;
    reopened.load(reopened.root);
    expect(reopened.root.get('b')).toBe(large);
    fixture.change((transaction) => transaction.deleteProperty(reopened.root, 'a'));
    fixture.change((transaction) => transaction.setProperty(reopened.root, 'b', 'small'));
    fixture.checkpoint();
    expect(fixture.records.size).toBe(1);
  });
});
