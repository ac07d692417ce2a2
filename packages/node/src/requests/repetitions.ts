/** Requests that come again: under which names they are known, so that each takes effect once. */
import type { GroupId, NodeId } from '../between/protocol.js';
import { ANY_BODY, type BodyHash, fitsBody } from '../groups/body-hash.js';
import type { ClientRequest, IdempotencyKey, RequestIdentity } from '../groups/entry.js';
import type { GroupSession } from '../groups/group-session.js';
import type { ClientNames, Names } from '../groups/names.js';
import type { KnownRequest } from '../groups/session-table.js';
import { type HeldName, NamesUnderWay, nodeNameOf, type RequestName } from './names-under-way.js';
import { belowLow, conflictOf, LATE_UNKNOWN, repeatedReply } from './replies.js';
import { FOLLOWING, type PendingRequest } from './request.js';
import type { Sequences } from './sequences.js';

export interface RepetitionsOptions {
  readonly nodeId: NodeId;
  /** Number of this start of the node: later ones have larger numbers. */
  readonly incarnation: number;
  /** The numbers of this node's own requests. */
  readonly sequences: Sequences;
}

/** The request that holds a name, and those that came after it under the same one. */
interface NameHolder extends HeldName {
  readonly pending: PendingRequest;
  readonly body: BodyHash;
  /** Null for none. */
  followers: PendingRequest[] | null;
}

export class Repetitions {
  /** Names of requests that are carried out on this node, until what became of them is decided. */
  private readonly underWay = new NamesUnderWay<NameHolder>();
  /** Repetitions that got the first one's answer. */
  count = 0;

  constructor(private readonly options: RepetitionsOptions) {}

  /** A request was answered, though its change may not be decided yet: until then no repetition of it may begin. */
  answered(pending: PendingRequest): void {
    const { forwarded, state } = pending;
    if (state.kind === 'ended') this.release(pending);
    else if (forwarded !== null && pending.heldName === null)
      this.take(pending, nodeNameOf(forwarded, pending.group), null, ANY_BODY);
  }

  /** The change of a request that was answered before is decided. */
  outcomeKnown(pending: PendingRequest): void {
    pending.noteOutcomeKnown();
    this.release(pending);
  }

  /**
   * Looks for earlier attempts, on the node that leads the group.
   *
   * @returns whether there is one: then the request got its answer, or waits for it
   */
  isKnown(pending: PendingRequest, session: GroupSession): boolean {
    const request = this.identityOf(pending, session.id);
    const names = clientNamesOf(pending);
    const { key, client } = names;
    if (session.hasToldEarly(request, names)) {
      pending.noteDoubt();
      pending.owner.wait(pending, session.id);
      return true;
    }
    const { forwarded } = pending;
    if (forwarded !== null && this.underWay.size > 0) {
      if (this.follows(pending, nodeNameOf(forwarded, session.id), session)) return true;
    }
    const name = this.underWay.clientNameOf(session.id, names);
    if (name !== null && this.isUnderWay(pending, name, names, session)) return true;
    if (request !== null && this.endsAs(pending, session.table.find(request), session)) return true;
    if (key !== null) return this.endsAs(pending, session.table.findKey(key), session);
    if (client === null) return false;
    const found = session.table.findClient(client);
    if (found.kind !== 'outdated') return this.endsAs(pending, found, session);
    pending.end({ kind: 'reply', reply: belowLow(client) });
    return true;
  }

  /** Takes a name that the client gave, or lets a request wait for the one that has it; ends it when that is another request. */
  private isUnderWay(
    pending: PendingRequest,
    name: RequestName,
    names: ClientNames,
    session: GroupSession,
  ): boolean {
    const body = (names.key ?? names.client)?.body ?? ANY_BODY;
    const holder = this.underWay.find(name);
    if (holder === undefined) {
      this.take(pending, name, names, body);
      return false;
    }
    if (holder.pending === pending) return false;
    if (fitsBody(holder.body, body)) return this.follows(pending, name, session);
    pending.end({ kind: 'reply', reply: conflictOf(pending) });
    return true;
  }

