/**
 * The answers to requests that clients named by numbers: of each client those that it may still ask for. Part
 * of the results of a group (`results.ts`), which follow from the entries of its log.
 *
 *   CLIENT (id: its number) := user:varint client:text low:varint age:varint count:varint
 *                              (sequence:varint body:16 bytes reply:blob)*
 *
 * An open request is never dropped: when there is no more room, new requests are refused before they are
 * carried out. A client is forgotten when it has changed nothing for an hour.
 */
import { ByteReader, ByteWriter } from '@althing/engine';
import { NumberTable } from '../base/number-table.js';
import { ANY_BODY, BODY_HASH_BYTES, type ClientRequest } from './entry.js';
import { TOO_LARGE } from './kept-reply.js';

export interface ClientLimits {
  readonly clientsMax: number;
  /** Bytes that all answers take together with what is known of their requests. */
  readonly bytesMax: number;
  /** Bytes of one client from which on only the fact is kept that a request was carried out. */
  readonly clientBytesMax: number;
  /** Age at which a client is forgotten after its last change, in milliseconds. */
  readonly ageMaxMs: number;
}

/** How much of each limit one user may take, so that no user keeps the others out. */
export const USER_SHARE = 0.5;

/** The shortage for which a request is refused. */
export type Shortage = 'clients' | 'bytes';

interface Kept {
  readonly body: Uint8Array;
  readonly reply: Uint8Array;
}

interface Client {
  /** Counted in the order in which clients came. */
  readonly number: number;
  readonly user: number;
  readonly client: string;
  low: number;
  /** Age of the table at its last change. */
  age: number;
  bytes: number;
  /** When it was changed, by `stamp`. */
  changed: number;
  readonly kept: NumberTable<Kept>;
}

interface Share {
  clients: number;
  bytes: number;
}

/** The records that a checkpoint has to write. */
export interface ClientChanges {
  readonly put: readonly (readonly [number: number, record: Uint8Array])[];
  readonly gone: readonly number[];
  /** Notes that this is durable. */
  readonly written: () => void;
}

export class ClientRequests {
  private readonly limits: ClientLimits;
  /** By user and name, in the order of their last changes. */
  private clients = new Map<string, Client>();
  private readonly shares = new Map<number, Share>();
  private bytes = 0;
  /** Number of the next client that comes. */
  nextNumber = 1;
  /** Rises with each change. */
  private stamp = 0;
  /** The state of the last checkpoint: later changes are not durable; and which records are there. */
  private durableStamp = 0;
  private durableNumbers = new Set<number>();
  /**
   * Numbers of the clients that are not shared with the table that this one was branched off from; null: none
   * is.
   */
  private own: Set<number> | null = null;
  private inOrder = true;

  constructor(limits: ClientLimits) {
    this.limits = limits;
  }

  /** `new` also for what was forgotten; `outdated` for what the client said that it has the answer to. */
  find({ user, client, sequence, body }: ClientRequest): Uint8Array | 'new' | 'outdated' | 'conflict' {
    const known = this.clients.get(nameOf(user, client));
    if (known === undefined) return 'new';
    if (sequence < known.low) return 'outdated';
    const kept = known.kept.get(sequence);
    if (kept === undefined) return 'new';
    return isSameBody(kept.body, body) ? kept.reply : 'conflict';
  }

  /**
   * The shortage that a new request meets; null when there is room.
   *
   * @param age of the table now
   */
  shortage({ user, client }: ClientRequest, age: number): Shortage | null {
    const { clientsMax, bytesMax, ageMaxMs } = this.limits;
    const share = this.shares.get(user) ?? NO_SHARE;
    if (this.bytes >= bytesMax || share.bytes >= USER_SHARE * bytesMax) return 'bytes';
    if (this.clients.has(nameOf(user, client))) return null;
    if (this.clients.size < clientsMax && share.clients < USER_SHARE * clientsMax) return null;
    this.order();
    const [oldest] = this.clients.values();
    // With the next entry it is forgotten.
    return oldest !== undefined && age - oldest.age > ageMaxMs ? null : 'clients';
  }

  /** Takes up a request that was carried out; the age of the table never falls. */
  note({ user, client: name, sequence, low, body }: ClientRequest, reply: Uint8Array, age: number): void {
    const client = this.touch(user, name, low, age);
    if (low > client.low) this.forgetBelow(client, low);
    if (sequence < client.low) return;
    this.forget(client, sequence);
    const isTooMuch = client.bytes + reply.length > this.limits.clientBytesMax;
    this.keep(client, sequence, { body, reply: isTooMuch ? TOO_LARGE : reply });
  }

  /** Forgets clients that were silent for too long. */
  sweep(age: number): void {
    if (this.clients.size === 0) return;
    this.order();
    for (const [name, client] of this.clients) {
      if (age - client.age <= this.limits.ageMaxMs) return;
      this.clients.delete(name);
      this.count(client.user, -1, -client.bytes);
    }
  }

