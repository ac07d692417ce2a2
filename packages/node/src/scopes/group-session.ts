import {
  type CollectionEvent,
  ErrorCode,
  type Group,
  type Outcome,
  QueryError,
  RootGroup,
  takeBack,
  type Undo,
} from '@althing/engine';
import type { Applied, Consensus, Event, GroupId, Place } from '../consensus/protocol.js';
import type { Reply, Respond } from '../request.js';
import { decodeEntry, encodeEntry } from './entry.js';

/** What waits, in the order in which it was computed, for the group's log. */
type Waiting =
  | {
      readonly kind: 'write';
      readonly undo: readonly Undo[];
      readonly collectionEvents: readonly CollectionEvent[];
      /** Null once the client was told that the outcome is open. */
      reply: Reply | null;
      readonly respond: Respond;
    }
  /** An answer that was computed on changes which are not committed yet. */
  | { readonly kind: 'barrier'; readonly reply: Reply; readonly respond: Respond };

/** A change that the state holds already. */
export interface Change {
  readonly effects: Uint8Array;
  readonly undo: readonly Undo[];
  readonly collectionEvents: readonly CollectionEvent[];
}

/** A place that is to be found: see `Command.mark`. */
interface Mark {
  readonly reached: (applied: Applied) => void;
  readonly lost: () => void;
}

export interface SessionContext {
  readonly consensus: Consensus;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Calls back when the session leads, follows, or applied something. */
  readonly changed: (session: GroupSession) => void;
  /** Told when collections came or went for good. */
  readonly collectionsChanged: (events: readonly CollectionEvent[]) => void;
}

/** Changes that may wait for their commit at once. */
const WAITING_MAX = 20_000;

/**
 * The engine's side of one Raft group on this node: its state, and everything that waits for its log.
 *
 * As leader it runs calls at once and proposes their effects; its state then holds effects that are not committed yet,
 * so every answer that was computed on them waits for them. When it loses its office it takes them back, newest first.
 * As follower it applies what is committed.
 */
export class GroupSession {
  readonly id: GroupId;
  readonly group: Group;
  private readonly context: SessionContext;
  private waiting: Waiting[] = [];
  /** Index of the first element of `waiting` that still waits. */
  private head = 0;
  private writesWaiting = 0;
  /** The term that this node leads in; 0 when it does not. */
  private term = 0;
  private leaderId = 0;
  /** Where the state stands, apart from changes that wait for their commit. */
  private appliedPlace: Applied;
  private lastTime = 0;
  /** Bytes of changes since the last checkpoint began. */
  changedBytes = 0;
  private readonly marks = new Map<number, Mark>();
  private nextMark = 1;
  private diskFull = false;

  constructor(id: GroupId, group: Group, applied: Applied, context: SessionContext) {
    this.id = id;
    this.group = group;
    this.appliedPlace = applied;
    this.context = context;
    context.consensus.send({ kind: 'open', group: id, applied });
  }

  /** Whether this node leads the group and its state is complete: it may run calls. */
  get leading(): boolean {
    return this.term !== 0;
  }

  /** The node that leads, as far as this one knows; 0 for none. */
  get leader(): number {
    return this.leaderId;
  }

  /** Whether the state holds changes that are not committed yet. */
  get hasUncommitted(): boolean {
    return this.writesWaiting > 0;
  }

  /** Null when a change may be made now, else why not. */
  refusal(): QueryError | null {
    if (this.diskFull) {
      return new QueryError(
        ErrorCode.NODE,
        'the disk of the node is full: reads go on, changes wait for room',
      );
    }
    if (this.writesWaiting >= WAITING_MAX) {
      return new QueryError(ErrorCode.NODE, `${this.writesWaiting} changes wait to be written: try again`);
    }
    return null;
  }

  /** Answers a call that was run on this session's state, as soon as what it saw is committed. */
  settle(outcome: Outcome & { readonly kind: 'value' | 'error' }, respond: Respond): void {
    const reply: Reply =
      outcome.kind === 'value' ? { ok: true, result: outcome.result } : { ok: false, error: outcome.error };
    if (outcome.kind === 'value' && outcome.effects !== null) {
      this.propose({ ...outcome, effects: outcome.effects }, reply, respond);
    } else if (this.writesWaiting === 0) {
      respond(reply);
    } else {
      this.waiting.push({ kind: 'barrier', reply, respond });
    }
  }

