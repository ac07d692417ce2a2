import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersistedCollection } from '../testing/persisted.js';
import { brokenRules, stateLines } from '../testing/state-lines.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Marking } from './marking.js';
import { takeBack } from './transaction.js';

/** A collection of things that refer to each other, by numbers of our own. */
class Graph {
  readonly collection = new PersistedCollection();
  private readonly ids = new Map<number, number>();

  /** The thing of a number; 0 is the root. */
  thing(number: number): Thing | undefined {
    const { store } = this.collection.group;
    const thing = number === 0 ? store.root : store.find(this.ids.get(number) ?? -1);
    if (thing !== undefined) store.load(thing);
    return thing;
  }

  /** Makes `from` refer to `to` under a key, in one of three ways; `to` is made when it is new. */
  link(from: number, key: string, to: number, way: 'property' | 'list' | 'set'): void {
    const source = this.thing(from);
    if (source === undefined || (to !== 0 && this.ids.has(to) && this.thing(to) === undefined)) return;
    const { store } = this.collection.group;
    const target = this.thing(to) ?? new Thing(0, store.shapes.empty(), []);
    const value: Value =
      way === 'property' ? target : way === 'list' ? new List([target, 7]) : new ThingSet([target]);
    this.collection.change((transaction) => transaction.setProperty(source, key, value));
    this.ids.set(to, target.id);
  }

  unlink(from: number, key: string): void {
    const source = this.thing(from);
    if (source?.get(key) === undefined) return;
    this.collection.change((transaction) => transaction.deleteProperty(source, key));
  }

  /** Numbers of the things that the root reaches. */
  reachable(): Set<number> {
    const { store } = this.collection.group;
    const reached = new Set<number>([store.root.id]);
    for (const id of reached) store.visitReferences(id, (child) => reached.add(child));
    return new Set([...this.ids].filter(([, id]) => reached.has(id)).map(([number]) => number));
  }

  present(): Set<number> {
    return new Set([...this.ids.keys()].filter((number) => this.thing(number) !== undefined));
  }

  collect(marking: Marking): ReturnType<PersistedCollection['change']> {
    while (marking.step(1));
    const garbage = marking.next();
    const change = this.collection.change((transaction) => transaction.removeGarbage(garbage));
    expect(marking.next()).toEqual([]);
    return change;
  }
}

