import type { Clock } from '../base/clock.js';
import { NumberTable } from '../base/number-table.js';
import type { GroupId } from '../between/protocol.js';
import type { PendingRequest } from './request.js';

/** Milliseconds between two looks at what is due. */
const LOOK_MS = 20;

/** Milliseconds before an attempt is made without a sign that it will succeed: doubled from the first to the last. */
const RETRY_MIN_MS = 20;
const RETRY_MAX_MS = 320;

/** The requests that are not answered on this node, with their deadlines, and those that wait for another role in a group. */
export class PendingRequests {
  private readonly table = new NumberTable<PendingRequest>();
  private nextPlace = 1;
  private readonly waiting = new Map<GroupId, Set<PendingRequest>>();
  private isLooking = false;

  /** @param expire ends a request whose deadline passed */
  constructor(
    private readonly clock: Pick<Clock, 'now' | 'after'>,
    private readonly expire: (pending: PendingRequest) => void,
  ) {}

  get size(): number {
    return this.table.size;
  }

  all(): PendingRequest[] {
    return this.table.entries().map(([, pending]) => pending);
  }

  /** @param place see `PendingRequest` */
  get(place: number): PendingRequest | undefined {
    return this.table.get(place);
  }

  add(pending: PendingRequest): void {
    pending.place = this.nextPlace++;
    this.table.set(pending.place, pending);
    this.look();
  }

  delete(pending: PendingRequest): void {
    this.table.delete(pending.place);
    this.forget(pending);
  }

  /**
   * Lets a request wait until the roles in a group change, but not for long.
   *
   * @param roleVersion of the group now; if it is another one than when the attempt began, there is nothing
   *   to wait for
   */
  wait(pending: PendingRequest, group: GroupId, roleVersion: number): void {
    const hasChanged = pending.roleGroup === group && pending.roleVersion !== roleVersion;
    pending.roleGroup = group;
    pending.roleVersion = roleVersion;
    const pauseMs = Math.min(RETRY_MIN_MS * 2 ** Math.min(pending.failures, 10), RETRY_MAX_MS);
    pending.become({ kind: 'waiting', group, retryAt: this.clock.now() + pauseMs });
    if (hasChanged) {
      this.retry(pending);
      return;
    }
    pending.failures += 1;
    const others = this.waiting.get(group);
    if (others === undefined) this.waiting.set(group, new Set([pending]));
    else others.add(pending);
  }

  /** To be called when something about a group changed: those go on for which that is another role. */
  groupChanged(group: GroupId, roleVersion: number): void {
    if (this.waiting.size === 0) return;
    const waiting = this.waiting.get(group);
    if (waiting === undefined) return;
    for (const pending of [...waiting]) if (pending.roleVersion !== roleVersion) this.retry(pending);
  }

  private retry(pending: PendingRequest): void {
    this.forget(pending);
    pending.resume();
    // The event that changed it must be done with before anything else happens.
    queueMicrotask(() => pending.owner.advance(pending));
  }

  /** It does not wait for another role any more. */
  private forget(pending: PendingRequest): void {
    if (this.waiting.size === 0 || pending.roleGroup === null) return;
    const others = this.waiting.get(pending.roleGroup);
    if (others?.delete(pending) === true && others.size === 0) this.waiting.delete(pending.roleGroup);
  }

  /** Looks again and again at what is due, as long as there is anything. */
  private look(): void {
    if (this.isLooking || this.table.size === 0) return;
    this.isLooking = true;
    this.clock.after(LOOK_MS, () => {
      this.isLooking = false;
      const now = this.clock.now();
      for (const [, pending] of this.table.entries()) {
        const { state } = pending;
        if (pending.isAnswered) continue;
        if (now >= pending.deadline) this.expire(pending);
        else if (state.kind === 'waiting' && now >= state.retryAt) this.retry(pending);
      }
      this.look();
    });
  }
}
