/** Replies where another node did not answer a request, or could not be asked. */
import { ErrorCode, QueryError } from '@althing/engine';
import type { CallError } from '../../calls/calls.js';
import type { FailedReply } from '../../groups/request.js';

export const USER_GONE = new QueryError(ErrorCode.AUTH, 'the user was deleted');

function nodeError(message: string): FailedReply {
  return { ok: false, error: new QueryError(ErrorCode.NODE, message) };
}

export function oldLeader(): FailedReply {
  return nodeError(
    'requests can not be named by Althing-Request before all nodes of the cluster run a version that knows it',
  );
}

export function busy(): FailedReply {
  return nodeError('too many requests wait for another node: try again');
}

export function refused(error: CallError): FailedReply {
  return nodeError(`another node refused the request: ${error.message}`);
}

/** A node that is known, and can not be reached. */
export const NODE_DOWN: FailedReply = {
  ok: false,
  error: new QueryError(
    ErrorCode.LOOKUP,
    'the node can not be reached; nodes_info() tells how the nodes are',
  ),
};

/** Another node was asked, and did nothing. */
export const NODE_SILENT = nodeError('the node can not be reached: try again later');

export const NODE_UNCLEAR: FailedReply = {
  ...nodeError('the node did not answer; it may or may not do what it was asked to'),
  outcome: 'unknown',
};
