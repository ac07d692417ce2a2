/**
 * A set of ids of things, such as the index of the instances of a type. Ids are dense, so most of them lie in chunks of bits; a chunk
 * with few ids is a sorted array. Each chunk is a record of its own:
 *
 *   chunk := 00 (low:u16)*          few ids: the low 16 bits of each, ascending
 *          | 01 bits                8192 bytes, the lowest bit of the first byte for the lowest id
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';

const CHUNK_BITS = 16;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const BITMAP_BYTES = CHUNK_SIZE / 8;

/** Ids of a chunk from which on bits take less space. */
const SPARSE_MAX = BITMAP_BYTES / 2;

/** Counts below this make a chunk sparse again. It lies under `SPARSE_MAX`, so that a chunk at the border does not change its form all the time. */
const SPARSE_AGAIN = SPARSE_MAX / 2;

interface Chunk {
  count: number;
  /** Ascending; null when there are bits. */
  low: number[] | null;
  bits: Uint8Array | null;
}

export class IdSet {
  private readonly chunks = new Map<number, Chunk>();
  /** Numbers of the chunks that changed since they were last written. */
  private readonly dirty = new Set<number>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(id: number): boolean {
    const chunk = this.chunks.get(Math.floor(id / CHUNK_SIZE));
    if (chunk === undefined) return false;
    const low = id % CHUNK_SIZE;
    if (chunk.bits !== null) return (chunk.bits[low >> 3]! & (1 << (low & 7))) !== 0;
    const place = placeOf(chunk.low as number[], low);
    return (chunk.low as number[])[place] === low;
  }

  /** Adds an id that is not in the set. */
  add(id: number): void {
    const number = Math.floor(id / CHUNK_SIZE);
    const low = id % CHUNK_SIZE;
    let chunk = this.chunks.get(number);
    if (chunk === undefined) {
      chunk = { count: 0, low: [], bits: null };
      this.chunks.set(number, chunk);
    }
    if (chunk.low !== null && chunk.count >= SPARSE_MAX) toBits(chunk);
    if (chunk.bits !== null) {
      const before = chunk.bits[low >> 3]!;
      if ((before & (1 << (low & 7))) !== 0) throw new Error(`the id ${id} is in the index already`);
      chunk.bits[low >> 3] = before | (1 << (low & 7));
    } else {
      const all = chunk.low as number[];
      const last = all[all.length - 1];
      if (last === undefined || last < low) {
        all.push(low);
      } else {
        const place = placeOf(all, low);
        if (all[place] === low) throw new Error(`the id ${id} is in the index already`);
        all.splice(place, 0, low);
      }
    }
    chunk.count += 1;
    this.count += 1;
    this.dirty.add(number);
  }

  /** Takes an id out that is in the set. */
  delete(id: number): void {
    const number = Math.floor(id / CHUNK_SIZE);
    const low = id % CHUNK_SIZE;
    const chunk = this.chunks.get(number);
    if (chunk === undefined || !this.has(id)) throw new Error(`the id ${id} is not in the index`);
    if (chunk.bits !== null) {
      chunk.bits[low >> 3] = chunk.bits[low >> 3]! & ~(1 << (low & 7));
    } else {
      const all = chunk.low as number[];
      all.splice(placeOf(all, low), 1);
    }
    chunk.count -= 1;
    this.count -= 1;
    if (chunk.count === 0) this.chunks.delete(number);
    else if (chunk.bits !== null && chunk.count < SPARSE_AGAIN) toLow(chunk);
    this.dirty.add(number);
  }

  /** Adds an id that may be in the set. */
  put(id: number): void {
    if (!this.has(id)) this.add(id);
  }

  /** Takes an id out that may be in the set. */
  take(id: number): void {
    if (this.count > 0 && this.has(id)) this.delete(id);
  }

  /** About so many ids, or all if there are fewer, spread over the set. Takes no longer for a large set. */
  sample(max: number): readonly number[] {
    const chunks = [...this.chunks];
    const step = Math.max(1, Math.floor(chunks.length / max));
    const each = Math.ceil(max / Math.max(1, Math.min(chunks.length, max)));
    const found: number[] = [];
    for (let i = 0; i < chunks.length && found.length < max; i += step) {
      const [number, chunk] = chunks[i]!;
      for (const low of sampleOf(chunk, each)) found.push(number * CHUNK_SIZE + low);
    }
    return found;
  }

