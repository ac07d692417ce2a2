/** Replies that do not come from code that ran. */
import {
  authError,
  cancelledError,
  ErrorCode,
  lookupError,
  nodeError,
  operationError,
  QueryError,
  timeoutError,
} from '@althing/engine';
import type { CallError } from '../calls/calls.js';
import type { ClientRequest } from '../groups/entry.js';
import type { KeptReply } from '../groups/kept-reply.js';
import {
  conflictingKey,
  conflictingName,
  type FailedReply,
  failedBehind,
  type Reply,
} from '../groups/request.js';
import { type PendingRequest, type RequestEnd, UNKNOWN_REPLY } from './request.js';

/** A refusal: nothing was changed. */
export function failed(error: QueryError): FailedReply {
  return { ok: false, error };
}

export function conflictOf({ request }: PendingRequest): Reply {
  const name = request.terms?.name ?? null;
  return name === null ? conflictingKey() : conflictingName(name);
}

/** A refusal that the log holds. */
export function sealedReply(error: QueryError): FailedReply {
  return { ok: false, error, index: 0, outcome: 'none', sealed: true };
}

/** The answer to a repetition of a request of which the log holds the first answer. */
export function repeatedReply(kept: KeptReply, index: number): Reply {
  switch (kept.kind) {
    case 'result':
      return { ok: true, result: kept.result, index, outcome: 'made' };
    case 'failure':
      return failedBehind(kept.error, index);
    case 'refusal':
      return sealedReply(kept.error);
    case 'begun':
      return { ok: false, error: kept.error, outcome: 'unknown' };
    case 'too_large':
      return { ok: false, error: ANSWER_TOO_LARGE, outcome: 'made', index };
    case 'secret': {
      const message = `the change was made before; its answer holds a secret and is not kept: ${kept.hint}`;
      return { ok: false, error: operationError(message), outcome: 'made', index };
    }
  }
}

/**
 * The answer to a request of which its client said that it is answered. Nobody knows any more what became of
 * it.
 */
export function belowLow({ client, sequence }: ClientRequest): Reply {
  const message = `the client ${client} said that its request ${sequence} is answered: it is not carried out again`;
  return { ok: false, error: timeoutError(message), outcome: 'unknown' };
}

export function staleReply(reply: Reply): Reply {
  return reply.ok ? { ...reply, stale: true } : reply;
}

/** The reply to the client at the end of its pending request. */
export function replyAtEnd(end: RequestEnd): Reply {
  if (end.kind === 'reply') return end.reply;
  const unknown = end.kind !== 'elsewhere' && end.unknown;
  return unknown ? UNKNOWN_REPLY : failed(NO_LEADER);
}

export const LATE_UNKNOWN: RequestEnd = { kind: 'late', unknown: true };

export const TOO_SLOW = nodeError('other slow queries took too long to leave room for this one: try again');
export const TOO_MANY = nodeError('too many changes wait for their answer: try again');
export const NO_LEADER = nodeError(
  'no majority of the nodes could be reached in time; nothing was changed: try again',
);
/** The end of a request that is late for a reason of this node: it runs, or waits for others that do. */
export const NOT_IN_TIME: RequestEnd = {
  kind: 'reply',
  reply: failed(
    nodeError(
      'the request took longer than it may (request_timeout_ms), or waited too long; nothing was changed',
    ),
  ),
};
export const ANSWER_TOO_LARGE = new QueryError(
  ErrorCode.RESULT_TOO_LARGE,
  'the change was made before; its answer was too large to be kept, or holds a secret',
);
export const GONE = lookupError('the collection was deleted');

/** Refusals where another node did not answer a request, or could not be asked. */

export const USER_GONE = authError('the user was deleted');

export const BUSY = failed(nodeError('too many requests wait for another node: try again'));

export function refused(error: CallError): FailedReply {
  return failed(nodeError(`another node refused the request: ${error.message}`));
}

/** A node that is known, and can not be reached. */
export const NODE_DOWN = failed(
  lookupError('the node can not be reached; nodes_info() tells how the nodes are'),
);

/** Another node was asked, and did nothing. */
export const NODE_SILENT = failed(nodeError('the node can not be reached: try again later'));

export const NODE_UNCLEAR: FailedReply = {
  ok: false,
  error: nodeError('the node did not answer; it may or may not do what it was asked to'),
  outcome: 'unknown',
};

/** The end of a read whose futures wait for a module that does not answer. */
export const MODULE_SILENT: RequestEnd = {
  kind: 'reply',
  reply: failed(cancelledError('no answer of a module came within request_timeout_ms; nothing was changed')),
};
