/**
 * Long because: it is one state machine, in which an event may change role, state and what waits at once.
 */
import {
  ByteWriter,
  type Change,
  type CollectionEvent,
  type Group,
  LEVEL_AFTER_0_1_0,
  type Outcome,
  QueryError,
  type RoomEvent,
  RootGroup,
  takeBack,
} from '@althing/engine';
import type { Membership } from 'raft-ts';
import { decodeMembership } from '../between/membership.js';
import {
  type Applied,
  type Consensus,
  type DiskLevel,
  type Event,
  type GroupId,
  type LogPosition,
  type NodeId,
  type PreparedAnswer,
  ROOT_GROUP,
} from '../between/protocol.js';
import { decodeEntry, type EntryHead, encodeEntry, plainHead } from './entry.js';
import {
  encodeBegun,
  encodeFailure,
  encodeRefusal,
  encodeReply,
  encodeSecret,
  TOO_LARGE,
} from './kept-reply.js';
import { Marks } from './marks.js';
import type { ClientNames, Names } from './names.js';
import { Pipeline, type Waiting, type Write } from './pipeline.js';
import { ReadIndexes, type ReadReady } from './read-indexes.js';
import {
  DISK_FULL,
  DISK_LOW,
  LEADERSHIP_LOST,
  NO_CHANGES,
  NO_CLIENTS_YET,
  NOT_ANSWERED,
  NOT_WRITTEN,
  NOT_WRITTEN_DISK_FULL,
  nodeError,
  RESTORING,
  SHORTAGES,
  STATE_SHUT,
  TOO_MANY_KEYS,
  tooLarge,
} from './refusals.js';
import type { Reply, Respond } from './request.js';
import type { Results, ResultsCapture } from './results.js';
import { StateWatch } from './state-watch.js';

/** A change before it is proposed. */
type Proposal = Pick<Write, 'undo' | 'collectionEvents' | 'roomEvents' | 'imposed' | 'reply' | 'respond'>;

export interface SessionContext {
  readonly consensus: Pick<Consensus, 'send'>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** A clock in milliseconds that does not leap. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** The level that the cluster works at, as far as this node knows. */
  readonly level: () => number;
  /** Calls back when the session leads, follows, or applied something. */
  readonly changed: (session: GroupSession) => void;
  /** Whether this node is the only one of its cluster, so that nothing can happen behind its back. */
  readonly alone: () => boolean;
  /** Called when collections came or went for good. */
  readonly collectionsChanged: (events: readonly CollectionEvent[]) => void;
  /** Called with what clients in rooms are to be told of, which is committed, before the change is answered. */
  readonly roomEvents: (session: GroupSession, events: readonly RoomEvent[]) => void;
  /** Called with what becomes of a snapshot that arrived, and which other node needs one. */
  readonly snapshots: SnapshotEvents;
}

/** The events of snapshots that a session passes on. */
export interface SnapshotEvents {
  send(session: GroupSession, to: NodeId, message: Uint8Array): void;
  install(session: GroupSession, index: number): void;
  refused(session: GroupSession): void;
}

export interface SessionStart {
  /** Whether nothing of the group is stored yet. */
  readonly isNew: boolean;
  /** Whether this node calls the first election. */
  readonly campaign: boolean;
}

/**
 * The engine's side of one Raft group on this node: its state, and everything that waits for its log.
 *
 * As leader it runs calls at once and proposes their effects; its state then holds effects that are not
 * committed yet, so every answer that was computed on them waits for them. When it loses its leadership it
 * takes them back, newest first. As follower it applies what is committed. A leader whose log can't take
 * changes is *suspended*: it has taken back what was not committed, and answers reads.
 *
 * Parts that can stand alone do so beside it: what waits (`pipeline.ts`), marks, reads, who watches the
 * state.
 */
