import type { ChangeResult, Entry, Membership, Ready, SnapshotMeta, SoftState } from 'raft-ts';
import { assert } from '../base/assert.js';
import { encodeMembership } from '../between/membership.js';
import type { Applied, CommittedEntry, Event, GroupId, LogPosition } from '../between/protocol.js';
import type { GroupContext } from './group-context.js';
import type { GroupWatch } from './group-figures.js';
import type { GroupLog } from './group-log.js';
import { PreparedAnswers } from './prepared-answers.js';

/**
 * A group as the engine side knows it: whether it may propose, how far it was told what is committed, and what it waits to
 * be told. Its own proposals are told as committed, everything else comes as entries.
 */
export class EngineView {
  /** Answers that wait for its proposals. */
  readonly answers: PreparedAnswers;
  private readonly context: Pick<GroupContext, 'emit' | 'nextEpoch'>;
  /** The term in which it was told that it leads; 0 while it was not. */
  private leadingTerm = 0;
  private currentEpoch = 0;
  /**
   * The engine side of a leader that is suspended leads again once everything up to `at` was handed over and
   * changes would be taken; null when nothing waits for that.
   */
  private resume: { readonly at: number; readonly term: number } | null = null;
  /** Every committed entry up to here was handed over. */
  private handedOver: number;
  private membership: Membership;
  /** Places that it asked for, with the index that must be committed first. */
  private readonly marks: { readonly id: number; readonly index: number }[] = [];
  /** Changes of the membership that it asked for and that wait to be committed. */
  private readonly changes: { readonly id: number; readonly index: number; readonly term: number }[] = [];

  /** @param applied where its state stands */
  constructor(
    private readonly group: GroupId,
    private readonly log: GroupLog,
    context: Pick<GroupContext, 'emit' | 'nextEpoch' | 'answer'>,
    private readonly watch: GroupWatch | undefined,
    applied: SnapshotMeta,
  ) {
    this.context = context;
    this.answers = new PreparedAnswers(context.answer);
    this.handedOver = applied.index;
    this.membership = applied.membership;
  }

  /** The epoch in which it may propose; 0 for none. What comes under another one was sent before it knew. */
  get epoch(): number {
    return this.currentEpoch;
  }

  /** True if it waits to lead again. */
  get isSuspended(): boolean {
    return this.resume !== null;
  }

  /** The membership in force as far as entries were handed over. */
  get members(): Membership {
    return this.membership;
  }

  /** The state is that of a snapshot now. */
  installed({ index, membership }: SnapshotMeta): void {
    assert(this.leadingTerm === 0, 'no leader installs a snapshot');
    this.handedOver = index;
    this.membership = membership;
  }

  /** @param lastIndex of everything that was proposed before */
  mark(epoch: number, id: number, lastIndex: number): void {
    if (epoch !== this.currentEpoch) {
      this.context.emit({ kind: 'mark_lost', group: this.group, id });
      return;
    }
    this.marks.push({ id, index: lastIndex });
    this.context.emit({ kind: 'mark_placed', group: this.group, id, index: lastIndex });
    this.reachMarks();
  }

  /** Tells what becomes of a change of the membership that it asked for. */
  changeAsked(id: number, result: ChangeResult): void {
    if (result.status === 'accepted') this.changes.push({ id, index: result.index, term: result.term });
    else this.answerChange(id, result.reason);
  }

  /**
   * It must take back what is not committed.
   *
   * @param lastIndex of the log
   * @returns false where it does not lead
   */
  suspend(lastIndex: number): boolean {
    const { leadingTerm } = this;
    if (leadingTerm === 0) return false;
    this.stopLeading();
    this.context.emit({ kind: 'suspended', group: this.group });
    this.resume = { at: lastIndex, term: leadingTerm };
    return true;
  }

  /** Lets it lead again if it was suspended, and has all that may be committed after all. */
  leadAgain(): void {
    if (this.resume !== null && this.resume.at <= this.handedOver) this.lead(this.resume.term);
  }

  roleChanged({ role, term, leader }: SoftState): void {
    const ownTerm = this.resume?.term ?? this.leadingTerm;
    if (ownTerm !== 0 && (role !== 'leader' || term !== ownTerm)) this.stopLeading();
    this.watch?.leaderChanged(leader);
    if (role === 'leader') return;
    this.context.emit({ kind: 'following', group: this.group, term, leader });
    for (const { id } of this.changes.splice(0)) this.answerChange(id, 'leadership_lost');
  }