  /** Calls `visit` with all ids in ascending order. The set must not change meanwhile. */
  forEach(visit: (id: number) => void): void {
    for (const number of [...this.chunks.keys()].sort((a, b) => a - b)) {
      const { low, bits } = this.chunks.get(number) as Chunk;
      const base = number * CHUNK_SIZE;
      if (low !== null) for (const place of low) visit(base + place);
      if (bits !== null) visitBits(bits, base, visit);
    }
  }

  /** Calls `visit` with the ids above one, in ascending order, until it gives false. The set must not change meanwhile. */
  eachAbove(id: number, visit: (id: number) => boolean): void {
    const first = Math.floor((id + 1) / CHUNK_SIZE);
    for (const number of [...this.chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.chunks.get(number);
      if (chunk === undefined || number < first) continue;
      if (!visitFrom(chunk, number * CHUNK_SIZE, id + 1, visit)) return;
    }
  }

  /** The same for the ids below one, in descending order. */
  eachBelow(id: number, visit: (id: number) => boolean): void {
    for (const number of [...this.chunks.keys()].sort((a, b) => b - a)) {
      const base = number * CHUNK_SIZE;
      const chunk = this.chunks.get(number);
      if (chunk === undefined || base >= id) continue;
      if (!visitBelow(chunk, base, id, visit)) return;
    }
  }

  /** The number of ids below one. */
  countBelow(id: number): number {
    let count = 0;
    for (const [number, chunk] of this.chunks) {
      const base = number * CHUNK_SIZE;
      if (base + CHUNK_SIZE <= id) count += chunk.count;
      else if (base < id) count += countOf(chunk, id - base);
    }
    return count;
  }

  /** All ids, ascending within each chunk. The set must not change meanwhile. */
  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (const number of [...this.chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.chunks.get(number);
      if (chunk === undefined) continue;
      const base = number * CHUNK_SIZE;
      for (const low of lowOf(chunk)) yield base + low;
    }
  }

  /** Calls `put` for each chunk that changed since the last call; null for one that is empty now. */
  flush(put: (chunk: number, value: Uint8Array | null) => void): void {
    for (const number of this.dirty) {
      const chunk = this.chunks.get(number);
      put(number, chunk === undefined ? null : encode(chunk));
    }
    this.dirty.clear();
  }

  /** Takes a chunk up that was written. */
  load(number: number, value: Uint8Array): void {
    const before = this.chunks.get(number);
    if (before !== undefined) this.count -= before.count;
    const chunk = decode(value);
    this.chunks.set(number, chunk);
    this.count += chunk.count;
  }

  clear(): void {
    for (const number of this.chunks.keys()) this.dirty.add(number);
    this.chunks.clear();
    this.count = 0;
  }
}

/** The form depends on the number of ids alone, so that all nodes have the same record. */
function encode(chunk: Chunk): Uint8Array {
  const out = new ByteWriter(BITMAP_BYTES + 1);
  if (chunk.count < SPARSE_MAX) {
    out.u8(0);
    for (const low of lowOf(chunk)) {
      out.u8(low >> 8);
      out.u8(low & 0xff);
    }
  } else {
    out.u8(1);
    out.bytes(chunk.bits ?? bitsOf(chunk.low as number[]));
  }
  return out.take();
}

function decode(value: Uint8Array): Chunk {
  const input = new ByteReader(value);
  const form = input.u8();
  if (form === 1) {
    const bits = input.bytes(BITMAP_BYTES).slice();
    let count = 0;
    for (const byte of bits) for (let rest = byte; rest !== 0; rest &= rest - 1) count += 1;
    return { count, low: null, bits };
  }
  if (form !== 0) throw new FormatError(`unknown form ${form} of an index`);
  const low: number[] = [];
  while (input.remaining > 0) low.push((input.u8() << 8) | input.u8());
  return { count: low.length, low, bits: null };
}

function sampleOf({ count, low, bits }: Chunk, max: number): readonly number[] {
  if (low !== null) {
    const step = Math.max(1, Math.floor(count / max));
    return low.filter((_, i) => i % step === 0).slice(0, max);
  }
  const found: number[] = [];
  for (let i = 0; i < max && bits !== null; i++) {
    let place = Math.floor((i * CHUNK_SIZE) / max);
    const end = Math.floor(((i + 1) * CHUNK_SIZE) / max);
    while (place < end && (bits[place >> 3]! & (1 << (place & 7))) === 0) place++;
    if (place < end) found.push(place);
  }
  return found;
}

function* lowOf(chunk: Chunk): Generator<number, void, undefined> {
  if (chunk.low !== null) {
    yield* chunk.low;
    return;
  }
  const bits = chunk.bits as Uint8Array;
  for (let i = 0; i < BITMAP_BYTES; i++) {
    const byte = bits[i]!;
    if (byte === 0) continue;
    for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) yield i * 8 + bit;
  }
}

