import { ErrorCode, type PasswordHash, type Prepared, QueryError } from '@althing/engine';
import type { GroupId, NodeId, PreparedAnswer } from '../../between/protocol.js';
import type { RequestIdentity } from '../../groups/entry.js';
import type { FailedReply, Reply, Request } from '../../groups/request.js';

/** How a pending request ends. */
export type End =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /**
   * This node does not lead the group, and takes no part in finding who does. Nothing was done by this
   * attempt.
   */
  | { readonly kind: 'elsewhere'; readonly leader: NodeId }
  /** The leadership was lost before there was an answer. */
  | { readonly kind: 'lost'; readonly unknown: boolean }
  /** The deadline passed. */
  | { readonly kind: 'late'; readonly unknown: boolean };

export interface PendingRequestOptions {
  readonly request: Request;
  /**
   * The node that forwarded the request, with its name for it; null for a request of a client of this node.
   */
  readonly forwarded: RequestIdentity | null;
  /** The group that the request is bound to; null when the scope decides. */
  readonly group: GroupId | null;
  /**
   * Whether the node that forwarded the request knows of an attempt that may have made a change, or can't
   * tell; false when not given.
   */
  readonly undecided?: boolean;
  /** Whether copies of it may be on their way that another node sent; false when not given. */
  readonly hasCopies?: boolean;
  /** Monotonic time at which it ends without an answer, in milliseconds. */
  readonly deadline: number;
  /** See `EarlyAnswer`; none when not given. */
  readonly early?: EarlyAnswer | null;
  readonly onEnd: (end: End) => void;
}

/** The way in which the node that sent a request is answered as soon as its change is committed. */
export interface EarlyAnswer {
  /** Makes the answer that goes along with the change; null where this one must not. */
  prepare(result: string | Uint8Array): PreparedAnswer | null;
  /** The change is committed: that answer was sent. */
  noteAnswered(): void;
}

/**
 * A request that may have to wait, to be sent to another node, or to be tried again, with what must be
 * remembered from one attempt to the next.
 *
 * Once an attempt may have made a change, the pending request does not end with an answer that says
 * otherwise, whoever gives it: `end` turns it into one that says that nobody knows. What ends the doubt is
 * `settle`, and `seal` for good.
 */
export class PendingRequest {
  readonly request: Request;
  readonly forwarded: RequestIdentity | null;
  /** Monotonic time at which it ends without an answer, in milliseconds. */
  deadline: number;
  /** The group that the request is bound to since it was first sent there; null before. */
  group: GroupId | null;
  /** The number of the request among those of this node; 0 while it has none. */
  sequence = 0;
  /** Whether an attempt may have made a change, or may yet make one, and nothing has shown otherwise. */
  unknown: boolean;
  /** Whether this node sent a copy of the request that nobody answered: see `settle`. */
  private sentCopies = false;
  /** Whether another node may have sent such copies. */
  private readonly mayHaveCopies: boolean;
  /**
   * Whether a change of it waits here for its commit: it may yet take effect, even when nobody waits for it
   * any more.
   */
  proposed = false;
  /** Whether an answer of another node is awaited. */
  called = false;
  /**
   * Whether futures of it make changes, though its own statements do not: it runs on the leader, all of it.
   */
  changesLater = false;
  /** Whether requests of it were sent to modules: it must not run a second time. */
  asked = false;
  /** Whether it runs where it may change something. */
  mayChange = false;
  /** Whether it takes more than events of the consensus side: a turn in the slow lane, a hash, futures. */
  needsMore = false;
  /** Monotonic time at which the attempt began that runs its call, in milliseconds. */
  attemptedAt = 0;
  /** Milliseconds that it may run while it has its turn among those who waited for one; 0 while it has none. */
  sliceMs = 0;
  /** Milliseconds that its code ran on this node, and things that it read from the disk. */
  ranMs = 0;
  thingsRead = 0;
  hashes: Map<string, PasswordHash> | null = null;
  /** Its program while it waits for other nodes: see `HeldPrograms`. */
  program: Prepared | null = null;
  failures = 0;
  /** Its entry among the keys under way; empty for none. */
  keyName = '';
  /** Its number among the pending requests of this node; 0 for none. */
  place = 0;
  /** Whether it waits for a majority to confirm what this node knows, or what it ran on. */
  asksMajority = false;
  /** Where it waits. */
  waitsFor: GroupId | null = null;
  /** Monotonic time at which it is tried again, whatever happens; while it waits. */
  retryAt = 0;
  /** The group that the attempt depends on, and the version of its roles when that began. */
  roleGroup: GroupId | null = null;
  roleVersion = 0;
  /** Whether it reads another group than the one that it runs in. */
  looksElsewhere = false;
  /** Groups whose state is known to be fresh enough; null for none. */
  private fresh: GroupId[] | null = null;
  /** See `EarlyAnswer`; null for none. */
  readonly early: EarlyAnswer | null;
  private readonly onEnd: (end: End) => void;
  private over = false;

  constructor({
    request,
    forwarded,
    group,
    undecided,
    hasCopies,
    deadline,
    early = null,
    onEnd,
  }: PendingRequestOptions) {
    this.request = request;
    this.forwarded = forwarded;
    this.group = group;
    this.unknown = undecided === true;
    this.mayHaveCopies = hasCopies === true;
    this.deadline = deadline;
    this.early = early;
    this.onEnd = onEnd;
  }

  get ended(): boolean {
    return this.over;
  }

  /** Whether the state of a group holds everything that was acknowledged before the request came. */
  isFresh(group: GroupId): boolean {
    return this.fresh?.includes(group) === true;
  }

  noteFresh(group: GroupId): void {
    this.fresh ??= [];
    this.fresh.push(group);
  }

  /** A copy was sent, and no answer came: it may be carried out now, later, or never. */
  noteCopy(): void {
    this.unknown = true;
    this.sentCopies = true;
  }

  /** Whether a copy of the request that nobody answered may still be on its way to a leader: see `seal`. */
  get hasCopies(): boolean {
    return this.sentCopies || this.mayHaveCopies;
  }

  /**
   * A leader that had everything that was proposed before looked for the request, and found nothing: no
   * attempt made a change that will ever be committed. That does not hold for copies that come to a leader
   * only afterwards; of those that another node sent, that one knows.
   */
  settle(): void {
    if (!this.sentCopies) this.unknown = false;
  }

  /** The log holds what became of the request, and will answer copies that come to a leader afterwards. */
  seal(): void {
    this.unknown = false;
  }

  /** Ends the pending request; only the first end counts. */
  end(end: End): void {
    if (this.over) return;
    this.over = true;
    this.onEnd(this.unknown ? doubted(end) : end);
  }
}

/** The end that is true while an attempt may have made a change. */
function doubted(end: End): End {
  switch (end.kind) {
    case 'reply':
      return denies(end.reply) ? { kind: 'reply', reply: UNKNOWN_REPLY } : end;
    case 'lost':
    case 'late':
      return { ...end, unknown: true };
    case 'elsewhere':
      return end;
  }
}

/** Whether a reply says that nothing was changed, and never will be. */
function denies(reply: Reply): boolean {
  return !reply.ok && (reply.outcome ?? 'none') === 'none';
}

export const UNKNOWN_REPLY: FailedReply = {
  ok: false,
  error: new QueryError(
    ErrorCode.TIMEOUT,
    'the change was not confirmed in time; it may or may not take effect',
  ),
  outcome: 'unknown',
};

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
