/**
 * The texts of the instances that a unique index has, as far as its keys hold only their beginning, while it is built. Without them each
 * further instance that begins alike would have to be compared with each that is there.
 *
 * It lies in memory alone, as digests, and is filled anew where a build goes on: a part of the instances at a time, and all that come or
 * change meanwhile. It may have texts that are gone, so what it has is looked up in the index.
 */
import { createHash } from 'node:crypto';

export class WholeTexts {
  /** The instances with ids up to here are in it. */
  upTo = 0;
  private readonly digests = new Set<number>();

  /** @param max texts that are noted at most; once there are so many, any may be there */
  constructor(private readonly max: number) {}

  /** @param texts all texts of an instance, as `TypeIndex.textsIn` gives them */
  add(key: string, texts: string): void {
    if (this.digests.size < this.max) this.digests.add(digestOf(key, texts));
  }

  /** False if no instance that is in it has these texts. */
  has(key: string, texts: string): boolean {
    return this.digests.size === this.max || this.digests.has(digestOf(key, texts));
  }
}

/** A number of 48 bits: it takes half of the memory that a text takes. */
function digestOf(key: string, texts: string): number {
  return createHash('sha256').update(key, 'latin1').update(texts).digest().readUIntLE(0, DIGEST_BYTES);
}

const DIGEST_BYTES = 6;
