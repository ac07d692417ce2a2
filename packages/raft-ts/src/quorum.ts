/** Majorities. */
import { assert } from './assert.js';

export type Verdict = 'won' | 'lost' | 'pending';

/** The size of a majority of `count` voters. */
export function majority(count: number): number {
  return Math.floor(count / 2) + 1;
}

/**
 * The highest value that a majority has reached; infinite for no voters, so that an empty half of a joint
 * configuration stands in nobody's way. Sorts `values` in place.
 */
export function reachedByMajority(values: number[]): number {
  const count = values.length;
  if (count === 0) return Number.POSITIVE_INFINITY;
  for (let at = 1; at < count; at += 1) {
    const value = values[at]!;
    let to = at;
    for (; to > 0 && values[to - 1]! > value; to -= 1) values[to] = values[to - 1]!;
    values[to] = value;
  }
  return values[count - majority(count)]!;
}

/** The outcome of a vote among `voters`, of whom `granted` said yes and `refused` said no. */
export function verdictOf(voters: number, granted: number, refused: number): Verdict {
  assert(granted + refused <= voters, 'More votes than voters', granted + refused, voters);
  if (voters === 0 || granted >= majority(voters)) return 'won';
  return granted + (voters - granted - refused) < majority(voters) ? 'lost' : 'pending';
}

/** A joint configuration agrees when both halves do. */
export function bothVerdicts(incoming: Verdict, outgoing: Verdict): Verdict {
  if (incoming === 'lost' || outgoing === 'lost') return 'lost';
  return incoming === 'won' && outgoing === 'won' ? 'won' : 'pending';
}
