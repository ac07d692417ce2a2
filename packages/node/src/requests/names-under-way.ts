import { NumberTable } from '../base/number-table.js';
import type { GroupId } from '../between/protocol.js';
import type { ClientRequest, RequestIdentity } from '../groups/entry.js';
import type { ClientNames, Names } from '../groups/names.js';

/** Requests that hold a name, by their numbers among those of an owner: of a client or a node in a group, or of a key, whose number is 0. */
export type NameOwner<Holder> = NumberTable<Holder>;

/** The names that a client gave to a request, the name that it holds, and those that came after it under the same one. */
export interface NameHolder<Pending> extends Names {
  /** Null, since no node gives one of these names: see `Repetitions.identityOf`. */
  readonly request: null;
  readonly pending: Pending;
  /** The owner of the name that it holds; null while it holds none. */
  owner: NameOwner<NameHolder<Pending>> | null;
  number: number;
  /** Null for none. */
  followers: Pending[] | null;
}

interface KnownClient<Holder> {
  readonly group: GroupId;
  readonly user: number;
  readonly owner: NameOwner<Holder>;
}

/**
 * The names of requests that are carried out on this node. Owners stay for a while after their last request: a Map in which each request
 * comes and goes keeps its former tables for long (see `NumberTable`). An owner without a request is good until another one is asked for.
 */
export class NamesUnderWay<Holder> {
  private readonly owners = new Map<string, NameOwner<Holder>>();
  /** Owners with which those without a request are forgotten. */
  private ownersMax = OWNERS_MIN;
  /** Clients, as they were named last, by the names that they gave themselves. */
  private readonly clients = new Map<string, KnownClient<Holder>>();
  /** Names that are held. */
  size = 0;

  /** The owner of the name that a client gave to a request; null where it gave none. */
  clientOwner(group: GroupId, { key, client }: ClientNames): NameOwner<Holder> | null {
    if (key !== null) return this.ownerOf(`key ${group} ${key.user} ${key.key}`);
    return client === null ? null : this.ownerOfClient(group, client);
  }

  /** The owner of the name that a node gave to a request. */
  nodeOwner(group: GroupId | null, { origin, incarnation }: RequestIdentity): NameOwner<Holder> {
    return this.ownerOf(`node ${group} ${origin} ${incarnation}`);
  }

  /** A text that is put together, and looked up in it for the first time, takes three times as long as one that was looked up before. */
  private ownerOfClient(group: GroupId, { user, client }: ClientRequest): NameOwner<Holder> {
    const known = this.clients.get(client);
    if (known !== undefined && known.group === group && known.user === user) return known.owner;
    const owner = this.ownerOf(`client ${group} ${user} ${client}`);
    if (this.clients.size >= OWNERS_MIN) this.clients.clear();
    this.clients.set(client, { group, user, owner });
    return owner;
  }

  private ownerOf(text: string): NameOwner<Holder> {
    const known = this.owners.get(text);
    if (known !== undefined) return known;
    if (this.owners.size >= this.ownersMax) this.forgetIdle();
    const owner = new NumberTable<Holder>();
    this.owners.set(text, owner);
    return owner;
  }

  take(owner: NameOwner<Holder>, number: number, holder: Holder): void {
    const { size } = owner;
    owner.set(number, holder);
    this.size += owner.size - size;
  }

  /**
   * Gives a name back.
   *
   * @returns the request that held it
   */
  release(owner: NameOwner<Holder>, number: number): Holder | undefined {
    const holder = owner.take(number);
    if (holder !== undefined) this.size -= 1;
    return holder;
  }

  private forgetIdle(): void {
    for (const [text, owner] of this.owners) if (owner.size === 0) this.owners.delete(text);
    // A client must not go on with an owner that is not found by its name any more.
    this.clients.clear();
    this.ownersMax = Math.max(OWNERS_MIN, 2 * this.owners.size);
  }
}

const OWNERS_MIN = 256;
