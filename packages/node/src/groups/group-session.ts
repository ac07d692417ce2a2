import { type Change, type Group, type Outcome, QueryError, takeBack } from '@althing/engine';
import type { Membership } from 'raft-ts';
import { assert } from '../base/assert.js';
import { decodeMembership } from '../between/membership.js';
import type { Applied, DiskLevel, Event, GroupId, LogPosition, PreparedAnswer } from '../between/protocol.js';
import { CallsInParts } from './calls-in-parts.js';
import { type Delay, Intake } from './intake.js';
import { Marks } from './marks.js';
import type { ClientNames, Names } from './names.js';
import { tellLost } from './pipeline.js';
import { Proposals } from './proposals.js';
import { ReadIndexes, type ReadReady } from './read-indexes.js';
import { LEADERSHIP_LOST, NOT_ANSWERED, NOT_WRITTEN, NOT_WRITTEN_DISK_FULL, STATE_SHUT } from './refusals.js';
import { Replica } from './replica.js';
import { type Reply, type Respond, replyOf } from './request.js';
import { isDecline, type SessionContext, type SessionStart } from './session-context.js';
import type { SessionTable, TableCapture } from './session-table.js';

/**
 * The engine's side of one Raft group on this node: its state, and everything that waits for its log.
 *
 * As leader it runs calls at once and proposes their effects; its state then holds effects that are not
 * committed yet, so every answer that was computed on them waits for them. When it loses its leadership it
 * takes them back, newest first. As follower it applies what is committed. A leader whose log can't take
 * changes is *suspended*: it has taken back what was not committed, and answers reads.
 */
export class GroupSession {
  private readonly replica: Replica;
  private readonly intake: Intake;
  private readonly proposals: Proposals;
  private suspended = false;
  private opened = false;
  private leaderId = 0;
  private readonly marks: Marks;
  private readonly reads: ReadIndexes;
  /** The calls of this group that are done in part. */
  readonly inParts: CallsInParts;
  private roleChanges = 0;
  private isShut = false;
  private abandoned = false;

  constructor(
    readonly id: GroupId,
    group: Group,
    table: SessionTable,
    applied: Applied,
    start: SessionStart,
    private readonly context: SessionContext,
  ) {
    this.replica = new Replica(group, table, applied, {
      collectionsChanged: context.collectionsChanged,
      roomEvents: (events) => context.roomEvents(this, events),
    });
    this.proposals = new Proposals(id, context, this.replica);
    this.marks = new Marks(id, context.consensus);
    this.reads = new ReadIndexes((read) => context.consensus.send({ kind: 'read', group: id, id: read }));
    this.intake = new Intake(this.replica, {
      ...context,
      handle: (event) => this.handle(event),
      noteTime: (time) => this.proposals.noteTime(time),
      taken: (index) => {
        context.consensus.send({ kind: 'applied', group: id, index });
        this.moved();
      },
      delayChanged: () => this.delayChanged(),
    });
    this.inParts = new CallsInParts(
      (done) => this.proposals.answerRead({ ok: true, result: '' }, done),
      (epoch) => context.consensus.send({ kind: 'release', group: id, epoch }),
    );
    context.consensus.send({ kind: 'open', group: id, applied, ...start });
  }

  /** The state; another object after a snapshot was installed. */
  get group(): Group {
    return this.replica.group;
  }

  /** Bytes of changes since the last checkpoint began. */
  get changedBytes(): number {
    return this.replica.changedBytes;
  }

  set changedBytes(bytes: number) {
    this.replica.changedBytes = bytes;
  }

  /** The state was replaced by that of a snapshot, while the session was paused. */
  replaceState(group: Group, table: SessionTable, applied: Applied): void {
    this.replica.replace(group, table, applied);
    this.reads.appliedTo(applied.index);
    this.context.consensus.send({ kind: 'installed', group: this.id, applied });
  }

  /** A snapshot could not be made the state, which is as it was. To be called while the session is paused. */
  notInstalled(): void {
    if (this.abandoned) return;
    // The log begins anew with that, and knows of no question that was asked before.
    this.reads.abandon();
    this.context.consensus.send({ kind: 'not_installed', group: this.id, applied: this.replica.applied });
  }

