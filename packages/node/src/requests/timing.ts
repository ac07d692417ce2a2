import type { Clock } from '../base/clock.js';
import type { Reply, Timing } from '../groups/request.js';
import type { PendingRequest } from './request.js';

/**
 * The reply to a request that has come to its end, with how long it took where its client wants to know.
 *
 * @param now the time where somebody has just looked at the clock
 */
export function timed(reply: Reply, pending: PendingRequest, clock: Pick<Clock, 'now'>, now?: number): Reply {
  if (pending.request.terms?.timing !== true) return reply;
  return { ...reply, timing: timingOf(pending, now ?? clock.now()) };
}

function timingOf({ begun, ranCall, ranMs, chargedUntil, wasSent }: PendingRequest, now: number): Timing {
  const totalMs = now - begun;
  if (ranCall === null) {
    return { queueMs: wasSent ? 0 : totalMs, runMs: 0, commitMs: 0, forwardMs: wasSent ? totalMs : 0 };
  }
  const commitMs = Math.max(0, now - chargedUntil);
  return { queueMs: Math.max(0, totalMs - ranMs - commitMs), runMs: ranMs, commitMs, forwardMs: 0 };
}
