/**
 * The answers to recent changes of a group: what makes a request that comes again take effect once. It is
 * part of the group's replicated state. It follows from the entries of the log and from nothing else, so it
 * is the same on all nodes at the same log position; it lies in checkpoints and snapshots with everything
 * else.
 *
 * Records, of kinds that the engine does not use. ORIGINS is described in `origin-results.ts`, KEY in
 * `key-results.ts`, CLIENT in `client-requests.ts`:
 *
 *   TABLE (id 0)           := 1 age:varint time:varint firstKey:varint nextKey:varint parts:varint
 *                           | 2 age:varint time:varint firstKey:varint nextKey:varint parts:varint nextClient:varint
 *
 * Times are *ages*: milliseconds of the group's log time. An entry of level 2 of the cluster tells how many
 * passed since the one before. One of level 1 does not: there a jump of the clock counts for a minute at
 * most, so that a leader whose clock leaps does not make the others forget what was done a moment ago.
 *
 * The rules decide what all nodes know of requests, so they are the same on all of them: with the first entry
 * of level 2 the table goes over to the rules of level 2 for good, and to the second format of its records.
 */
import { ByteReader, ByteWriter, FormatError } from '@althing/engine';
import { type ClientLimits, ClientRequests, type Shortage } from './client-requests.js';
import type { ClientRequest, EntryHead, IdempotencyKey, RequestIdentity } from './entry.js';
import { decodeReply, type KeptReply } from './kept-reply.js';
import { type KeyLimits, KeyResults } from './key-results.js';
import { type OriginLimits, OriginResults } from './origin-results.js';

export const ResultKind = { TABLE: 0x20, ORIGINS: 0x21, KEY: 0x22, CLIENT: 0x23 } as const;

/** The knowledge of a request. */
export type KnownRequest =
  | { readonly kind: 'reply'; readonly reply: KeptReply }
  /** It was never seen; it may be carried out. */
  | { readonly kind: 'new' }
  /** It was answered before, and nobody waits for it any more: it must not be carried out. */
  | { readonly kind: 'outdated' }
  /** Another request had the same name. */
  | { readonly kind: 'conflict' };

export interface ResultLimits extends OriginLimits, KeyLimits {
  readonly clients: ClientLimits;
}

const MiB = 1024 * 1024;

/** The limits decide what is kept, so they are the same on all nodes of all versions. */
export const RESULT_LIMITS: ResultLimits = {
  originBytesMax: 16 * MiB,
  firstKeys: { keysMax: 10_000, keyBytesMax: 16 * MiB },
  keys: { keysMax: 100_000, keyBytesMax: 64 * MiB },
  keyYoungMs: 60_000,
  clients: { clientsMax: 10_000, bytesMax: 64 * MiB, clientBytesMax: 4 * MiB, ageMaxMs: 3_600_000 },
  originAgeMaxMs: 3_600_000,
  keyAgeMaxMs: 24 * 3_600_000,
};

/** The extent of the last checkpoint. */
interface Durable {
  firstKey: number;
  nextKey: number;
  parts: number;
}

export class Results {
  private readonly limits: ResultLimits;
  private ageMs = 0;
  private lastTime = 0;
  private origins: OriginResults;
  private keys: KeyResults;
  private clients: ClientRequests;
  /** The level by whose rules the table is kept. */
  private rules = 1;
  private readonly durable: Durable = { firstKey: 1, nextKey: 1, parts: 0 };

  constructor(limits: ResultLimits = RESULT_LIMITS) {
    this.limits = limits;
    this.origins = new OriginResults(limits);
    this.keys = new KeyResults(limits);
    this.clients = new ClientRequests(limits.clients);
  }

  /** Takes up an entry that is committed. */
  note(head: EntryHead): void {
    const { request, key, client, reply } = head;
    const before = this.ageMs;
    this.takeTime(head);
    this.origins.sweep(before, this.ageMs);
    this.keys.sweep(this.ageMs);
    if (request !== null) this.origins.note(request, reply, this.ageMs);
    if (key !== null) this.keys.note(key, reply, this.ageMs, this.rules);
    this.clients.sweep(this.ageMs);
    if (client !== null) this.clients.note(client, reply, this.ageMs);
  }

  private takeTime({ time, elapsed }: EntryHead): void {
    if (elapsed !== null) {
      this.rules = 2;
      this.ageMs += elapsed;
    } else if (time > this.lastTime && this.lastTime !== 0) {
      // The first entry of all has no predecessor whose time could be compared.
      this.ageMs += Math.min(time - this.lastTime, AGE_STEP_MAX_MS);
    }
    this.lastTime = Math.max(this.lastTime, time);
  }

  /** Finds a request of a node. */
  find(request: RequestIdentity): KnownRequest {
    return foundOf(this.origins.find(request));
  }

  /** Finds a client's request by its key. */
  findKey(key: IdempotencyKey): KnownRequest {
    return foundOf(this.keys.find(key));
  }

  /** Finds a client's request by its number. */
  findClient(request: ClientRequest): KnownRequest {
    return foundOf(this.clients.find(request));
  }

  /**
   * The shortage that a new request of a client meets; null when there is room.
   *
   * @param elapsed milliseconds since the last entry
   */
  clientShortage(request: ClientRequest, elapsed: number): Shortage | null {
    return this.clients.shortage(request, this.ageMs + elapsed);
  }