export class GroupSession {
  readonly id: GroupId;
  private state: Group;
  private readonly context: SessionContext;
  private readonly pipeline = new Pipeline();
  /** The leadership incarnation in which this node leads and may propose; 0 when it may not. */
  private epoch = 0;
  private suspended = false;
  private imposing = false;
  private opened = false;
  private leaderId = 0;
  /** Where the state stands, apart from changes that wait for their commit. */
  private appliedPosition: Applied;
  private lastTime = 0;
  /** Up to when entries told how much time passed, by the monotonic clock. */
  private toldUntil = 0;
  /** Bytes of changes since the last checkpoint began. */
  changedBytes = 0;
  private readonly marks = new Marks();
  private readonly watch = new StateWatch();
  private readonly reads: ReadIndexes;
  private resultTable: Results;
  private roleChanges = 0;
  private readonly writer = new ByteWriter();
  private disk: DiskLevel = 'ok';
  /** Events that came while the state could not be read; null while it can. */
  private held: Event[] | null = null;
  private pauses = 0;
  private isShut = false;
  private abandoned = false;

  constructor(
    id: GroupId,
    group: Group,
    results: Results,
    applied: Applied,
    start: SessionStart,
    context: SessionContext,
  ) {
    this.id = id;
    this.state = group;
    this.appliedPosition = applied;
    this.context = context;
    this.resultTable = results;
    this.reads = new ReadIndexes((read) => context.consensus.send({ kind: 'read', group: id, id: read }));
    context.consensus.send({ kind: 'open', group: id, applied, ...start });
  }

  /** The state; another object after a snapshot was installed. */
  get group(): Group {
    return this.state;
  }

  /** The state was replaced by that of a snapshot, while the session was paused. */
  replaceState(group: Group, results: Results, applied: Applied): void {
    this.watch.end(false);
    this.state = group;
    this.resultTable = results;
    this.appliedPosition = applied;
    this.changedBytes = 0;
    this.reads.appliedTo(applied.index);
    this.context.consensus.send({ kind: 'installed', group: this.id, applied });
  }

  /** A snapshot could not be made the state, which is as it was. To be called while the session is paused. */
  notInstalled(): void {
    if (this.abandoned) return;
    // The log begins anew with that, and knows of no question that was asked before.
    this.reads.abandon();
    this.context.consensus.send({ kind: 'not_installed', group: this.id, applied: this.appliedPosition });
  }

  /** Whether this node leads the group and its state is complete: it may run calls. */
  get leading(): boolean {
    return this.held === null && (this.epoch !== 0 || this.suspended);
  }

  /**
   * Whether this node leads and its state holds everything that was proposed for the group before, apart from
   * what waits here. While it is suspended, what it has proposed may yet be committed, though the state does
   * not hold it any more.
   */
  get proposes(): boolean {
    return this.held === null && this.epoch !== 0;
  }

  /** Whether this node leads but can take no changes for a moment; on a full disk it may take longer. */
  get awaitsEpoch(): boolean {
    return this.suspended && this.disk === 'ok';
  }

  /**
   * Whether the log knows of the group, which is not gone: otherwise nothing of it may be stored, since state
   * and log must fit together.
   */
  get isOpen(): boolean {
    return this.opened && !this.abandoned;
  }

  /** Whether nothing more is decided here: the node stops, or the group is gone. */
  get isEnded(): boolean {
    return this.abandoned;
  }

  /** The node that leads, as far as this one knows; 0 for none. */
  get leader(): number {
    return this.leaderId;
  }

  /** The answers to recent changes that are committed. */
  get results(): Results {
    return this.resultTable;
  }

  /** Index of the last entry that the state holds; it may hold changes that wait for their commit besides. */
  get appliedIndex(): number {
    return this.appliedPosition.index;
  }

  /** Rises whenever this node begins or ceases to lead, or gets to know another leader. */
  get roleVersion(): number {
    return this.roleChanges;
  }

