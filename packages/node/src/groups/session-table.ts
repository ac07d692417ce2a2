/**
 * The session table of a group: the results of recent changes, by which a request that comes again takes effect once. A node that
 * forwards requests, a client that numbers its own, and a key each have a *request session* (`request-sessions.ts`).
 *
 * | kind | owner, name | a request in it | forgotten | where there is no room |
 * | --- | --- | --- | --- | --- |
 * | node | node, one session for its latest start | sequence; below LOW it is outdated | an hour after the last change | the answer is not kept |
 * | client | user, name of the client | sequence and body; below LOW it is outdated | an hour after the last change | new requests are refused |
 * | key | user, key | body | after a day | the oldest gives way once it is a minute old; new keys are refused before |
 *
 * It is part of the group's replicated state. It follows from the entries of the log and from nothing else, so it is the same on all
 * nodes at the same log position; it lies in checkpoints and snapshots with everything else (`session-records.ts`), with one record:
 *
 *   TABLE (id 0)           := 2 age:varint time:varint next:varint
 *                           | 1 age:varint time:varint ...                            of a cluster that began at the first level; read only
 *
 * Times are *ages*: milliseconds of the group's log time. Each entry tells how many passed since the one before, by a clock that does not
 * leap. The rules decide what all nodes know of requests, so they are the same on all of them.
 */
import { ByteReader, ByteWriter, FormatError } from '@althing/engine';
import { ANY_BODY, type BodyHash, fitsBody } from './body-hash.js';
import type { ClientRequest, EntryHead, IdempotencyKey, RequestIdentity } from './entry.js';
import { decodeReply, type KeptReply } from './kept-reply.js';
import { RecordNumbers } from './record-numbers.js';
import {
  RequestSessions,
  type Session,
  type SessionLimits,
  type Shortage,
  SingleResult,
} from './request-sessions.js';
import {
  encodeSession,
  type LoadedSession,
  loadFirstKey,
  loadFirstNodes,
  loadSession,
  type PlacedRecord,
  SessionRecord,
} from './session-records.js';

export type KnownRequest =
  | { readonly kind: 'reply'; readonly reply: KeptReply }
  /** It was never seen; it may be carried out. */
  | { readonly kind: 'new' }
  /** It was answered before, and nobody waits for it any more: it must not be carried out. */
  | { readonly kind: 'outdated' }
  /** Another request had the same name. */
  | { readonly kind: 'conflict' };

export interface TableLimits {
  readonly nodes: SessionLimits;
  readonly clients: SessionLimits;
  readonly keys: SessionLimits;
}

const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** The limits decide what is kept, so they are the same on all nodes of all versions. */
export const TABLE_LIMITS: TableLimits = {
  nodes: {
    sessionsMax: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
    sessionBytesMax: 16 * MiB,
    youngMs: HOUR_MS,
    ageMaxMs: HOUR_MS,
    sessionBytes: 0,
    resultBytes: 0,
  },
  clients: {
    sessionsMax: 10_000,
    bytesMax: 64 * MiB,
    sessionBytesMax: 4 * MiB,
    youngMs: HOUR_MS,
    ageMaxMs: HOUR_MS,
    sessionBytes: 136,
    resultBytes: 64,
  },
  keys: {
    sessionsMax: 100_000,
    bytesMax: 64 * MiB,
    sessionBytesMax: Number.POSITIVE_INFINITY,
    youngMs: 60_000,
    ageMaxMs: 24 * HOUR_MS,
    sessionBytes: 16,
    resultBytes: 0,
  },
};

export class SessionTable {
  private ageMs = 0;
  private lastTime = 0;
  private readonly numbers = new RecordNumbers();
  private readonly nodes: RequestSessions;
  private readonly clients: RequestSessions;
  private readonly keys: RequestSessions;
  /** The kinds, by their numbers in records. */
  private readonly kinds: readonly RequestSessions[];
  /** The form in which it was read. */
  private format = FORMAT;
  private loading: LoadedSession | null = null;

  constructor(limits: TableLimits = TABLE_LIMITS) {
    this.nodes = new RequestSessions(limits.nodes, this.numbers);
    this.clients = new RequestSessions(limits.clients, this.numbers);
    this.keys = new RequestSessions(limits.keys, this.numbers, () => new SingleResult());
    this.kinds = [this.nodes, this.clients, this.keys];
  }

  /** Takes up an entry that is committed. */
  note(head: EntryHead): void {
    const { request, key, client, reply } = head;
    this.takeTime(head);
    const { ageMs, nodes, clients, keys } = this;
    nodes.sweep(ageMs);
    clients.sweep(ageMs);
    keys.sweep(ageMs);
    if (request !== null) {
      const { origin, incarnation, sequence, low } = request;
      const session = nodes.touch(origin, '', incarnation, low, ageMs);
      if (session !== null) nodes.keep(session, sequence, ANY_BODY, reply);
    }
    if (client !== null) {
      const session = clients.touch(client.user, client.client, 0, client.low, ageMs);
      if (session !== null) clients.keep(session, client.sequence, client.body, reply);
    }
    if (key !== null) {
      const session = keys.touch(key.user, key.key, 0, 0, ageMs);
      if (session !== null) keys.keep(session, 0, key.body, reply);
      keys.makeRoom(ageMs);
    }
  }

