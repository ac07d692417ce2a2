/**
 * Large values. A str or bytes of more than `APART_BYTES` under a key of a thing lies in a record of its own under the id of
 * the thing, so that a change of another key does not write it again:
 *
 *   property     := key:text 19 part:varint
 *   record part  := value                    as in `value-codec.ts`
 */
import { ByteWriter } from '../bytes.js';
import { Bytes } from '../value/scalars.js';
import type { Value } from '../value/value.js';
import { writeValue } from './value-codec.js';

/** The code of a value that lies apart, beside those of values. */
export const APART = 0x19;

/** Characters or bytes of a value beyond which it lies apart. */
const APART_BYTES = 16 * 1024;

/** The numbers of their records, behind those of the pieces of lists and below what `large-record.ts` can count. */
const FIRST_PART = 2 ** 23;
const LAST_PART = 2 ** 24 - 1;

/** Writes and deletes the records of a thing beside its first. */
export interface PartSink {
  put(part: number, value: Uint8Array): void;
  delete(part: number): void;
}

export function liesApart(value: Value): value is string | Bytes {
  if (typeof value === 'string') return value.length > APART_BYTES;
  return value instanceof Bytes && value.data.length > APART_BYTES;
}

interface Stored {
  readonly part: number;
  readonly value: Value;
}

/** The large values of one thing, or of a piece of it, as its records have them. */
export class Apart {
  /** That of the thing, for one of a piece. */
  private readonly whole: Apart | null;
  /** Those of the pieces, by their number. */
  private readonly pieces = new Map<number, Apart>();
  /** By key. */
  private stored = new Map<string, Stored>();
  private saving = new Map<string, Stored>();
  /** Records that the last save deleted, and those that a save before it did in vain. */
  private doomed: number[] = [];
  private last = FIRST_PART - 1;
  private isSecondRound = false;
  /** Whether it is unknown what the records hold. */
  private isUnsure = false;

  constructor(whole: Apart | null = null) {
    this.whole = whole;
  }

  /** Those of a piece of the thing, which has its properties in several records: each is written by itself. */
  ofPiece(piece: number): Apart {
    let apart = this.pieces.get(piece);
    if (apart === undefined) {
      apart = new Apart(this);
      this.pieces.set(piece, apart);
    }
    return apart;
  }

  /** The same; undefined when it had none so far. */
  pieceOf(piece: number): Apart | undefined {
    return this.pieces.get(piece);
  }

  /** Notes what was read. */
  found(key: string, part: number, value: Value): void {
    this.stored.set(key, { part, value });
    this.noteNumber(part);
  }

  /** Numbers of all records that there may be. */
  get parts(): number[] {
    const parts = [...Array.from(this.stored.values(), ({ part }) => part), ...this.doomed];
    for (const piece of this.pieces.values()) parts.push(...piece.parts);
    return parts;
  }

  /** Writes a value of the thing that is being saved, unless its record holds it; gives the number of the record. */
  write(key: string, value: string | Bytes, sink: PartSink): number {
    const before = this.stored.get(key);
    const part = before?.part ?? this.newPart();
    if (before?.value !== value || this.isUnsure) {
      const out = new ByteWriter(APART_BYTES);
      writeValue(out, value);
      sink.put(part, out.take());
    }
    this.saving.set(key, { part, value });
    return part;
  }

  /** All values of the thing were written: what else there is goes. */
  finish(sink: PartSink): void {
    const gone = this.isUnsure ? this.doomed : [];
    for (const [key, { part }] of this.stored) if (!this.saving.has(key)) gone.push(part);
    for (const part of gone) sink.delete(part);
    this.doomed = gone;
    this.stored = this.saving;
    this.saving = new Map();
    this.isUnsure = false;
  }

  /** Notes that what was written last did not become durable. */
  again(): void {
    this.isUnsure = true;
    for (const piece of this.pieces.values()) piece.again();
  }

  private noteNumber(part: number): void {
    this.whole?.noteNumber(part);
    this.last = Math.max(this.last, part);
  }

  /** A number that no record of the thing has: one after the other, and after the last one from the first on again. */
  private newPart(): number {
    if (this.whole !== null) return this.whole.newPart();
    do {
      if (this.last === LAST_PART) this.isSecondRound = true;
      this.last = this.last === LAST_PART ? FIRST_PART : this.last + 1;
    } while (this.isSecondRound && this.isUsed(this.last));
    return this.last;
  }

  private isUsed(part: number): boolean {
    const has = (values: ReadonlyMap<string, Stored>): boolean => {
      for (const each of values.values()) if (each.part === part) return true;
      return false;
    };
    if (has(this.stored) || has(this.saving) || this.doomed.includes(part)) return true;
    for (const piece of this.pieces.values()) if (piece.isUsed(part)) return true;
    return false;
  }
}
