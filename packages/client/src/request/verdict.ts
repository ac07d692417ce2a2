/** The consequence that the end of an attempt has for its call. A pure decision: the table of `README.md`, "Requests that fail". */

import type { AttemptEnd, Reply } from './attempt.js';
import { pauseMs, spreadMs } from './backoff.js';

/** The history of the call. */
export interface Past {
  /** Attempts that failed, and rounds over all nodes in which none could be reached. */
  readonly failures: number;
  /** True if every node was tried since the last pause. */
  readonly triedAll: boolean;
  /** True if repeating can do no harm: it has a name at the nodes. */
  readonly isNamed: boolean;
  /** True if credentials can be asked for again, and were not yet. */
  readonly canRenew: boolean;
}

export type Verdict =
  /** The answer stands, value or error. */
  | { readonly kind: 'final'; readonly reply: Reply }
  /** It was sent, may be carried out, and must not be sent again. */
  | { readonly kind: 'in_doubt' }
  | Repeat;

export interface Repeat {
  readonly kind: 'repeat';
  readonly pauseMs: number;
  /** `same`: at the same node, which has not failed. */
  readonly where: 'same' | 'elsewhere';
  /** True if this attempt may have been carried out, or may yet be. */
  readonly inDoubt: boolean;
  /** True if the node did work for it, which the budget of repeats is there for. */
  readonly costs: boolean;
  /** Milliseconds for which the node asks to be left alone. */
  readonly avoidMs: number;
  readonly renews: boolean;
}

const AGAIN: Repeat = {
  kind: 'repeat',
  pauseMs: 0,
  where: 'elsewhere',
  inDoubt: false,
  costs: true,
  avoidMs: 0,
  renews: false,
};

/** @param end of an attempt, but for an answer that was not read */
export function verdictOf(
  end: Exclude<AttemptEnd, { kind: 'too_large' }>,
  past: Past,
  random: () => number,
): Verdict {
  switch (end.kind) {
    case 'unsent':
      // The next node at once; when none is left, a pause.
      return { ...AGAIN, costs: false, pauseMs: past.triedAll ? pauseMs(past.failures, random) : 0 };
    case 'lost':
      if (!past.isNamed) return { kind: 'in_doubt' };
      // The node closed a connection that was idle, and has nothing against a new one.
      if (end.wasReused) return { ...AGAIN, where: 'same', inDoubt: true };
      return { ...AGAIN, inDoubt: true, pauseMs: pauseMs(past.failures, random) };
    case 'answered':
      return ofReply(end.reply, past, random);
  }
}

function ofReply(reply: Reply, past: Past, random: () => number): Verdict {
  const { failure, status, retryAfterMs } = reply;
  const final: Verdict = { kind: 'final', reply };
  if (failure === null) return final;
  // An error of a proxy in front tells by its status alone.
  const outcome =
    failure === 'malformed' ? (status === 502 || status === 504 ? 'unknown' : 'none') : failure.outcome;
  if (outcome === 'made') return final;
  if (outcome === 'unknown') {
    if (!past.isNamed) return { kind: 'in_doubt' };
    return { ...AGAIN, inDoubt: true, pauseMs: pauseMs(past.failures, random) };
  }
  if (status === 503 || status === 429) {
    const wait = retryAfterMs === null ? pauseMs(past.failures, random) : spreadMs(retryAfterMs, random);
    return { ...AGAIN, pauseMs: wait, avoidMs: wait };
  }
  if (status === 401 && past.canRenew) return { ...AGAIN, where: 'same', costs: false, renews: true };
  return final;
}
