import type { GroupId, NodeId } from '../between/protocol.js';
import { ANY_BODY, type ClientRequest, type IdempotencyKey, type RequestIdentity } from '../groups/entry.js';
import type { GroupSession } from '../groups/group-session.js';
import type { ClientNames, Names } from '../groups/names.js';
import type { Found } from '../groups/results.js';
import { KeysUnderWay } from './forwarding/keys-under-way.js';
import type { PendingRequest } from './forwarding/pending-request.js';
import type { Sequences } from './forwarding/sequences.js';
import { belowLow, conflictOf, LATE_UNKNOWN, repeatedReply } from './replies.js';

export interface RepetitionsOptions {
  readonly nodeId: NodeId;
  /** Which start of this node this is: later ones have larger numbers. */
  readonly incarnation: number;
  /** The numbers of this node's own requests. */
  readonly sequences: Sequences;
  /** Tries a pending request again when the roles in a group changed, or after a while. */
  readonly wait: (pending: PendingRequest, group: GroupId) => void;
  readonly advance: (pending: PendingRequest) => void;
}

/** Requests that come again: under which names they are known, so that each takes effect once. */
export class Repetitions {
  private readonly options: RepetitionsOptions;
  private readonly keys = new KeysUnderWay();
  /** Names of requests of which a part was proposed and futures are still to run. */
  private readonly unfinished = new Set<string>();
  /** Requests of other nodes that are late, though their change may yet be committed: by `nameOf`. */
  private readonly undecided = new Set<string>();
  /** Repetitions that got the first one's answer. */
  count = 0;

  constructor(options: RepetitionsOptions) {
    this.options = options;
  }

  /** A pending request has ended, though its change may not be decided yet. */
  ended(pending: PendingRequest): void {
    // Until its change is decided, a repetition of the request must not begin.
    if (!pending.proposed) this.releaseKey(pending);
    else if (pending.forwarded !== null) this.undecided.add(nameOf(pending.forwarded, pending.group));
  }

  /** The change of a pending request that has ended is decided. */
  decided(pending: PendingRequest): void {
    if (pending.forwarded !== null) this.undecided.delete(nameOf(pending.forwarded, pending.group));
    this.releaseKey(pending);
  }

  /** A part of a request was proposed, and more is to come: returns what ends that. */
  begun(group: GroupId, names: Names | null): () => void {
    const marks = marksOf(group, names);
    for (const mark of marks) this.unfinished.add(mark);
    return () => {
      for (const mark of marks) this.unfinished.delete(mark);
    };
  }

  private releaseKey(pending: PendingRequest): void {
    this.keys.release(pending, (other) => queueMicrotask(() => this.options.advance(other)));
  }

  /** Ends a pending request whose change was made before, or lets it wait for one with the same key. */
  isKnown(pending: PendingRequest, session: GroupSession): boolean {
    const name = this.identityOf(pending, session.id);
    const { key, client } = clientNamesOf(pending);
    const isUndecided =
      name !== null && this.undecided.size > 0 && this.undecided.has(nameOf(name, pending.group));
    const names = { request: name, key, client };
    if (isUndecided || session.hasToldEarly(names) || this.isUnfinished(session.id, names)) {
      this.options.wait(pending, session.id);
      return true;
    }
    if (name !== null && this.endsAs(pending, session.results.find(name), session)) return true;
    if (key !== null) {
      if (this.endsAs(pending, session.results.findKey(key), session)) return true;
      return this.isUnderWay(pending, session, `key ${key.user} ${key.key}`, key.body);
    }
    if (client === null) return false;
    const found = session.results.findClient(client);
    if (found.kind === 'outdated') {
      pending.end({ kind: 'reply', reply: belowLow(client) });
      return true;
    }
    if (this.endsAs(pending, found, session)) return true;
    const own = `client ${client.user} ${client.client} ${client.sequence}`;
    return this.isUnderWay(pending, session, own, client.body);
  }

  private isUnfinished(group: GroupId, names: Names): boolean {
    return this.unfinished.size > 0 && marksOf(group, names).some((mark) => this.unfinished.has(mark));
  }

  /** Lets a pending request wait for one of the same name; ends it when that is another request. */
  private isUnderWay(pending: PendingRequest, session: GroupSession, own: string, body: Uint8Array): boolean {
    const taken = this.keys.take(session.id, own, body, pending);
    if (taken === 'conflict') pending.end({ kind: 'reply', reply: conflictOf(pending) });
    return taken !== 'taken';
  }

  private endsAs(pending: PendingRequest, found: Found, session: GroupSession): boolean {
    switch (found.kind) {
      case 'new':
        return false;
      case 'outdated':
        pending.end(LATE_UNKNOWN);
        return true;
      case 'conflict':
        pending.end({ kind: 'reply', reply: conflictOf(pending) });
        return true;
      case 'reply': {
        this.count += 1;
        // A refusal, too, is true then: whoever kept it was lost before its answer came.
        pending.seal();
        pending.end({ kind: 'reply', reply: repeatedReply(found.reply, session.appliedIndex) });
        return true;
      }
    }
  }

  /** The name that the node which took a request gave to it; null for none. */
  identityOf(pending: PendingRequest, group: GroupId): RequestIdentity | null {
    const { forwarded, sequence } = pending;
    if (forwarded !== null || sequence === 0) return forwarded;
    const { nodeId, incarnation } = this.options;
    return { origin: nodeId, incarnation, sequence, low: this.options.sequences.low(group) };
  }

  /** The names by which a request takes effect once; null for none. A password does not show in them. */
  namesOf(pending: PendingRequest, session: GroupSession): Names | null {
    const request = this.identityOf(pending, session.id);
    const { key, client } = clientNamesOf(pending);
    if (request === null && key === null && client === null) return null;
    const isOpen = pending.hashes === null || !session.takesClients;
    return isOpen ? { request, key, client } : { request, key: veiled(key), client: veiled(client) };
  }
}

/** The names that the client gave to the request of a pending request. */
export function clientNamesOf({ request: { terms = null, user } }: PendingRequest): ClientNames {
  if (terms === null) return NO_NAMES;
  const { key, name } = terms;
  return {
    key: key === null ? null : { user: user.id, ...key },
    client: name === null ? null : { user: user.id, ...name },
  };
}

const NO_NAMES: ClientNames = { key: null, client: null };

export function hasClientName({ request: { terms = null } }: PendingRequest): boolean {
  return terms !== null && (terms.key !== null || terms.name !== null);
}

/**
 * A name without the hash of its body, in which there was a password: what is kept for its slow hash must not
 * be found out by way of a fast one.
 */
export function veiled<T extends IdempotencyKey | ClientRequest>(name: T | null): T | null {
  return name === null ? null : { ...name, body: ANY_BODY };
}

/** The marks that tell requests of which a part was proposed from each other, by any of their names. */
function marksOf(group: GroupId, names: Names | null): string[] {
  if (names === null) return [];
  const { request, key, client } = names;
  const marks: string[] = [];
  if (request !== null) marks.push(`request ${nameOf(request, group)}`);
  if (key !== null) marks.push(`key ${group} ${key.user} ${key.key}`);
  if (client !== null) marks.push(`client ${group} ${client.user} ${client.client} ${client.sequence}`);
  return marks;
}

/** Tells requests of all nodes and groups from each other. */
function nameOf({ origin, incarnation, sequence }: RequestIdentity, group: GroupId | null): string {
  return `${group} ${sequence} ${origin} ${incarnation}`;
}
