/** The headers of an answer that tell of how it came about. */
import type { Reply, Timing } from '../../groups/request.js';

/** Additional response headers, in pairs. */
export type Headers = readonly (readonly [name: string, value: string])[];

export const NO_HEADERS: Headers = [];

const STALE: Headers = [['Althing-Consistency', 'stale']];

export function headersOf(reply: Reply): Headers {
  const { timing } = reply;
  const more = timing === undefined ? NO_HEADERS : [timingHeader(timing)];
  if (!reply.ok) return more;
  if (reply.stale === true) return [...STALE, ...more];
  if (reply.snapshotAgeMs === undefined) return more;
  const cost = reply.cost === undefined ? NO_HEADERS : [['Althing-Cost', reply.cost] as const];
  return [...snapshotHeaders(reply.snapshotAgeMs), ...cost, ...more];
}

/** @param ageMs how old the state was when it was taken */
export function snapshotHeaders(ageMs: number): Headers {
  return [
    ['Althing-Consistency', 'snapshot'],
    ['Althing-Snapshot-Age', String(ageMs)],
  ];
}

/** W3C Server Timing: milliseconds. */
function timingHeader({ queueMs, runMs, commitMs, forwardMs }: Timing): readonly [string, string] {
  const named = forwardMs > 0 ? { forward: forwardMs } : { queue: queueMs, run: runMs, commit: commitMs };
  const parts = Object.entries(named).map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`);
  return ['Server-Timing', parts.join(', ')];
}
