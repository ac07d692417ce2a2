import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../testing/persisted.js';
import { List } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import { PIECED_MIN } from './pieces.js';

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

  test('beside another gets numbers for its pieces that are found once, however many there are', () => {
    const looksFor = (items: number): number => {
      const fixture = new Fixture(items);
      fixture.checkpoint();
      const { root } = fixture.group.store;
      fixture.change((transaction) => transaction.setProperty(root, 'other', fixture.list));
      let looks = 0;
      const { forEach } = root;
      root.forEach = function (visit) {
        looks += 1;
        forEach.call(this, visit);
      };
      fixture.checkpoint();
      expect(new Set(fixture.records.keys()).size).toBe(1 + 2 * Math.ceil(items / 256));
      return looks;
    };
    expect(looksFor(20_000)).toBe(looksFor(2_000));
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
        const fixture = new Fixture(PIECED_MIN + 1000);
        let expected = Array.from({ length: PIECED_MIN + 1000 }, (_, i) => i);
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
