/**
 * Messages as bytes. Pieces (`varint`, `u32`, `bytes`) as in `bytes.ts`.
 *
 *   message       = kind:u8 length:varint body         body is `length` bytes
 *   body          = from:varint to:varint term:varint fields unknown*
 *   unknown       = what a newer version wrote behind the fields known here; skipped by the length
 *   fields, by kind:
 *      1 preVote            attempt:varint lastIndex:varint lastTerm:varint commit:varint commitTerm:varint
 *      2 preVoteResponse    attempt:varint flags:u8 commit:varint commitTerm:varint      bit 0 granted
 *      3 vote               flags:u8 lastIndex:varint lastTerm:varint commit:varint commitTerm:varint   bit 0 transfer
 *      4 voteResponse       flags:u8 commit:varint commitTerm:varint                     bit 0 granted
 *      5 append             prevIndex:varint prevTerm:varint prevHash:u32 commit:varint count:varint entry*
 *                           [flags:u8]                                               bit 0 notice; none set if left out
 *      6 appendResponse     flags:u8 index:varint [hintIndex:varint hintTerm:varint]     bit 0 rejected (then the hint
 *                                                                                        follows), bit 1 recovering
 *      7 heartbeat          commit:varint round:varint
 *      8 heartbeatResponse  round:varint
 *      9 snapshot           index:varint term:varint hash:u32 membership
 *     10 timeoutNow
 *     11 quiesce            index:varint
 *     12 wake
 *     13 readIndex          id:varint
 *     14 readIndexResponse  id:varint index:varint
 *     15 propose            count:varint bytes*
 *   entry         = length:varint kind:u8 term:varint hash:u32 payload:bytes unknown*    indexes follow from prevIndex
 *   membership    = length:varint flags:u8 ids{6} unknown*      bit 0 autoLeave; voters, outgoing, learners,
 *                                                               learnersNext, promote, removed
 *   ids           = count:varint id:varint*
 *
 * A field that a later version adds goes behind the last one and must have a default for senders that do not
 * know it; flag bits that are not known are ignored. A new kind of message or entry needs a version gate of
 * the host: an unknown kind is an error here.
 *
 * Decoding any bytes gives a message or throws {@link CodecError}; it allocates at most a constant times
 * their length. Payloads are views of the input: whoever keeps them keeps the whole buffer.
 */
import { ByteReader, ByteWriter } from './bytes.js';
import type { Message, MessageKind } from './messages.js';
import {
  ENTRY_KIND_CODES,
  type Entry,
  type EntryKind,
  type Index,
  type Membership,
  type NodeId,
  type SnapshotMeta,
} from './types.js';

/** One message as bytes. */
export function encodeMessage(message: Message): Uint8Array {
  const writer = new ByteWriter(sizeHint(message));
  writeMessage(writer, message);
  return writer.finish();
}

/** Decodes exactly one message. Throws {@link CodecError}. */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = new ByteReader(bytes);
  const message = readMessage(reader);
  if (reader.remaining > 0) reader.fail('trailing', 'Bytes behind the message');
  return message;
}

/** Appends a message to a frame that holds several. */
export function writeMessage(writer: ByteWriter, message: Message): void {
  const body = new ByteWriter(sizeHint(message));
  body.varint(message.from);
  body.varint(message.to);
  body.varint(message.term);
  writeFields(body, message);
  writer.u8(KIND_CODES[message.kind]);
  writer.bytes(body.finish());
}

/** Reads the next message of a frame. Throws {@link CodecError}. */
export function readMessage(reader: ByteReader): Message {
  const kind = KINDS_BY_CODE.get(reader.u8());
  if (kind === undefined) reader.fail('unknown_kind', 'Message of an unknown kind');
  const body = reader.section();
  return readFields(body, kind, body.varint(), body.varint(), body.varint());
}

const KIND_CODES: Readonly<Record<MessageKind, number>> = {
  preVote: 1,
  preVoteResponse: 2,
  vote: 3,
  voteResponse: 4,
  append: 5,
  appendResponse: 6,
  heartbeat: 7,
  heartbeatResponse: 8,
  snapshot: 9,
  timeoutNow: 10,
  quiesce: 11,
  wake: 12,
  readIndex: 13,
  readIndexResponse: 14,
  propose: 15,
};

const KINDS_BY_CODE: ReadonlyMap<number, MessageKind> = invert(KIND_CODES);
const ENTRY_KINDS_BY_CODE: ReadonlyMap<number, EntryKind> = invert(ENTRY_KIND_CODES);