  /**
   * Whether the state can be read now. On a node that joins, a collection has no state at all until its first snapshot is
   * there: not even its root thing.
   */
  get readable(): boolean {
    return this.held === null && this.appliedPosition.index > 0;
  }

  /** Why the state can't be read for as long as the disk has no room; null when it can, or soon. */
  get outage(): QueryError | null {
    return this.isShut ? STATE_SHUT : null;
  }

  /** The members of the group, as far as the state of this node stands. */
  get membership(): Membership {
    return decodeMembership(this.appliedPosition.membership);
  }

  /** Whether the state holds changes that are not committed yet. */
  get hasUncommitted(): boolean {
    return this.pipeline.changes > 0;
  }

  /**
   * Whether a change waits for its commit that was told already that this is not certain: it must not be made
   * again.
   *
   * @param names by which it may be known
   */
  hasToldEarly(names: Names): boolean {
    return this.pipeline.hasTold(names);
  }

  /** Number of changes that the state holds and that are not committed yet. */
  get uncommitted(): number {
    return this.pipeline.changes;
  }

  /** Answers that wait for the log, and reads that wait for the state. */
  get queues(): { readonly commit: number; readonly read: number } {
    return { commit: this.pipeline.length, read: this.reads.size };
  }

  /** Null when a change may be made now, else why not. */
  refusal(): QueryError | null {
    if (this.disk === 'full') return DISK_FULL;
    // The root scope hardly grows, and deleting a collection is a way to make room.
    if (this.disk === 'low' && this.id !== ROOT_GROUP) return DISK_LOW;
    if (this.epoch === 0) return NO_CHANGES;
    if (this.imposing) return RESTORING;
    const full = this.pipeline.fullText;
    return full === null ? null : nodeError(`${full} wait to be written: try again`);
  }

  /**
   * Whether the level of the cluster lets requests be named by numbers, and names come without their bodies.
   */
  get takesClients(): boolean {
    return this.context.level() >= LEVEL_AFTER_0_1_0;
  }

  /** Whether the level of the cluster lets the log hold that a request was refused. */
  get keepsRefusals(): boolean {
    return this.context.level() >= LEVEL_AFTER_0_1_0;
  }

  /** Why a new change can't be made under the names that its client gave it; null when it can. */
  nameRefusal({ key, client }: ClientNames): QueryError | null {
    if (!this.takesClients) return client === null ? null : NO_CLIENTS_YET;
    const { results, elapsed } = this;
    if (key !== null && !results.hasRoomForKey(key.user, elapsed)) return TOO_MANY_KEYS;
    const shortage = client === null ? null : results.clientShortage(client, elapsed);
    return shortage === null ? null : SHORTAGES[shortage];
  }

  /** Whole milliseconds since the entry before, as far as this node has led. */
  private get elapsed(): number {
    return Math.max(0, Math.floor(this.context.monotonic() - this.toldUntil));
  }

  /**
   * Answers a call that was run on this session's state, as soon as what it saw is committed.
   *
   * @param early see `propose`
   */
  answer(
    outcome: Outcome & { readonly kind: 'value' | 'error' },
    respond: Respond,
    names: Names | null = null,
    early: PreparedAnswer | null = null,
  ): void {
    const reply: Reply =
      outcome.kind === 'value'
        ? { ok: true, result: outcome.result, index: 0, ...(outcome.change === null ? {} : MADE) }
        : { ok: false, error: outcome.error, index: 0 };
    if (outcome.kind === 'value' && outcome.change !== null) {
      this.propose(outcome.change, reply, respond, names, outcome.secret, early);
    } else {
      this.answerRead(reply, respond);
    }
  }

