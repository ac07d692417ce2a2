import { NumberTable } from '../base/number-table.js';
import type { GroupId } from '../between/protocol.js';
import type { ClientRequest, RequestIdentity } from '../groups/entry.js';
import type { ClientNames } from '../groups/names.js';

/** A name of a request: its number among those of an owner, which is a client or a node in a group, or a key. */
export interface RequestName {
  readonly owner: string;
  readonly number: number;
}

/** A name that a request holds. */
export interface HeldName extends RequestName {
  /** The names that its client gave it, put together once; null for one that a node gave. */
  readonly names: ClientNames | null;
}

/** A client in a group. */
interface ClientOwner {
  readonly group: GroupId;
  readonly user: number;
  readonly owner: string;
}

/**
 * The names of requests that are carried out on this node. Owners stay for a while after their last request: a Map in which each request
 * comes and goes keeps its former tables for long (see `NumberTable`).
 */
export class NamesUnderWay<Holder> {
  private readonly owners = new Map<string, NumberTable<Holder>>();
  /** Owners with which those without a request are forgotten. */
  private ownersMax = OWNERS_MIN;
  /** Owners that are clients, as they were named last, by the names that they gave themselves. */
  private readonly clients = new Map<string, ClientOwner>();
  /** Names that are held. */
  size = 0;

  /** The name that a client gave to a request, unlike that of any other request of the node; null for none. */
  clientNameOf(group: GroupId, { key, client }: ClientNames): RequestName | null {
    if (key !== null) return { owner: `key ${group} ${key.user} ${key.key}`, number: 0 };
    return client === null ? null : { owner: this.ownerOf(group, client), number: client.sequence };
  }

  /** A text that is put together, and looked up in it for the first time, takes three times as long as one that was looked up before. */
  private ownerOf(group: GroupId, { user, client }: ClientRequest): string {
    const known = this.clients.get(client);
    if (known !== undefined && known.group === group && known.user === user) return known.owner;
    const owner = `client ${group} ${user} ${client}`;
    if (this.clients.size >= OWNERS_MIN) this.clients.clear();
    this.clients.set(client, { group, user, owner });
    return owner;
  }

  find({ owner, number }: RequestName): Holder | undefined {
    return this.owners.get(owner)?.get(number);
  }

  take({ owner, number }: RequestName, holder: Holder): void {
    let table = this.owners.get(owner);
    if (table === undefined) {
      if (this.owners.size >= this.ownersMax) this.forgetIdle();
      table = new NumberTable();
      this.owners.set(owner, table);
    }
    const { size } = table;
    table.set(number, holder);
    this.size += table.size - size;
  }

  /**
   * Gives a name back.
   *
   * @returns the request that held it
   */
  release({ owner, number }: RequestName): Holder | undefined {
    const holder = this.owners.get(owner)?.take(number);
    if (holder !== undefined) this.size -= 1;
    return holder;
  }

  private forgetIdle(): void {
    for (const [owner, table] of this.owners) if (table.size === 0) this.owners.delete(owner);
    this.ownersMax = Math.max(OWNERS_MIN, 2 * this.owners.size);
  }
}

const OWNERS_MIN = 256;

/** The name that a node gave to a request. */
export function nodeNameOf(
  { origin, incarnation, sequence }: RequestIdentity,
  group: GroupId | null,
): RequestName {
  return { owner: `node ${group} ${origin} ${incarnation}`, number: sequence };
}