  /** Whether there is room for a new key of a user. As `clientShortage`. */
  hasRoomForKey(user: number, elapsed: number): boolean {
    return this.keys.hasRoom(user, this.ageMs + elapsed);
  }

  /**
   * Captures the table as it will be once further entries are committed, to be written with a checkpoint that
   * stands for them.
   */
  capture(further: Iterable<EntryHead>): ResultsCapture {
    const copy = new Results(this.limits);
    copy.ageMs = this.ageMs;
    copy.lastTime = this.lastTime;
    copy.origins = this.origins.copy();
    copy.keys = this.keys.branch();
    copy.rules = this.rules;
    copy.clients = this.clients.branch();
    for (const head of further) copy.note(head);
    const clients = this.clients.changesIn(copy.clients);
    return {
      write: (sink) => {
        copy.write(sink, this.durable);
        for (const [number, record] of clients.put) sink.put(ResultKind.CLIENT, number, 0, record);
        for (const number of clients.gone) sink.delete(ResultKind.CLIENT, number, 0);
      },
      written: () => {
        clients.written();
        this.durable.firstKey = copy.keys.first;
        this.durable.nextKey = copy.keys.next;
        this.durable.parts = copy.durable.parts;
      },
    };
  }

  /** Writes everything: the same records wherever the same entries were noted. */
  writeAll(sink: ResultSink): void {
    const { parts } = this.durable;
    this.write(sink, { firstKey: this.keys.first, nextKey: this.keys.first, parts: 0 });
    this.durable.parts = parts;
    for (const [number, record] of this.clients.all()) sink.put(ResultKind.CLIENT, number, 0, record);
  }

  /**
   * Takes up a record of a checkpoint: that of TABLE first, those of KEY in the order of their numbers.
   *
   * @throws FormatError
   */
  loadRecord(kind: number, id: number, value: Uint8Array): void {
    if (kind === ResultKind.TABLE) this.loadTable(new ByteReader(value));
    else if (kind === ResultKind.ORIGINS) this.origins.load(value);
    else if (kind === ResultKind.KEY) this.keys.load(id, value);
    else if (kind === ResultKind.CLIENT) this.clients.load(id, value);
    else throw new FormatError(`unexpected record of kind ${kind}`);
  }

  /** Writes what `durable` does not have. */
  private write(sink: ResultSink, durable: Readonly<Durable>): void {
    const parts = this.origins.encode();
    for (const [number, part] of parts.entries()) sink.put(ResultKind.ORIGINS, 0, number, part);
    for (let part = parts.length; part < durable.parts; part++) sink.delete(ResultKind.ORIGINS, 0, part);
    for (let key = durable.firstKey; key < Math.min(this.keys.first, durable.nextKey); key++) {
      sink.delete(ResultKind.KEY, key, 0);
    }
    for (let key = Math.max(this.keys.first, durable.nextKey); key < this.keys.next; key++) {
      sink.put(ResultKind.KEY, key, 0, this.keys.encode(key));
    }
    const table = new ByteWriter(64);
    table.u8(this.rules === 1 ? FORMAT_FIRST : FORMAT);
    table.varint(this.ageMs);
    table.varint(this.lastTime);
    table.varint(this.keys.first);
    table.varint(this.keys.next);
    table.varint(parts.length);
    if (this.rules > 1) table.varint(this.clients.nextNumber);
    sink.put(ResultKind.TABLE, 0, 0, table.take());
    this.durable.parts = parts.length;
  }

  private loadTable(input: ByteReader): void {
    const format = input.u8();
    if (format < FORMAT_FIRST || format > FORMAT) {
      throw new FormatError(
        `results of format ${format}; this version reads the formats ${FORMAT_FIRST} to ${FORMAT}`,
      );
    }
    this.rules = format;
    this.ageMs = input.varint();
    this.lastTime = input.varint();
    this.durable.firstKey = input.varint();
    this.keys.begin(this.durable.firstKey);
    this.durable.nextKey = input.varint();
    this.durable.parts = input.varint();
    if (format > FORMAT_FIRST) this.clients.nextNumber = input.varint();
  }
}

/** Where a checkpoint puts records. */
export interface ResultSink {
  put(kind: number, id: number, part: number, value: Uint8Array): void;
  delete(kind: number, id: number, part: number): void;
}

/** The results, captured for a checkpoint. */
export interface ResultsCapture {
  write(sink: ResultSink): void;
  /** Notes that what was written is durable. */
  written(): void;
}

const FORMAT_FIRST = 1;
const FORMAT = 2;

/** Milliseconds that a jump of the clock counts for at most. */
const AGE_STEP_MAX_MS = 60_000;

const UNKNOWN: Readonly<Record<'new' | 'outdated' | 'conflict', KnownRequest>> = {
  new: { kind: 'new' },
  outdated: { kind: 'outdated' },
  conflict: { kind: 'conflict' },
};

function foundOf(found: Uint8Array | keyof typeof UNKNOWN): KnownRequest {
  return typeof found === 'string' ? UNKNOWN[found] : { kind: 'reply', reply: decodeReply(found) };
}
