import { failed, TOO_SLOW } from './replies.js';
import type { PendingRequest } from './request.js';

/** Something that waits for its turn. */
export interface Work {
  readonly userId: number;
  /** Its program, as programs are told apart; null for one that nobody would find again. */
  readonly program: object | null;
  /** True if it can be given up when its slice is over, to run again later. */
  readonly canStop: boolean;
  /** Milliseconds that it takes, where that is known for certain; none where only runs before tell. */
  readonly knownMs?: number;
  /** True if nobody wants it any more. */
  readonly gone: () => boolean;
  /** Runs it, for no longer than a slice if it can be stopped; `Scheduler.ran` is to be called meanwhile. */
  readonly run: (sliceMs: number) => void;
  /** Gives it up: it waited too long. Null for what has to run at last, however long it waits. */
  readonly expire: (() => void) | null;
}

/** Work in a queue. */
export interface Entry {
  readonly work: Work;
  /** Until when it may wait. */
  readonly until: number;
  /** Milliseconds that it needs at least. */
  readonly needsMs: number;
  /** Since when it waits. */
  readonly since: number;
  /** Smaller ranks go first, and of the same rank what is due sooner, in milliseconds. */
  rank: number;
  dueAt: number;
}

/** The turn of a request that waits for it. */
export function workOf(pending: PendingRequest, program: object | null, knownMs?: number): Work {
  const { request, owner } = pending;
  return {
    userId: request.user.id,
    program,
    // A second attempt finds in memory what the first one read from disk, so those reads would not be counted.
    canStop: !pending.isExplained,
    ...(knownMs === undefined ? {} : { knownMs }),
    gone: () => pending.isUnwanted,
    run: (sliceMs) => {
      pending.sliceMs = sliceMs;
      owner.advance(pending);
      pending.sliceMs = 0;
    },
    expire: () => owner.refuse(pending, failed(TOO_SLOW)),
  };
}

/** True if work runs until it is done, and nobody knows when that is. */
export function mayBeLong({ canStop, knownMs }: Work): boolean {
  return !canStop && knownMs === undefined;
}