function visitBits(bits: Uint8Array, base: number, visit: (id: number) => void): void {
  for (let i = 0; i < BITMAP_BYTES; i++) {
    const byte = bits[i]!;
    for (let bit = 0; byte >> bit !== 0; bit++) if ((byte & (1 << bit)) !== 0) visit(base + i * 8 + bit);
  }
}

type Visit = (id: number) => boolean;

/** Goes over the ids from one on, in ascending order, and not over those before it; false once `visit` gave false. */
function visitFrom({ low, bits }: Chunk, base: number, from: number, visit: Visit): boolean {
  const first = Math.max(0, from - base);
  if (low !== null) {
    for (let i = placeOf(low, first); i < low.length; i++) if (!visit(base + low[i]!)) return false;
  }
  if (bits !== null) {
    let mask = 0xff << (first & 7);
    for (let i = first >> 3; i < BITMAP_BYTES; i++, mask = 0xff) {
      for (let rest = bits[i]! & mask; rest !== 0; rest &= rest - 1)
        if (!visit(base + i * 8 + 31 - Math.clz32(rest & -rest))) return false;
    }
  }
  return true;
}

/** The same for the ids below one, in descending order. */
function visitBelow({ low, bits }: Chunk, base: number, to: number, visit: Visit): boolean {
  const end = Math.min(CHUNK_SIZE, to - base);
  if (low !== null) {
    for (let i = placeOf(low, end) - 1; i >= 0; i--) if (!visit(base + low[i]!)) return false;
  }
  if (bits !== null) {
    let mask = (1 << (((end - 1) & 7) + 1)) - 1;
    for (let i = (end - 1) >> 3; i >= 0; i--, mask = 0xff) {
      for (let rest = bits[i]! & mask; rest !== 0; ) {
        const bit = 31 - Math.clz32(rest);
        if (!visit(base + i * 8 + bit)) return false;
        rest &= ~(1 << bit);
      }
    }
  }
  return true;
}

/** The number of ids of a chunk whose low bits are below a number, which is above 0. */
function countOf({ low, bits }: Chunk, end: number): number {
  if (low !== null) return placeOf(low, end);
  let count = 0;
  const last = (end - 1) >> 3;
  for (let i = 0; bits !== null && i <= last; i++) {
    const mask = i === last ? (1 << (((end - 1) & 7) + 1)) - 1 : 0xff;
    for (let rest = bits[i]! & mask; rest !== 0; rest &= rest - 1) count += 1;
  }
  return count;
}

function toBits(chunk: Chunk): void {
  chunk.bits = bitsOf(chunk.low as number[]);
  chunk.low = null;
}

function toLow(chunk: Chunk): void {
  chunk.low = [...lowOf(chunk)];
  chunk.bits = null;
}

function bitsOf(low: readonly number[]): Uint8Array {
  const bits = new Uint8Array(BITMAP_BYTES);
  for (const id of low) bits[id >> 3] = bits[id >> 3]! | (1 << (id & 7));
  return bits;
}

/** The place of the first element that is not below a number. */
function placeOf(ascending: readonly number[], number: number): number {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ascending[middle]! < number) from = middle + 1;
    else to = middle;
  }
  return from;
}