describe('circles of garbage', () => {
  test('a thing that refers to itself goes when nothing else does', () => {
    const graph = new Graph();
    graph.link(0, 'a', 1, 'property');
    graph.link(1, 'self', 1, 'list');
    graph.unlink(0, 'a');
    expect(graph.present()).toEqual(new Set([1]));

    graph.collect(new Marking(graph.collection.group.store));
    expect(graph.present()).toEqual(new Set());
    expect(brokenRules(graph.collection.group)).toEqual([]);
  });

  test('a thing that is attached again while the search is under way stays', () => {
    const graph = new Graph();
    graph.link(0, 'a', 1, 'property');
    graph.link(1, 'b', 2, 'property');
    graph.link(2, 'c', 1, 'property');
    graph.unlink(0, 'a');
    const marking = new Marking(graph.collection.group.store);
    while (marking.step(1));
    graph.link(0, 'again', 2, 'property');
    graph.collect(marking);
    expect(graph.present()).toEqual(new Set([1, 2]));
  });

  test('a thing that goes is in memory by then, with what it refers to', () => {
    const graph = new Graph();
    graph.link(0, 'a', 1, 'property');
    graph.link(1, 'b', 2, 'set');
    graph.link(2, 'a', 1, 'list');
    graph.link(2, 'c', 3, 'property');
    graph.link(0, 'c', 3, 'property');
    graph.unlink(0, 'a');
    graph.collection.checkpoint();
    graph.collection.reopen();
    const { store } = graph.collection.group;
    const marking = new Marking(store);
    while (marking.step(1));
    const { recordReads } = store;
    graph.collection.change((transaction) => transaction.removeGarbage(marking.next()));
    expect(store.recordReads).toBe(recordReads);
    expect(graph.present()).toEqual(new Set([3]));
  });

  test('a step reads the record of a thing that it follows, and not those of all that this refers to', () => {
    const graph = new Graph();
    graph.link(0, 'a', 1, 'property');
    for (let number = 2; number < 60; number++) graph.link(1, `k${number}`, number, 'list');
    graph.link(1, 'self', 1, 'property');
    graph.unlink(0, 'a');
    graph.collection.checkpoint();
    graph.collection.reopen();
    const { store } = graph.collection.group;
    const marking = new Marking(store);
    for (let isMore = true; isMore; ) {
      const { recordReads } = store;
      isMore = marking.step(1);
      expect(store.recordReads - recordReads).toBeLessThan(5);
    }
    graph.collect(marking);
    expect(graph.present()).toEqual(new Set());
  });

  test('a thing that became garbage while the search was under way keeps what it refers to until it goes itself', () => {
    const graph = new Graph();
    graph.link(0, 'a', 1, 'property');
    graph.link(1, 'b', 2, 'property');
    graph.link(2, 'a', 1, 'property');
    graph.link(1, 'u', 3, 'property');
    graph.link(3, 'self', 3, 'property');
    graph.link(0, 'u', 3, 'property');
    graph.unlink(0, 'u');
    const marking = new Marking(graph.collection.group.store);
    graph.unlink(0, 'a');
    graph.collect(marking);
    graph.collection.checkpoint();
    graph.collection.reopen();
    expect(brokenRules(graph.collection.group)).toEqual([]);
    graph.collect(new Marking(graph.collection.group.store));
    expect(graph.present()).toEqual(new Set());
  });

  test.each([1, 2, 3, 4, 5])(
    'a thing that changes by its id after %i steps of the search goes as well, once',
    (steps) => {
      const graph = new Graph();
      graph.link(0, 'a', 1, 'property');
      graph.link(1, 'b', 2, 'property');
      graph.link(2, 'a', 1, 'property');
      graph.link(2, 'c', 3, 'property');
      graph.link(2, 'd', 4, 'property');
      graph.link(4, 'self', 4, 'property');
      graph.link(4, 'e', 5, 'property');
      graph.link(5, 'self', 5, 'property');
      graph.unlink(0, 'a');
      const marking = new Marking(graph.collection.group.store);
      marking.step(steps);
      graph.unlink(2, 'c');
      graph.unlink(2, 'd');
      graph.collect(marking);
      expect(graph.present()).toEqual(new Set());
      expect(brokenRules(graph.collection.group)).toEqual([]);
    },
  );

  test('many go in portions of whole circles, and what is found by its id meanwhile stays whole', () => {
    const graph = new Graph();
    const { group } = graph.collection;
    const COUNT = 800;
    for (let i = 1; i <= COUNT; i++) {
      const [a, b, c] = [3 * i, 3 * i + 1, 3 * i + 2];
      graph.link(0, `k${i}`, a, 'property');
      graph.link(a, 'b', b, i % 2 ? 'list' : 'set');
      graph.link(b, 'a', a, 'property');
      graph.link(b, 'c', c, 'property');
      graph.link(c, 'self', c, 'property');
      graph.unlink(0, `k${i}`);
    }
    const marking = new Marking(group.store);
    while (marking.step(10));
    const portions: number[] = [];
    for (let ids = marking.next(); ids.length > 0; ids = marking.next()) {
      portions.push(ids.length);
      graph.collection.change((transaction) => transaction.removeGarbage(ids));
      graph.collection.checkpoint();
      expect(brokenRules(group)).toEqual([]);
      if (portions.length > 1) continue;
      const left = [...graph.present()].find((number) => number > 0 && number % 3 === 1) ?? 0;
      graph.link(0, 'found', left, 'property');
      while (marking.step(10));
    }
    expect(portions.length).toBeGreaterThan(2);
    expect(portions.reduce((sum, count) => sum + count)).toBe(3 * COUNT - 3);
    const { size } = graph.present();
    expect([size - Number(graph.present().has(0)), group.store.marking]).toEqual([3, null]);
  });

  test.each(['before the search begins', 'while the search goes on'])(
    'suspects survive a restart %s',
    (when) => {
      const graph = new Graph();
      graph.link(0, 'a', 1, 'property');
      graph.link(1, 'self', 1, 'property');
      graph.unlink(0, 'a');
      if (when.startsWith('while')) new Marking(graph.collection.group.store).step(1);
      graph.collection.checkpoint();
      graph.collection.reopen();
      graph.collect(new Marking(graph.collection.group.store));
      expect(graph.present()).toEqual(new Set());
    },
  );

  test('exactly what the root does not reach goes, whatever changes meanwhile, and it can be taken back', () => {
    const number = fc.integer({ min: 0, max: 12 });
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('link' as const),
        from: number,
        key,
        to: number,
        way: fc.constantFrom('property' as const, 'list' as const, 'set' as const),
      }),
      fc.record({ kind: fc.constant('unlink' as const), from: number, key }),
      fc.record({ kind: fc.constant('mark' as const), things: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('reopen' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const graph = new Graph();
        let marking: Marking | null = null;
        for (const s of steps) {
          if (s.kind === 'link') graph.link(s.from, s.key, s.to, s.way);
          else if (s.kind === 'unlink') graph.unlink(s.from, s.key);
          else if (s.kind === 'reopen') {
            marking?.abandon();
            marking = null;
            graph.collection.checkpoint();
            graph.collection.reopen();
          } else {
            marking ??= new Marking(graph.collection.group.store);
            marking.step(s.things);
          }
        }
        // Things dropped while the first search was under way may take a second one, and are whole until then.
        if (marking !== null) graph.collect(marking);
        const { group } = graph.collection;
        expect(brokenRules(group)).toEqual([]);
        expect(new Set([...graph.reachable()].filter((n) => !graph.present().has(n)))).toEqual(new Set());

        const before = stateLines(group);
        const reachable = graph.reachable();
        const transaction = graph.collect(new Marking(group.store));
        reachable.delete(0);
        const present = graph.present();
        present.delete(0);
        expect(present).toEqual(reachable);
        expect(brokenRules(group)).toEqual([]);

        const effects = transaction.effects.take();
        takeBack(transaction.inverse);
        expect(stateLines(group)).toEqual(before);
        group.apply(effects);
        expect(graph.present().size - (graph.present().has(0) ? 1 : 0)).toBe(reachable.size);
        expect(brokenRules(group)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
