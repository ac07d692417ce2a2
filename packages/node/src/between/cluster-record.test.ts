import { MemoryDisk } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import {
  CLUSTER_FILE_NAMES,
  ClusterFile,
  ClusterFileError,
  type ClusterState,
  decodeClusterFile,
  encodeClusterFile,
} from './cluster-record.js';

const founders = [
  { nodeId: 2 ** 48 - 1, name: 'one', host: 'one.example', port: 9220 },
  { nodeId: 1, name: 'zwei ß', host: '::1', port: 1 },
];
const clusterId = Uint8Array.from({ length: 16 }, (_, at) => at);

const states: readonly ClusterState[] = [
  { kind: 'empty' },
  { kind: 'promised', proposal: { round: 7, clusterId, founders } },
  { kind: 'member', record: { clusterId, founders } },
  { kind: 'member', record: { clusterId, founders: null } },
];

describe('the bytes', () => {
  test.each(states)('come out as they went in: %j', (state) => {
    expect(decodeClusterFile(encodeClusterFile(12, state))).toEqual({ starts: 12, state });
  });

  test('any flipped bit and any missing end is noticed', () => {
    const bytes = encodeClusterFile(3, states[1]!);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] = flipped[bit >> 3]! ^ (1 << (bit & 7));
      expect(() => decodeClusterFile(flipped)).toThrow(ClusterFileError);
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeClusterFile(bytes.subarray(0, length))).toThrow(ClusterFileError);
    }
  });
});

describe('the file', () => {
  test('remembers, counts the starts, and gives each start a higher incarnation', async () => {
    const disk = new MemoryDisk();
    const incarnations: number[] = [];
    let expected: ClusterState = { kind: 'empty' };
    for (const state of states) {
      // The clock may go back between starts.
      const file = await ClusterFile.open(disk, 1_000_000 - incarnations.length * 10_000);
      expect(file.load()).toEqual(expected);
      incarnations.push(file.incarnation);
      await file.save(state);
      expect(file.load()).toEqual(state);
      expected = state;
    }
    expect(incarnations).toEqual([...incarnations].sort((a, b) => a - b));
    expect(new Set(incarnations).size).toBe(states.length);
    for (const { name } of await disk.list()) expect(CLUSTER_FILE_NAMES).toContain(name);
  });

  test('copies of a folder that start at different times are different processes', async () => {
    const first = await ClusterFile.open(new MemoryDisk(), 1_000_000);
    const second = await ClusterFile.open(new MemoryDisk(), 1_000_100);
    expect(second.incarnation).toBeGreaterThan(first.incarnation);
  });

  test('a crash at any operation leaves the old state or the new one, and what was acknowledged stays', async () => {
    for (let stopAt = 0; stopAt < 12; stopAt++) {
      for (let seed = 1; seed <= 20; seed++) {
        let operations = 0;
        let isCut = false;
        const disk = new MemoryDisk({
          defer: (_, complete) => {
            if (operations++ < stopAt) queueMicrotask(complete);
            else isCut = true;
          },
        });
        let acknowledged: ClusterState | null = null;
        const work = ClusterFile.open(disk, 0).then(async (file) => {
          acknowledged = states[0]!;
          await file.save(states[1]!);
          acknowledged = states[1]!;
        });
        await Promise.race([work, turns(60)]);
        disk.crash(randomFrom(seed * 31 + stopAt));
        operations = Number.NEGATIVE_INFINITY;
        const file = await ClusterFile.open(disk, 0);
        const possible = acknowledged === states[1] || !isCut ? [states[1]] : [states[0], states[1]];
        expect(possible).toContainEqual(file.load());
      }
    }
  });

  test('a full disk does not keep a node from starting, only from changing its cluster', async () => {
    const disk = new MemoryDisk();
    const before = await ClusterFile.open(disk, 0);
    await before.save(states[2]!);
    disk.fault = ({ kind }) => (kind === 'create' ? { kind: 'error', errno: 'ENOSPC' } : undefined);
    const file = await ClusterFile.open(disk, 0);
    expect(file.load()).toEqual(states[2]);
    expect(file.incarnation).toBeGreaterThan(before.incarnation);
    await expect(file.save(states[3]!)).rejects.toThrow('ENOSPC');
    expect(file.load()).toEqual(states[2]);
  });

  test('a damaged file, or one of a later version, is not taken for an empty one', async () => {
    const disk = new MemoryDisk();
    await (await ClusterFile.open(disk, 0)).save(states[2]!);
    disk.flip('cluster', 200);
    await expect(ClusterFile.open(disk, 0)).rejects.toMatchObject({ name: 'ClusterFileError', exitCode: 4 });
  });
});

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await Promise.resolve();
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
