/** Checks that a recorded run can have happened in an orderly world. */
import { checkHistory } from '../simulation/check-history.js';
import { Anomaly, type Operation } from '../simulation/history.js';
import type { Final, Record } from './record.js';

export interface CheckResult {
  /** Violations that were found. */
  readonly problems: readonly string[];
  /** Checks that were too much to be searched through. */
  readonly undecided: readonly string[];
}

export function check({ operations, finals, findings }: Record): CheckResult {
  const problems = [...findings];
  const undecided: string[] = [];
  if (finals.length === 0) problems.push('nobody knows what the collections hold in the end');
  const collections = new Set(operations.map(({ collection }) => collection ?? ''));
  for (const collection of collections) {
    const own = operations.filter((operation) => operation.collection === collection);
    const states = finals.filter((final) => final.collection === collection);
    const [first] = states;
    if (first === undefined) {
      if (finals.length > 0) problems.push(`nobody knows what ${collection} holds in the end`);
      continue;
    }
    problems.push(...differences(states));
    try {
      const result = checkHistory([...own].sort(byId), first.data);
      if (result === 'undecided') undecided.push(`registers of ${collection}`);
    } catch (error) {
      if (!(error instanceof Anomaly)) throw error;
      problems.push(`${collection}: ${error.message}`);
    }
  }
  return { problems, undecided };
}

function differences(states: readonly Final[]): string[] {
  const [first, ...others] = states;
  return others.flatMap((other) => {
    const isSame = JSON.stringify(first?.data) === JSON.stringify(other.data) && first?.rest === other.rest;
    return isSame ? [] : [`${other.collection} differs at ${first?.node} and ${other.node}`];
  });
}

function byId(left: Operation, right: Operation): number {
  return left.id - right.id;
}
