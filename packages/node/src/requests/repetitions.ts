/** Requests that come again: under which names they are known, so that each takes effect once. */
import type { GroupId, NodeId } from '../between/protocol.js';
import { ANY_BODY, type BodyHash, fitsBody } from '../groups/body-hash.js';
import type { ClientRequest, IdempotencyKey, RequestIdentity } from '../groups/entry.js';
import type { GroupSession } from '../groups/group-session.js';
import type { ClientNames, Names } from '../groups/names.js';
import type { KnownRequest } from '../groups/session-table.js';
import { type NameHolder, type NameOwner, NamesUnderWay } from './names-under-way.js';
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

type Holder = NameHolder<PendingRequest>;

export class Repetitions {
  /** Names of requests that are carried out on this node, until what became of them is decided. */
  private readonly underWay = new NamesUnderWay<Holder>();
  /** Repetitions that got the first one's answer. */
  count = 0;

  constructor(private readonly options: RepetitionsOptions) {}

  /** A request was answered, though its change may not be decided yet: until then no repetition of it may begin. */
  answered(pending: PendingRequest): void {
    const { forwarded, state } = pending;
    if (state.kind === 'ended') this.release(pending);
    else if (forwarded !== null && pending.heldName === null)
      this.take(
        holding(pending, null, null),
        this.underWay.nodeOwner(pending.group, forwarded),
        forwarded.sequence,
      );
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
    const holder = holderOf(pending);
    const names = holder ?? NO_NAMES;
    const { key, client } = names;
    if (session.hasToldEarly(request, names)) {
      pending.noteDoubt();
      pending.owner.wait(pending, session.id);
      return true;
    }
    const { forwarded } = pending;
    if (forwarded !== null && this.underWay.size > 0) {
      const first = this.underWay.nodeOwner(session.id, forwarded).get(forwarded.sequence);
      if (first !== undefined && this.follows(pending, first, session)) return true;
    }
    if (holder !== null && this.isUnderWay(holder, session)) return true;
    if (request !== null && this.endsAs(pending, session.table.find(request), session)) return true;
    if (key !== null) return this.endsAs(pending, session.table.findKey(key), session);
    if (client === null) return false;
    const found = session.table.findClient(client);
    if (found.kind !== 'outdated') return this.endsAs(pending, found, session);
    pending.end({ kind: 'reply', reply: belowLow(client) });
    return true;
  }

  /** Takes the name that the client gave, or lets its request wait for the one that has it; ends it when that is another request. */
  private isUnderWay(holder: Holder, session: GroupSession): boolean {
    const { pending, client } = holder;
    const owner = this.underWay.clientOwner(session.id, holder);
    if (owner === null) return false;
    const number = client === null ? 0 : client.sequence;
    const first = owner.get(number);
    if (first === undefined) {
      this.take(holder, owner, number);
      return false;
    }
    if (first.pending === pending) return false;
    if (fitsBody(bodyOf(first), bodyOf(holder))) return this.follows(pending, first, session);
    pending.end({ kind: 'reply', reply: conflictOf(pending) });
    return true;
  }

  /** Lets a request wait for the one that has its name, unless it is that one. */
  private follows(pending: PendingRequest, first: Holder, session: GroupSession): boolean {
    if (first.pending === pending) return false;
    // A change of the other one is made under the name of this one, too.
    pending.noteDoubt();
    pending.group ??= session.id;
    pending.become(FOLLOWING);
    first.followers ??= [];
    first.followers.push(pending);
    return true;
  }

  private take(holder: Holder, owner: NameOwner<Holder>, number: number): void {
    holder.owner = owner;
    holder.number = number;
    this.underWay.take(owner, number, holder);
    holder.pending.heldName = holder;
  }

  /** Gives back the name that a request held; those that waited for it go on. */
  private release(pending: PendingRequest): void {
    const { heldName } = pending;
    if (heldName === null || heldName.owner === null) return;
    const followers = this.underWay.release(heldName.owner, heldName.number)?.followers ?? null;
    pending.heldName = null;
    // Most have none, and need no list of them.
    if (followers !== null) for (const other of followers) queueMicrotask(() => other.owner.advance(other));
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
    const names = holderOf(pending);
    if (request === null && (names === null || !mayHavePassword)) return names;
    const { key, client } = names ?? NO_NAMES;
    return mayHavePassword ? { request, key: veiled(key), client: veiled(client) } : { request, key, client };
  }
}

/** The names that the client gave to the request of a pending request. */
export function clientNamesOf(pending: PendingRequest): ClientNames {
  return holderOf(pending) ?? NO_NAMES;
}

/** The same, ready to hold one of them; null where there is none. */
function holderOf(pending: PendingRequest): Holder | null {
  const { request, heldName } = pending;
  const { terms = null, user } = request;
  if (terms === null) return null;
  if (heldName !== null && (heldName.key !== null || heldName.client !== null)) return heldName;
  const { key, name } = terms;
  if (key === null && name === null) return null;
  return holding(
    pending,
    key === null ? null : { user: user.id, key: key.key, body: key.body },
    name === null ? null : clientRequestOf(user.id, name),
  );
}

function holding(pending: PendingRequest, key: IdempotencyKey | null, client: ClientRequest | null): Holder {
  return { request: null, key, client, pending, owner: null, number: 0, followers: null };
}

/** The hash of the body that has a name; any, where a node gave it. */
function bodyOf({ key, client }: Holder): BodyHash {
  return (key ?? client)?.body ?? ANY_BODY;
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
