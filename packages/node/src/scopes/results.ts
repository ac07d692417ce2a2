/**
 * The answers to recent changes of a group: what makes a request that comes again take effect once. It is part of the
 * group's replicated state. It follows from the entries of the log and from nothing else, so it is the same on all nodes
 * at the same place in the log; it lies in checkpoints and snapshots with everything else.
 *
 *   reply  := 0 text            an answer in JSON
 *           | 1 bytes           an answer in MessagePack
 *           | 2                 the answer was too large to be kept
 *
 * Records, of kinds that the engine does not use:
 *
 *   TABLE (id 0)           := format:u8 (1) age:varint time:varint firstKey:varint nextKey:varint parts:varint
 *   ORIGINS (id 0, parts)  := (origin:varint epoch:varint low:varint age:varint count:varint (sequence:varint reply:blob)*)*
 *   KEY (id: its number)   := age:varint user:varint key:text body:16 bytes reply:blob
 *
 * Times are *ages*: milliseconds of the group's log time, of which a jump counts for a minute at most. A leader whose
 * clock leaps does not make the others forget what was done a moment ago.
 */
import { ByteReader, ByteWriter, type Format, FormatError } from '@althing/engine';
import { NumberTable } from '../number-table.js';
import { BODY_HASH_BYTES, type EntryHead, type IdempotencyKey, type RequestIdentity } from './entry.js';

export const ResultKind = { TABLE: 0x20, ORIGINS: 0x21, KEY: 0x22 } as const;

/** An answer that was kept. */
export type KeptReply =
  | { readonly kind: 'result'; readonly format: Format; readonly result: string | Uint8Array }
  /** The change was made; its answer is not kept. */
  | { readonly kind: 'too_large' };

/** What is known of a request. */
export type Found =
  | { readonly kind: 'reply'; readonly reply: KeptReply }
  /** It was never seen; it may be carried out. */
  | { readonly kind: 'new' }
  /** It was answered before, and nobody waits for it any more: it must not be carried out. */
  | { readonly kind: 'outdated' }
  /** Another request had the same key. */
  | { readonly kind: 'conflict' };

export interface ResultLimits {
  /** Bytes of a reply that is kept. */
  readonly replyBytesMax: number;
  /** Bytes of the replies to one node that are kept. */
  readonly originBytesMax: number;
  readonly keysMax: number;
  /** Bytes that keys and their replies may take. */
  readonly keyBytesMax: number;
  /** Age at which a node's requests are forgotten after its last one, in milliseconds. */
  readonly originAgeMaxMs: number;
  readonly keyAgeMaxMs: number;
}

const MiB = 1024 * 1024;

/** The limits decide what is kept, so they are the same on all nodes of all versions. */
export const RESULT_LIMITS: ResultLimits = {
  replyBytesMax: 64 * 1024,
  originBytesMax: 16 * MiB,
  keysMax: 10_000,
  keyBytesMax: 16 * MiB,
  originAgeMaxMs: 3_600_000,
  keyAgeMaxMs: 24 * 3_600_000,
};

/** The requests of one start of one node. */
interface Origin {
  epoch: number;
  low: number;
  /** Age of the table at the last entry. */
  age: number;
  bytes: number;
  readonly replies: NumberTable<Uint8Array>;
}

interface KeyResult extends IdempotencyKey {
  readonly age: number;
  readonly reply: Uint8Array;
}

/** What the last checkpoint wrote. */
interface Durable {
  firstKey: number;
  nextKey: number;
  parts: number;
}

export class Results {
  private readonly limits: ResultLimits;
  private ageMs = 0;
  private lastTime = 0;
  private readonly origins = new Map<number, Origin>();
  /** By user and key. */
  private readonly keys = new Map<string, KeyResult>();
  /** In the order in which they came; the first has the number `firstKey`. */
  private queue: KeyResult[] = [];
  private queueHead = 0;
  private firstKey = 1;
  private keyBytes = 0;
  private readonly durable: Durable = { firstKey: 1, nextKey: 1, parts: 0 };

  constructor(limits: ResultLimits = RESULT_LIMITS) {
    this.limits = limits;
  }

