/** The changes that a call of several parts has proposed: each future is a change of its own. */
import { type Change, cancelledError, type Group, type Outcome, type QueryError } from '@althing/engine';
import { assert } from '../base/assert.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Names } from '../groups/names.js';
import { type FailedReply, failedBehind, type Reply, type Respond } from '../groups/request.js';
import type { Prerequisites } from './request.js';

export type Answer = Extract<Outcome, { readonly kind: 'value' | 'error' }>;

export type FuturesEnd =
  | Answer
  /** The state is not there any more on which the call ran; if it changed nothing, another attempt may succeed. */
  | { readonly kind: 'lost' }
  /** A future makes a change, which it may not here. Nothing was done. */
  | { readonly kind: 'needs_change' };

/** The call of a client, or the run of a task, whose futures are carried on. */
export interface FuturesOwner {
  /** The session whose state the call runs on; null where it depends on none. */
  readonly session: GroupSession | null;
  readonly userId: number;
  /** See `Request`; null for none. */
  readonly saltKey: Uint8Array | null;
  readonly prerequisites: Prerequisites;
  /** True if its futures may make changes here. */
  readonly mayChange: boolean;
  /** True if it is a request, which is waited for where the node stops. */
  readonly isRequest: boolean;
  /** True if nobody waits for a call that has changed nothing yet. */
  readonly isAbandoned: boolean;
  /** True if the request has names, by which its repetitions are known. */
  readonly isNamed: boolean;
  /** Called before the first part is proposed; gives the names by which the request is known from then on, or null. */
  begins(): Names | null;
  /** Wraps the callback for what becomes of a change; see `RootReports`. */
  reporting(change: Change, respond: Respond): Respond;
  /** Called before its first request to a module is sent: it must not be carried out again from then on. */
  acts(): void;
  /** Called for each piece of work, with its milliseconds, and the things that it read: in memory, and from the disk. */
  ran(ms: number, warm: number, cold: number): void;
  finished(end: FuturesEnd, parts: ProposedParts): void;
}

export class ProposedParts {
  /** Changes that were proposed. */
  count = 0;
  /** The number of them that change something. */
  private changes = 0;
  /** The number of those that are neither committed nor lost. */
  private underWay = 0;
  /** Called when none is under way. */
  private waiting: (() => void)[] = [];
  /** The reply to the first part that was not committed; null while there is none. */
  lost: FailedReply | null = null;

  constructor(private readonly owner: FuturesOwner) {}

  private get session(): GroupSession {
    const { session } = this.owner;
    if (session === null) throw new Error('a call without a state made a change');
    return session;
  }

  /**
   * Proposes the change of a part: from now on the request must not be carried out again.
   *
   * @returns why it was taken back; null when it is on its way
   */
  propose(change: Change): QueryError | null {
    const { session, owner } = this;
    const isBegin = change.effects.length === 0;
    const reply: Reply = isBegin ? BEGUN : { ok: false, error: NOT_FINISHED, index: 0, outcome: 'made' };
    this.underWay += 1;
    const respond = owner.reporting(change, (told) => {
      if (told !== reply && !told.ok && told.outcome === 'unknown') this.lost ??= told;
      this.partIsKnown();
    });
    const refused = session.propose(change, reply, respond, this.count === 0 ? owner.begins() : null);
    if (refused !== null) return refused;
    this.count += 1;
    if (!isBegin) this.changes += 1;
    return null;
  }

  /** Notes in the log that the request was begun, though it has changed nothing yet; returns as `propose`. */
  begin(): QueryError | null {
    return this.propose(noChange(this.session.group));
  }

  /** Calls back when all that was proposed is committed: at once, later, or never. */
  whenCommitted(callback: () => void): void {
    if (this.underWay === 0) callback();
    else this.waiting.push(callback);
  }

  private partIsKnown(): void {
    assert(this.underWay > 0, 'what became of a part is known once');
    this.underWay -= 1;
    if (this.underWay > 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const callback of waiting) callback();
  }

  /**
   * Answers a call that has proposed something, as soon as all of it is committed.
   *
   * @param names by which the answer is kept; null for none
   */
  finish(answer: Answer, names: Names | null, respond: Respond): void {
    const { session, owner } = this;
    const withParts: Respond = (reply) => respond(this.replyOf(reply));
    const made = answer.kind === 'value' ? answer.change : null;
    if (made !== null) this.changes += 1;
    const change = made ?? (names === null ? null : noChange(session.group));
    if (change === null) {
      session.answer(answer, withParts);
    } else if (answer.kind === 'value') {
      session.answer({ ...answer, change }, owner.reporting(change, withParts), names);
    } else {
      const { outcome } = this;
      const sealed = outcome === 'none';
      const reply: Reply = { ok: false, error: answer.error, index: 0, outcome, sealed };
      session.propose(change, reply, withParts, names);
    }
  }

  /** The reply to a call that could not go on, though something of it is made. */
  get interrupted(): FailedReply {
    return this.lost ?? { ok: false, error: INTERRUPTED, outcome: this.outcome };
  }

  /** The outcome of all parts, when none was lost. */
  get outcome(): 'made' | 'none' {
    return this.changes > 0 ? 'made' : 'none';
  }

  /** An answer, with what became of all parts. */
  private replyOf(reply: Reply): Reply {
    if (this.lost !== null) return this.lost;
    const { outcome } = this;
    if (reply.ok) return outcome === 'made' ? { ...reply, outcome } : reply;
    if (reply.outcome === 'unknown') return reply;
    const { index = 0 } = reply;
    return outcome === 'made' ? failedBehind(reply.error, index) : { ...reply, outcome, index };
  }
}

/** The answer to a request that comes again when the first attempt ended before its futures were done. */
const NOT_FINISHED = cancelledError(
  'a part of the request was carried out; its futures were ended before they were done',
);

/** The answer to a request that comes again when the first attempt ended after it was begun. */
const BEGUN: FailedReply = {
  ok: false,
  error: cancelledError(
    'the request was begun, and requests to modules may have been sent; it was ended before it was done',
  ),
  index: 0,
  outcome: 'unknown',
};

const INTERRUPTED = cancelledError(
  'a part of the request was carried out; then the node lost its leadership or stopped, or the collection was deleted, and the futures that were left were ended',
);

/**
 * The entry that is logged when nothing was changed, for the sake of the answer. It counts as a change: the
 * other nodes count each entry that they apply.
 */
export function noChange(group: Group): Change {
  group.changeCount += 1;
  const undo = [
    () => {
      group.changeCount -= 1;
    },
  ];
  return { effects: new Uint8Array(0), undo, events: [], collectionEvents: [] };
}
