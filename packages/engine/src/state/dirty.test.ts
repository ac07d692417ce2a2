import { describe, expect, test } from '@jest/globals';
import { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import { Dirty } from './dirty.js';

const shapes = new ShapeTree();

/** Things that are in memory, and what is dirty of them. */
class Memory {
  readonly things = new Map<number, Thing>();
  readonly dirty = new Dirty((id) => this.things.get(id));

  newThing(id: number): Thing {
    const thing = new Thing(id, shapes.empty(), []);
    this.things.set(id, thing);
    return thing;
  }

  /** Takes back that a thing was made. */
  unmake(thing: Thing): void {
    this.things.delete(thing.id);
    this.dirty.forget(thing);
  }

  remove(thing: Thing): void {
    this.dirty.remove(thing, [0]);
    this.things.delete(thing.id);
  }

  restore(thing: Thing): void {
    this.things.set(thing.id, thing);
    this.dirty.restore(thing);
  }

  /** The things that a checkpoint still has to encode. */
  toEncode(ids: Iterable<number>): Thing[] {
    return [...ids].flatMap((id) => this.dirty.frozenThing(id) ?? []);
  }
}

describe('changes taken back while a checkpoint is under way', () => {
  test('a new thing is in no checkpoint any more', () => {
    const memory = new Memory();
    const { dirty } = memory;
    const [kept, taken] = [memory.newThing(1), memory.newThing(2)];
    dirty.mark(kept);
    dirty.mark(taken);
    const changes = dirty.freeze(() => {});
    memory.unmake(taken);
    expect(memory.toEncode(changes.things)).toEqual([kept]);
    const again: Thing[] = [];
    dirty.refreeze((thing) => again.push(thing));
    expect(again).toEqual([kept]);
    expect(dirty.size).toBe(1);
  });

  test('a removed thing exists again', () => {
    const memory = new Memory();
    const { dirty } = memory;
    const thing = memory.newThing(1);
    memory.remove(thing);
    dirty.freeze(() => {});
    expect(dirty.isRemoved(1)).toBe(true);
    memory.restore(thing);
    expect(dirty.isRemoved(1)).toBe(false);
    dirty.refreeze(() => {});
    expect(dirty.isRemoved(1)).toBe(false);
    expect(memory.toEncode(dirty.freeze(() => {}).things)).toEqual([thing]);
  });

  test('a record that a failed checkpoint should have removed is removed by the next one', () => {
    const memory = new Memory();
    const { dirty } = memory;
    memory.remove(memory.newThing(1));
    dirty.freeze(() => {});
    dirty.refreeze(() => {});
    expect(dirty.isRemoved(1)).toBe(true);
    expect([...dirty.freeze(() => {}).removed].map(([id]) => id)).toEqual([1]);
  });
});

describe('a dirty record', () => {
  test('is what was marked and not taken back, however much came and went', () => {
    const memory = new Memory();
    const { dirty } = memory;
    const kept = memory.newThing(1);
    dirty.mark(kept);
    for (let id = 2; id < 10_000; id += 2) {
      const made = [memory.newThing(id), memory.newThing(id + 1)];
      for (const thing of made) dirty.mark(thing);
      for (const thing of made.reverse()) memory.unmake(thing);
    }
    expect(dirty.size).toBe(1);
    const { things } = dirty.freeze(() => {});
    expect([...things]).toEqual([1]);
    expect(memory.toEncode(things)).toEqual([kept]);
  });

  test('is encoded once, though it was removed and restored', () => {
    const memory = new Memory();
    const { dirty } = memory;
    const things = [memory.newThing(1), memory.newThing(2)];
    for (const thing of things) dirty.mark(thing);
    for (const thing of things) memory.remove(thing);
    expect(dirty.size).toBe(2);
    for (const thing of things) memory.restore(thing);
    expect(dirty.size).toBe(2);
    const changes = dirty.freeze(() => {});
    const encoded: Thing[] = [];
    for (const id of changes.things) {
      const thing = dirty.frozenThing(id);
      if (thing === undefined) continue;
      encoded.push(thing);
      dirty.saved(thing);
    }
    expect(encoded).toHaveLength(2);
    expect(new Set(encoded)).toEqual(new Set(things));
  });

  test('is again what a checkpoint that failed should have written, but for what is gone', () => {
    const memory = new Memory();
    const { dirty } = memory;
    const [encoded, taken, changed, removed] = [1, 2, 3, 4].map((id) => memory.newThing(id)) as [
      Thing,
      Thing,
      Thing,
      Thing,
    ];
    for (const thing of [encoded, taken, changed, removed]) dirty.mark(thing);
    const saved: Thing[] = [];
    dirty.freeze((thing) => saved.push(thing));
    dirty.saved(encoded);
    memory.unmake(taken);
    dirty.mark(changed);
    memory.remove(removed);
    expect(saved).toEqual([changed, removed]);
    const another = memory.newThing(2);
    dirty.mark(another);
    const again: Thing[] = [];
    dirty.refreeze((thing) => again.push(thing));
    expect(new Set(again)).toEqual(new Set([encoded, another, changed]));
    expect(dirty.size).toBe(4);
    const next = dirty.freeze(() => {});
    expect(new Set(memory.toEncode(next.things))).toEqual(new Set([encoded, another, changed]));
    expect([...next.removed].map(([id]) => id)).toEqual([4]);
  });
});

describe('a thing whose record is put as a whole', () => {
  const value = new Uint8Array([1]);

  test('is there again after it was removed', () => {
    const memory = new Memory();
    const { dirty } = memory;
    memory.remove(memory.newThing(1));
    dirty.putThing(1, 0, value);
    expect(dirty.isRemoved(1)).toBe(false);
    const changes = dirty.freeze(() => {});
    expect([changes.removed.size, changes.records.size]).toEqual([0, 1]);
  });

  test('is there again while a checkpoint is under way that removes it, and after that has failed', () => {
    const memory = new Memory();
    const { dirty } = memory;
    memory.remove(memory.newThing(1));
    memory.remove(memory.newThing(2));
    expect(dirty.freeze(() => {}).removed.size).toBe(2);
    dirty.putThing(1, 0, value);
    expect([dirty.isRemoved(1), dirty.isRemoved(2)]).toEqual([false, true]);
    dirty.refreeze(() => {});
    expect([dirty.isRemoved(1), dirty.isRemoved(2)]).toEqual([false, true]);
    expect([...dirty.freeze(() => {}).removed].map(([id]) => id)).toEqual([2]);
  });
});
