import { ErrorCode } from '@althing/engine';
import type { GroupId } from '../../between/protocol.js';
import type { Reply } from '../../groups/request.js';
import type { Asker, CallError } from '../../members/calls.js';
import type { PendingRequest } from './pending-request.js';

/** Who sent requests, and is told what came of each of them. */
export interface SentRequestOwner {
  answered(sent: SentRequest, answer: Uint8Array): void;
  failed(sent: SentRequest, error: CallError): void;
}

/** A change that was sent to the leader of its group. */
export class SentRequest implements Asker {
  readonly pending: PendingRequest;
  readonly group: GroupId;
  readonly bytes: number;
  readonly knowsOutcomes: boolean;
  private readonly owner: SentRequestOwner;

  constructor(
    owner: SentRequestOwner,
    pending: PendingRequest,
    group: GroupId,
    bytes: number,
    knowsOutcomes: boolean,
  ) {
    this.owner = owner;
    this.pending = pending;
    this.group = group;
    this.bytes = bytes;
    this.knowsOutcomes = knowsOutcomes;
  }

  answered(answer: Uint8Array): void {
    this.owner.answered(this, answer);
  }

  failed(error: CallError): void {
    this.owner.failed(this, error);
  }
}

/**
 * The reply that is true after the answer of a node that does not speak of outcomes: a result may be that of
 * a change; and code -6 may mean that there was none, or that there was one which a client made before under
 * the same key.
 */
export function readCautiously(reply: Reply, { request }: PendingRequest): Reply {
  if (reply.ok) return { ...reply, outcome: 'unknown' };
  const isOpen = reply.error.code === ErrorCode.RESULT_TOO_LARGE && (request.terms?.key ?? null) !== null;
  return isOpen ? { ...reply, outcome: 'unknown' } : reply;
}
