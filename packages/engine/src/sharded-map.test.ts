import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ShardedMap } from './sharded-map.js';

test('a sharded map has what a map has', () => {
  const id = fc.oneof(fc.nat(1000), fc.nat());
  fc.assert(
    fc.property(fc.array(fc.tuple(id, fc.string())), (entries) => {
      const [sharded, map] = [new ShardedMap<string>(), new Map(entries)];
      for (const [key, value] of entries) sharded.set(key, value);
      expect([...sharded.keys()].sort()).toEqual([...map.keys()].sort());
      expect([...sharded.values()].sort()).toEqual([...map.values()].sort());
      for (const key of [0, 256, ...map.keys()])
        expect([sharded.get(key), sharded.has(key)]).toEqual([map.get(key), map.has(key)]);
      sharded.clear();
      expect([...sharded.keys()]).toEqual([]);
    }),
  );
});
