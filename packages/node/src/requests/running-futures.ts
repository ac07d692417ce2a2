import type { Continuation, Engine } from '@althing/engine';
import { type FuturesEnd, type FuturesOwner, ProposedParts } from './proposed-parts.js';

/** A call whose futures run. */
export class RunningFutures {
  readonly parts: ProposedParts;
  /** True if a request to a module was sent, or is about to be. */
  hasActed = false;
  /** True if it waited for its turn, and has it. */
  hasTurn = false;
  /** The number of the role that the call depends on, see `roleOf`; null for none until now. */
  private role: number | null;
  /** True if its session counts it as done in part. */
  private isInParts = false;

  constructor(
    readonly owner: FuturesOwner,
    readonly rest: Continuation,
  ) {
    this.parts = new ProposedParts(owner);
    this.role = roleOf(owner);
  }

  /**
   * True if the call can't go on: nobody waits, the leadership is lost, the node stops, or the state is gone that it ran on. What was sent to a
   * module goes on without anybody who waits: what the answer is for may be a change.
   */
  isOver(engine: Engine): boolean {
    const { owner, parts, rest, role, hasActed } = this;
    const { session } = owner;
    if (parts.count === 0 && !hasActed && owner.isAbandoned) return true;
    if (parts.lost !== null) return true;
    if (session === null) return false;
    const isElsewhere = role !== null && role !== session.roleVersion;
    return session.isEnded || isElsewhere || engine.scope(rest.call.target) !== rest.call.scope;
  }

  /** True if it has begun nothing that must not be begun again, and the leadership is about to go to another node. */
  get awaitsNextLeader(): boolean {
    const { owner, isInParts } = this;
    return !isInParts && owner.mayChange && owner.session?.inParts.mayBegin === false;
  }

  /** Notes that no other node can go on with the call any more. */
  noteInParts(): void {
    if (this.isInParts) return;
    this.isInParts = true;
    this.owner.session?.inParts.begin();
  }

  /** It may lead only now. */
  noteRole(): void {
    this.role ??= roleOf(this.owner);
  }

  /** Notes that it ran for some milliseconds. @param before things that its scope had read before, see `NO_READS` */
  ran(ms: number, before: typeof NO_READS): void {
    const { hits, misses } = this.rest.call.scope.store ?? before;
    this.owner.ran(ms, hits - before.hits, misses - before.misses);
  }

  end(end: FuturesEnd): void {
    const { owner, parts, isInParts } = this;
    owner.finished(end, parts);
    // Its last part is proposed with that.
    if (isInParts) owner.session?.inParts.end();
  }
}

/**
 * The role in the group that a call depends on. A leader's state has changes that are not committed yet, and go with its leadership; what
 * a call has read on another node is committed, whichever node leads the group.
 */
function roleOf({ session, mayChange }: FuturesOwner): number | null {
  return session !== null && (mayChange || session.leading) ? session.roleVersion : null;
}

/** Things that a scope has read, that were in memory, or on disk, from the start on: of one without any. */
export const NO_READS = { hits: 0, misses: 0 };