const BIT_0 = 1;
const BIT_1 = 2;
/** Length, kind, term, hash and payload length take at least this. */
const ENTRY_BYTES_MIN = 8;
/** The largest frame of an entry, without its payload. */
const ENTRY_FRAME_BYTES = 24;

function writeFields(writer: ByteWriter, message: Message): void {
  switch (message.kind) {
    case 'preVote':
      writer.varint(message.attempt);
      writer.varint(message.lastIndex);
      writer.varint(message.lastTerm);
      writeClaim(writer, message);
      return;
    case 'preVoteResponse':
      writer.varint(message.attempt);
      writer.u8(message.granted ? BIT_0 : 0);
      writeClaim(writer, message);
      return;
    case 'vote':
      writer.u8(message.transfer ? BIT_0 : 0);
      writer.varint(message.lastIndex);
      writer.varint(message.lastTerm);
      writeClaim(writer, message);
      return;
    case 'voteResponse':
      writer.u8(message.granted ? BIT_0 : 0);
      writeClaim(writer, message);
      return;
    case 'append':
      writer.varint(message.prevIndex);
      writer.varint(message.prevTerm);
      writer.u32(message.prevHash);
      writer.varint(message.commit);
      writeEntries(writer, message.entries);
      if (message.notice) writer.u8(BIT_0);
      return;
    case 'appendResponse':
      writer.u8((message.rejected ? BIT_0 : 0) | (message.recovering ? BIT_1 : 0));
      writer.varint(message.index);
      if (message.rejected) {
        writer.varint(message.hintIndex);
        writer.varint(message.hintTerm);
      }
      return;
    case 'heartbeat':
      writer.varint(message.commit);
      writer.varint(message.round);
      return;
    case 'heartbeatResponse':
      writer.varint(message.round);
      return;
    case 'snapshot':
      writeSnapshot(writer, message.snapshot);
      return;
    case 'quiesce':
      writer.varint(message.index);
      return;
    case 'readIndex':
      writer.varint(message.id);
      return;
    case 'readIndexResponse':
      writer.varint(message.id);
      writer.varint(message.index);
      return;
    case 'propose':
      writer.varint(message.payloads.length);
      for (const payload of message.payloads) writer.bytes(payload);
      return;
    case 'timeoutNow':
    case 'wake':
      return;
  }
}

function readFields(body: ByteReader, kind: MessageKind, from: NodeId, to: NodeId, term: number): Message {
  switch (kind) {
    case 'preVote': {
      const attempt = body.varint();
      const lastIndex = body.varint();
      const lastTerm = body.varint();
      return { kind, from, to, term, attempt, lastIndex, lastTerm, ...readClaim(body) };
    }
    case 'preVoteResponse': {
      const attempt = body.varint();
      const granted = hasBit(body.u8(), BIT_0);
      return { kind, from, to, term, attempt, granted, ...readClaim(body) };
    }
    case 'vote': {
      const transfer = hasBit(body.u8(), BIT_0);
      const lastIndex = body.varint();
      const lastTerm = body.varint();
      return { kind, from, to, term, transfer, lastIndex, lastTerm, ...readClaim(body) };
    }
    case 'voteResponse': {
      const granted = hasBit(body.u8(), BIT_0);
      return { kind, from, to, term, granted, ...readClaim(body) };
    }
    case 'append': {
      const prevIndex = body.varint();
      const prevTerm = body.varint();
      const prevHash = body.u32();
      const commit = body.varint();
      const entries = readEntries(body, prevIndex);
      const notice = body.remaining > 0 && hasBit(body.u8(), BIT_0);
      return { kind, from, to, term, prevIndex, prevTerm, prevHash, commit, entries, notice };
    }
    case 'appendResponse': {
      const flags = body.u8();
      const rejected = hasBit(flags, BIT_0);
      const index = body.varint();
      const hintIndex = rejected ? body.varint() : 0;
      const hintTerm = rejected ? body.varint() : 0;
      const recovering = hasBit(flags, BIT_1);
      return { kind, from, to, term, index, rejected, hintIndex, hintTerm, recovering };
    }
    case 'heartbeat': {
      const commit = body.varint();
      return { kind, from, to, term, commit, round: body.varint() };
    }
    case 'heartbeatResponse':
      return { kind, from, to, term, round: body.varint() };
    case 'snapshot':
      return { kind, from, to, term, snapshot: readSnapshot(body) };
    case 'quiesce':
      return { kind, from, to, term, index: body.varint() };
    case 'readIndex':
      return { kind, from, to, term, id: body.varint() };
    case 'readIndexResponse': {
      const id = body.varint();
      return { kind, from, to, term, id, index: body.varint() };
    }
    case 'propose':
      return { kind, from, to, term, payloads: readPayloads(body) };
    case 'timeoutNow':
    case 'wake':
      return { kind, from, to, term };
  }
}

