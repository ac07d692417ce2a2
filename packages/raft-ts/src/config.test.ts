import { describe, expect, test } from '@jest/globals';
import { DEFAULT_OPTIONS, type RaftConfig, RaftConfigError, settingsOf } from './config.js';
import { membershipOf, NO_MEMBERS } from './membership.js';
import { MemoryLog } from './memorylog.js';
import { RaftNode } from './node.js';

const base: RaftConfig = {
  id: 1,
  log: new MemoryLog(),
  hardState: { term: 0, vote: 0, commit: 0 },
  applied: 0,
  membership: NO_MEMBERS,
  random: 1,
};

/** The option that is complained about. */
function culprit(change: Partial<RaftConfig>): string {
  try {
    settingsOf({ ...base, ...change });
    return 'none';
  } catch (error) {
    if (error instanceof RaftConfigError) return error.option;
    throw error;
  }
}

describe('configuration', () => {
  test('the defaults fit together', () => {
    expect(settingsOf(base)).toMatchObject(DEFAULT_OPTIONS);
    expect(settingsOf(base).lease).toBeNull();
  });

  test('each mistake names its option', () => {
    const lease = { clock_ms: () => 0, tick_ms: 100 };
    expect(culprit({ id: 0 })).toBe('id');
    expect(culprit({ hardState: { term: -1, vote: 0, commit: 0 } })).toBe('hardState');
    expect(culprit({ applied: 0.5 })).toBe('applied');
    expect(culprit({ membership: { ...NO_MEMBERS, learners: [1] } })).toBe('membership');
    expect(culprit({ membership: membershipOf([1]) })).toBe('membership');
    expect(culprit({ applied: 3 })).toBe('membership');
    expect(culprit({ promised: { index: -1, term: 0, currentTerm: 0 } })).toBe('promised');
    expect(culprit({ electionTicks: 0 })).toBe('electionTicks');
    expect(culprit({ maxOutbox: 1.5 })).toBe('maxOutbox');
    expect(culprit({ diskStallTicks: -1 })).toBe('diskStallTicks');
    expect(culprit({ electionTicks: 5, heartbeatTicks: 2 })).toBe('heartbeatTicks');
    expect(culprit({ lease, checkQuorum: false })).toBe('lease');
    expect(culprit({ lease: { ...lease, tick_ms: 0 } })).toBe('lease.tick_ms');
    expect(culprit({ lease: { ...lease, maxDrift: 1 } })).toBe('lease.maxDrift');
    expect(culprit({ lease })).toBe('none');
  });

  test('a lease is shorter than an election timeout, by the drift and by the tick that may have been nearly over', () => {
    const lease = { clock_ms: () => 0, tick_ms: 100 };
    expect(settingsOf({ ...base, lease }).lease_ms).toBeCloseTo(9 * 100 * 0.9);
  });

  test('a random source must give non-negative integers', () => {
    expect(() => new RaftNode({ ...base, random: () => 0.5 })).toThrow('random source');
  });
});
