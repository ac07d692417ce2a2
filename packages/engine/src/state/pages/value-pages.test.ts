import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../../testing/persisted.js';
import { List } from '../../value/containers.js';
import { Bytes } from '../../value/scalars.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { sharedThing } from '../thing-walk.js';

class Fixture extends PersistedCollection {
  set(key: string, value: Value): void {
    this.change((transaction) => transaction.setProperty(this.group.store.root, key, value));
  }

  drop(key: string): void {
    this.change((transaction) => transaction.deleteProperty(this.group.store.root, key));
  }

  get content(): Record<string, Value> {
    const { store } = this.group;
    store.load(store.root);
    return Object.fromEntries(store.root.entries());
  }

  /** The input of a digest of the root thing. */
  get shared(): string {
    const parts = sharedThing(
      1,
      { read: (_kind, id, part) => this.records.get(`${id}:${part}`) },
      this.group.store.schema,
    );
    return Buffer.concat([...parts]).toString('latin1');
  }
}

const large = (char: string, length = 20_000): string => char.repeat(length);

describe('a large value of a thing', () => {
  test('is written once, and not with each change of another key', () => {
    const fixture = new Fixture();
    fixture.set('a', large('a'));
    fixture.set('b', new Bytes(Buffer.alloc(20_000, 1)));
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(3);
    fixture.set('small', 1);
    fixture.checkpoint();
    expect(fixture.written).toEqual(['1:0']);
    expect(fixture.records.get('1:0')?.length).toBeLessThan(50);
    fixture.reopen();
    expect(fixture.content).toEqual({ a: large('a'), b: new Bytes(Buffer.alloc(20_000, 1)), small: 1 });
    fixture.set('small', 2);
    fixture.set('a', large('c'));
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(2);
  });

  test('leaves no record behind when it goes, nor when its thing does', () => {
    const fixture = new Fixture();
    const { store } = fixture.group;
    const thing = new Thing(0, store.shapes.empty(), []);
    fixture.change((transaction) => {
      transaction.setProperty(thing, 'large', large('a'));
      transaction.setProperty(store.root, 'thing', thing);
      transaction.setProperty(store.root, 'large', large('b', 40_000_000));
    });
    fixture.checkpoint();
    expect(fixture.records.size).toBe(2 + 1 + 1 + 3);
    fixture.set('large', 'small');
    fixture.drop('thing');
    fixture.checkpoint();
    expect([...fixture.records.keys()]).toEqual(['1:0']);
  });

  test('is there again when its thing is, after a removal that was taken back', () => {
    const fixture = new Fixture();
    const { store } = fixture.group;
    const thing = new Thing(0, store.shapes.empty(), []);
    fixture.change((transaction) => {
      transaction.setProperty(thing, 'large', large('a'));
      transaction.setProperty(store.root, 'thing', thing);
    });
    fixture.checkpoint();
    fixture.change((transaction) => transaction.deleteProperty(store.root, 'thing')).rollback();
    fixture.checkpoint();
    fixture.reopen();
    const again = fixture.content.thing as Thing;
    fixture.group.store.load(again);
    expect(again.get('large')).toBe(large('a'));
    expect(fixture.records.size).toBe(3);
  });

  test('does not tell in the digest how often it changed', () => {
    const [one, two] = [new Fixture(), new Fixture()];
    for (const key of ['x', 'y', 'z']) two.set(key, large(key));
    two.checkpoint();
    for (const fixture of [one, two]) {
      fixture.set('a', large('a'));
      fixture.set('list', new List([1, large('l', 300_000), 3]));
    }
    for (const key of ['x', 'y', 'z']) two.drop(key);
    for (const fixture of [one, two]) fixture.checkpoint();
    expect([...one.records.keys()].sort()).not.toEqual([...two.records.keys()].sort());
    expect(one.shared).toBe(two.shared);
    two.set('a', large('b'));
    two.checkpoint();
    expect(one.shared).not.toBe(two.shared);
  });

  test('is what it was set to after any changes, checkpoints, failures and restarts', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const value = fc.oneof(
      fc.constantFrom(...'xyz').map((char) => large(char)),
      fc.constant('small'),
      fc.constantFrom(1, 2).map((byte) => new Bytes(Buffer.alloc(20_000, byte))),
    );
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, value, fails: fc.boolean() }),
      fc.record({ kind: fc.constant('drop' as const), key }),
      fc.constantFrom('checkpoint' as const, 'failed' as const, 'reopen' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const fixture = new Fixture();
        let expected: Record<string, Value> = {};
        let stored = expected;
        fixture.checkpoint();
        for (const each of steps) {
          if (each === 'checkpoint') {
            fixture.checkpoint();
            stored = expected;
          } else if (each === 'failed') {
            fixture.failedCheckpoint();
          } else if (each === 'reopen') {
            fixture.reopen();
            expected = stored;
          } else if (each.kind === 'drop') {
            if (!Object.hasOwn(expected, each.key)) continue;
            fixture.drop(each.key);
            expected = Object.fromEntries(Object.entries(expected).filter(([name]) => name !== each.key));
          } else {
            const transaction = fixture.change((t) =>
              t.setProperty(fixture.group.store.root, each.key, each.value),
            );
            if (each.fails) transaction.rollback();
            else expected = { ...expected, [each.key]: each.value };
          }
          expect(fixture.content).toEqual(expected);
        }
        fixture.checkpoint();
        const apart = Object.values(expected).filter((each) => each !== 'small').length;
        expect(fixture.records.size).toBe(1 + apart);
        fixture.reopen();
        expect(fixture.content).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a list of few items and many bytes', () => {
  test('is stored in pieces', () => {
    const fixture = new Fixture();
    fixture.set('list', new List(Array.from({ length: 100 }, (_, i) => large(String(i % 10), 100_000))));
    fixture.checkpoint();
    expect(fixture.records.size).toBeGreaterThan(8);
    const { store } = fixture.group;
    store.load(store.root);
    const list = store.root.get('list') as List;
    fixture.change((transaction) => transaction.spliceList(list, 50, 1, ['changed']));
    fixture.checkpoint();
    expect(fixture.written).toHaveLength(2);
    fixture.reopen();
    const again = fixture.content.list as List;
    expect([again.length, again.at(50), again.at(99)]).toEqual([100, 'changed', large('9', 100_000)]);
  });
});