  /** Takes up an entry that is committed. */
  note(head: EntryHead): void {
    const { time, request, key, reply } = head;
    const before = this.ageMs;
    if (time > this.lastTime) {
      // The first entry of all has no predecessor whose time could be compared.
      if (this.lastTime !== 0) this.ageMs += Math.min(time - this.lastTime, AGE_STEP_MAX_MS);
      this.lastTime = time;
    }
    if (this.origins.size > 0 && Math.floor(before / SWEEP_MS) !== Math.floor(this.ageMs / SWEEP_MS)) {
      this.sweepOrigins();
    }
    this.sweepKeys();
    if (request !== null) this.noteRequest(request, reply);
    if (key !== null) this.noteKey(key, reply);
  }

  /** What is known of a request of a node. */
  find({ origin, epoch, sequence }: RequestIdentity): Found {
    const known = this.origins.get(origin);
    if (known === undefined || epoch > known.epoch) return NEW;
    if (epoch < known.epoch || sequence < known.low) return OUTDATED;
    const reply = known.replies.get(sequence);
    return reply === undefined ? NEW : { kind: 'reply', reply: decodeReply(reply) };
  }

  /** What is known of a client's request. */
  findKey({ user, key, body }: IdempotencyKey): Found {
    const known = this.keys.get(nameOf(user, key));
    if (known === undefined) return NEW;
    if (Buffer.compare(known.body, body) !== 0) return CONFLICT;
    return { kind: 'reply', reply: decodeReply(known.reply) };
  }

  /**
   * What the table will be once further entries are committed, to be written with a checkpoint that stands for them.
   */
  capture(further: Iterable<EntryHead>): ResultsCapture {
    const copy = new Results(this.limits);
    copy.ageMs = this.ageMs;
    copy.lastTime = this.lastTime;
    for (const [id, origin] of this.origins) {
      copy.origins.set(id, { ...origin, replies: origin.replies.copy() });
    }
    for (const [name, key] of this.keys) copy.keys.set(name, key);
    copy.queue = this.queue.slice(this.queueHead);
    copy.firstKey = this.firstKey;
    copy.keyBytes = this.keyBytes;
    for (const head of further) copy.note(head);
    return {
      write: (sink) => copy.write(sink, this.durable),
      written: () => {
        this.durable.firstKey = copy.firstKey;
        this.durable.nextKey = copy.nextKey;
        this.durable.parts = copy.durable.parts;
      },
    };
  }

  /** Writes everything: the same records wherever the same entries were noted. */
  writeAll(sink: ResultSink): void {
    const { parts } = this.durable;
    this.write(sink, { firstKey: this.firstKey, nextKey: this.firstKey, parts: 0 });
    this.durable.parts = parts;
  }

  /**
   * Takes up a record of a checkpoint, those of KEY in the order of their numbers.
   *
   * @throws FormatError
   */
  loadRecord(kind: number, id: number, value: Uint8Array): void {
    const input = new ByteReader(value);
    if (kind === ResultKind.TABLE) this.loadTable(input);
    else if (kind === ResultKind.ORIGINS) this.loadOrigins(input);
    else if (kind === ResultKind.KEY) this.loadKey(id, input);
    else throw new FormatError(`unexpected record of kind ${kind}`);
  }

  /** Number of the key that comes next. */
  private get nextKey(): number {
    return this.firstKey + this.queue.length - this.queueHead;
  }

  private noteRequest({ origin: id, epoch, sequence, low }: RequestIdentity, reply: Uint8Array): void {
    let origin = this.origins.get(id);
    if (origin === undefined || epoch > origin.epoch) {
      origin = { epoch, low, age: 0, bytes: 0, replies: new NumberTable() };
      this.origins.set(id, origin);
    } else if (epoch < origin.epoch) {
      return;
    }
    origin.age = this.ageMs;
    if (low > origin.low) forgetBelow(origin, low);
    if (sequence < origin.low) return;
    forget(origin, sequence);
    const kept = origin.bytes + reply.length > this.limits.originBytesMax ? TOO_LARGE : reply;
    origin.bytes += kept.length;
    origin.replies.set(sequence, kept);
  }

