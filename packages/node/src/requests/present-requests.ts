/** The requests of this node that are not answered: what they wait for, and how one is cancelled. See `requests_info()`. */
import {
  cancelledError,
  lookupError,
  operationError,
  type RequestEntry,
  type RootGroup,
} from '@althing/engine';
import type { RequestBody } from '../groups/request.js';
import { scopeText } from './checks.js';
import type { PendingRequests } from './pending-requests.js';
import { failed } from './replies.js';
import type { PendingRequest, RequestStateKind } from './request.js';
import { headOf } from './text-head.js';

export class PresentRequests {
  /** @param now monotonic time, in milliseconds */
  constructor(
    private readonly pending: Pick<PendingRequests, 'all' | 'get'>,
    private readonly root: Pick<RootGroup, 'members'>,
    private readonly now: () => number,
  ) {}

  /** All of them but the one that runs now, which is that of who asks; the longest under way first. */
  *all(): Iterable<RequestEntry> {
    const now = this.now();
    const present = this.pending
      .all()
      .filter(({ state }) => state.kind !== 'deciding')
      .sort((a, b) => a.begun - b.begun);
    for (const { place, request, state, begun, ranMs, forwarded } of present) {
      yield {
        id: place,
        request: request.id ?? null,
        isRunning: state.kind === 'running' || (state.kind === 'queued' && ranMs > 0),
        waitsFor: WAITS_FOR[state.kind],
        ageMs: now - begun,
        ranMs,
        user: request.user.name,
        address: request.client.address ?? null,
        from: forwarded === null ? null : (this.root.members.get(forwarded.origin)?.name ?? '?'),
        scope: scopeText(request.scope),
        kind: request.body.type,
        text: textOf(request.body),
      };
    }
  }

  /**
   * Ends a request that has changed nothing and is not about to, at its next step. Where an earlier attempt may have made a change, its
   * client is told that nobody knows.
   *
   * @throws QueryError lookup_err where there is none, operation_err where it can't be cancelled
   */
  cancel(id: number | bigint): void {
    const pending = this.pending.get(Number(id));
    if (pending === undefined) {
      throw lookupError(`there is no request ${id}; requests_info() lists those of this node`);
    }
    const problem = problemOf(pending);
    if (problem !== null) {
      throw operationError(`request ${id} can't be cancelled: ${problem}`);
    }
    pending.end({ kind: 'reply', reply: failed(CANCELLED) });
  }
}

/** Why a request can't be cancelled; null when it can. */
function problemOf({ state, hasActed }: PendingRequest): string | null {
  if (state.kind === 'committing' && state.changes) return 'its change is being committed';
  if (state.kind === 'running' && state.hasProposed) return 'some of its changes may be made';
  if (state.kind === 'deciding') return 'it is the one that asks';
  if (state.kind === 'restoring') return 'a backup is being restored';
  if (state.kind === 'sent') return 'another node has it, which lists it, too';
  return hasActed ? 'it has asked a module' : null;
}

/** Reasons for waiting, by the state of a request; null for states that do not wait. */
const WAITS_FOR: Readonly<Record<RequestStateKind, string | null>> = {
  deciding: null,
  queued: 'turn',
  waiting: 'leader',
  following: 'first_of_its_name',
  confirming: 'majority',
  applying: 'index',
  hashing: 'password',
  sent: 'other_node',
  running: 'futures',
  committing: 'commit',
  restoring: 'restore',
  reading: 'snapshot',
  late: null,
  ended: null,
};

function textOf(body: RequestBody): string {
  switch (body.type) {
    case 'query':
      return headOf(body.code);
    case 'run':
      return body.name;
    case 'emit':
      return body.event;
    case 'find_rooms':
    case 'session':
      return '';
  }
}

const CANCELLED = cancelledError(
  'the request was cancelled by an administrator (cancel_request); nothing was changed',
);
