import type { Prepared } from './program.js';

/** Bytes that a compiled program takes besides its text, roughly, and for each character of the text. */
const PROGRAM_BYTES = 2000;
const BYTES_PER_CHARACTER = 90;

/** Texts that are known to have come, at least once, about. */
const SEEN_MAX = 16_384;

/** Characters of a text at its beginning and at its end that tell it from others well enough. */
const TOLD_BY = 4096;

/**
 * Programs by their text, bounded by bytes. Two generations: what is used moves to the young one, and when that is full, the old one
 * is forgotten. A hit in the young generation costs one look-up.
 *
 * A text is remembered when it comes for the second time: most of those that come once never come again, and what is remembered
 * costs the collector more than it costs to make. Of the first time only a hash is kept.
 */
export class ProgramCache {
  private young = new Map<string, Prepared>();
  private old = new Map<string, Prepared>();
  private youngBytes = 0;
  private oldBytes = 0;
  /** Hashes of texts that came, each in the one place that it can have. */
  private readonly seen = new Int32Array(SEEN_MAX);
  /** The number of texts that were known. */
  hits = 0;
  /** The number of texts that were not. */
  misses = 0;

  constructor(private readonly bytesMax: number) {}

  /** The program of a text, made by `prepare` when it is not known. */
  get(code: string, prepare: (code: string) => Prepared): Prepared {
    const known = this.known(code);
    if (known !== null) return known;
    this.misses += 1;
    const prepared = prepare(code);
    if (this.wasSeen(code)) this.keep(prepared);
    return prepared;
  }

  /** The program of a text, if it is known; null is no miss. */
  known(code: string): Prepared | null {
    const young = this.young.get(code);
    if (young !== undefined) {
      this.hits += 1;
      return young;
    }
    const old = this.old.get(code);
    if (old === undefined) return null;
    this.hits += 1;
    this.add(old);
    return old;
  }

  /** Remembers a program that is worth it though its text came for the first time. */
  keep(prepared: Prepared): void {
    const { code } = prepared;
    if (bytesOf(code) > this.bytesMax / 8 || this.young.has(code)) return;
    prepared.keep();
    this.add(prepared);
  }

  /** Estimated bytes of everything that is remembered. */
  get bytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  private add(prepared: Prepared): void {
    const { code } = prepared;
    const bytes = bytesOf(code);
    if (this.youngBytes + bytes > this.bytesMax / 2) {
      this.old = this.young;
      this.oldBytes = this.youngBytes;
      this.young = new Map();
      this.youngBytes = 0;
    }
    this.young.set(code, prepared);
    this.youngBytes += bytes;
  }

  /** True if a text came before; it has come now. May be wrong about one that did not, seldom. */
  private wasSeen(code: string): boolean {
    const hash = hashOf(code);
    const place = (hash >>> 0) % SEEN_MAX;
    const wasSeen = this.seen[place] === hash;
    this.seen[place] = hash;
    return wasSeen;
  }
}

/** About what the program of a text takes. */
function bytesOf({ length }: string): number {
  return PROGRAM_BYTES + length * BYTES_PER_CHARACTER;
}

/** FNV-1a of a text; of a long one, of its beginning, its end and its length. */
function hashOf(code: string): number {
  const { length } = code;
  let hash = 0x811c9dc5 ^ length;
  const first = Math.min(length, TOLD_BY);
  for (let i = 0; i < first; i++) hash = Math.imul(hash ^ code.charCodeAt(i), 0x01000193);
  for (let i = Math.max(first, length - TOLD_BY); i < length; i++)
    hash = Math.imul(hash ^ code.charCodeAt(i), 0x01000193);
  return hash;
}
