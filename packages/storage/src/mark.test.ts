import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seeded } from 'raft-ts';
import { crc32c } from './crc32c.js';
import { type DiskOperation, MemoryDisk } from './disk/memory-disk.js';
import { NewerFormatError } from './errors.js';
import { decodeMark, encodeMark, MarkFile } from './mark.js';
import { EventQueue } from './testing/events.js';

describe('mark slots', () => {
  test('come back, and no flipped bit passes', () => {
    const u53 = fc.maxSafeNat();
    fc.assert(
      fc.property(u53, fc.tuple(u53, u53, u53, u53), fc.nat(56 * 8 - 1), (generation, values, bit) => {
        const slot = encodeMark(generation, values);
        expect(decodeMark(slot)).toEqual({ generation, values });
        slot[bit >> 3]! ^= 1 << (bit & 7);
        expect(decodeMark(slot)).toBeUndefined();
      }),
    );
  });

  test('mark slots of a later format are told as such', () => {
    const slot = encodeMark(1, [1, 2, 3, 4]);
    slot.writeUInt32LE(2, 12);
    slot.writeUInt32LE(crc32c(slot, 12), 8);
    expect(() => decodeMark(slot)).toThrow(NewerFormatError);
  });
});

describe('MarkFile', () => {
  test('keeps the newest values, and merges what comes during a write', async () => {
    const disk = new MemoryDisk();
    const mark = await MarkFile.create(disk, 'mark', [0, 0, 0, 0]);
    await disk.sync();
    for (let value = 1; value <= 9; value++) mark.set([value, 0, 0, 0]);
    await mark.settled();
    await mark.close();
    expect((await MarkFile.open(disk, 'mark'))?.values).toEqual([9, 0, 0, 0]);
  });

  test('torn at any byte, still tells what it told before or what was being written', async () => {
    for (let seed = 0; seed < 200; seed++) {
      const events = new EventQueue<DiskOperation>();
      const disk = new MemoryDisk({ defer: (operation, complete) => events.push(operation, complete) });
      const mark = await events.runUntil(MarkFile.create(disk.attach(), 'mark', [1, 1, 1, 1]));
      await events.runUntil(disk.sync());
      for (let value = 2; value < 2 + (seed % 4); value++) {
        mark.set([value, value, value, value]);
        await events.runUntil(mark.settled());
      }
      const durable = mark.durable[0];
      mark.set([durable + 1, durable + 1, durable + 1, durable + 1]);
      disk.crash(seeded(seed));
      events.clear();
      const found = (await events.runUntil(MarkFile.open(disk.attach(), 'mark')))?.values;
      expect(found?.every((value) => value === found[0])).toBe(true);
      expect([durable, durable + 1]).toContain(found?.[0]);
    }
  });

  test('lags while the disk has no room, keeps what it told, and goes on', async () => {
    const disk = new MemoryDisk();
    const mark = await MarkFile.create(disk, 'mark', [0, 0, 0, 0]);
    for (const value of [1, 2]) {
      mark.set([value, 0, 0, 0]);
      await mark.settled();
    }
    // However often it is tried, and however each attempt is torn,
    disk.fault = ({ kind }) =>
      kind === 'write' ? { kind: 'error', errno: 'ENOSPC', writtenBytes: 20 } : undefined;
    for (const value of [3, 4, 5]) {
      mark.set([value, 0, 0, 0]);
      await expect(mark.settled()).rejects.toMatchObject({ errno: 'ENOSPC' });
      expect(mark.error).toBeUndefined();
      // what it told before can still be read.
      expect((await MarkFile.open(disk, 'mark'))?.values).toEqual([2, 0, 0, 0]);
    }
    await mark.settledIfRoom();
    disk.fault = () => undefined;
    mark.set([6, 0, 0, 0]);
    await mark.settled();
    expect((await MarkFile.open(disk, 'mark'))?.values).toEqual([6, 0, 0, 0]);
  });

  test('tells a failed write', async () => {
    const disk = new MemoryDisk();
    const mark = await MarkFile.create(disk, 'mark', [0, 0, 0, 0]);
    disk.fault = () => ({ kind: 'error', errno: 'EIO' });
    mark.set([1, 0, 0, 0]);
    await expect(mark.settled()).rejects.toMatchObject({ errno: 'EIO' });
    expect(mark.error).toMatchObject({ errno: 'EIO' });
  });
});
