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
  private readonly digests = new Set<string>();

  /** @param texts all texts of an instance, as `TypeIndex.textsIn` gives them */
  add(key: string, texts: string): void {
    this.digests.add(digestOf(key, texts));
  }

  has(key: string, texts: string): boolean {
    return this.digests.has(digestOf(key, texts));
  }
}

function digestOf(key: string, texts: string): string {
  return createHash('sha256').update(key, 'latin1').update(texts).digest('base64');
}
