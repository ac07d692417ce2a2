import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { MemoryDisk } from '../disk/memory-disk.js';
import { LogModel, stateOf } from '../testing/log-model.js';
import { LogStore } from './log-store.js';
import type { LogOperation } from './types.js';

/**
 * Long histories in which quiet groups pin old segments, so that cleaning copies their entries: before,
 * between and after others of the same group. Whatever the order in which the copies come to lie, a restart
 * finds the same log.
 */
const OPTIONS = { segmentBytes: 2048, cacheBytes: 2000 };
const QUIET = 12;
const BUSY = 100;

async function live(seed: number): Promise<{ found: unknown; expected: unknown; copied: boolean }> {
  const random = seeded(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const disk = new MemoryDisk();
  let store = await LogStore.open(disk.attach(), OPTIONS);
  let model = new LogModel();
  let payloads = 0;
  let appended = 0;
  let copied = false;
  const append = async (operations: LogOperation[]): Promise<void> => {
    model = model.after(operations);
    appended += operations.length;
    await store.appended(operations);
  };
  const compact = async (group: number, upTo: number): Promise<void> => {
    model = model.compacted(group, upTo);
    if (upTo > 0) await store.compact(group, upTo);
  };
  const entries = (group: number, back: number, count: number, size: number): LogOperation[] => {
    const sizes = Array.from({ length: count }, () => below(size));
    return model.entriesFor(group, back, sizes, below(4) === 0, () => ++payloads);
  };
  for (let group = 0; group < QUIET; group++) await append(entries(group, 0, 1 + below(4), 200));
  for (let round = 0; round < 250; round++) {
    await append(entries(BUSY + below(2), 0, 3, 300));
    for (const group of [BUSY, BUSY + 1]) await compact(group, model.lastIndex(group) - below(4));
    const group = below(QUIET);
    const luck = below(40);
    if (luck < 4) await append(entries(group, below(3), 1 + below(2), 200));
    else if (luck === 4) await compact(group, model.lastIndex(group) - below(3));
    else if (luck === 5) await append([{ kind: 'drop', group }]);
    else if (luck === 6) await append([model.resetFor(group, below(4))]);
    else if (luck === 7 && below(3) === 0) {
      copied ||= store.stats().records > appended + 20;
      await store.close();
      store = await LogStore.open(disk.attach(), OPTIONS);
      expect(stateOf(store)).toEqual(model.state());
      appended = 0;
    }
  }
  copied ||= store.stats().records > appended + 20;
  const { bytes, liveBytes } = store.stats();
  expect(bytes).toBeLessThan(4 * liveBytes + 12 * OPTIONS.segmentBytes);
  disk.crash(random);
  const found = stateOf(await LogStore.open(disk.attach(), OPTIONS));
  return { found, expected: model.state(), copied };
}

describe('cleaning', () => {
  test('keeps every log as it is, in a bounded space', async () => {
    let copied = 0;
    for (let seed = 0; seed < 15; seed++) {
      const outcome = await live(seed);
      expect({ seed, state: outcome.found }).toEqual({ seed, state: outcome.expected });
      if (outcome.copied) copied++;
    }
    expect(copied).toBeGreaterThan(5);
  });
});
