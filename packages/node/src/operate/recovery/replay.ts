import type { LogStore, LogView } from '@althing/storage';
import { changedMembership, changeProblem, decodeChange, type Entry, type Membership } from 'raft-ts';
import { elementAt } from '../../base/element.js';
import { decodeMembership } from '../../between/membership.js';
import type { Command, Consensus, GroupId, LogPosition, NodeEvent } from '../../between/protocol.js';
import { GroupLog } from '../../consensus/group-log.js';
import { hashFits, MisfitError, misfitOf } from '../../consensus/log-fit.js';
import type { LogEnd } from './recovered.js';

type Open = Extract<Command, { readonly kind: 'open' }>;

/** Bytes of entries that are handed over at a time. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/**
 * Stands in the place of Raft where nobody is left to agree with: every entry of the log counts as committed.
 * Acknowledged entries in this log are kept in any case; of those that are not known to be committed, some
 * may never have been.
 */
export class Replay implements Pick<Consensus, 'send' | 'sendReady'> {
  onEvent: (event: NodeEvent) => void = () => {};
  private readonly opened: Open[] = [];
  private readonly ends = new Map<GroupId, LogEnd>();

  constructor(private readonly log: LogStore) {}

  /**
   * Only the opening of groups is of interest: nothing is proposed, and the logs are cut when all is done.
   */
  send(command: Command): void {
    if (command.kind === 'open') this.opened.push(command);
  }

  sendReady(): void {}

  /** Where the log of a group ends that was handed over. */
  endOf(group: GroupId): LogEnd {
    const end = this.ends.get(group);
    if (end === undefined) throw new Error(`the log of group ${group} was not read`);
    return end;
  }

  /**
   * Hands over the logs of groups that were opened since.
   *
   * @returns whether there were any
   * @throws MisfitError, DamagedLogError
   */
  handOver(): boolean {
    const opened = this.opened.splice(0);
    for (const { group, applied, isNew } of opened) {
      this.onEvent({ kind: 'following', group, term: applied.term, leader: 0 });
      const end = readLog(this.log, { group, applied, isNew }, (entries, last) => {
        const changes = entries.filter(({ kind }) => kind === 'normal');
        this.onEvent({ kind: 'entries', group, entries: changes, last });
      });
      this.ends.set(group, end);
    }
    return opened.length > 0;
  }
}

/**
 * Reads the log of a group behind what the state holds.
 *
 * @param take gets the entries, and the last of them
 * @returns where it ends
 * @throws MisfitError, DamagedLogError
 */
export function readLog(
  log: LogStore,
  { group, applied, isNew }: Pick<Open, 'group' | 'applied' | 'isNew'>,
  take: (entries: readonly Entry[], last: Entry) => void,
): LogEnd {
  const view = log.view(group);
  const misfit = misfitOf(view, applied, { isNew, isAlone: false });
  if (misfit !== null) throw new MisfitError(`group ${group}: ${misfit}`);
  let membership = decodeMembership(applied.membership);
  const reader = new GroupLog(view, { ...applied, membership });
  let last: LogPosition = applied;
  const lastIndex = continuesFrom(view, applied) ? view.lastIndex : applied.index;
  while (last.index < lastIndex) {
    const entries = reader.entries(last.index + 1, lastIndex + 1, CHUNK_BYTES);
    const end = elementAt(entries, entries.length - 1);
    membership = membershipAfter(membership, entries, view.hardState?.commit ?? 0);
    take(entries, end);
    last = end;
  }
  const { index, term, hash } = last;
  return { index, term, hash, promised: Math.max(view.hardState?.term ?? 0, term), membership };
}

/** True if the log has what comes behind a state, and not something else. */
export function continuesFrom(view: LogView, applied: LogPosition): boolean {
  return view.hardState !== undefined && view.lastIndex >= applied.index && hashFits(view, applied);
}

/** The membership that is in force behind entries: a change is as soon as it is committed. */
function membershipAfter(before: Membership, entries: readonly Entry[], commit: number): Membership {
  let membership = before;
  for (const { kind, payload, index } of entries) {
    if (kind !== 'change' || index > commit) continue;
    const change = decodeChange(payload);
    if (changeProblem(membership, change) === null) membership = changedMembership(membership, change);
  }
  return membership;
}
