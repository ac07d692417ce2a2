import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { describeKeyValueStore } from './key-value-store.contract.js';
import type { KeyValueStore } from './key-value-store.js';
import { MemoryStore } from './memory-store.js';

describeKeyValueStore(
  'MemoryStore',
  async () => new MemoryStore().attach(),
  async () => {},
);

describe('MemoryStore', () => {
  const one = Buffer.from('1');

  function put(store: KeyValueStore, keys: string, sync: boolean): Promise<void> {
    const batch = store.batch();
    for (const key of keys) batch.put(Buffer.from(key), one);
    return batch.write({ sync });
  }

  test('a MemoryStore at a power cut keeps what is synced, and of the rest whole batches', async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 60; seed++) {
      const medium = new MemoryStore();
      const store = medium.attach();
      await put(store, 'ab', true);
      await put(store, 'cd', false);
      await put(store, 'ef', true);
      void put(store, 'gh', true);
      medium.crash(seeded(seed));
      seen.add(medium.keys().join(''));
      expect(medium.keys().join('')).toContain('ab');
    }
    expect([...seen].sort()).toEqual(['abcdef', 'abcdefgh', 'abef', 'abefgh']);
  });

  test('a flush makes durable what was written before it', async () => {
    const medium = new MemoryStore();
    const store = medium.attach();
    await put(store, 'a', false);
    await store.flush();
    await put(store, 'b', false);
    medium.crash(() => 0.9);
    expect(medium.keys().join('')).toBe('a');
  });

  test('a lying sync may be lost', async () => {
    const medium = new MemoryStore({ fault: () => 'lie' });
    await put(medium.attach(), 'a', true);
    medium.crash(() => 0.9);
    expect(medium.keys()).toEqual([]);
  });

  test('the end of the process alone loses nothing that was issued', async () => {
    const medium = new MemoryStore();
    void put(medium.attach(), 'a', false);
    medium.kill();
    expect(medium.attach().getSync(Buffer.from('a'))).toEqual(one);
  });

  test('faults are typed errors, and leave nothing', async () => {
    const medium = new MemoryStore();
    medium.fault = () => 'ENOSPC';
    await expect(put(medium.attach(), 'a', true)).rejects.toMatchObject({ code: 'disk_full' });
    medium.fault = () => 'EIO';
    await expect(put(medium.attach(), 'a', true)).rejects.toMatchObject({ code: 'disk_error' });
    expect(medium.keys()).toEqual([]);
  });
});
