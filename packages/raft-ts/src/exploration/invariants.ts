/**
 * Invariants between the nodes, in every state of the cluster. Those of each node by itself are checked where
 * it acts (`localnode.ts`, `witness.ts`). The names are those of `testing/checker.ts`.
 */
import {
  COMMIT,
  DISK_LAST,
  LAST,
  LEADER,
  LED,
  MEMBERSHIP,
  MEMBERSHIP_INDEX,
  ROLE,
  TERM,
  type Views,
} from './views.js';

/**
 * The invariant that the nodes in these states break, or null. `quorum`: on how many disks what is committed
 * must be; or 0.
 */
export function brokenInvariant(views: Views, states: Int32Array, quorum: number): string | null {
  const { values, size } = views;
  for (let left = 0; left < states.length; left += 1) {
    const one = states[left]! * size;
    for (let right = left + 1; right < states.length; right += 1) {
      const other = states[right]! * size;
      if ((values[one + LED]! & values[other + LED]!) !== 0) return 'I1: two nodes have led in the same term';
      if (!haveMatchingLogs(views, one, other)) return 'I2: two logs agree at an index and differ before';
      if (!agreeOnMembership(views, one, other)) return 'I11: two memberships come of the same change';
      if (!agreeOnCommitted(views, one, other)) return 'I4: two entries are committed at the same index';
    }
    if (values[one + ROLE] === LEADER && !isComplete(views, one, states)) {
      return `I3: ${left + 1} leads without an entry that was committed in an earlier term`;
    }
    if (quorum === 0) continue;
    if (!isOnQuorum(views, one, states, quorum)) {
      return `I7: what ${left + 1} knows as committed is not on the disks of a quorum`;
    }
    if (couldBeUndone(views, one, states, quorum)) {
      return `I3: somebody could be elected who has not what ${left + 1} knows as committed`;
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

function agreeOnMembership({ values }: Views, one: number, other: number): boolean {
  if (values[one + MEMBERSHIP_INDEX] !== values[other + MEMBERSHIP_INDEX]) return true;
  return values[one + MEMBERSHIP] === values[other + MEMBERSHIP];
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

/** True if a node that lacks what is committed has a log that is up to date for a quorum. */
function couldBeUndone(views: Views, one: number, states: Int32Array, quorum: number): boolean {
  const { values, size, hashes, committed } = views;
  const index = values[one + COMMIT]!;
  const hash = values[one + committed + index]!;
  for (const state of states) {
    const candidate = state * size;
    if (values[candidate + LAST]! >= index && values[candidate + hashes + index] === hash) continue;
    let voters = 0;
    for (const voter of states) if (isUpToDate(views, candidate, voter * size)) voters += 1;
    if (voters >= quorum) return true;
  }
  return false;
}

/** True if the log of `candidate` is at least as good as that of `voter` (Raft paper, section 5.4.1). */
function isUpToDate({ values, terms }: Views, candidate: number, voter: number): boolean {
  const last = values[candidate + LAST]!;
  const other = values[voter + LAST]!;
  const term = values[candidate + terms + last]!;
  const otherTerm = values[voter + terms + other]!;
  return term > otherTerm || (term === otherTerm && last >= other);
}
