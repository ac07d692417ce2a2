/** The mix of a random life: which faults and acts happen, how often, and with which options of Raft. */
import type { RaftOptions } from '../config.js';
import type { RandomSource } from '../random.js';

/** Everything that differs from seed to seed. */
export interface Swarm {
  readonly voters: number;
  readonly learners: number;
  readonly options: Partial<RaftOptions>;
  readonly useLease: boolean;
  /** The rate of each fault, in a thousand messages. */
  readonly dropPerMille: number;
  readonly repeatPerMille: number;
  /** True if messages overtake each other. */
  readonly reorders: boolean;
  /** Relative frequency of the acts. */
  readonly weights: readonly (readonly [Act, number])[];
}

export type Act =
  | 'deliver'
  | 'stir'
  | 'work'
  | 'persist'
  | 'apply'
  | 'tick'
  | 'propose'
  | 'read'
  | 'crash'
  | 'restart'
  | 'cut'
  | 'heal'
  | 'compact'
  | 'change'
  | 'transfer'
  | 'campaign'
  | 'quiesce'
  | 'pause'
  | 'unreachable';

/** Draws the mix of a life. */
export function drawSwarm(random: RandomSource): Swarm {
  const voters = [1, 2, 3, 3, 3, 4, 5][random() % 7]!;
  const learners = [0, 0, 0, 1, 2][random() % 5]!;
  const pick = <Value>(...values: Value[]): Value => values[random() % values.length]!;
  const useLease = random() % 8 === 0;
  const options: Partial<RaftOptions> = {
    electionTicks: pick(3, 5, 10),
    preVote: random() % 4 !== 0,
    checkQuorum: useLease || random() % 4 !== 0,
    forwardProposals: random() % 2 === 0,
    maxMessageBytes: pick(1, 100, 100_000),
    maxMessageEntries: pick(1, 3, 1000),
    maxInflightMessages: pick(1, 2, 100),
    maxInflightBytes: pick(50, 100_000),
    maxPendingBytes: pick(300, 1_000_000),
    maxPendingEntries: pick(8, 1000),
    maxApplyBytes: pick(1, 200, 1_000_000),
    maxTailBytes: pick(1, 1_000_000),
    maxWritesInFlight: pick(1, 2, 4),
    diskStallTicks: pick(0, 6, 30),
  };
  const rare = (weight: number): number => (random() % 3 === 0 ? 0 : weight);
  return {
    voters,
    learners,
    options,
    useLease,
    dropPerMille: pick(0, 0, 20, 150),
    repeatPerMille: pick(0, 0, 50, 200),
    reorders: random() % 2 === 0,
    weights: [
      ['deliver', pick(60, 120, 200)],
      ['stir', pick(2, 10, 30)],
      ['work', 80],
      ['persist', pick(10, 40, 80)],
      ['apply', pick(5, 40)],
      ['tick', pick(10, 30, 60)],
      ['propose', pick(5, 20)],
      ['read', rare(5)],
      ['crash', rare(2)],
      ['restart', 6],
      ['cut', rare(2)],
      ['heal', 4],
      ['compact', rare(6)],
      ['change', rare(4)],
      ['transfer', rare(2)],
      ['campaign', rare(2)],
      ['quiesce', rare(4)],
      ['pause', rare(1)],
      ['unreachable', rare(1)],
    ],
  };
}
