import { NumberTable } from '../../base/number-table.js';
import type { GroupId } from '../../between/protocol.js';
import type { PendingRequest } from './pending-request.js';

/** Milliseconds between two looks at what is due. */
const LOOK_MS = 20;

/**
 * Waiting time before an attempt is made without a sign that it will succeed: doubled from the first to the
 * last.
 */
const RETRY_MIN_MS = 20;
const RETRY_MAX_MS = 320;

export interface PendingRequestsOptions {
  /** A clock in milliseconds. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => void;
  readonly advance: (pending: PendingRequest) => void;
  /** Called for a pending request whose deadline passed. */
  readonly expire: (pending: PendingRequest) => void;
}

/** The pending requests that are under way on this node, and what they wait for. */
export class PendingRequests {
  private readonly options: PendingRequestsOptions;
  private readonly all = new NumberTable<PendingRequest>();
  private nextPlace = 1;
  private readonly waiting = new Map<GroupId, Set<PendingRequest>>();
  private looking = false;

  constructor(options: PendingRequestsOptions) {
    this.options = options;
  }

  get size(): number {
    return this.all.size;
  }

  add(pending: PendingRequest): void {
    pending.place = this.nextPlace++;
    this.all.set(pending.place, pending);
    this.look();
  }

  delete(pending: PendingRequest): void {
    if (pending.place !== 0) this.all.delete(pending.place);
    this.wakeUp(pending);
  }

  /**
   * Lets a pending request wait until the roles in a group change, but not for long.
   *
   * @param roleVersion of the group now; if it is another one than when the attempt began, there is nothing
   *   to wait for
   */
  wait(pending: PendingRequest, group: GroupId, roleVersion: number): void {
    const changed = pending.roleGroup === group && pending.roleVersion !== roleVersion;
    pending.roleGroup = group;
    pending.roleVersion = roleVersion;
    if (changed) {
      this.retry(pending);
      return;
    }
    const pause = Math.min(RETRY_MIN_MS * 2 ** Math.min(pending.failures, 10), RETRY_MAX_MS);
    pending.failures += 1;
    pending.retryAt = this.options.monotonic() + pause;
    pending.waitsFor = group;
    const others = this.waiting.get(group);
    if (others === undefined) this.waiting.set(group, new Set([pending]));
    else others.add(pending);
  }

  /** To be called when something about a group changed: those go on for whom it is another leader. */
  groupChanged(group: GroupId, roleVersion: number): void {
    if (this.waiting.size === 0) return;
    const waiting = this.waiting.get(group);
    if (waiting === undefined) return;
    for (const pending of [...waiting]) {
      if (pending.roleVersion !== roleVersion) this.retry(pending);
    }
  }

  private retry(pending: PendingRequest): void {
    this.wakeUp(pending);
    // The event that changed it must be done with before anything else happens.
    queueMicrotask(() => this.options.advance(pending));
  }

  private wakeUp(pending: PendingRequest): void {
    if (pending.waitsFor === null) return;
    const others = this.waiting.get(pending.waitsFor);
    others?.delete(pending);
    if (others?.size === 0) this.waiting.delete(pending.waitsFor);
    pending.waitsFor = null;
  }

  /** Looks again and again at what is due, as long as there is anything. */
  private look(): void {
    if (this.looking || this.all.size === 0) return;
    this.looking = true;
    this.options.delay(LOOK_MS, () => {
      this.looking = false;
      const now = this.options.monotonic();
      for (const [, pending] of this.all.entries()) {
        if (pending.ended) continue;
        if (now >= pending.deadline) this.options.expire(pending);
        else if (pending.waitsFor !== null && now >= pending.retryAt) this.retry(pending);
      }
      this.look();
    });
  }
}