  private noteKey({ user, key, body }: IdempotencyKey, reply: Uint8Array): void {
    const result: KeyResult = { user, key, body, age: this.ageMs, reply };
    this.addKey(result);
    const { keysMax, keyBytesMax } = this.limits;
    while (this.queue.length - this.queueHead > keysMax || this.keyBytes > keyBytesMax) this.dropOldestKey();
  }

  private addKey(result: KeyResult): void {
    this.keys.set(nameOf(result.user, result.key), result);
    this.queue.push(result);
    this.keyBytes += bytesOf(result);
  }

  private sweepOrigins(): void {
    for (const [id, { age }] of this.origins) {
      if (this.ageMs - age > this.limits.originAgeMaxMs) this.origins.delete(id);
    }
  }

  private sweepKeys(): void {
    while (this.queueHead < this.queue.length) {
      const oldest = this.queue[this.queueHead] as KeyResult;
      if (this.ageMs - oldest.age <= this.limits.keyAgeMaxMs) return;
      this.dropOldestKey();
    }
  }

  private dropOldestKey(): void {
    const oldest = this.queue[this.queueHead] as KeyResult;
    this.queueHead += 1;
    this.firstKey += 1;
    this.keyBytes -= bytesOf(oldest);
    const name = nameOf(oldest.user, oldest.key);
    if (this.keys.get(name) === oldest) this.keys.delete(name);
    if (this.queueHead * 2 < this.queue.length) return;
    this.queue = this.queue.slice(this.queueHead);
    this.queueHead = 0;
  }

  /** Writes what `durable` does not have. */
  private write(sink: ResultSink, durable: Readonly<Durable>): void {
    const parts = this.encodeOrigins();
    for (const [number, part] of parts.entries()) sink.put(ResultKind.ORIGINS, 0, number, part);
    for (let part = parts.length; part < durable.parts; part++) sink.delete(ResultKind.ORIGINS, 0, part);
    for (let key = durable.firstKey; key < Math.min(this.firstKey, durable.nextKey); key++) {
      sink.delete(ResultKind.KEY, key, 0);
    }
    for (let key = Math.max(this.firstKey, durable.nextKey); key < this.nextKey; key++) {
      const result = this.queue[this.queueHead + key - this.firstKey] as KeyResult;
      sink.put(ResultKind.KEY, key, 0, encodeKey(result));
    }
    const table = new ByteWriter(64);
    table.u8(FORMAT);
    table.varint(this.ageMs);
    table.varint(this.lastTime);
    table.varint(this.firstKey);
    table.varint(this.nextKey);
    table.varint(parts.length);
    sink.put(ResultKind.TABLE, 0, 0, table.take());
    this.durable.parts = parts.length;
  }

  /** All origins and replies in the order of their numbers, in parts of a bounded size. */
  private encodeOrigins(): Uint8Array[] {
    const parts: Uint8Array[] = [];
    const out = new ByteWriter(1024);
    for (const [id, origin] of [...this.origins].sort(([a], [b]) => a - b)) {
      const replies = origin.replies.entries().sort(([a], [b]) => a - b);
      let from = 0;
      do {
        const to = endOfPart(replies, from);
        out.varint(id);
        out.varint(origin.epoch);
        out.varint(origin.low);
        out.varint(origin.age);
        out.varint(to - from);
        for (const [sequence, reply] of replies.slice(from, to)) {
          out.varint(sequence);
          out.blob(reply);
        }
        from = to;
        if (out.length < PART_BYTES) continue;
        parts.push(out.take());
        out.rewind();
      } while (from < replies.length);
    }
    if (out.length > 0) parts.push(out.take());
    return parts;
  }

  private loadTable(input: ByteReader): void {
    const format = input.u8();
    if (format !== FORMAT) {
      throw new FormatError(`results of format ${format}; this version reads format ${FORMAT}`);
    }
    this.ageMs = input.varint();
    this.lastTime = input.varint();
    this.firstKey = input.varint();
    this.durable.firstKey = this.firstKey;
    this.durable.nextKey = input.varint();
    this.durable.parts = input.varint();
  }

