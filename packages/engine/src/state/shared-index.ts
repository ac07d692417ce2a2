import { ByteReader } from '../bytes.js';
import { KeyPage } from './pages/key-page.js';
import { sharedIndexRecord } from './type-index.js';

/**
 * The part of the records of an index that is the same on all nodes, for comparing them: its definition, how far it is, and its entries, but not
 * how they are cut into pages. Pages come in any order, so the entries are summed up: each counts by a hash of its own.
 */
export class SharedIndex {
  private head = '';
  private count = 0;
  private readonly sums = [0, 0];

  /** Takes the record of the index, or of one of its pages. */
  add(number: number, value: Uint8Array, isHead: boolean): void {
    if (isHead) this.head = sharedIndexRecord(value);
    else this.addPage(KeyPage.read(number, new ByteReader(value)));
  }

  /** True if the index is there: pages of one that is gone may be left over. */
  get isThere(): boolean {
    return this.head !== '';
  }

  /** The same text for the same index. */
  get text(): string {
    return `${this.head} ${this.count} ${this.sums.map((sum) => (sum >>> 0).toString(16)).join(' ')}`;
  }

  private addPage({ level, keys, ids }: KeyPage): void {
    if (level > 0) return;
    for (const [i, key] of keys.entries()) {
      this.count += 1;
      const id = ids[i]!;
      for (const lane of [0, 1]) this.sums[lane] = (this.sums[lane]! + hashOf(key, id, lane)) | 0;
    }
  }
}

/** FNV-1a over the bytes of an entry, mixed so that sums of hashes say something. */
function hashOf(key: string, id: number, lane: number): number {
  let hash = 0x811c9dc5 ^ (lane * 0x9e3779b9);
  const take = (byte: number): void => {
    hash = Math.imul(hash ^ byte, 0x01000193);
  };
  for (let i = 0; i < key.length; i++) take(key.charCodeAt(i));
  for (let rest = id; rest > 0; rest = Math.floor(rest / 256)) take(rest % 256);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
