/** Sums over the figures of all nodes. */
import type { WireValue } from '@althing/client';
import type { NodeAnswer } from '../state/other-nodes.js';
import { listAt, numberAt, textAt } from '../state/values.js';
import type { OwnWords } from './state.js';

/** Each group once: as its leader knows it, and otherwise as the first node that knows it. */
export function groupsOf(own: readonly NodeAnswer<Pick<OwnWords, 'groups'>>[]): WireValue[] {
  const groups = new Map<string, WireValue>();
  for (const { answer } of own) {
    for (const group of answer?.groups ?? []) {
      const scope = textAt(group, 'scope');
      if (!groups.has(scope) || textAt(group, 'role') === 'leader') groups.set(scope, group);
    }
  }
  return [...groups.values()];
}

/** Counts of nodes, added up; a node that does not answer is left out. */
export function summed(own: readonly NodeAnswer<Pick<OwnWords, 'counters'>>[], key: string): number {
  return own.reduce(
    (sum, { answer }) => sum + (answer === null ? 0 : (numberAt(answer.counters, key) ?? 0)),
    0,
  );
}

/** The lag of other nodes behind the leader of a group, for people: entries of the log of those that lack some. */
export function lagText(group: WireValue): string {
  const last = numberAt(group, 'last') ?? 0;
  return listAt(group, 'members')
    .map((member) => ({
      node: textAt(member, 'node'),
      lag: last - (numberAt(member, 'match') ?? 0),
      state: textAt(member, 'state'),
    }))
    .filter(({ lag, state }) => lag > 0 || state !== 'replicate')
    .map(({ node, lag, state }) => `node ${node}: ${lag}${state === 'replicate' ? '' : ` (${state})`}`)
    .join(', ');
}
