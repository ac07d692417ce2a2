import type { GroupId } from '../../between/protocol.js';
import type { Asker, CallError } from '../../calls/calls.js';
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