  /** A table that goes on from here by itself. */
  branch(): ClientRequests {
    this.order();
    const branch = new ClientRequests(this.limits);
    branch.clients = new Map(this.clients);
    for (const [user, share] of this.shares) branch.shares.set(user, { ...share });
    branch.bytes = this.bytes;
    branch.nextNumber = this.nextNumber;
    branch.stamp = this.stamp;
    branch.own = new Set();
    return branch;
  }

  /**
   * The changes in a branch of this table that are not durable.
   *
   * @param branch made since the last change of this table
   */
  changesIn(branch: ClientRequests): ClientChanges {
    const { stamp } = this;
    const put: (readonly [number, Uint8Array])[] = [];
    const numbers = new Set<number>();
    for (const client of branch.clients.values()) {
      numbers.add(client.number);
      if (client.changed > this.durableStamp) put.push([client.number, encodeClient(client)]);
    }
    const gone = [...this.durableNumbers].filter((number) => !numbers.has(number));
    const written = (): void => {
      this.durableStamp = stamp;
      this.durableNumbers = numbers;
    };
    return { put, gone, written };
  }

  /** Everything: the same records wherever the same was noted. */
  all(): (readonly [number: number, record: Uint8Array])[] {
    const clients = [...this.clients.values()].sort((a, b) => a.number - b.number);
    return clients.map((client) => [client.number, encodeClient(client)]);
  }

  /** @throws FormatError */
  load(number: number, record: Uint8Array): void {
    const input = new ByteReader(record);
    const user = input.varint();
    const name = input.text();
    const low = input.varint();
    const age = input.varint();
    const client = this.add({ number, user, client: name, low, age });
    client.changed = 0;
    for (let count = input.varint(); count > 0; count--) {
      const sequence = input.varint();
      const body: Uint8Array = Uint8Array.prototype.slice.call(input.bytes(BODY_HASH_BYTES));
      this.keep(client, sequence, { body, reply: input.blob() });
    }
    this.durableNumbers.add(number);
    this.inOrder = false;
  }

  /** The client, as one that may be changed and was changed last. */
  private touch(user: number, name: string, low: number, age: number): Client {
    this.order();
    const key = nameOf(user, name);
    let client = this.clients.get(key);
    if (client === undefined) {
      client = this.add({ number: this.nextNumber++, user, client: name, low, age });
    } else {
      if (this.own?.has(client.number) === false) client = { ...client, kept: client.kept.copy() };
      client.age = age;
      this.clients.delete(key);
      this.clients.set(key, client);
    }
    this.own?.add(client.number);
    client.changed = ++this.stamp;
    return client;
  }

  private add(start: Pick<Client, 'number' | 'user' | 'client' | 'low' | 'age'>): Client {
    const client: Client = { ...start, bytes: CLIENT_BYTES, changed: 0, kept: new NumberTable() };
    this.clients.set(nameOf(client.user, client.client), client);
    this.count(client.user, 1, CLIENT_BYTES);
    return client;
  }

  private keep(client: Client, sequence: number, kept: Kept): void {
    client.kept.set(sequence, kept);
    this.grow(client, bytesOf(kept));
  }

  private forget(client: Client, sequence: number): void {
    const kept = client.kept.get(sequence);
    if (kept === undefined) return;
    client.kept.delete(sequence);
    this.grow(client, -bytesOf(kept));
  }

  private forgetBelow(client: Client, low: number): void {
    for (const sequence of client.kept.keysBetween(client.low, low)) this.forget(client, sequence);
    client.low = low;
  }

  private grow(client: Client, bytes: number): void {
    client.bytes += bytes;
    this.count(client.user, 0, bytes);
  }

  private count(user: number, clients: number, bytes: number): void {
    this.bytes += bytes;
    let share = this.shares.get(user);
    if (share === undefined) {
      share = { clients: 0, bytes: 0 };
      this.shares.set(user, share);
    }
    share.clients += clients;
    share.bytes += bytes;
    if (share.clients === 0) this.shares.delete(user);
  }

  /** Records come in the order of numbers. */
  private order(): void {
    if (this.inOrder) return;
    this.inOrder = true;
    this.clients = new Map([...this.clients].sort(([, a], [, b]) => a.age - b.age || a.number - b.number));
  }
}

/** Bytes that a client and an answer cost besides the answer itself. */
const CLIENT_BYTES = 200;
const KEPT_BYTES = 64;

const NO_SHARE: Readonly<Share> = { clients: 0, bytes: 0 };

/** Whether two hashes stand for the same body, as far as they tell. */
export function isSameBody(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0 || Buffer.compare(a, ANY_BODY) === 0;
}

function bytesOf({ reply }: Kept): number {
  return KEPT_BYTES + reply.length;
}

function nameOf(user: number, client: string): string {
  return `${user} ${client}`;
}

function encodeClient({ user, client, low, age, bytes, kept }: Client): Uint8Array {
  const out = new ByteWriter(bytes);
  out.varint(user);
  out.text(client);
  out.varint(low);
  out.varint(age);
  const all = kept.entries().sort(([a], [b]) => a - b);
  out.varint(all.length);
  for (const [sequence, { body, reply }] of all) {
    out.varint(sequence);
    out.bytes(body);
    out.blob(reply);
  }
  return out.take();
}