  /** The answer to a call that changed nothing, when all that it saw is committed; null: `answer` gives it, now or later. */
  replyNow(outcome: Outcome & { readonly kind: 'value' | 'error' }): Reply | null {
    if (this.pipeline.changes !== 0) return null;
    const { index } = this.appliedPosition;
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
    { effects, undo, collectionEvents, roomEvents = NO_EVENTS }: Omit<Change, 'events'>,
    reply: Reply,
    respond: Respond,
    names: Names | null = null,
    secret: string | null = null,
    early: PreparedAnswer | null = null,
  ): QueryError | null {
    const error = this.epoch === 0 ? NO_CHANGES : this.imposing ? RESTORING : tooLarge(effects);
    if (error !== null) {
      takeBack(undo);
      this.answerRead({ ok: false, error, index: 0 }, respond);
      return error;
    }
    const kept = names === null ? null : this.keptOf(reply, secret);
    const proposal = { undo, collectionEvents, roomEvents, imposed: null, reply, respond };
    this.send(effects, names, kept, proposal, early);
    return null;
  }

  /** The kept form of an answer, or of an error and what was changed before it. */
  private keptOf(reply: Reply, secret: string | null): Uint8Array {
    if (!reply.ok) {
      if (reply.sealed === true) return encodeRefusal(reply.error);
      return (reply.outcome === 'unknown' ? encodeBegun : encodeFailure)(reply.error);
    }
    if (secret === null) return encodeReply(reply.result);
    return this.takesClients ? encodeSecret(secret) : TOO_LARGE;
  }

  private headOf(names: Names | null, kept: Uint8Array | null): EntryHead {
    this.lastTime = Math.max(this.lastTime, Math.floor(this.context.now()));
    const { lastTime: time } = this;
    let elapsed: number | null = null;
    if (this.takesClients) {
      ({ elapsed } = this);
      this.toldUntil += elapsed;
    }
    if (names === null || kept === null) return plainHead(time, elapsed);
    const { request, key, client } = names;
    return { time, elapsed, request, key, client, reply: kept };
  }

  private send(
    effects: Uint8Array,
    names: Names | null,
    kept: Uint8Array | null,
    proposal: Proposal,
    early: PreparedAnswer | null = null,
  ): void {
    const head = this.headOf(names, kept);
    const out = effects.length > KEPT_WRITER_BYTES ? new ByteWriter(effects.length + 80) : this.writer;
    const payload = encodeEntry(head, effects, out);
    const bytes = payload.length;
    const { undo, collectionEvents, roomEvents, imposed, reply, respond } = proposal;
    // Not spread: an object that is put together by a copy of another takes several times as long.
    this.pipeline.add({
      kind: 'write',
      undo,
      collectionEvents,
      roomEvents,
      bytes,
      head,
      imposed,
      reply,
      respond,
    });
    this.changedBytes += bytes;
    const { id: group, epoch } = this;
    const payloads = [payload];
    this.context.consensus.send(
      early === null
        ? { kind: 'propose', group, epoch, payloads }
        : { kind: 'propose', group, epoch, payloads, answers: [early] },
    );
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
    if (this.epoch === 0 || this.pipeline.length > 0 || this.disk === 'full') {
      done(false);
      return;
    }
    this.imposing = true;
    this.send(effects, names, names?.kept ?? null, {
      undo: [],
      collectionEvents: [],
      roomEvents: NO_EVENTS,
      imposed: effects,
      reply: { ok: true, result: '', index: 0 },
      respond: ({ ok }) => done(ok),
    });
  }

  /** Whether effects are on their way that the state does not hold. */
  get isImposing(): boolean {
    return this.imposing;
  }

  /**
   * Asks whether the state may be read: calls back once it holds everything that was acknowledged anywhere
   * before this call, or with false when that can't be told now.
   */
  readIndex(done: ReadReady): void {
    if (this.leading && this.context.alone()) done(true);
    else this.reads.request(done);
  }

  /** Calls back once the state holds everything up to an index. */
  whenApplied(index: number, done: () => void): void {
    this.reads.whenApplied(index, this.appliedPosition.index, done);
  }

