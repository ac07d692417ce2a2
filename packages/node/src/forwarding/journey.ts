import type { PasswordHash } from '@althing/engine';
import type { GroupId, NodeId } from '../consensus/protocol.js';
import type { Reply, Request } from '../request.js';
import type { RequestIdentity } from '../scopes/entry.js';

/** How a journey ends. */
export type End =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** This node does not lead the group, and takes no part in finding who does. Nothing was done. */
  | { readonly kind: 'elsewhere'; readonly leader: NodeId }
  /** The leadership was lost before there was an answer. */
  | { readonly kind: 'lost'; readonly unknown: boolean }
  /** The deadline passed. */
  | { readonly kind: 'late'; readonly unknown: boolean };

export interface JourneyOptions {
  readonly request: Request;
  /** The node that forwarded the request, with its name for it; null for a request of a client of this node. */
  readonly forwarded: RequestIdentity | null;
  /** The group that the request is bound to; null when the scope decides. */
  readonly group: GroupId | null;
  /** Monotonic time at which it ends without an answer, in milliseconds. */
  readonly deadline: number;
  readonly onEnd: (end: End) => void;
}

/**
 * A request that may have to wait, to be sent to another node, or to be tried again, with what must be remembered from
 * one attempt to the next.
 */
export class Journey {
  /** Replaced by a fresh copy when an attempt may have changed its values. */
  request: Request;
  readonly forwarded: RequestIdentity | null;
  readonly deadline: number;
  /** The group that the request is bound to since it was first sent there; null before. */
  group: GroupId | null;
  /** The number of the request among those of this node; 0 while it has none. */
  sequence = 0;
  /** Whether a change may have been proposed by an attempt that was not answered. */
  unknown = false;
  /** Whether a change of it waits here for its commit: it may yet take effect, even when nobody waits for it any more. */
  proposed = false;
  /** Whether an answer of another node is awaited. */
  called = false;
  /** Whether it stood in the slow lane. */
  hadItsTurn = false;
  /** The body as it is sent, once it was needed. */
  body: Uint8Array | null = null;
  /** Whether a query ran on the values of the request. */
  used = false;
  hashes: Map<string, PasswordHash> | null = null;
  failures = 0;
  /** Its entry among the keys under way; empty for none. */
  keyName = '';
  /** Its number among the journeys of this node; 0 for none. */
  place = 0;
  /** Where it waits. */
  waitsFor: GroupId | null = null;
  /** Monotonic time at which it is tried again, whatever happens; while it waits. */
  retryAt = 0;
  /** The group that the attempt depends on, and the version of its roles when that began. */
  roleGroup: GroupId | null = null;
  roleVersion = 0;
  private readonly fresh: GroupId[] = [];
  private readonly onEnd: (end: End) => void;
  private over = false;

  constructor({ request, forwarded, group, deadline, onEnd }: JourneyOptions) {
    this.request = request;
    this.forwarded = forwarded;
    this.group = group;
    this.deadline = deadline;
    this.onEnd = onEnd;
  }

  get ended(): boolean {
    return this.over;
  }

  /** Whether the state of a group holds everything that was acknowledged before the request came. */
  isFresh(group: GroupId): boolean {
    return this.fresh.includes(group);
  }

  noteFresh(group: GroupId): void {
    this.fresh.push(group);
  }

  /** Ends the journey; only the first end counts. */
  end(end: End): void {
    if (this.over) return;
    this.over = true;
    this.onEnd(end);
  }
}
