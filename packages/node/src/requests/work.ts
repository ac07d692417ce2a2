import { failed, TOO_SLOW } from './replies.js';
import type { PendingRequest } from './request.js';
import type { Work } from './scheduler.js';

/** The turn of a request that waits for it. */
export function workOf(pending: PendingRequest, program: object | null, knownMs?: number): Work {
  const { request, owner } = pending;
  return {
    userId: request.user.id,
    program,
    // A second attempt finds in memory what the first one read from disk, so those reads would not be counted.
    canStop: !pending.isExplained,
    ...(knownMs === undefined ? {} : { knownMs }),
    gone: () => pending.isAnswered || (request.client.gone && pending.doubt === 'none'),
    run: (sliceMs) => {
      pending.sliceMs = sliceMs;
      owner.advance(pending);
      pending.sliceMs = 0;
    },
    expire: () => owner.refuse(pending, failed(TOO_SLOW)),
  };
}
