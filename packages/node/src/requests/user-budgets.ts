/**
 * Budgets of users whose share of this node's time, or whose rate of requests, is limited (`set_limit`): a bucket of each, which fills
 * with time up to what a second brings, or for slow ones one request, and is emptied by requests. A run is charged when it has ended, so a bucket of time may
 * fall below zero; until it has filled again its user is refused.
 */
import { quotaError, type RootGroup, type UserLimit } from '@althing/engine';
import type { FailedReply, Request } from '../groups/request.js';
import type { PendingRequest } from './request.js';

interface Spent {
  readonly request: Pick<Request, 'user' | 'scope'>;
  readonly ranMs: number;
}

type Budgeted = Pick<Spent, 'request'> & Pick<PendingRequest, 'forwarded' | 'doubt'>;

interface Bucket {
  /** The rest, as of `at`: milliseconds, and requests. */
  ms: number;
  requests: number;
  at: number;
}

/** Milliseconds of time that a bucket holds as a multiple of the share. */
const TIME_HELD_MS = 1000;

export class UserBudgets {
  private readonly buckets = new Map<number, Bucket>();

  /** @param now monotonic, in milliseconds */
  constructor(
    private readonly root: Pick<RootGroup, 'userLimits' | 'limitIn'>,
    private readonly now: () => number,
  ) {}

  /** Why a request may not be carried out now; null when it may, and then it counts. */
  refusalOf({ request, forwarded, doubt }: Budgeted): FailedReply | null {
    if (this.root.userLimits.all.size === 0) return null;
    const { user } = request;
    const limit = this.limitOf(request);
    const { share, rate } = limit;
    // An earlier attempt may have done something, which has to be found out.
    if ((share === null && rate === null) || doubt !== 'none') return null;
    const bucket = this.filled(user.id, limit);
    if (share !== null && bucket.ms < 0)
      return refusal(
        `user '${user.name}' has used its share of the time of this node (${share})`,
        -bucket.ms / share,
      );
    // The node that was asked counts it.
    if (rate === null || forwarded !== null) return null;
    if (bucket.requests < 1)
      return refusal(
        `user '${user.name}' sends more than ${rate} requests a second to this node`,
        (1000 * (1 - bucket.requests)) / rate,
      );
    bucket.requests -= 1;
    return null;
  }

  /** Charges the time that went into a request. */
  spend({ request, ranMs }: Spent): void {
    if (this.root.userLimits.all.size === 0) {
      // A Map that is cleared gets another table, even if there was nothing in it.
      if (this.buckets.size > 0) this.buckets.clear();
      return;
    }
    const limit = this.limitOf(request);
    if (limit.share !== null) this.filled(request.user.id, limit).ms -= ranMs;
  }

  private limitOf({ scope, user }: Spent['request']): UserLimit {
    return this.root.limitIn(scope.kind, user.id);
  }

  /** The bucket of a user as of now. */
  private filled(userId: number, { share, rate }: UserLimit): Bucket {
    const now = this.now();
    const [msMax, requestsMax] = [TIME_HELD_MS * (share ?? 1), Math.max(1, rate ?? 1)];
    const bucket = this.buckets.get(userId);
    if (bucket === undefined) {
      const full = { ms: msMax, requests: requestsMax, at: now };
      this.buckets.set(userId, full);
      return full;
    }
    const passed = now - bucket.at;
    bucket.ms = Math.min(msMax, bucket.ms + passed * (share ?? 1));
    bucket.requests = Math.min(requestsMax, bucket.requests + (passed * (rate ?? 1)) / 1000);
    bucket.at = now;
    return bucket;
  }
}

function refusal(what: string, waitMs: number): FailedReply {
  const message = `${what}: try again in ${(waitMs / 1000).toFixed(1)} s`;
  const error = quotaError(message);
  return { ok: false, error, throttled: true, retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)) };
}
