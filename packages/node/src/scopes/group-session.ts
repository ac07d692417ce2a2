import {
  ByteWriter,
  type Change,
  type CollectionEvent,
  ErrorCode,
  type Group,
  type Outcome,
  QueryError,
  RootGroup,
  takeBack,
  type Undo,
} from '@althing/engine';
import type { Membership } from 'raft-ts';
import type { DiskLevel } from '../consensus/disk-watch.js';
import { decodeMembership } from '../consensus/membership.js';
import {
  type Applied,
  type Consensus,
  type Event,
  type GroupId,
  type NodeId,
  type Place,
  ROOT_GROUP,
} from '../consensus/protocol.js';
import type { Reply, Respond } from '../request.js';
import {
  decodeEntry,
  type EntryHead,
  encodeEntry,
  type IdempotencyKey,
  NO_REPLY,
  type RequestIdentity,
} from './entry.js';
import { CHANGE_BYTES_MAX, WAITING_BYTES_MAX, WAITING_CHANGES_MAX } from './limits.js';
import { ReadIndexes, type ReadReady } from './read-indexes.js';
import { encodeReply, type Results, type ResultsCapture } from './results.js';

/** What waits, in the order in which it was computed, for the group's log. */
type Waiting =
  | {
      readonly kind: 'write';
      readonly undo: readonly Undo[];
      readonly collectionEvents: readonly CollectionEvent[];
      readonly bytes: number;
      readonly head: EntryHead;
      /** Effects that the state gets with the commit, because it does not hold them yet; null for none. */
      readonly imposed: Uint8Array | null;
      readonly reply: Reply;
      readonly respond: Respond;
    }
  /** An answer that was computed on changes which are not committed yet. */
  | { readonly kind: 'barrier'; readonly reply: Reply; readonly respond: Respond };

type Write = Extract<Waiting, { readonly kind: 'write' }>;

/** What is known of a change before it is proposed. */
type Proposal = Pick<Write, 'undo' | 'collectionEvents' | 'imposed' | 'reply' | 'respond'>;

/** What makes a request take effect once, as far as it is known. */
export interface Names {
  readonly request: RequestIdentity | null;
  readonly key: IdempotencyKey | null;
}

/** A place that is to be found: see `Command.mark`. */
interface Mark {
  readonly placed: (index: number) => void;
  readonly reached: (applied: Applied) => void;
  readonly lost: () => void;
}

/** Who wants to look at the state when it stands at an index, and no further. */
interface Watch {
  readonly index: number;
  /** Called while the state stands there; with false when that is over, or can't come any more. */
  readonly done: (there: boolean) => void;
}

export interface SessionContext {
  readonly consensus: Consensus;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Calls back when the session leads, follows, or applied something. */
  readonly changed: (session: GroupSession) => void;
  /** Whether this node is the only one of its cluster, so that nothing can happen behind its back. */
  readonly alone: () => boolean;
  /** Told when collections came or went for good. */
  readonly collectionsChanged: (events: readonly CollectionEvent[]) => void;
  /** Told what becomes of a snapshot that arrived, and which other node needs one. */
  readonly snapshots: SnapshotEvents;
}

/** What a session passes on. */
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
 * As leader it runs calls at once and proposes their effects; its state then holds effects that are not committed yet,
 * so every answer that was computed on them waits for them. When it loses its office it takes them back, newest first.
 * As follower it applies what is committed. A leader whose log can't take changes is *suspended*: it has taken back what
 * was not committed, and answers reads.
 */