  /** True if this node leads the group and its state is complete: it may run calls. */
  get leading(): boolean {
    return !this.intake.isPaused && (this.proposals.epoch !== 0 || this.suspended);
  }

  /**
   * True if this node leads and its state holds everything that was proposed for the group before, apart from
   * what waits here. While it is suspended, what it has proposed may yet be committed, though the state does
   * not hold it any more.
   */
  get proposes(): boolean {
    return !this.intake.isPaused && this.proposals.epoch !== 0;
  }

  /** True if this node leads but can take no changes for a moment; on a full disk it may take longer. */
  get awaitsEpoch(): boolean {
    return this.suspended && this.proposals.disk === 'ok';
  }

  /** Entries of the leader that wait for what they are about, for a short or a long time: the state can be read as it was before them. */
  get delay(): Delay | null {
    return this.intake.delay;
  }

  /** True if the log knows of the group, which is not gone: else nothing of it may be stored, since state and log must fit together. */
  get isOpen(): boolean {
    return this.opened && !this.abandoned;
  }

  /** True if nothing more is decided here: the node stops, or the group is gone. */
  get isEnded(): boolean {
    return this.abandoned;
  }

  /** The node that leads, as far as this one knows; 0 for none. */
  get leader(): number {
    return this.leaderId;
  }

  /** The results of recent changes that are committed. */
  get table(): SessionTable {
    return this.replica.table;
  }

  /** Index of the last entry that the state holds; it may hold changes that wait for their commit besides. */
  get appliedIndex(): number {
    return this.replica.applied.index;
  }

  /** Rises whenever this node begins or ceases to lead or to be far behind, or gets to know another leader. */
  get roleVersion(): number {
    return this.roleChanges;
  }

  /**
   * True if the state can be read now. On a node that joins, a collection has no state at all until its first snapshot is
   * there: not even its root thing.
   */
  get readable(): boolean {
    return !this.intake.isPaused && this.replica.applied.index > 0;
  }

  /** Why the state can't be read for as long as the disk has no room; null when it can, or soon. */
  get outage(): QueryError | null {
    return this.isShut ? STATE_SHUT : null;
  }

  /** The members of the group, as far as the state of this node stands. */
  get membership(): Membership {
    return decodeMembership(this.replica.applied.membership);
  }

  /** True if the state holds changes that are not committed yet. */
  get hasUncommitted(): boolean {
    return this.proposals.pipeline.changes > 0;
  }

  /** Changes that the state holds and that are not committed yet. */
  get uncommitted(): number {
    return this.proposals.pipeline.changes;
  }

  /** True if a change with one of these names waits for its commit, though it was answered: it must not be made again. */
  hasToldEarly(request: Names['request'], names: ClientNames): boolean {
    return this.proposals.pipeline.hasTold(request, names);
  }

  /** Answers that wait for the log, and reads that wait for the state. */
  get queues(): { readonly commit: number; readonly read: number } {
    return { commit: this.proposals.pipeline.length, read: this.reads.size };
  }

  /** Null when a change may be made now, else why not. */
  refusal(): QueryError | null {
    return this.proposals.refusal();
  }

  /** Why a new change can't be made under the names that its client gave it; null when it can. */
  nameRefusal(names: ClientNames): QueryError | null {
    return this.proposals.nameRefusal(names, this.replica.table);
  }

  /** Answers a call that was run on this session's state, as soon as what it saw is committed. For `early` see `propose`. */
  answer(
    outcome: Outcome & { readonly kind: 'value' | 'error' },
    respond: Respond,
    names: Names | null = null,
    early: PreparedAnswer | null = null,
  ): void {
    const reply = replyOf(outcome);
    if (outcome.kind === 'error' || outcome.change === null) this.proposals.answerRead(reply, respond);
    else this.propose(outcome.change, reply, respond, names, outcome.secret, early);
  }

