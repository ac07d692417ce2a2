import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../../testing/persisted.js';
import { ThingSet } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import { sharedThing } from '../thing-walk.js';
import type { Transaction } from '../transaction.js';
import { isPagedSet, PAGED_MEMBERS_MIN } from './member-pages.js';

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
  test('of half a million members lies in pages, of which one that is added writes one', () => {
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
        const { set } = fixture;
        expect(fixture.count).toBe(1 + (isPagedSet(set) ? set.backing.recordNumbers.length : 0));
      }),
      { numRuns: 100 },
    );
  });
});