  /**
   * Hands over what is committed.
   *
   * @param leadsIn the term in which this node leads; 0 for none
   * @returns the index of the last entry, if that is one of its own proposals, which its state holds; else 0
   */
  commit({ committed, committedMemberships }: Ready, leadsIn: number): number {
    let part = new CommittedPart();
    const flush = (membership?: Membership): void => {
      this.tell(part, membership);
      part = new CommittedPart();
    };
    for (const entry of committed) {
      assert(entry.index > this.handedOver, 'an entry is handed over once');
      this.handedOver = entry.index;
      part.add(entry, this.isOwn(entry));
      if (entry.kind === 'change') {
        const changed = committedMemberships.find(({ index }) => index === entry.index)?.membership;
        flush(changed);
        // A mark gets the membership that was in force there, and not a later one.
        this.reachMarks(entry.index - 1);
        if (changed !== undefined) this.membershipChanged(entry, changed);
      }
      if (entry.kind === 'noop' && entry.term === leadsIn) {
        flush();
        this.lead(entry.term);
      }
    }
    flush();
    this.reachMarks();
    const end = committed.at(-1);
    return end !== undefined && this.isOwn(end) ? end.index : 0;
  }

  private isOwn({ term }: Entry): boolean {
    return this.leadingTerm !== 0 && term === this.leadingTerm;
  }

  private tell({ own, lastOwn, entries, last }: CommittedPart, membership?: Membership): void {
    const { group } = this;
    if (lastOwn !== null) {
      this.watch?.committed(lastOwn.index, own);
      this.answers.commit(lastOwn.index);
      this.context.emit({ kind: 'committed', group, count: own, last: positionOf(lastOwn) });
    }
    if (last === null) return;
    const event: Event = { kind: 'entries', group, entries, last: positionOf(last) };
    this.context.emit(
      membership === undefined ? event : { ...event, membership: encodeMembership(membership) },
    );
  }

  private lead(term: number): void {
    this.leadingTerm = term;
    this.currentEpoch = this.context.nextEpoch();
    this.resume = null;
    this.context.emit({ kind: 'leading', group: this.group, epoch: this.currentEpoch });
  }

  private stopLeading(): void {
    this.leadingTerm = 0;
    this.currentEpoch = 0;
    this.resume = null;
    this.watch?.lost();
    this.answers.clear();
    for (const { id } of this.marks.splice(0))
      this.context.emit({ kind: 'mark_lost', group: this.group, id });
  }

  private membershipChanged({ index, term }: Entry, membership: Membership): void {
    this.membership = membership;
    const reached = this.changes.filter((change) => change.index <= index);
    this.changes.splice(0, reached.length);
    for (const change of reached)
      this.answerChange(change.id, change.index === index && change.term === term ? null : 'lost');
    const encoded = encodeMembership(membership);
    this.context.emit({ kind: 'membership', group: this.group, index, membership: encoded });
  }

  private answerChange(id: number, problem: string | null): void {
    this.context.emit({ kind: 'membership_answer', group: this.group, id, problem });
  }

  /** Answers the marks up to an index. All entries up to there were handed over, so they are durable here. */
  private reachMarks(index = this.handedOver): void {
    for (let mark = this.marks[0]; mark !== undefined && mark.index <= index; mark = this.marks[0]) {
      this.marks.shift();
      const applied: Applied = {
        index: mark.index,
        term: this.log.term(mark.index),
        hash: this.log.hash(mark.index),
        membership: encodeMembership(this.membership),
      };
      this.context.emit({ kind: 'marked', group: this.group, id: mark.id, applied });
    }
  }
}

/** Committed entries in a row that are told together. */
class CommittedPart {
  /** The number of this node's own proposals, and the last one. */
  own = 0;
  lastOwn: LogPosition | null = null;
  readonly entries: CommittedEntry[] = [];
  last: LogPosition | null = null;

  add(entry: Entry, isOwn: boolean): void {
    const isNormal = entry.kind === 'normal';
    if (isOwn) {
      if (isNormal) this.own += 1;
      this.lastOwn = entry;
    } else {
      const { index, term, hash, payload } = entry;
      if (isNormal) this.entries.push({ index, term, hash, payload });
      this.last = entry;
    }
  }
}

function positionOf({ index, term, hash }: LogPosition): LogPosition {
  return { index, term, hash };
}
