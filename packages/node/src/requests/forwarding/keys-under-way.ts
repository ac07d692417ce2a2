import type { GroupId } from '../../between/protocol.js';
import type { PendingRequest } from './pending-request.js';

interface Holder {
  readonly pending: PendingRequest;
  readonly body: Uint8Array;
  readonly others: PendingRequest[];
}

/**
 * Requests with a name of their client's that this node carries out now: a repetition waits for the first.
 */
export class KeysUnderWay {
  private readonly holders = new Map<string, Holder>();

  /**
   * Takes a name for a pending request.
   *
   * @param own the name, unlike that of any other request of the group
   * @param body a hash
   * @returns `waits` when another one has it, and will be followed by this one; `conflict` when that is
   *   another request
   */
  take(
    group: GroupId,
    own: string,
    body: Uint8Array,
    pending: PendingRequest,
  ): 'taken' | 'waits' | 'conflict' {
    const name = `${group} ${own}`;
    const holder = this.holders.get(name);
    if (holder === undefined) {
      this.holders.set(name, { pending, body, others: [] });
      pending.keyName = name;
      return 'taken';
    }
    if (holder.pending === pending) return 'taken';
    if (Buffer.compare(holder.body, body) !== 0) return 'conflict';
    holder.others.push(pending);
    return 'waits';
  }

  /** Gives the name back that a pending request had; those that waited for it go on. */
  release(pending: PendingRequest, tryAgain: (other: PendingRequest) => void): void {
    if (pending.keyName === '') return;
    const holder = this.holders.get(pending.keyName);
    this.holders.delete(pending.keyName);
    pending.keyName = '';
    for (const other of holder?.others ?? []) tryAgain(other);
  }
}