  private takeTime({ time, elapsed }: EntryHead): void {
    this.ageMs += elapsed;
    this.lastTime = Math.max(this.lastTime, time);
  }

  /** Finds a request of a node. */
  find({ origin, incarnation, sequence }: RequestIdentity): KnownRequest {
    const session = this.nodes.find(origin, '');
    if (session === undefined || incarnation > session.incarnation) return NEW;
    return incarnation < session.incarnation ? OUTDATED : knownIn(session, sequence, ANY_BODY);
  }

  /** Finds a client's request by its key. */
  findKey({ user, key, body }: IdempotencyKey): KnownRequest {
    const session = this.keys.find(user, key);
    return session === undefined ? NEW : knownIn(session, 0, body);
  }

  /** Finds a client's request by its number: new also when it was forgotten, outdated when the client said that it has the answer. */
  findClient({ user, client, sequence, body }: ClientRequest): KnownRequest {
    const session = this.clients.find(user, client);
    return session === undefined ? NEW : knownIn(session, sequence, body);
  }

  /**
   * The shortage that a new request of a client meets; null when there is room.
   *
   * @param elapsed milliseconds since the last entry, if it comes to them
   */
  clientShortage({ user, client }: ClientRequest, elapsed: () => number): Shortage | null {
    return this.clients.shortage(user, client, this.ageMs, elapsed);
  }

  /** The shortage that a new key meets. As `clientShortage`. */
  keyShortage({ user, key }: IdempotencyKey, elapsed: () => number): Shortage | null {
    return this.keys.shortage(user, key, this.ageMs, elapsed);
  }

  /** Captures what a checkpoint of the state has to write that stands where the table does. */
  capture(): TableCapture {
    const { from, left, written } = this.numbers.capture();
    const records = this.records(from);
    return {
      write: (sink) => {
        for (const [number, parts] of left) {
          for (let part = 0; part < parts; part++) sink.delete(SessionRecord.SESSION, number, part);
        }
        for (const record of records) sink.put(...record);
      },
      written,
    };
  }

  /** Writes everything: the same records wherever the same entries were noted. */
  writeAll(sink: TableSink): void {
    for (const record of this.records(0)) sink.put(...record);
  }

  /**
   * Takes up a record of a checkpoint: that of TABLE first, those of each kind in the order of their numbers and parts.
   *
   * @throws FormatError
   */
  loadRecord(kind: number, id: number, part: number, value: Uint8Array): void {
    if (kind === SessionRecord.TABLE) this.loadTable(new ByteReader(value));
    else if (kind === SessionRecord.ORIGINS || kind === SessionRecord.KEY) {
      // A table of the second form was written since: these are what it took the place of.
      if (this.format !== FORMAT_FIRST) return;
      if (kind === SessionRecord.KEY) loadFirstKey(this.keys, this.numbers, value);
      else loadFirstNodes(this.nodes, this.numbers, value);
    } else if (kind === SessionRecord.SESSION)
      this.loading = loadSession(this.kinds, id, part, value, this.loading);
    else throw new FormatError(`unexpected record of kind ${kind}`);
  }

  /** The records from a number on, with that of the table. */
  private records(from: number): PlacedRecord[] {
    const out = new ByteWriter(1024);
    const records = this.kinds.flatMap((sessions, kind) =>
      sessions.since(from).flatMap((session) => encodeSession(kind, session, out)),
    );
    out.rewind();
    out.u8(FORMAT);
    out.varint(this.ageMs);
    out.varint(this.lastTime);
    out.varint(this.numbers.next);
    records.push([SessionRecord.TABLE, 0, 0, out.take()]);
    return records;
  }

  private loadTable(input: ByteReader): void {
    const format = input.u8();
    this.format = format;
    if (format !== FORMAT && format !== FORMAT_FIRST)
      throw new FormatError(
        `a session table of format ${format}; this version reads the formats ${FORMAT_FIRST} and ${FORMAT}`,
      );
    this.ageMs = input.varint();
    this.lastTime = input.varint();
    this.numbers.begin(format === FORMAT ? input.varint() : 1);
  }
}

/** Where a checkpoint puts records. */
export interface TableSink {
  put(kind: number, id: number, part: number, value: Uint8Array): void;
  delete(kind: number, id: number, part: number): void;
}

/** The table, captured for a checkpoint. */
export interface TableCapture {
  write(sink: TableSink): void;
  /** Notes that what was written is durable. */
  written(): void;
}

/** The format of the record of the table. */
const FORMAT = 2;

/** The format in a group that was not changed since its cluster was founded by software that did so at the first level. */
const FORMAT_FIRST = 1;

const NEW: KnownRequest = { kind: 'new' };
const OUTDATED: KnownRequest = { kind: 'outdated' };
const CONFLICT: KnownRequest = { kind: 'conflict' };

function knownIn({ low, results }: Session, sequence: number, body: BodyHash): KnownRequest {
  if (sequence < low) return OUTDATED;
  const result = results.get(sequence);
  if (result === undefined) return NEW;
  return fitsBody(result.body, body) ? { kind: 'reply', reply: decodeReply(result.reply) } : CONFLICT;
}
