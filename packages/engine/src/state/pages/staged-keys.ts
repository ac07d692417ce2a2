/** Entries on their way from one page of a tree to another: their keys one behind the other, up to the end of each, and their ids. */
export class StagedKeys {
  bytes = Buffer.alloc(BYTES_FIRST);
  readonly ends: number[] = [];
  readonly ids: number[] = [];

  clear(): void {
    this.ends.length = 0;
    this.ids.length = 0;
  }

  /** Bytes that keys take. */
  get length(): number {
    return this.ends.at(-1) ?? 0;
  }

  /** Number of bytes with which all keys begin, which are in order. */
  get common(): number {
    const { bytes, ends } = this;
    const start = ends.at(-2) ?? 0;
    const most = Math.min(ends[0] ?? 0, this.length - start);
    let common = 0;
    while (common < most && bytes[common] === bytes[start + common]) common += 1;
    return common;
  }

  /** Makes room for keys of so many bytes. */
  reserve(size: number): void {
    if (size > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * size);
  }
}

const BYTES_FIRST = 16_384;
