/** Reports of requests whose code ran long. */
import type { Request } from '../groups/request.js';
import type { PendingRequest } from './request.js';

/** Takes what ran long. */
export interface SlowReports {
  /** Milliseconds above which a request is reported. */
  readonly aboveMs: () => number;
  readonly report: (run: SlowRun) => void;
}

/** A request whose code ran long. */
export interface SlowRun {
  readonly request: Request;
  /** Milliseconds that its code ran on this node, and that it waited for whatever else. */
  readonly ranMs: number;
  readonly waitedMs: number;
  /** Things that it read from the disk. */
  readonly coldReads: number;
}

/** Reports a request that is answered, if it ran long. */
export function reportSlow(
  { aboveMs, report }: SlowReports,
  { request, begun, ranMs, coldReads }: PendingRequest,
  now: () => number,
): void {
  if (ranMs > aboveMs()) report({ request, ranMs, waitedMs: Math.max(0, now() - begun - ranMs), coldReads });
}
