/** Entries on their way from one page of a tree to another: their keys one behind the other, up to the end of each, and their ids. */
export class StagedKeys {
  bytes = Buffer.alloc(BYTES_FIRST);
  ends = new Uint32Array(ENTRIES_FIRST);
  ids = new Float64Array(ENTRIES_FIRST);
  /** Number of entries. */
  count = 0;

  /** Bytes that keys take. */
  get length(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!;
  }

  /** Number of bytes with which all keys begin, which are in order. */
  get common(): number {
    const { bytes, ends, count } = this;
    if (count === 0) return 0;
    const start = count === 1 ? 0 : ends[count - 2]!;
    const most = Math.min(ends[0]!, this.length - start);
    let common = 0;
    while (common < most && bytes[common] === bytes[start + common]) common += 1;
    return common;
  }

  /** Makes room for keys of so many bytes. */
  reserve(size: number): void {
    if (size > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * size);
  }

  /** Takes an entry, whose key lies in the bytes up to an offset. */
  push(end: number, id: number): void {
    const { ends, ids, count } = this;
    if (count === ends.length) {
      this.ends = new Uint32Array(2 * count);
      this.ends.set(ends);
      this.ids = new Float64Array(2 * count);
      this.ids.set(ids);
    }
    this.ends[count] = end;
    this.ids[count] = id;
    this.count += 1;
  }
}

const BYTES_FIRST = 16_384;
const ENTRIES_FIRST = 256;
