/**
 * What must hold between the nodes in every state of the cluster. What must hold at each node by itself is checked where it
 * acts (`localnode.ts`, `witness.ts`). The names are those of `testing/checker.ts`.
 */
import { COMMIT, DISK_LAST, LAST, LEADER, LED, ROLE, TERM, type Views } from './views.js';

/** The invariant that the nodes in these states break, or null. `quorum`: on how many disks what is committed must be; or 0. */
export function brokenInvariant(views: Views, states: Int32Array, quorum: number): string | null {
  const { values, size } = views;
  for (let left = 0; left < states.length; left += 1) {
    const one = states[left]! * size;
    for (let right = left + 1; right < states.length; right += 1) {
      const other = states[right]! * size;
      if ((values[one + LED]! & values[other + LED]!) !== 0) return 'I1: two nodes have led in the same term';
      if (!haveMatchingLogs(views, one, other)) return 'I2: two logs agree at an index and differ before';
      if (!agreeOnCommitted(views, one, other)) return 'I4: two entries are committed at the same index';
    }
    if (values[one + ROLE] === LEADER && !isComplete(views, one, states)) {
      return `I3: ${left + 1} leads without an entry that was committed in an earlier term`;
    }
    if (quorum > 0 && !isOnQuorum(views, one, states, quorum)) {
      return `I7: what ${left + 1} knows as committed is not on the disks of a quorum`;
    }
  }
  return null;
}

/** Chain hashes cover what is before: it is enough to look at the last index at which the terms agree. */
function haveMatchingLogs(views: Views, one: number, other: number): boolean {
  const { values, terms, hashes } = views;
  for (let index = Math.min(values[one + LAST]!, values[other + LAST]!); index > 0; index -= 1) {
    if (values[one + terms + index] !== values[other + terms + index]) continue;
    return values[one + hashes + index] === values[other + hashes + index];
  }
  return true;
}

function agreeOnCommitted({ values, committed }: Views, one: number, other: number): boolean {
  const index = Math.min(values[one + COMMIT]!, values[other + COMMIT]!);
  return values[one + committed + index] === values[other + committed + index];
}

function isComplete(views: Views, leader: number, states: Int32Array): boolean {
  const { values, size, hashes, committed, committedIn } = views;
  const term = values[leader + TERM]!;
  for (const state of states) {
    const other = state * size;
    for (let earlier = 1; earlier < term; earlier += 1) {
      const index = values[other + committedIn + earlier]!;
      if (index === 0) continue;
      if (values[leader + LAST]! < index) return false;
      if (values[leader + hashes + index] !== values[other + committed + index]) return false;
    }
  }
  return true;
}

function isOnQuorum(views: Views, one: number, states: Int32Array, quorum: number): boolean {
  const { values, size, diskHashes, committed } = views;
  const index = values[one + COMMIT]!;
  const hash = values[one + committed + index]!;
  let holders = 0;
  for (const state of states) {
    const other = state * size;
    if (values[other + DISK_LAST]! >= index && values[other + diskHashes + index] === hash) holders += 1;
  }
  return holders >= quorum;
}
