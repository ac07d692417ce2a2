import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../../testing/persisted.js';
import { ThingSet } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import { bytesOf } from '../evictor.js';
import { sharedThing } from '../thing-walk.js';
import type { Transaction } from '../transaction.js';
import { PAGED_MEMBERS_MIN } from './member-pages.js';

/** A collection with a set of things under `.set`; nothing else refers to most of them. */
class Fixture extends PersistedCollection {
  constructor(members: number) {
    super();
    const { store } = this.group;
    const things = Array.from({ length: members }, () => new Thing(0, store.shapes.empty(), []));
    this.change((transaction) => transaction.setProperty(store.root, 'set', new ThingSet(things)));
  }

  get set(): ThingSet {
    const { store } = this.group;
    store.load(store.root);
    const set = store.root.get('set');
    if (!(set instanceof ThingSet)) throw new Error('.set is a set');
    return set;
  }

  /** Ids of the members, in their order. */
  get ids(): number[] {
    return Array.from(this.set.members, ({ id }) => id);
  }

  add(count: number): Transaction {
    const { store } = this.group;
    const things = Array.from({ length: count }, () => new Thing(0, store.shapes.empty(), []));
    return this.change((transaction) => transaction.addMembers(this.set, things));
  }

  /** Takes out every `step`th member from one on. */
  remove(from: number, step: number): Transaction {
    const things = [...this.set.members].filter((_, i) => i >= from && (i - from) % step === 0);
    return this.change((transaction) => transaction.removeMembers(this.set, things));
  }

  /** After a checkpoint that failed, there are other things than the counters in memory say. */
  override reopen(): void {
    super.reopen();
    this.group.store.thingCount = [...this.records.keys()].filter((name) => name.endsWith(':0')).length;
  }

  /** Records of the root thing, the head and the pages. */
  get count(): number {
    return [...this.records.keys()].filter((name) => name.startsWith('1:')).length;
  }

  /** The input of a digest of the root thing. */
  get shared(): string {
    const source = { read: (_kind: number, id: number, part: number) => this.records.get(`${id}:${part}`) };
    return Buffer.concat([...sharedThing(1, source, this.group.store.schema)]).toString('latin1');
  }
}

