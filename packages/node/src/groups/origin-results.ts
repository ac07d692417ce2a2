/**
 * Answers to requests that nodes forwarded, by the node and its number for the request. Records, of the kind
 * ORIGINS in `results.ts`; `reply` is described in `kept-reply.ts`:
 *
 *   ORIGINS (id 0, parts)  := (origin:varint incarnation:varint low:varint age:varint count:varint (sequence:varint reply:blob)*)*
 */

import { ByteReader, ByteWriter } from '@althing/engine';
import { elementAt } from '../base/element.js';
import { NumberTable } from '../base/number-table.js';
import type { RequestIdentity } from './entry.js';
import { TOO_LARGE } from './kept-reply.js';

export interface OriginLimits {
  /** Bytes of the replies to one node that are kept. */
  readonly originBytesMax: number;
  /** Age at which a node's requests are forgotten after its last one, in milliseconds. */
  readonly originAgeMaxMs: number;
}

/** The requests of one start of one node. */
interface Origin {
  incarnation: number;
  low: number;
  /** Age of the table at the last entry. */
  age: number;
  bytes: number;
  readonly replies: NumberTable<Uint8Array>;
}

/** Age between two looks at which origins are out of date. */
const SWEEP_MS = 60_000;

/** Bytes of a record after which another one begins. */
const PART_BYTES = 256 * 1024;

/** Ages are milliseconds of the group's log time, here as everywhere in the results. */
export class OriginResults {
  private readonly limits: OriginLimits;
  private readonly origins = new Map<number, Origin>();

  constructor(limits: OriginLimits) {
    this.limits = limits;
  }

  /** The reply that is kept of a request, or why there is none: see `KnownRequest`. */
  find({ origin, incarnation, sequence }: RequestIdentity): Uint8Array | 'new' | 'outdated' {
    const known = this.origins.get(origin);
    if (known === undefined || incarnation > known.incarnation) return 'new';
    if (incarnation < known.incarnation || sequence < known.low) return 'outdated';
    return known.replies.get(sequence) ?? 'new';
  }

  note({ origin: id, incarnation, sequence, low }: RequestIdentity, reply: Uint8Array, age: number): void {
    let origin = this.origins.get(id);
    if (origin === undefined || incarnation > origin.incarnation) {
      origin = { incarnation, low, age: 0, bytes: 0, replies: new NumberTable() };
      this.origins.set(id, origin);
    } else if (incarnation < origin.incarnation) {
      return;
    }
    origin.age = age;
    if (low > origin.low) forgetBelow(origin, low);
    if (sequence < origin.low) return;
    forget(origin, sequence);
    const kept = origin.bytes + reply.length > this.limits.originBytesMax ? TOO_LARGE : reply;
    origin.bytes += kept.length;
    origin.replies.set(sequence, kept);
  }

  /** Forgets what is out of date, now and then: at the same ages on all nodes. */
  sweep(before: number, age: number): void {
    if (this.origins.size === 0 || Math.floor(before / SWEEP_MS) === Math.floor(age / SWEEP_MS)) return;
    for (const [id, origin] of this.origins) {
      if (age - origin.age > this.limits.originAgeMaxMs) this.origins.delete(id);
    }
  }

  copy(): OriginResults {
    const copy = new OriginResults(this.limits);
    for (const [id, origin] of this.origins) {
      copy.origins.set(id, { ...origin, replies: origin.replies.copy() });
    }
    return copy;
  }

  /** All origins and replies in the order of their numbers, in parts of a bounded size. */
  encode(): Uint8Array[] {
    const parts: Uint8Array[] = [];
    const out = new ByteWriter(1024);
    for (const [id, origin] of [...this.origins].sort(([a], [b]) => a - b)) {
      const replies = origin.replies.entries().sort(([a], [b]) => a - b);
      let from = 0;
      do {
        const to = endOfPart(replies, from);
        out.varint(id);
        out.varint(origin.incarnation);
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

  /** Takes up a part. */
  load(record: Uint8Array): void {
    const input = new ByteReader(record);
    while (input.remaining > 0) {
      const id = input.varint();
      const incarnation = input.varint();
      const low = input.varint();
      const age = input.varint();
      const known = this.origins.get(id);
      const origin: Origin = known ?? { incarnation, low, age, bytes: 0, replies: new NumberTable() };
      if (known === undefined) this.origins.set(id, origin);
      for (let count = input.varint(); count > 0; count--) {
        const sequence = input.varint();
        const reply = input.blob();
        origin.bytes += reply.length;
        origin.replies.set(sequence, reply);
      }
    }
  }
}

function forget(origin: Origin, sequence: number): void {
  const reply = origin.replies.get(sequence);
  if (reply === undefined) return;
  origin.bytes -= reply.length;
  origin.replies.delete(sequence);
}

function forgetBelow(origin: Origin, low: number): void {
  for (const sequence of origin.replies.keysBetween(origin.low, low)) forget(origin, sequence);
  origin.low = low;
}

function endOfPart(replies: readonly (readonly [number, Uint8Array])[], from: number): number {
  let to = from;
  for (let bytes = 0; to < replies.length && bytes < PART_BYTES; to++) {
    bytes += elementAt(replies, to)[1].length + 8;
  }
  return to;
}
