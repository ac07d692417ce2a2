import type { Prepared } from './program.js';

/** Bytes that a compiled program takes besides its text, roughly, and for each character of the text. */
const PROGRAM_BYTES = 2000;
const BYTES_PER_CHARACTER = 90;

/**
 * Compiled programs by their text, bounded by bytes. Two generations: what is used moves to the young one, and when
 * that is full, the old one is forgotten. A hit in the young generation costs one look-up.
 */
export class ProgramCache {
  private readonly bytesMax: number;
  private young = new Map<string, Prepared>();
  private old = new Map<string, Prepared>();
  private youngBytes = 0;
  private oldBytes = 0;
  /** How often a text was known. */
  hits = 0;
  /** How often it was not. */
  misses = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The program of a text, made by `prepare` when it is not known. */
  get(code: string, prepare: (code: string) => Prepared): Prepared {
    const known = this.young.get(code);
    if (known !== undefined) {
      this.hits += 1;
      return known;
    }
    const old = this.old.get(code);
    if (old !== undefined) this.hits += 1;
    else this.misses += 1;
    const prepared = old ?? prepare(code);
    this.add(code, prepared);
    return prepared;
  }

  /** Estimated bytes of everything that is remembered. */
  get bytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  private add(code: string, prepared: Prepared): void {
    const bytes = PROGRAM_BYTES + code.length * BYTES_PER_CHARACTER;
    if (bytes > this.bytesMax / 8) return;
    if (this.youngBytes + bytes > this.bytesMax / 2) {
      this.old = this.young;
      this.oldBytes = this.youngBytes;
      this.young = new Map();
      this.youngBytes = 0;
    }
    this.young.set(code, prepared);
    this.youngBytes += bytes;
  }
}
