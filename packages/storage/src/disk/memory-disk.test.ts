import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seeded } from 'raft-ts';
import { describeDisk } from './disk.contract.js';
import { writeDurably } from './disk.js';
import { MemoryDisk } from './memory-disk.js';

describeDisk(
  'MemoryDisk',
  async () => new MemoryDisk({ capacityBytes: 1 << 30 }),
  async () => {},
);

describe('MemoryDisk at a power cut', () => {
  test('keeps every acknowledged write under a synced name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.array(fc.tuple(fc.nat(90), fc.uint8Array({ maxLength: 10 }))),
        async (seed, writes) => {
          const disk = new MemoryDisk();
          const file = await disk.create('a', 100);
          await disk.sync();
          for (const [position, bytes] of writes) await writeDurably(file, bytes, position);
          const before = disk.content('a');
          expect(disk.isSynced('a')).toBe(true);
          disk.crash(seeded(seed));
          expect(disk.content('a')).toEqual(before);
        },
      ),
    );
  });

  test('may lose, keep or tear a write that was not acknowledged', () => {
    const seen = new Set<string>();
    return (async () => {
      for (let seed = 0; seed < 200; seed++) {
        const disk = new MemoryDisk({
          defer: (operation, complete) => operation.kind !== 'write' && complete(),
        });
        const file = await disk.create('a', 4);
        await disk.sync();
        file.write([Buffer.from('abcd')], 0, () => {});
        expect(disk.isSynced('a')).toBe(false);
        disk.crash(seeded(seed));
        seen.add(disk.content('a').toString('latin1').replaceAll('\0', '.'));
      }
      expect(seen).toContain('....');
      expect(seen).toContain('abcd');
      expect(seen).toContain('ab..');
      expect(seen).toContain('.bc.');
    })();
  });

  test('never brings an older write back over a newer, synced one', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const disk = new MemoryDisk();
      const file = await disk.create('a', 6);
      await disk.sync();
      disk.fault = (operation) => (operation.kind === 'write' ? { kind: 'lie' } : undefined);
      await writeDurably(file, Buffer.from('old'), 1);
      disk.fault = () => undefined;
      await writeDurably(file, Buffer.from('new'), 2);
      disk.crash(seeded(seed));
      expect(disk.content('a').subarray(2, 5).toString()).toBe('new');
    }
  });

  test('forgets names that were not synced, newest first', async () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const disk = new MemoryDisk();
      await disk.create('a', 1);
      await disk.sync();
      await disk.create('b', 1);
      await disk.rename('a', 'c');
      disk.crash(seeded(seed));
      seen.add((await disk.list()).map((entry) => entry.name).join(''));
    }
    expect([...seen].sort()).toEqual(['a', 'ab', 'bc']);
  });

  test('loses what a lying disk had acknowledged', async () => {
    const lost = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const disk = new MemoryDisk();
      const file = await disk.create('a', 3);
      await disk.sync();
      disk.fault = () => ({ kind: 'lie' });
      await writeDurably(file, Buffer.from('lie'), 0);
      disk.crash(seeded(seed));
      lost.add(disk.content('a').toString('latin1'));
    }
    expect(lost).toContain('\0\0\0');
  });

  test('the end of the process alone keeps the cache, and a later power cut may take it', async () => {
    const lost = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const disk = new MemoryDisk({
        defer: (operation, complete) => operation.kind !== 'write' && complete(),
      });
      const file = await disk.create('a', 3);
      await disk.sync();
      file.write([Buffer.from('abc')], 0, () => {});
      disk.kill();
      expect(disk.content('a').toString()).toBe('abc');
      expect(() => file.read(0, 1)).toThrow('EBADF');
      disk.crash(seeded(seed));
      lost.add(disk.content('a').toString('latin1'));
    }
    expect(lost).toContain('\0\0\0');
  });
});

describe('MemoryDisk with faults', () => {
  test('fails as told, telling how much was written', async () => {
    const disk = new MemoryDisk();
    const file = await disk.create('a', 8);
    disk.fault = (operation) =>
      operation.kind === 'write' ? { kind: 'error', errno: 'EIO', writtenBytes: 2 } : undefined;
    await expect(writeDurably(file, Buffer.from('abcd'), 0)).rejects.toMatchObject({
      errno: 'EIO',
      writtenBytes: 2,
    });
    expect(file.read(0, 4).toString('latin1')).toBe('ab\0\0');
  });

  test('is full at its capacity, and has room again after a removal', async () => {
    const disk = new MemoryDisk({ capacityBytes: 100 });
    await disk.create('a', 60);
    await expect(disk.create('b', 60)).rejects.toMatchObject({ errno: 'ENOSPC' });
    await disk.remove('a');
    expect(await disk.freeBytes()).toBe(100);
    await disk.create('b', 60);
  });

  test('flips the bit asked for', async () => {
    const disk = new MemoryDisk();
    await disk.create('a', 2);
    disk.flip('a', 11);
    expect([...disk.content('a')]).toEqual([0, 8]);
  });
});