  private loadOrigins(input: ByteReader): void {
    while (input.remaining > 0) {
      const id = input.varint();
      const epoch = input.varint();
      const low = input.varint();
      const age = input.varint();
      const known = this.origins.get(id);
      const origin: Origin = known ?? { epoch, low, age, bytes: 0, replies: new NumberTable() };
      if (known === undefined) this.origins.set(id, origin);
      for (let count = input.varint(); count > 0; count--) {
        const sequence = input.varint();
        const reply = input.blob();
        origin.bytes += reply.length;
        origin.replies.set(sequence, reply);
      }
    }
  }

  private loadKey(id: number, input: ByteReader): void {
    if (id !== this.nextKey)
      throw new FormatError(`key ${id} of the results follows key ${this.nextKey - 1}`);
    const age = input.varint();
    const user = input.varint();
    const key = input.text();
    const body: Uint8Array = Uint8Array.prototype.slice.call(input.bytes(BODY_HASH_BYTES));
    this.addKey({ user, key, body, age, reply: input.blob() });
  }
}

/** Where a checkpoint puts records. */
export interface ResultSink {
  put(kind: number, id: number, part: number, value: Uint8Array): void;
  delete(kind: number, id: number, part: number): void;
}

/** What a checkpoint writes of the results. */
export interface ResultsCapture {
  write(sink: ResultSink): void;
  /** Notes that what was written is durable. */
  written(): void;
}

/** An answer as an entry and the table keep it. */
export function encodeReply(result: string | Uint8Array): Uint8Array {
  const isText = typeof result === 'string';
  const size = isText ? Buffer.byteLength(result) : result.length;
  if (size > RESULT_LIMITS.replyBytesMax) return TOO_LARGE;
  const reply = Buffer.allocUnsafeSlow(size + 1);
  reply[0] = isText ? Reply.JSON : Reply.MSGPACK;
  if (isText) reply.write(result, 1);
  else reply.set(result, 1);
  return reply;
}

export function decodeReply(reply: Uint8Array): KeptReply {
  const content = reply.subarray(1);
  switch (reply[0]) {
    case Reply.JSON:
      return { kind: 'result', format: 'json', result: Buffer.from(content).toString('utf8') };
    case Reply.MSGPACK:
      return { kind: 'result', format: 'msgpack', result: content };
    case Reply.TOO_LARGE:
      return { kind: 'too_large' };
    default:
      throw new FormatError(`a kept answer of the unknown kind ${reply[0]}`);
  }
}

const FORMAT = 1;

const Reply = { JSON: 0, MSGPACK: 1, TOO_LARGE: 2 } as const;

const TOO_LARGE = new Uint8Array([Reply.TOO_LARGE]);

/** What a jump of the clock counts for at most. */
const AGE_STEP_MAX_MS = 60_000;

/** Age between two looks at which origins are out of date. */
const SWEEP_MS = 60_000;

/** Bytes of a record of origins after which another one begins. */
const PART_BYTES = 256 * 1024;

const NEW: Found = { kind: 'new' };
const OUTDATED: Found = { kind: 'outdated' };
const CONFLICT: Found = { kind: 'conflict' };

function forget(origin: Origin, sequence: number): void {
  const reply = origin.replies.get(sequence);
  if (reply === undefined) return;
  origin.bytes -= reply.length;
  origin.replies.delete(sequence);
}

function forgetBelow(origin: Origin, low: number): void {
  const { replies } = origin;
  if (low - origin.low <= replies.size) {
    for (let sequence = origin.low; sequence < low; sequence++) forget(origin, sequence);
  } else {
    for (const [sequence] of replies.entries()) if (sequence < low) forget(origin, sequence);
  }
  origin.low = low;
}

function endOfPart(replies: readonly (readonly [number, Uint8Array])[], from: number): number {
  let to = from;
  for (let bytes = 0; to < replies.length && bytes < PART_BYTES; to++) {
    bytes += (replies[to] as readonly [number, Uint8Array])[1].length + 8;
  }
  return to;
}

function encodeKey({ age, user, key, body, reply }: KeyResult): Uint8Array {
  const out = new ByteWriter(reply.length + key.length + 64);
  out.varint(age);
  out.varint(user);
  out.text(key);
  out.bytes(body);
  out.blob(reply);
  return out.take();
}

function nameOf(user: number, key: string): string {
  return `${user} ${key}`;
}

function bytesOf({ key, reply }: KeyResult): number {
  return key.length + reply.length + BODY_HASH_BYTES;
}
