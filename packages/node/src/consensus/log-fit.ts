/**
 * Checks that the log of a group and its state belong together, and tells how a log begins that does not have the
 * state's end.
 */
import type { LogOperation, LogView } from '@althing/storage';
import type { Applied, GroupId, LogPosition, NodeId } from '../between/protocol.js';
import { ExitCode } from '../config/exit-codes.js';

/** Log and state of a group do not belong together. */
export class MisfitError extends Error {
  readonly exitCode = ExitCode.DataDamaged;

  constructor(what: string) {
    super(
      `The log and the state do not fit together: ${what}. ` +
        'Restore the whole data folder from a backup, or move it away to begin anew.',
    );
  }
}

/** The disk has lost what it had reported as durable. */
export class LostTailError extends Error {
  readonly exitCode = ExitCode.DataDamaged;

  constructor(group: GroupId, promised: number, last: number) {
    super(
      `The disk has lost what it reported as written: group ${group} ends with entry ${last} here, and this node has ` +
        `acknowledged entry ${promised}. Its vote can not be trusted any more: move the data folder away, so that the ` +
        'node joins again as a new member.',
    );
  }
}

/**
 * Why a state can't go on with a log; null when it can. Both are sound by themselves here, but one of them
 * may be missing, or be an older copy.
 */
export function misfitOf(
  view: LogView,
  applied: Applied,
  { isNew, isAlone }: { readonly isNew: boolean; readonly isAlone: boolean },
): string | null {
  const { index } = applied;
  if (view.hardState === undefined) {
    return isNew ? null : `the state stands at entry ${index}, and the log knows nothing of it`;
  }
  if (view.firstIndex > index + 1) {
    return `the state stands at entry ${index}, and the log begins with entry ${view.firstIndex}`;
  }
  const { commit } = view.hardState;
  if (view.lastIndex < commit) {
    return `entry ${commit} was committed, and the log ends with entry ${view.lastIndex}`;
  }
  // Where others hold the log, a state that was sent by them may be ahead of it.
  if (view.lastIndex < index) {
    return isAlone
      ? `the state stands at entry ${index}, and the log ends with entry ${view.lastIndex}`
      : null;
  }
  return !isAlone || hashFits(view, applied)
    ? null
    : `entry ${index} of the log is not the one that the state has`;
}

/** True if the log, as far as can be told, has the entry that the state ends with. */
export function hashFits(view: LogView, { index, term, hash }: LogPosition): boolean {
  if (index >= view.firstIndex && index <= view.lastIndex && view.term(index) !== term) return false;
  const found = view.hash(index);
  return found === undefined || found === hash;
}

/**
 * Lays out the log of a new group, or of one whose state came from elsewhere: the log goes on behind the
 * state. Terms and votes are promises that stay.
 */
export function beginningOf(id: GroupId, nodeId: NodeId, view: LogView, applied: Applied): LogOperation[] {
  const { index, term, hash } = applied;
  // In a term that the log does not know this node may have voted: a vote for itself keeps it from a second
  // one.
  const kept = view.hardState ?? { term, vote: 0 };
  const { vote } = kept.term >= term ? kept : { vote: nodeId };
  const operations: LogOperation[] = [
    { kind: 'hardState', group: id, term: Math.max(kept.term, term), vote, commit: index },
  ];
  // A log without a beginning is that of a node that waits for a snapshot.
  if (index > 0) operations.unshift({ kind: 'reset', group: id, index, term, hash });
  return operations;
}