  /** Lets a request wait for the one that has its name, if there is one. */
  private follows(pending: PendingRequest, name: RequestName, session: GroupSession): boolean {
    const holder = this.underWay.find(name);
    if (holder === undefined || holder.pending === pending) return false;
    // A change of the other one is made under the name of this one, too.
    pending.noteDoubt();
    pending.group ??= session.id;
    pending.become(FOLLOWING);
    holder.followers ??= [];
    holder.followers.push(pending);
    return true;
  }

  private take(
    pending: PendingRequest,
    { owner, number }: RequestName,
    names: ClientNames | null,
    body: BodyHash,
  ): void {
    const holder: NameHolder = { owner, number, names, pending, body, followers: null };
    this.underWay.take(holder, holder);
    pending.heldName = holder;
  }

  /** Gives back the name that a request held; those that waited for it go on. */
  private release(pending: PendingRequest): void {
    const { heldName } = pending;
    if (heldName === null) return;
    const holder = this.underWay.release(heldName);
    pending.heldName = null;
    for (const other of holder?.followers ?? []) queueMicrotask(() => other.owner.advance(other));
  }

  private endsAs(pending: PendingRequest, found: KnownRequest, session: GroupSession): boolean {
    switch (found.kind) {
      case 'new':
        return false;
      case 'outdated':
        pending.end(LATE_UNKNOWN);
        return true;
      case 'conflict':
        pending.end({ kind: 'reply', reply: conflictOf(pending) });
        return true;
      case 'reply':
        this.count += 1;
        // A refusal, too, is true then: the node that kept it was lost before its answer came.
        pending.noteSealed();
        pending.end({ kind: 'reply', reply: repeatedReply(found.reply, session.appliedIndex) });
        return true;
    }
  }

  /** The name that the node which took a request gave to it; null for none. */
  identityOf(pending: PendingRequest, group: GroupId): RequestIdentity | null {
    const { forwarded, sequence } = pending;
    if (forwarded !== null || sequence === 0) return forwarded;
    const { nodeId, incarnation, sequences } = this.options;
    return { origin: nodeId, incarnation, sequence, low: sequences.low(group) };
  }

  /**
   * The names by which a request takes effect once; null for none.
   *
   * @param mayHavePassword whether there may be a password in the request, which must not show in its names
   */
  namesOf(
    pending: PendingRequest,
    session: GroupSession,
    mayHavePassword = pending.hashes !== null,
  ): Names | null {
    const request = this.identityOf(pending, session.id);
    const { key, client } = clientNamesOf(pending);
    if (request === null && key === null && client === null) return null;
    return mayHavePassword ? { request, key: veiled(key), client: veiled(client) } : { request, key, client };
  }
}

/** The names that the client gave to the request of a pending request. */
export function clientNamesOf({ request: { terms = null, user }, heldName }: PendingRequest): ClientNames {
  if (terms === null) return NO_NAMES;
  if (heldName !== null && heldName.names !== null) return heldName.names;
  const { key, name } = terms;
  return {
    key: key === null ? null : { user: user.id, key: key.key, body: key.body },
    client: name === null ? null : clientRequestOf(user.id, name),
  };
}

/** Not spread: an object that is put together by a copy of another takes several times as long. */
function clientRequestOf(
  user: number,
  { client, sequence, low, body }: Omit<ClientRequest, 'user'>,
): ClientRequest {
  return { user, client, sequence, low, body };
}

const NO_NAMES: ClientNames = { key: null, client: null };

export function hasClientName({ request: { terms = null } }: PendingRequest): boolean {
  return terms !== null && (terms.key !== null || terms.name !== null);
}

/**
 * A name without the hash of its body, in which there was a password: what is kept for its slow hash must not
 * be found out by way of a fast one.
 */
function veiled<T extends IdempotencyKey | ClientRequest>(name: T | null): T | null {
  return name === null ? null : { ...name, body: ANY_BODY };
}
