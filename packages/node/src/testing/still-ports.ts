/**
 * Ports of an engine side for tests, where nothing happens by itself: a disk in memory that always has room, random
 * numbers that are none, and nobody who is told. A test replaces those that it is about.
 */
import type { EngineOptions } from '@althing/engine';
import { DEFAULT_LIMITS } from '@althing/engine';
import type { EnginePorts, EngineSettings, StateDisk } from '../engine-side/ports.js';
import type { State } from '../groups/state.js';

type Clocks = Pick<EnginePorts['environment'], 'now' | 'monotonic'>;

/** @param seed the byte that all random bytes are */
export function stillEnvironment(clocks: Clocks, seed = 0): EnginePorts['environment'] {
  return {
    ...clocks,
    randomBytes: (count) => new Uint8Array(count).fill(seed),
    random: () => 0.5,
    heapUsed: () => 0,
    heapFull: () => false,
    isCancelled: () => false,
    log: () => {},
    node: null,
  };
}

export function roomyDisk(state: State): StateDisk {
  return {
    state,
    reserve: {
      hasReserve: false,
      releaseReserve: () => Promise.resolve(),
      restoreReserve: () => Promise.resolve(),
    },
    freeBytes: () => Promise.resolve(Number.MAX_SAFE_INTEGER),
    bytesToReopen: () => Promise.resolve(1),
    reserveBytes: 0,
  };
}

/** A node that is ready, and may go at once. */
export const READY: Pick<EnginePorts, 'departs' | 'status'> = {
  departs: () => Promise.resolve(),
  status: () => ({ status: 'READY', committed: 0, stored: 0, zone: 0 }),
};

/** @param tokensPerUser how many a user may have */
export function engineOf(tokensPerUser: number): EngineSettings['engine'] {
  const quotas: EngineOptions['quotas'] = {
    tokensPerUser,
    users: 100,
    collections: 100,
    procedures: 100,
    tasks: 500,
    sessions: { idleMs: 1_800_000, maxMs: 43_200_000 },
  };
  return { limits: DEFAULT_LIMITS, quotas, programCacheBytes: 1_000_000 };
}