interface Claim {
  readonly commit: Index;
  readonly commitTerm: number;
}

function writeClaim(writer: ByteWriter, claim: Claim): void {
  writer.varint(claim.commit);
  writer.varint(claim.commitTerm);
}

function readClaim(body: ByteReader): Claim {
  const commit = body.varint();
  return { commit, commitTerm: body.varint() };
}

function writeEntries(writer: ByteWriter, entries: readonly Entry[]): void {
  writer.varint(entries.length);
  for (const entry of entries) {
    writer.varint(
      1 + varintBytes(entry.term) + 4 + varintBytes(entry.payload.byteLength) + entry.payload.byteLength,
    );
    writer.u8(ENTRY_KIND_CODES[entry.kind]);
    writer.varint(entry.term);
    writer.u32(entry.hash);
    writer.bytes(entry.payload);
  }
}

function readEntries(body: ByteReader, prevIndex: Index): Entry[] {
  const count = body.count(ENTRY_BYTES_MIN);
  const entries: Entry[] = [];
  for (let at = 1; at <= count; at += 1) {
    const section: ByteReader = body.section();
    const kind = ENTRY_KINDS_BY_CODE.get(section.u8());
    if (kind === undefined) section.fail('unknown_kind', 'Entry of an unknown kind');
    const term = section.varint();
    const hash = section.u32();
    entries.push({ index: prevIndex + at, term, kind, hash, payload: section.bytes() });
  }
  return entries;
}

function readPayloads(body: ByteReader): Uint8Array[] {
  const count = body.count(1);
  const payloads: Uint8Array[] = [];
  for (let at = 0; at < count; at += 1) payloads.push(body.bytes());
  return payloads;
}

function writeSnapshot(writer: ByteWriter, snapshot: SnapshotMeta): void {
  writer.varint(snapshot.index);
  writer.varint(snapshot.term);
  writer.u32(snapshot.hash);
  const body = new ByteWriter();
  writeMembership(body, snapshot.membership);
  writer.bytes(body.finish());
}

function readSnapshot(body: ByteReader): SnapshotMeta {
  const index = body.varint();
  const term = body.varint();
  const hash = body.u32();
  return { index, term, hash, membership: readMembership(body.section()) };
}

/** The membership without its length, for hosts that keep it in files of their own. */
export function writeMembership(writer: ByteWriter, membership: Membership): void {
  writer.u8(membership.autoLeave ? BIT_0 : 0);
  writeIds(writer, membership.voters);
  writeIds(writer, membership.outgoing);
  writeIds(writer, membership.learners);
  writeIds(writer, membership.learnersNext);
  writeIds(writer, membership.promote);
  writeIds(writer, membership.removed);
}

/** Inverse of {@link writeMembership}. Throws {@link CodecError}. */
export function readMembership(reader: ByteReader): Membership {
  const autoLeave = hasBit(reader.u8(), BIT_0);
  const voters = readIds(reader);
  const outgoing = readIds(reader);
  const learners = readIds(reader);
  const learnersNext = readIds(reader);
  const promote = readIds(reader);
  const removed = readIds(reader);
  return { voters, outgoing, learners, learnersNext, promote, removed, autoLeave };
}

function writeIds(writer: ByteWriter, ids: readonly NodeId[]): void {
  writer.varint(ids.length);
  for (const id of ids) writer.varint(id);
}

function readIds(reader: ByteReader): NodeId[] {
  const count = reader.count(1);
  const ids: NodeId[] = [];
  for (let at = 0; at < count; at += 1) ids.push(reader.varint());
  return ids;
}

/** A guess that spares the buffer its growing. */
function sizeHint(message: Message): number {
  if (message.kind === 'append') {
    return message.entries.reduce((sum, entry) => sum + entry.payload.byteLength + ENTRY_FRAME_BYTES, 64);
  }
  if (message.kind === 'propose')
    return message.payloads.reduce((sum, payload) => sum + payload.byteLength + 8, 64);
  return 64;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

function hasBit(flags: number, bit: number): boolean {
  return (flags & bit) !== 0;
}

function invert<Name extends string>(codes: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  const names = new Map<number, Name>();
  for (const name in codes) names.set(codes[name], name);
  return names;
}
