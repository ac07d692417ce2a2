import { describe, expect, test } from '@jest/globals';
import { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import { Dirty } from './dirty.js';

const shapes = new ShapeTree();

function newThing(id: number): Thing {
  return new Thing(id, shapes.empty(), []);
}

describe('what is taken back while a checkpoint is under way', () => {
  test('a new thing is in no checkpoint any more', () => {
    const dirty = new Dirty();
    const [kept, taken] = [newThing(1), newThing(2)];
    dirty.mark(kept);
    dirty.mark(taken);
    const changes = dirty.freeze(() => {});
    dirty.forget(taken);
    expect([...changes.things]).toEqual([kept]);
    expect(dirty.isFrozen(taken)).toBe(false);
    const again: Thing[] = [];
    dirty.refreeze((thing) => again.push(thing));
    expect(again).toEqual([kept]);
    expect(dirty.size).toBe(1);
  });

  test('a removed thing exists again', () => {
    const dirty = new Dirty();
    const thing = newThing(1);
    dirty.remove(thing);
    dirty.freeze(() => {});
    expect(dirty.isRemoved(1)).toBe(true);
    dirty.restore(thing);
    expect(dirty.isRemoved(1)).toBe(false);
    dirty.refreeze(() => {});
    expect(dirty.isRemoved(1)).toBe(false);
    expect([...dirty.freeze(() => {}).things]).toEqual([thing]);
  });

  test('what a failed checkpoint should have removed is removed by the next one', () => {
    const dirty = new Dirty();
    dirty.remove(newThing(1));
    dirty.freeze(() => {});
    dirty.refreeze(() => {});
    expect(dirty.isRemoved(1)).toBe(true);
    expect([...dirty.freeze(() => {}).removed]).toEqual([1]);
  });
});
