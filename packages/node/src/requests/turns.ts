import type { PendingRequest } from './forwarding/pending-request.js';
import type { Scheduler, Work } from './scheduler.js';

export interface TurnsOptions {
  readonly scheduler: Scheduler;
  /** Takes a pending request as far as it gets now. */
  readonly advance: (pending: PendingRequest) => void;
  /** Ends one that waited too long. */
  readonly expire: (pending: PendingRequest) => void;
}

/** The turns of pending requests: which of them run at once, and which have to wait for the scheduler. */
export class Turns {
  private readonly options: TurnsOptions;

  constructor(options: TurnsOptions) {
    this.options = options;
  }

  /**
   * Lets a request wait for its turn where it has none, and the scheduler says so.
   *
   * @param knownMs milliseconds that it takes, where that is known
   */
  waits(pending: PendingRequest, program: object | null, knownMs?: number): boolean {
    const { scheduler } = this.options;
    if (pending.sliceMs !== 0 || !scheduler.takes(program, pending.request.user.id)) return false;
    pending.needsMore = true;
    scheduler.enter(this.workOf(pending, program, knownMs));
    return true;
  }

  /** A request has used up its slice: it runs again in the slow lane. */
  goesToLane(pending: PendingRequest, program: object | null, ms: number): void {
    const { scheduler } = this.options;
    pending.needsMore = true;
    scheduler.stopped(program, pending.request.user.id, ms);
    scheduler.enter(this.workOf(pending, program), ms);
  }

  private workOf(pending: PendingRequest, program: object | null, knownMs?: number): Work {
    const { advance, expire } = this.options;
    const { request } = pending;
    return {
      userId: request.user.id,
      program,
      canStop: true,
      ...(knownMs === undefined ? {} : { knownMs }),
      gone: () => pending.ended || (request.client.gone && !pending.unknown),
      run: (sliceMs) => {
        pending.sliceMs = sliceMs;
        advance(pending);
        pending.sliceMs = 0;
      },
      expire: () => expire(pending),
    };
  }
}

/**
 * Lets work wait that can't be stopped once it runs, where the scheduler says so: futures, and tasks.
 *
 * @param knownMs milliseconds that it took the last time; undefined where nobody knows
 * @param goOn called when it has its turn, which always comes
 */
export function waitsUnstoppable(
  scheduler: Scheduler,
  userId: number,
  knownMs: number | undefined,
  goOn: () => void,
): boolean {
  if (!scheduler.isClosedNow) return false;
  scheduler.enter({
    userId,
    program: null,
    canStop: false,
    ...(knownMs === undefined ? {} : { knownMs }),
    gone: () => false,
    run: goOn,
    expire: null,
  });
  return true;
}
