import { NumberTable } from '../base/number-table.js';
import type { GroupId } from '../between/protocol.js';
import type { RequestIdentity } from '../groups/entry.js';
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

/**
 * The names of requests that are carried out on this node. Owners stay for a while after their last request: a Map in which each request
 * comes and goes keeps its former tables for long (see `NumberTable`).
 */
export class NamesUnderWay<Holder> {
  private readonly owners = new Map<string, NumberTable<Holder>>();
  /** Owners with which those without a request are forgotten. */
  private ownersMax = OWNERS_MIN;
  /** Names that are held. */
  size = 0;

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
    const table = this.owners.get(owner);
    const holder = table?.get(number);
    if (table?.delete(number) === true) this.size -= 1;
    return holder;
  }

  private forgetIdle(): void {
    for (const [owner, table] of this.owners) if (table.size === 0) this.owners.delete(owner);
    this.ownersMax = Math.max(OWNERS_MIN, 2 * this.owners.size);
  }
}

const OWNERS_MIN = 256;

/** The name that a client gave to a request, unlike that of any other request of the node; null for none. */
export function clientNameOf(group: GroupId, { key, client }: ClientNames): RequestName | null {
  if (key !== null) return { owner: `key ${group} ${key.user} ${key.key}`, number: 0 };
  if (client === null) return null;
  return { owner: `client ${group} ${client.user} ${client.client}`, number: client.sequence };
}

/** The name that a node gave to a request. */
export function nodeNameOf(
  { origin, incarnation, sequence }: RequestIdentity,
  group: GroupId | null,
): RequestName {
  return { owner: `node ${group} ${origin} ${incarnation}`, number: sequence };
}
