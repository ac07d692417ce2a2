/**
 * The payload of a log entry: one change of a scope.
 *
 *   entry   := format:u8 (1) flags:u8 time:varint request? key? reply? effects
 *   request := origin:varint epoch:varint sequence:varint low:varint        flag 1
 *   key     := user:varint key:text body:16 bytes                           flag 2
 *   reply   := blob                                                         with either flag; see `results.ts`
 *
 * `time` is the leader's clock in milliseconds, never before that of an earlier entry. `effects` is described in the
 * engine.
 */
import { ByteReader, type ByteWriter, FormatError } from '@althing/engine';

const FORMAT = 1;

const WITH_REQUEST = 1;
const WITH_KEY = 2;

/** Bytes of the hash that stands for the body of a request with a key. */
export const BODY_HASH_BYTES = 16;

/**
 * What a request is known by, wherever it is sent to and however often. Sequences are counted by each start of a node
 * for each group.
 */
export interface RequestIdentity {
  /** The node that took the request from its client. */
  readonly origin: number;
  /** Which start of that node: later ones have larger numbers. */
  readonly epoch: number;
  readonly sequence: number;
  /** Requests with smaller sequences are answered, and will not be sent again. */
  readonly low: number;
}

/** A client's own name for a request: the header `Idempotency-Key`. */
export interface IdempotencyKey {
  readonly user: number;
  readonly key: string;
  /** Hash of the body and its format: the same key with another body is a mistake. */
  readonly body: Uint8Array;
}

/** The part of an entry that is not effects. */
export interface EntryHead {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly request: RequestIdentity | null;
  readonly key: IdempotencyKey | null;
  /** The packed answer when there is a request or a key; else empty. */
  readonly reply: Uint8Array;
}

export interface ChangeEntry {
  readonly head: EntryHead;
  readonly effects: Uint8Array;
}

export const NO_REPLY = new Uint8Array(0);

/** @param out a writer that is free for this */
export function encodeEntry(
  { time, request, key, reply }: EntryHead,
  effects: Uint8Array,
  out: ByteWriter,
): Uint8Array {
  out.rewind();
  out.u8(FORMAT);
  out.u8((request === null ? 0 : WITH_REQUEST) | (key === null ? 0 : WITH_KEY));
  out.varint(time);
  if (request !== null) {
    out.varint(request.origin);
    out.varint(request.epoch);
    out.varint(request.sequence);
    out.varint(request.low);
  }
  if (key !== null) {
    out.varint(key.user);
    out.text(key.key);
    out.bytes(key.body);
  }
  if (request !== null || key !== null) out.blob(reply);
  out.bytes(effects);
  return out.take();
}

/** @throws FormatError for what is no entry, or one of a newer version */
export function decodeEntry(payload: Uint8Array): ChangeEntry {
  const input = new ByteReader(payload);
  const format = input.u8();
  const flags = input.u8();
  if (format !== FORMAT || flags > (WITH_REQUEST | WITH_KEY)) {
    throw new FormatError(
      `log entry of format ${format} with flags ${flags}; this version reads format ${FORMAT}`,
    );
  }
  const time = input.varint();
  const request = (flags & WITH_REQUEST) === 0 ? null : readRequest(input);
  const key = (flags & WITH_KEY) === 0 ? null : readKey(input);
  const reply = flags === 0 ? NO_REPLY : input.blob();
  return { head: { time, request, key, reply }, effects: input.bytes(input.remaining) };
}

function readRequest(input: ByteReader): RequestIdentity {
  return {
    origin: input.varint(),
    epoch: input.varint(),
    sequence: input.varint(),
    low: input.varint(),
  };
}

function readKey(input: ByteReader): IdempotencyKey {
  return {
    user: input.varint(),
    key: input.text(),
    body: Uint8Array.prototype.slice.call(input.bytes(BODY_HASH_BYTES)),
  };
}
