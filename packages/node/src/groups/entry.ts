/**
 * The payload of a log entry: one change of a scope.
 *
 *   entry   := 2 flags:u8 time:varint elapsed:varint request? key? client? reply? effects
 *   request := origin:varint incarnation:varint sequence:varint low:varint                    flag 1
 *   key     := user:varint key:text body:16 bytes                                       flag 2
 *   client  := user:varint client:text sequence:varint low:varint body:16 bytes         flag 4
 *   reply   := blob                                                                     with any flag; see `kept-reply.ts`
 *
 * `time` is the leader's clock in milliseconds, never before that of an earlier entry; `elapsed` are the
 * milliseconds since the entry before, by a clock that does not leap, as far as this leader led. `effects` is
 * described in the engine.
 */
import { ByteReader, type ByteWriter, FormatError } from '@althing/engine';
import { BODY_HASH_BYTES, type BodyHash } from './body-hash.js';

const FORMAT = 2;
/** The format of the first entries of a cluster that was founded at the first level. They do not tell how much time passed, and are read only. */
const FORMAT_FIRST = 1;

const WITH_REQUEST = 1;
const WITH_KEY = 2;
const WITH_CLIENT = 4;

/**
 * The name of a request, wherever it is sent to and however often. Sequences are counted by each start of a
 * node for each group.
 */
export interface RequestIdentity {
  /** The node that took the request from its client. */
  readonly origin: number;
  /** Number of that node's start: later ones have larger numbers. */
  readonly incarnation: number;
  readonly sequence: number;
  /** Requests with smaller sequences are answered, and will not be sent again. */
  readonly low: number;
}

/** A client's own name for a request: the header `Idempotency-Key`. */
export interface IdempotencyKey {
  readonly user: number;
  readonly key: string;
  /** Hash of the body and its format: the same key with another body is a mistake. */
  readonly body: BodyHash;
}

/** A client's own name for a request: the header `Althing-Request`. */
export interface ClientRequest {
  readonly user: number;
  /** Chosen by the client at random. */
  readonly client: string;
  /** Counted by the client, for each scope. */
  readonly sequence: number;
  /** Requests with smaller sequences are answered, and will not be sent again. */
  readonly low: number;
  /** As of an `IdempotencyKey`. */
  readonly body: BodyHash;
}

/** The part of an entry that is not effects. */
export interface EntryHead {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Milliseconds since the entry before. */
  readonly elapsed: number;
  readonly request: RequestIdentity | null;
  readonly key: IdempotencyKey | null;
  readonly client: ClientRequest | null;
  /** The packed answer when there is a name; else empty. */
  readonly reply: Uint8Array;
}

export interface ChangeEntry {
  readonly head: EntryHead;
  readonly effects: Uint8Array;
}

export const NO_REPLY = new Uint8Array(0);

/** The head of an entry that nobody asks for again. */
export function plainHead(time: number, elapsed = 0): EntryHead {
  return { time, elapsed, request: null, key: null, client: null, reply: NO_REPLY };
}

/**
 * Encodes an entry that is about to be sent: it may share its memory with others.
 *
 * @param out a writer that is free for this
 */
export function encodeEntry(
  { time, elapsed, request, key, client, reply }: EntryHead,
  effects: Uint8Array,
  out: ByteWriter,
): Uint8Array {
  const flags =
    (request === null ? 0 : WITH_REQUEST) |
    (key === null ? 0 : WITH_KEY) |
    (client === null ? 0 : WITH_CLIENT);
  out.rewind();
  out.u8(FORMAT);
  out.u8(flags);
  out.varint(time);
  out.varint(elapsed);
  if (request !== null) {
    out.varint(request.origin);
    out.varint(request.incarnation);
    out.varint(request.sequence);
    out.varint(request.low);
  }
  if (key !== null) {
    out.varint(key.user);
    writeKey(out, key);
  }
  if (client !== null) {
    out.varint(client.user);
    writeName(out, client);
  }
  if (flags !== 0) out.blob(reply);
  out.bytes(effects);
  return out.takeBriefly();
}

/** @throws FormatError for what is no entry, or one of a newer version */
export function decodeEntry(payload: Uint8Array): ChangeEntry {
  const input = new ByteReader(payload);
  const format = input.u8();
  const flags = input.u8();
  if ((format !== FORMAT && format !== FORMAT_FIRST) || flags > (WITH_REQUEST | WITH_KEY | WITH_CLIENT)) {
    throw new FormatError(
      `log entry of format ${format} with flags ${flags}; this version reads the formats ${FORMAT_FIRST} and ${FORMAT}`,
    );
  }
  const time = input.varint();
  const elapsed = format === FORMAT ? input.varint() : 0;
  const request = (flags & WITH_REQUEST) === 0 ? null : readRequest(input);
  const key = (flags & WITH_KEY) === 0 ? null : readKey(input);
  const client = (flags & WITH_CLIENT) === 0 ? null : readClient(input);
  // A copy: the entry lies in a parcel with others, and an answer that is kept for an hour would keep all of that.
  const reply = flags === 0 ? NO_REPLY : new Uint8Array(input.blob());
  return { head: { time, elapsed, request, key, client, reply }, effects: input.bytes(input.remaining) };
}

function readRequest(input: ByteReader): RequestIdentity {
  return {
    origin: input.varint(),
    incarnation: input.varint(),
    sequence: input.varint(),
    low: input.varint(),
  };
}

function readClient(input: ByteReader): ClientRequest {
  return { user: input.varint(), ...readName(input) };
}

function readKey(input: ByteReader): IdempotencyKey {
  return { user: input.varint(), ...readKeyText(input) };
}

/** Writes a client's own name for a request as all formats have it: without the user. */
export function writeName(
  out: ByteWriter,
  { client, sequence, low, body }: Omit<ClientRequest, 'user'>,
): void {
  out.text(client);
  out.varint(sequence);
  out.varint(low);
  out.latin1(body);
}

export function readName(input: ByteReader): Omit<ClientRequest, 'user'> {
  return {
    client: input.text(),
    sequence: input.varint(),
    low: input.varint(),
    body: input.latin1(BODY_HASH_BYTES),
  };
}

/** Writes a key without its user. */
export function writeKey(out: ByteWriter, { key, body }: Omit<IdempotencyKey, 'user'>): void {
  out.text(key);
  out.latin1(body);
}

export function readKeyText(input: ByteReader): Omit<IdempotencyKey, 'user'> {
  return { key: input.text(), body: input.latin1(BODY_HASH_BYTES) };
}