  /** The results that a checkpoint for the present state must hold. */
  captureResults(): ResultsCapture {
    return this.resultTable.capture(this.pipeline.heads);
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
    if (this.abandoned) {
      lost();
      return;
    }
    if (this.epoch === 0) {
      placed(this.appliedPosition.index);
      reached(this.appliedPosition);
      return;
    }
    const id = this.marks.add({ placed, reached, lost });
    this.context.consensus.send({ kind: 'mark', group: this.id, epoch: this.epoch, id });
  }

  /**
   * Calls back while the state of this node, which must not lead, stands at an index: before anything behind
   * it is applied. One at a time: who asked before is told that it is over.
   *
   * @returns what ends the wait: `done` is called with false then, unless it was called
   */
  whenAt(index: number, done: (there: boolean) => void): () => void {
    this.watch.end(false);
    const { index: present } = this.appliedPosition;
    if (present > index || this.epoch !== 0 || this.suspended || this.held !== null || this.abandoned) {
      done(false);
    } else if (present === index) {
      done(true);
    } else {
      return this.watch.begin(index, done);
    }
    return () => {};
  }

  handle(event: Event): void {
    // Proposals that were under way may still be committed; nobody is left to be told.
    if (this.abandoned) return;
    this.opened ||= !isDecline(event);
    if (this.held !== null) {
      this.held.push(event);
      return;
    }
    switch (event.kind) {
      case 'committed':
        this.commit(event.count, event.last);
        return;
      case 'entries':
        this.apply(event);
        return;
      case 'leading':
        this.watch.end(false);
        this.epoch = event.epoch;
        this.toldUntil = this.context.monotonic();
        this.suspended = false;
        this.leaderId = 0;
        this.roleChanges += 1;
        this.context.changed(this);
        return;
      case 'suspended':
        this.suspended = true;
        this.roleChanges += 1;
        this.loseLeadership(this.disk === 'full' ? NOT_WRITTEN_DISK_FULL : NOT_WRITTEN);
        return;
      case 'following':
        this.suspended = false;
        this.leaderId = event.leader;
        this.roleChanges += 1;
        this.loseLeadership(LEADERSHIP_LOST);
        return;
      case 'membership':
        this.appliedPosition = { ...this.appliedPosition, membership: event.membership };
        return;
      case 'mark_placed':
        this.marks.placed(event.id, event.index);
        return;
      case 'marked':
        this.marks.reached(event.id, event.applied);
        return;
      case 'mark_lost':
        this.marks.lost(event.id);
        return;
      case 'read':
        this.reads.answered(event.id, event.index, this.appliedPosition.index);
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

  /** How much room the disk has: whether changes are taken. */
  setDisk(level: DiskLevel): void {
    this.disk = level;
  }

  /**
   * Stands still: no call runs on the state, and no event changes it, until `resume` was called as often as
   * this.
   */
  pause(): void {
    this.pauses += 1;
    this.held ??= [];
  }

  resume(): void {
    this.pauses -= 1;
    if (this.pauses > 0 || this.held === null) return;
    const events = this.held;
    this.held = null;
    this.isShut = false;
    // An event may pause the session again: what is left waits on.
    for (const event of events) this.handle(event);
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
    for (const { kind, respond } of this.pipeline.tellEarly()) {
      if (kind === 'write')
        respond({ ok: false, error: NOT_WRITTEN_DISK_FULL, outcome: 'unknown', lost: true });
      else respond({ ok: false, error: STATE_SHUT, lost: true });
    }
    this.reads.abandon();
    this.context.changed(this);
  }

  /**
   * Gives up everything that waits, because the node stops or the group is gone. What was proposed to a group that is
   * gone, and was not committed here before, is gone as well: nobody will ever see it.
   */
  abandon(error: QueryError, isGone = false): void {
    this.abandoned = true;
    this.watch.end(false);
    const open = new QueryError(error.code, `${error.message}; the change may or may not take effect`);
    for (const { kind, respond } of this.takeWaiting()) {
      if (kind === 'write' && !isGone) respond({ ok: false, error: open, outcome: 'unknown', lost: true });
      else respond({ ok: false, error, lost: true });
    }
    this.reads.abandon();
    this.marks.loseAll();
  }

  private answerRead(reply: Reply, respond: Respond): void {
    reply.index = this.appliedPosition.index;
    if (this.pipeline.changes === 0) respond(reply);
    else this.pipeline.add({ kind: 'barrier', reply, respond });
  }

  private commit(count: number, last: LogPosition): void {
    // This node's own proposals lie in a row; an entry of Raft's own ends the row.
    this.pipeline.commit(
      count,
      this.appliedPosition.index,
      last.index,
      ({ head, imposed, collectionEvents, roomEvents }) => {
        this.resultTable.note(head);
        if (imposed !== null) this.takeImposed(imposed);
        this.tellCollections(collectionEvents);
        this.tellRooms(roomEvents);
      },
    );
    this.moveTo(last);
    this.reads.appliedTo(last.index);
    this.context.changed(this);
  }

  private moveTo({ index, term, hash }: LogPosition): void {
    this.appliedPosition = { ...this.appliedPosition, index, term, hash };
  }

  private takeImposed(effects: Uint8Array): void {
    this.imposing = false;
    this.group.apply(effects);
    if (this.group instanceof RootGroup) this.tellCollections(this.group.collectionEvents.splice(0));
  }

  private apply({ entries, last, membership }: Extract<Event, { kind: 'entries' }>): void {
    for (const entry of entries) {
      this.watch.approaching(entry.index);
      const { head, effects } = decodeEntry(entry.payload);
      this.lastTime = Math.max(this.lastTime, head.time);
      this.group.apply(effects);
      this.resultTable.note(head);
      this.tellRooms(this.group.takeRoomEvents());
      if (this.group instanceof RootGroup) this.tellCollections(this.group.collectionEvents.splice(0));
      this.changedBytes += entry.payload.length;
      if (this.watch.isSet) this.moveTo(entry);
    }
    this.moveTo(last);
    // A watcher that looks at the state here takes the membership with it.
    if (membership !== undefined) this.appliedPosition = { ...this.appliedPosition, membership };
    this.watch.arrived(last.index);
    this.context.consensus.send({ kind: 'applied', group: this.id, index: last.index });
    this.reads.appliedTo(last.index);
    this.context.changed(this);
  }

  private loseLeadership(error: QueryError): void {
    this.epoch = 0;
    const lost = this.takeWaiting();
    for (const waiting of [...lost].reverse()) if (waiting.kind === 'write') takeBack(waiting.undo);
    if (this.group instanceof RootGroup) this.group.collectionEvents.length = 0;
    for (const { kind, respond } of lost) {
      if (kind === 'write') respond({ ok: false, error, outcome: 'unknown', lost: true });
      else respond({ ok: false, error: NOT_ANSWERED, lost: true });
    }
    this.context.changed(this);
  }

  private tellCollections(events: readonly CollectionEvent[]): void {
    if (events.length > 0) this.context.collectionsChanged(events);
  }

  private tellRooms(events: readonly RoomEvent[]): void {
    if (events.length > 0) this.context.roomEvents(this, events);
  }

  private takeWaiting(): Waiting[] {
    this.imposing = false;
    return this.pipeline.takeAll();
  }
}

/** Whether the log declines something because it does not know of the group: not yet, or not any more. */
function isDecline(event: Event): boolean {
  switch (event.kind) {
    case 'read':
      return event.index === null;
    case 'mark_lost':
    case 'install_refused':
      return true;
    default:
      return false;
  }
}

const MADE = { outcome: 'made' } as const;

const NO_EVENTS: readonly RoomEvent[] = [];

/** Effects up to this size are encoded in the same memory again and again. */
const KEPT_WRITER_BYTES = 16 * 1024;