  /** The place in the log of the state that a visible answer saw. It moves on behind entries that hold no change, as long as no other comes. */
  standingOf({ index = 0 }: Reply): { readonly index: number } {
    const { standing } = this.replica;
    return index === standing.index ? standing : { index };
  }

  /** The answer to a call that changed nothing, when all that it saw is committed; null: `answer` gives it, now or later. */
  replyNow(outcome: Outcome & { readonly kind: 'value' | 'error' }): Reply | null {
    if (this.proposals.pipeline.changes !== 0) return null;
    const { index } = this.replica.applied;
    if (outcome.kind === 'error') return { ok: false, error: outcome.error, index };
    return outcome.change === null ? { ok: true, result: outcome.result, index } : null;
  }

  /**
   * Proposes effects that the state holds already. When they can't be proposed they are taken back.
   *
   * @param reply the answer once they are committed; an error only for a request of which something is made
   *   then, or of which the log shall hold that nothing is
   * @param secret what may be said of the answer instead of keeping it, since it holds a secret; null for
   *   none
   * @param early the answer to another node, which the consensus side gives before `respond` is called with
   *   success, and only then; null for none
   * @returns why they were taken back; null when they are on their way
   */
  propose(
    change: Omit<Change, 'events'>,
    reply: Reply,
    respond: Respond,
    names: Names | null = null,
    secret: string | null = null,
    early: PreparedAnswer | null = null,
  ): QueryError | null {
    return this.proposals.propose(change, reply, respond, names, secret, early);
  }

  /**
   * Proposes effects that come from elsewhere and that the state does not hold: it gets them with their
   * commit, like that of any other node. Until then no other change is made here, and no checkpoint may
   * begin.
   *
   * @param done told whether they are committed; if not, they may be later. False also when this node does
   *   not lead, or something else waits to be committed
   * @param names by which it is known from then on that they are committed, with the answer; null for none
   */
  impose(
    effects: Uint8Array,
    done: (committed: boolean) => void,
    names: (Names & { readonly kept: Uint8Array }) | null = null,
  ): void {
    this.proposals.impose(effects, done, names);
  }

  /** True if effects are on their way that the state does not hold. */
  get isImposing(): boolean {
    return this.proposals.isImposing;
  }

  /** Calls back once the state holds all that was acknowledged before; with false when nobody can tell, or it takes long and `isPatient` is false. */
  readIndex(done: ReadReady, isPatient = true): void {
    if (this.leading && this.context.alone()) done(true);
    else this.reads.request(done, isPatient);
  }

  /** Calls back once the state holds everything up to an index. */
  whenApplied(index: number, done: () => void): void {
    this.reads.whenApplied(index, this.replica.applied.index, done);
  }

  /** Captures the session table that belongs to the present state, once all of that is committed; null when some is taken back. */
  captureTable(done: (capture: TableCapture | null) => void): void {
    const { table } = this;
    this.proposals.answerRead({ ok: true, result: '' }, ({ ok }) => done(ok ? table.capture() : null));
  }

  /**
   * Finds the log position behind everything that the state holds now. The state must not change between the
   * call and what it stands for. `lost` is called when some of it was taken back.
   *
   * @param placed told the index before everything up to there is committed
   */
  mark(
    reached: (applied: Applied) => void,
    lost: () => void,
    placed: (index: number) => void = () => {},
  ): void {
    const mark = { placed, reached, lost };
    if (this.abandoned) lost();
    else this.marks.ask(this.proposals.epoch, this.replica.applied, mark);
  }

  /**
   * Calls back while the state of this node, which must not lead, stands at an index: before anything behind
   * it is applied. One at a time: who asked before is told that it is over.
   *
   * @returns what ends the wait: `done` is called with false then, unless it was called
   */
  whenAt(index: number, done: (there: boolean) => void): () => void {
    const isFollower = !this.leading && !this.intake.isPaused && !this.abandoned;
    return this.replica.watch.whenAt(index, isFollower ? this.replica.applied.index : null, done);
  }