describe('a large set', () => {
  test('a set of half a million members lies in pages, of which one that is added writes one', () => {
    const fixture = new Fixture(500_000);
    fixture.checkpoint();
    const bytesOf = (names: readonly string[]): number =>
      names.reduce((sum, name) => sum + (fixture.records.get(name)?.length ?? 0), 0);
    fixture.reopen();
    expect(fixture.set.members.size).toBe(500_000);
    for (const change of [() => fixture.add(1), () => fixture.remove(250_000, 1_000_000)]) {
      change();
      fixture.checkpoint();
      const written = fixture.written.filter((name) => name.startsWith('1:'));
      expect(written).toHaveLength(2);
      expect(bytesOf(written)).toBeLessThan(16_000);
    }
  });

  test('keeps its members and their order, however its ids lie', () => {
    const fixture = new Fixture(3000);
    const members = [...fixture.set.members].reverse();
    fixture.change((transaction) =>
      transaction.setProperty(fixture.group.store.root, 'other', new ThingSet(members)),
    );
    fixture.change((transaction) => transaction.deleteProperty(fixture.group.store.root, 'set'));
    fixture.change((transaction) => transaction.renameProperty(fixture.group.store.root, 'other', 'set'));
    const { ids } = fixture;
    fixture.checkpoint();
    fixture.reopen();
    expect(fixture.ids).toEqual(ids);
    expect(ids[0]).toBeGreaterThan(ids[2999] as number);
  });

  test('is one record again when it got small, and leaves no record behind when it goes', () => {
    const fixture = new Fixture(5000);
    fixture.checkpoint();
    expect(fixture.count).toBe(1 + 5);
    fixture.reopen();
    fixture.remove(400, 1);
    fixture.failedCheckpoint();
    fixture.checkpoint();
    expect([fixture.count, fixture.ids.length]).toEqual([1, 400]);
    fixture.add(5000);
    fixture.checkpoint();
    expect(fixture.count).toBeGreaterThan(5);
    fixture.change((transaction) => transaction.deleteProperty(fixture.group.store.root, 'set'));
    fixture.checkpoint();
    expect([...fixture.records.keys()]).toEqual(['1:0']);
  });

  test('tells to which things it refers without coming into memory', () => {
    const fixture = new Fixture(3000);
    const { ids } = fixture;
    fixture.checkpoint();
    fixture.reopen();
    const seen: number[] = [];
    fixture.group.store.visitReferences(1, (id) => seen.push(id));
    expect(seen).toEqual(ids);
    expect(fixture.group.store.table.size).toBe(0);
  });

  const shapes: readonly [string, (things: Thing[]) => Thing[], rounds: number][] = [
    ['in the order of their ids', (things) => things, 1],
    ['in another order', (things) => things.reverse(), 1],
    ['whose orders are far apart', (things) => things.reverse(), 9],
  ];

  test.each(shapes)('a set of members %s comes into memory in several attempts', (_, arrange, rounds) => {
    const fixture = new Fixture(5000);
    for (let i = 0; i < rounds; i++) {
      const things = [...fixture.set.members].filter((_, place) => place % 5 > 0);
      fixture.change((transaction) => {
        transaction.removeMembers(fixture.set, things);
        transaction.addMembers(fixture.set, arrange(things));
      });
    }
    const { ids } = fixture;
    fixture.checkpoint();
    fixture.reopen();
    const { store } = fixture.group;
    const { set } = fixture;
    let charges = 0;
    let attempts = 1;
    const attempt = (): void => {
      set.fill(() => {
        charges += 1;
        if (charges % 3 === 0) throw new Error('the time is over');
      });
    };
    for (; set.held === null && attempts < 100; attempts++) {
      expect(store.bytes).toBe(bytesOf(store.root));
      try {
        attempt();
      } catch {}
    }
    expect(fixture.ids).toEqual(ids);
    expect(attempts).toBeGreaterThan(3);
    expect(charges).toBeLessThan(30);
    expect(store.recordReads).toBe(1 + 5);
  });

  test.each([3, 8, 1000])('leaves memory with the %i parts of it that are there', (parts) => {
    const fixture = new Fixture(5000);
    fixture.checkpoint();
    fixture.reopen();
    const { store } = fixture.group;
    const { set } = fixture;
    let left = parts;
    const work = (): void => {
      set.fill(() => {
        left -= 1;
        if (left === 0) throw new Error('the time is over');
      });
    };
    if (parts < 1000) expect(work).toThrow();
    else work();
    const present = store.table.size - 1;
    expect(present === 0).toBe(parts < 8);
    expect(store.bytes).toBe(bytesOf(store.root));
    store.unload(store.root, false);
    expect([...store.table.inOrder()].map(({ holders }) => holders)).toEqual(new Array(present + 1).fill(0));
    expect(store.bytes).toBe(0);
    // A query knows it still.
    expect(set.members.size).toBe(5000);
    expect([...store.table.inOrder()].every(({ holders }) => holders === 0)).toBe(true);
  });

  test('has the same members in the same order whatever of it is in memory', () => {
    const step = fc.record({
      kind: fc.constantFrom(
        'add',
        'remove',
        'move',
        'fill',
        'fill',
        'checkpoint',
        'rest',
        'reopen',
        'reopen',
      ),
      count: fc.constantFrom(1, 3, 700, 1500),
      from: fc.nat(5000),
      fails: fc.boolean(),
      charges: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 12 }), (steps) => {
        const [hot, cold] = [new Fixture(3000), new Fixture(3000)];
        for (const { kind, count, from, fails, charges } of steps) {
          const { ids } = hot;
          const picked = ids.slice(from % ids.length).slice(0, count);
          for (const fixture of [hot, cold]) {
            const { store } = fixture.group;
            const things = picked.map((id) => store.thingOfId(id)).reverse();
            const made = Array.from({ length: count }, () => new Thing(0, store.shapes.empty(), []));
            if (kind === 'add' || kind === 'remove' || kind === 'move') {
              const transaction = fixture.change((changes) => {
                if (kind !== 'add') changes.removeMembers(fixture.set, things);
                if (kind !== 'remove') changes.addMembers(fixture.set, kind === 'add' ? made : things);
              });
              if (fails) transaction.rollback();
            } else if (kind === 'fill') {
              let left = charges;
              try {
                fixture.set.fill(() => {
                  left -= 1;
                  if (left === 0 && fixture === cold) throw new Error('the time is over');
                });
              } catch {}
            } else if (kind === 'checkpoint') fixture.checkpoint();
            else if (kind === 'rest') for (let i = 0; i < 2; i++) store.rest(store.root);
            else {
              fixture.checkpoint();
              fixture.reopen();
            }
          }
          expect(cold.set.size).toBe(hot.ids.length);
        }
        expect(cold.ids).toEqual(hot.ids);
        for (const { id, holders } of cold.group.store.table.inOrder())
          expect(holders).toBe(id === 1 ? 0 : 1);
        for (const fixture of [hot, cold]) fixture.checkpoint();
        expect(cold.shared).toBe(hot.shared);
        cold.reopen();
        hot.reopen();
        expect(cold.ids).toEqual(hot.ids);
      }),
      { numRuns: 40 },
    );
  });

  test('holds what a set would hold after any changes, checkpoints in steps, failures and restarts', () => {
    const change = fc.record({
      kind: fc.constantFrom('add', 'remove', 'replace', 'drop'),
      count: fc.constantFrom(1, 2, 700, 1500),
      from: fc.nat(4000),
      fails: fc.boolean(),
      encoded: fc.nat(3),
    });
    const episode = fc.record({
      before: fc.array(change, { maxLength: 3 }),
      between: fc.array(change, { maxLength: 3 }),
      succeeds: fc.boolean(),
      after: fc.constantFrom('rest', 'reopen', 'nothing'),
    });
    fc.assert(
      fc.property(fc.array(episode, { minLength: 1, maxLength: 5 }), (episodes) => {
        const fixture = new Fixture(PAGED_MEMBERS_MIN + 1500);
        fixture.checkpoint();
        let durable = fixture.ids;
        const make = ({ kind, count, from, fails }: (typeof episodes)[0]['before'][0]): void => {
          const { root } = fixture.group.store;
          const sorted = fixture.ids.sort((a, b) => a - b);
          const transaction =
            kind === 'add'
              ? fixture.add(count)
              : kind === 'remove'
                ? fixture.remove(from, count < 3 ? count : 1_000_000)
                : fixture.change((t) =>
                    t.setProperty(root, 'set', new ThingSet(kind === 'drop' ? [] : fixture.set.members)),
                  );
          if (!fails) return;
          transaction.rollback();
          expect(fixture.ids.sort((a, b) => a - b)).toEqual(sorted);
        };
        for (const { before, between, succeeds, after } of episodes) {
          before.forEach(make);
          const begun = fixture.ids;
          fixture.begin();
          for (const each of between) {
            fixture.encode(each.encoded);
            make(each);
          }
          fixture.finish(succeeds);
          if (succeeds) durable = begun;
          if (after === 'reopen') {
            fixture.reopen();
            expect(fixture.ids).toEqual(durable);
          } else if (after === 'rest')
            for (let i = 0; i < 2; i++) fixture.group.store.rest(fixture.group.store.root);
        }
        fixture.checkpoint();
        const { ids } = fixture;
        fixture.reopen();
        expect(fixture.ids.sort((a, b) => a - b)).toEqual(ids.sort((a, b) => a - b));
        const { store } = fixture.group;
        expect(fixture.count).toBe(1 + (store.homeOf(store.root)?.numbers.all.length ?? 0));
      }),
      { numRuns: 100 },
    );
  });
});