export class GroupSession {
  readonly id: GroupId;
  private state: Group;
  private readonly context: SessionContext;
  private waiting: Waiting[] = [];
  /** Index of the first element of `waiting` that still waits. */
  private head = 0;
  private writesWaiting = 0;
  private bytesWaiting = 0;
  /** The office in which this node leads and may propose; 0 when it may not. */
  private office = 0;
  private suspended = false;
  private imposing = false;
  private opened = false;
  private leaderId = 0;
  /** Where the state stands, apart from changes that wait for their commit. */
  private appliedPlace: Applied;
  private lastTime = 0;
  /** Bytes of changes since the last checkpoint began. */
  changedBytes = 0;
  private readonly marks = new Map<number, Mark>();
  private nextMark = 1;
  private watch: Watch | null = null;
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
    this.appliedPlace = applied;
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
    this.endWatch(false);
    this.state = group;
    this.resultTable = results;
    this.appliedPlace = applied;
    this.changedBytes = 0;
    this.reads.appliedTo(applied.index);
    this.context.consensus.send({ kind: 'installed', group: this.id, applied });
  }

  /** Whether this node leads the group and its state is complete: it may run calls. */
  get leading(): boolean {
    return this.held === null && (this.office !== 0 || this.suspended);
  }

  /** Whether this node leads but can take no changes for a moment; on a full disk it may take longer. */
  get awaitsOffice(): boolean {
    return this.suspended && this.disk === 'ok';
  }

  /** Whether the log knows of the group: before, nothing of it may be stored, since state and log must fit together. */
  get isOpen(): boolean {
    return this.opened;
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
    return this.appliedPlace.index;
  }

  /** Rises whenever this node begins or ceases to lead, or gets to know another leader. */
  get roleVersion(): number {
    return this.roleChanges;
  }

  /** Whether the state can be read now. */
  get readable(): boolean {
    return this.held === null;
  }

  /** Why the state can't be read for as long as the disk has no room; null when it can, or soon. */
  get outage(): QueryError | null {
    return this.isShut ? STATE_SHUT : null;
  }

  /** The members of the group, as far as the state of this node stands. */
  get membership(): Membership {
    return decodeMembership(this.appliedPlace.membership);
  }

  /** Whether the state holds changes that are not committed yet. */
  get hasUncommitted(): boolean {
    return this.writesWaiting > 0;
  }

  /** Number of changes that the state holds and that are not committed yet. */
  get uncommitted(): number {
    return this.writesWaiting;
  }

  /** Answers that wait for the log, and reads that wait for the state. */
  get queues(): { readonly commit: number; readonly read: number } {
    return { commit: this.waiting.length - this.head, read: this.reads.size };
  }

  /** Null when a change may be made now, else why not. */
  refusal(): QueryError | null {
    if (this.disk === 'full') return DISK_FULL;
    // The root scope hardly grows, and deleting a collection is a way to make room.
    if (this.disk === 'low' && this.id !== ROOT_GROUP) return DISK_LOW;
    if (this.office === 0) return NO_CHANGES;
    if (this.imposing) return RESTORING;
    if (this.writesWaiting >= WAITING_CHANGES_MAX || this.bytesWaiting >= WAITING_BYTES_MAX) {
      const what = `${this.writesWaiting} changes with ${this.bytesWaiting} bytes`;
      return new QueryError(ErrorCode.NODE, `${what} wait to be written: try again`);
    }
    return null;
  }

  /** Answers a call that was run on this session's state, as soon as what it saw is committed. */
  settle(
    outcome: Outcome & { readonly kind: 'value' | 'error' },
    respond: Respond,
    names: Names | null = null,
  ): void {
    const reply: Reply =
      outcome.kind === 'value'
        ? { ok: true, result: outcome.result, index: 0 }
        : { ok: false, error: outcome.error, index: 0 };
    if (outcome.kind === 'value' && outcome.change !== null) {
      this.propose(outcome.change, reply, respond, names);
    } else {
      this.settleRead(reply, respond);
    }
  }

  /** Proposes effects that the state holds already. When they can't be proposed they are taken back. */
  propose(
    { effects, undo, collectionEvents }: Omit<Change, 'events'>,
    reply: Reply,
    respond: Respond,
    names: Names | null = null,
  ): void {
    const error = this.office === 0 ? NO_CHANGES : this.imposing ? RESTORING : tooLarge(effects);
    if (error !== null) {
      takeBack(undo);
      this.settleRead({ ok: false, error, index: 0 }, respond);
      return;
    }
    this.send(effects, names, { undo, collectionEvents, imposed: null, reply, respond });
  }

  private send(
    effects: Uint8Array,
    names: Names | null,
    { undo, collectionEvents, imposed, reply, respond }: Proposal,
  ): void {
    this.lastTime = Math.max(this.lastTime, Math.floor(this.context.now()));
    const head = headOf(this.lastTime, names, reply);
    const out = effects.length > KEPT_WRITER_BYTES ? new ByteWriter(effects.length + 80) : this.writer;
    const payload = encodeEntry(head, effects, out);
    const bytes = payload.length;
    this.waiting.push({
      kind: 'write',
      undo,
      collectionEvents,
      bytes,
      head,
      imposed,
      reply,
      respond,
    });
    this.writesWaiting += 1;
    this.bytesWaiting += payload.length;
    this.changedBytes += payload.length;
    this.context.consensus.send({
      kind: 'propose',
      group: this.id,
      office: this.office,
      payloads: [payload],
    });
  }

  /**
   * Proposes effects that come from elsewhere and that the state does not hold: it gets them with their commit, like that
   * of any other node. Until then no other change is made here, and no checkpoint may begin.
   *
   * @param done told whether they are committed; if not, they may be later. False also when there is no office, or
   *   something else waits to be committed
   */
  impose(effects: Uint8Array, done: (committed: boolean) => void): void {
    if (this.office === 0 || this.waiting.length > this.head || this.disk === 'full') {
      done(false);
      return;
    }
    this.imposing = true;
    this.send(effects, null, {
      undo: [],
      collectionEvents: [],
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
   * Asks whether the state may be read: calls back once it holds everything that was acknowledged anywhere before this
   * call, or with false when that can't be told now.
   */
  readIndex(done: ReadReady): void {
    if (this.leading && this.context.alone()) done(true);
    else this.reads.request(done);
  }

  /** Calls back once the state holds everything up to an index. */
  whenApplied(index: number, done: () => void): void {
    this.reads.whenApplied(index, this.appliedPlace.index, done);
  }

  /** What a checkpoint that stands for the present state must hold of the results. */
  captureResults(): ResultsCapture {
    const heads: EntryHead[] = [];
    for (let i = this.head; i < this.waiting.length; i++) {
      const waiting = this.waiting[i] as Waiting;
      if (waiting.kind === 'write') heads.push(waiting.head);
    }
    return this.resultTable.capture(heads);
  }

  /**
   * Finds the place in the log behind everything that the state holds now. The state must not change between the call and
   * what it stands for. `lost` is called when some of it was taken back.
   *
   * @param placed told the index before everything up to there is committed
   */
  mark(
    reached: (applied: Applied) => void,
    lost: () => void,
    placed: (index: number) => void = () => {},
  ): void {
    if (this.office === 0) {
      placed(this.appliedPlace.index);
      reached(this.appliedPlace);
      return;
    }
    const id = this.nextMark++;
    this.marks.set(id, { placed, reached, lost });
    this.context.consensus.send({ kind: 'mark', group: this.id, office: this.office, id });
  }

  /**
   * Calls back while the state of this node, which must not lead, stands at an index: before anything behind it is
   * applied. One at a time: who asked before is told that it is over.
   *
   * @returns what ends the wait: `done` is called with false then, unless it was called
   */
  whenAt(index: number, done: (there: boolean) => void): () => void {
    this.endWatch(false);
    const isPast = this.appliedPlace.index > index;
    if (isPast || this.office !== 0 || this.suspended || this.held !== null || this.abandoned) done(false);
    else if (this.appliedPlace.index === index) done(true);
    else this.watch = { index, done };
    const { watch } = this;
    return () => {
      if (watch !== null && this.watch === watch) this.endWatch(false);
    };
  }

  handle(event: Event): void {
    // What was under way may still be committed; nobody is left to be told.
    if (this.abandoned) return;
    this.opened = true;
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
        this.endWatch(false);
        this.office = event.office;
        this.suspended = false;
        this.leaderId = 0;
        this.roleChanges += 1;
        this.context.changed(this);
        return;
      case 'suspended':
        this.suspended = true;
        this.roleChanges += 1;
        this.loseOffice(this.disk === 'full' ? NOT_WRITTEN_DISK_FULL : NOT_WRITTEN);
        return;
      case 'following':
        this.suspended = false;
        this.leaderId = event.leader;
        this.roleChanges += 1;
        this.loseOffice(LEADERSHIP_LOST);
        return;
      case 'membership':
        this.appliedPlace = { ...this.appliedPlace, membership: event.membership };
        return;
      case 'mark_placed':
        this.marks.get(event.id)?.placed(event.index);
        return;
      case 'marked':
        this.takeMark(event.id)?.reached(event.applied);
        return;
      case 'mark_lost':
        this.takeMark(event.id)?.lost();
        return;
      case 'read':
        this.reads.answered(event.id, event.index, this.appliedPlace.index);
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

  /** Stands still: no call runs on the state, and no event changes it, until `resume` was called as often as this. */
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
   * The state of this session, which is paused, can't be opened until the disk has room: whoever waits is told now. What
   * the log was given stays in its place, and is taken in after `resume`.
   */
  shut(): void {
    if (this.isShut) return;
    this.isShut = true;
    this.roleChanges += 1;
    const told = this.waiting.slice(this.head);
    this.waiting = told.map((waiting) => ({ ...waiting, respond: () => {} }));
    this.head = 0;
    for (const { kind, respond } of told) {
      if (kind === 'write') respond({ ok: false, error: NOT_WRITTEN_DISK_FULL, lost: 'unknown' });
      else respond({ ok: false, error: STATE_SHUT, lost: 'undone' });
    }
    this.reads.abandon();
    this.context.changed(this);
  }

  /** Gives up everything that waits, because the node stops or the group is gone. */
  abandon(error: QueryError): void {
    this.abandoned = true;
    this.endWatch(false);
    const open = new QueryError(error.code, `${error.message}; the change may or may not take effect`);
    for (const { kind, respond } of this.takeWaiting()) {
      if (kind === 'write') respond({ ok: false, error: open, lost: 'unknown' });
      else respond({ ok: false, error, lost: 'undone' });
    }
    this.reads.abandon();
    for (const id of [...this.marks.keys()]) this.takeMark(id)?.lost();
  }

  private settleRead(reply: Reply, respond: Respond): void {
    reply.index = this.appliedPlace.index;
    if (this.writesWaiting === 0) respond(reply);
    else this.waiting.push({ kind: 'barrier', reply, respond });
  }

  private commit(count: number, last: Place): void {
    let left = count;
    // What this node proposed lies in a row; an entry of Raft's own ends the row.
    let { index } = this.appliedPlace;
    while (this.head < this.waiting.length) {
      const waiting = this.waiting[this.head] as Waiting;
      if (waiting.kind === 'write') {
        if (left === 0) break;
        left -= 1;
        this.writesWaiting -= 1;
        this.bytesWaiting -= waiting.bytes;
        index += 1;
        this.resultTable.note(waiting.head);
        if (waiting.imposed !== null) this.takeImposed(waiting.imposed);
        this.tellCollections(waiting.collectionEvents);
      }
      this.head += 1;
      // Behind the last write an answer stands where the log does, be it that Raft added something.
      waiting.reply.index = waiting.kind === 'write' || left > 0 ? index : last.index;
      waiting.respond(waiting.reply);
    }
    if (left > 0)
      throw new Error(`${left} more changes of group ${this.id} are committed than were proposed`);
    this.moveTo(last);
    this.compactWaiting();
    this.reads.appliedTo(last.index);
    this.context.changed(this);
  }

  private moveTo({ index, term, hash }: Place): void {
    this.appliedPlace = { ...this.appliedPlace, index, term, hash };
  }

  private endWatch(there: boolean): void {
    const { watch } = this;
    this.watch = null;
    watch?.done(there);
  }

  private takeImposed(effects: Uint8Array): void {
    this.imposing = false;
    this.group.apply(effects);
    if (this.group instanceof RootGroup) this.tellCollections(this.group.collectionEvents.splice(0));
  }

  private apply({ entries, last, membership }: Extract<Event, { kind: 'entries' }>): void {
    for (const entry of entries) {
      if (this.watch !== null && entry.index > this.watch.index) this.endWatch(true);
      const { head, effects } = decodeEntry(entry.payload);
      this.lastTime = Math.max(this.lastTime, head.time);
      this.group.apply(effects);
      this.resultTable.note(head);
      if (this.group instanceof RootGroup) this.tellCollections(this.group.collectionEvents.splice(0));
      this.changedBytes += entry.payload.length;
      if (this.watch !== null) this.moveTo(entry);
    }
    this.moveTo(last);
    // Who looks at the state here takes the membership with it.
    if (membership !== undefined) this.appliedPlace = { ...this.appliedPlace, membership };
    if (this.watch !== null && last.index >= this.watch.index) this.endWatch(true);
    this.context.consensus.send({ kind: 'applied', group: this.id, index: last.index });
    this.reads.appliedTo(last.index);
    this.context.changed(this);
  }

  private loseOffice(error: QueryError): void {
    this.office = 0;
    const lost = this.takeWaiting();
    for (let i = lost.length - 1; i >= 0; i--) {
      const waiting = lost[i] as Waiting;
      if (waiting.kind === 'write') takeBack(waiting.undo);
    }
    if (this.group instanceof RootGroup) this.group.collectionEvents.length = 0;
    for (const { kind, respond } of lost) {
      if (kind === 'write') respond({ ok: false, error, lost: 'unknown' });
      else respond({ ok: false, error: NOT_ANSWERED, lost: 'undone' });
    }
    this.context.changed(this);
  }

  private takeMark(id: number): Mark | undefined {
    const mark = this.marks.get(id);
    this.marks.delete(id);
    return mark;
  }

  private tellCollections(events: readonly CollectionEvent[]): void {
    if (events.length > 0) this.context.collectionsChanged(events);
  }

  private takeWaiting(): Waiting[] {
    const waiting = this.waiting.slice(this.head);
    this.waiting = [];
    this.head = 0;
    this.writesWaiting = 0;
    this.bytesWaiting = 0;
    this.imposing = false;
    return waiting;
  }

  private compactWaiting(): void {
    if (this.head === this.waiting.length) {
      this.waiting.length = 0;
      this.head = 0;
    } else if (this.head > 1024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
  }
}

/** Effects up to this size are encoded in the same memory again and again. */
const KEPT_WRITER_BYTES = 16 * 1024;

function headOf(time: number, names: Names | null, reply: Reply): EntryHead {
  if (names === null || !reply.ok) return { time, request: null, key: null, reply: NO_REPLY };
  return { time, request: names.request, key: names.key, reply: encodeReply(reply.result) };
}

export const DISK_FULL = nodeError(
  'the disk of the node is full: reads go on, changes are refused until there is room again',
);

export const DISK_LOW = nodeError(
  'the disk of the node is almost full: reads go on, changes are refused until there is room again; free some space, or delete a collection',
);

const STATE_SHUT = nodeError(
  'the disk of the node is full, and its data can not be opened: it goes on by itself when there is room again',
);

export const RESTORING = nodeError('a backup is being restored: try again when that is done');

const NO_CHANGES = nodeError('the node takes no changes at the moment: try again');

const NOT_WRITTEN = nodeError(
  'the change could not be written and is not acknowledged; it may or may not take effect',
);

const NOT_WRITTEN_DISK_FULL = nodeError(
  'the disk of the node is full; the change is not acknowledged, but may take effect once there is room',
);

const LEADERSHIP_LOST = nodeError(
  'the node lost its leadership before the change was acknowledged; it may or may not have taken effect',
);

const NOT_ANSWERED = nodeError(
  'what was read depended on a change that could not be written; nothing was changed: try again',
);

function tooLarge({ length }: Uint8Array): QueryError | null {
  if (length <= CHANGE_BYTES_MAX) return null;
  return new QueryError(
    ErrorCode.MAX_QUOTA,
    `the change takes ${length} bytes in the log; at most ${CHANGE_BYTES_MAX} are allowed: make it in several steps`,
  );
}

function nodeError(message: string): QueryError {
  return new QueryError(ErrorCode.NODE, message);
}