  handle(event: Event): void {
    // Proposals that were under way may still be committed; nobody is left to be told.
    if (this.abandoned) return;
    this.opened ||= !isDecline(event);
    if (this.intake.keeps(event)) return;
    this.inParts.handle(event);
    switch (event.kind) {
      case 'committed':
        this.commit(event.count, event.last);
        return;
      case 'entries':
        assert(!this.hasUncommitted, 'a state with changes of its own takes in no entries of another leader');
        this.intake.take(event);
        return;
      case 'leading':
        this.replica.watch.end(false);
        this.proposals.lead(event.epoch);
        this.suspended = false;
        this.leaderId = 0;
        this.roleChanges += 1;
        this.context.changed(this);
        return;
      case 'suspended':
        this.suspended = true;
        this.roleChanges += 1;
        this.loseLeadership(this.proposals.disk === 'full' ? NOT_WRITTEN_DISK_FULL : NOT_WRITTEN);
        return;
      case 'following':
        this.suspended = false;
        this.leaderId = event.leader;
        this.roleChanges += 1;
        this.loseLeadership(LEADERSHIP_LOST);
        return;
      case 'membership':
        this.replica.noteMembership(event.membership);
        return;
      case 'mark_placed':
      case 'marked':
      case 'mark_lost':
        this.marks.handle(event);
        return;
      case 'read':
        this.reads.answered(event.id, event.index, this.replica.applied.index);
        if (this.delay === 'long') this.reads.turnAway();
        return;
      case 'send_snapshot':
        this.context.snapshots.send(this, event.to, event.message);
        return;
      case 'install':
        this.context.snapshots.install(this, event.index);
        return;
      case 'install_refused':
        this.context.snapshots.refused(this);
        return;
      default:
    }
  }

  /** Room on the disk, which decides if changes are taken. */
  setDisk(level: DiskLevel): void {
    this.proposals.disk = level;
  }

  /**
   * Stands still: no call runs on the state, and no event changes it, until `resume` was called as often as
   * this.
   */
  pause(): void {
    this.intake.pause();
  }

  resume(): void {
    if (!this.intake.endPause()) return;
    this.isShut = false;
    this.intake.goOn();
    this.context.changed(this);
  }

  /**
   * The state of this session, which is paused, can't be opened until the disk has room: whoever waits is
   * told now. What the log was given stays in its place, and is taken in after `resume`.
   */
  shut(): void {
    if (this.isShut) return;
    this.isShut = true;
    this.roleChanges += 1;
    tellLost(this.proposals.pipeline.tellEarly(), NOT_WRITTEN_DISK_FULL, STATE_SHUT);
    this.reads.abandon();
    this.context.changed(this);
  }

  /**
   * Gives up everything that waits, because the node stops or the group is gone. What was proposed to a group that is
   * gone, and was not committed here before, is gone as well: nobody will ever see it.
   */
  abandon(error: QueryError, isGone = false): void {
    this.abandoned = true;
    this.intake.abandon();
    this.replica.watch.end(false);
    const open = new QueryError(error.code, `${error.message}; the change may or may not take effect`);
    tellLost(this.proposals.takeAll(), isGone ? null : open, error);
    this.reads.abandon();
    this.marks.loseAll();
  }

  private commit(count: number, last: LogPosition): void {
    // This node's own proposals lie in a row; an entry of Raft's own ends the row.
    this.proposals.commit(count, last.index);
    this.replica.moveTo(last);
    this.moved();
  }

  private moved(): void {
    this.reads.appliedTo(this.appliedIndex);
    this.context.changed(this);
  }

  /** As long as entries take long, the leader is asked what depends on them. */
  private delayChanged(): void {
    this.roleChanges += 1;
    this.moved();
    if (this.delay === 'long') this.reads.turnAway();
  }

  private loseLeadership(error: QueryError): void {
    const lost = this.proposals.takeAll();
    for (const waiting of [...lost].reverse()) if (waiting.kind === 'write') takeBack(waiting.undo);
    this.replica.forgetCollectionEvents();
    tellLost(lost, error, NOT_ANSWERED);
    this.context.changed(this);
  }
}