  /** Proposes effects that the state holds already. */
  propose({ effects, undo, collectionEvents }: Change, reply: Reply, respond: Respond): void {
    this.lastTime = Math.max(this.lastTime, Math.floor(this.context.now()));
    const payload = encodeEntry({ time: this.lastTime, effects });
    this.waiting.push({ kind: 'write', undo, collectionEvents, reply, respond });
    this.writesWaiting += 1;
    this.changedBytes += payload.length;
    this.context.consensus.send({ kind: 'propose', group: this.id, term: this.term, payloads: [payload] });
  }

  /** Finds the place in the log behind everything that the state holds now. */
  mark(reached: (applied: Applied) => void, lost: () => void): void {
    if (!this.leading) {
      reached(this.appliedPlace);
      return;
    }
    const id = this.nextMark++;
    this.marks.set(id, { reached, lost });
    this.context.consensus.send({ kind: 'mark', group: this.id, term: this.term, id });
  }

  handle(event: Event): void {
    switch (event.kind) {
      case 'committed':
        this.commit(event.count, event.last);
        return;
      case 'entries':
        this.apply(event);
        return;
      case 'leading':
        this.term = event.term;
        this.leaderId = 0;
        this.context.changed(this);
        return;
      case 'following':
        this.follow(event.leader);
        return;
      case 'membership':
        this.appliedPlace = { ...this.appliedPlace, membership: event.membership };
        return;
      case 'marked':
      case 'mark_lost': {
        const mark = this.marks.get(event.id);
        this.marks.delete(event.id);
        if (event.kind === 'marked') mark?.reached(event.applied);
        else mark?.lost();
        return;
      }
      default:
    }
  }

  /** The disk got full, or has room again. Who waits is told at once; what was proposed may still take effect. */
  setDiskFull(full: boolean): void {
    this.diskFull = full;
    if (!full) return;
    const error = new QueryError(
      ErrorCode.NODE,
      'the disk of the node is full; the change is not acknowledged, but may take effect once there is room',
    );
    for (let i = this.head; i < this.waiting.length; i++) {
      const waiting = this.waiting[i] as Waiting;
      if (waiting.kind === 'write' && waiting.reply !== null) {
        waiting.reply = null;
        waiting.respond({ ok: false, error });
      }
    }
  }

  /** Gives up everything that waits, because the node stops or the group is gone. */
  abandon(error: QueryError): void {
    for (const waiting of this.takeWaiting()) {
      if (waiting.kind === 'barrier' || waiting.reply !== null) waiting.respond({ ok: false, error });
    }
  }

  private commit(count: number, last: Place): void {
    let left = count;
    while (this.head < this.waiting.length) {
      const waiting = this.waiting[this.head] as Waiting;
      if (waiting.kind === 'write') {
        if (left === 0) break;
        left -= 1;
        this.writesWaiting -= 1;
        this.tellCollections(waiting.collectionEvents);
      }
      this.head += 1;
      if (waiting.reply !== null) waiting.respond(waiting.reply);
    }
    if (left > 0)
      throw new Error(`${left} more changes of group ${this.id} are committed than were proposed`);
    this.appliedPlace = { ...this.appliedPlace, ...last };
    this.compactWaiting();
    this.context.changed(this);
  }

  private apply({ entries, last }: Extract<Event, { kind: 'entries' }>): void {
    for (const entry of entries) {
      const { time, effects } = decodeEntry(entry.payload);
      this.lastTime = Math.max(this.lastTime, time);
      this.group.apply(effects);
      if (this.group instanceof RootGroup) this.tellCollections(this.group.collectionEvents.splice(0));
      this.changedBytes += entry.payload.length;
    }
    this.appliedPlace = { ...this.appliedPlace, ...last };
    this.context.consensus.send({ kind: 'applied', group: this.id, index: last.index });
    this.context.changed(this);
  }

  private follow(leader: number): void {
    this.term = 0;
    this.leaderId = leader;
    const lost = this.takeWaiting();
    for (let i = lost.length - 1; i >= 0; i--) {
      const waiting = lost[i] as Waiting;
      if (waiting.kind === 'write') takeBack(waiting.undo);
    }
    if (this.group instanceof RootGroup) this.group.collectionEvents.length = 0;
    for (const waiting of lost) {
      if (waiting.reply !== null) waiting.respond({ ok: false, error: LEADERSHIP_LOST });
    }
    this.context.changed(this);
  }

  private tellCollections(events: readonly CollectionEvent[]): void {
    if (events.length > 0) this.context.collectionsChanged(events);
  }

  private takeWaiting(): Waiting[] {
    const waiting = this.waiting.slice(this.head);
    this.waiting = [];
    this.head = 0;
    this.writesWaiting = 0;
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

const LEADERSHIP_LOST = new QueryError(
  ErrorCode.NODE,
  'the node lost its leadership before the change was acknowledged; it may or may not have taken effect',
);
