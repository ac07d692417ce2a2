/**
 * The demands of the state on an ordered store of keys and values. Everything above reaches it only through
 * this, so that a simulator can replace it. Keys are ordered as bytes.
 *
 * Errors: `DiskFullError` and `DiskError` for writes (after one of them no further write may be trusted),
 * `DamagedStateError` where the store itself finds damage. It need not find any: callers check what they
 * read.
 */
export interface KeyValueStore {
  /** The value of a key, now or in a snapshot. The result is the caller's own. */
  getSync(key: Uint8Array, snapshot?: KeyValueSnapshot): Buffer | undefined;

  /** Reads a range in order, as it is now or in a snapshot; later writes are not seen. */
  iterate(range: KeyRange, options?: IterateOptions): KeyValueCursor;

  /** Reads ahead for callers that can't wait for a promise, and read many keys in their order. */
  readonly readAhead: ReadAhead;

  batch(): KeyValueBatch;

  /**
   * Makes all that was written so far durable, at the price of a file. That it failed may be told only by the
   * next write with sync, which is then an error.
   */
  flush(): Promise<void>;

  /** Bytes that a range takes on the disk, roughly, with what was deleted and is still there. */
  approximateBytes(range: KeyRange): Promise<number>;

  /**
   * Gives the disk back what was deleted in a range, where nothing else would for a long time. Takes as long
   * as reading all of it.
   */
  compact(range: KeyRange): Promise<void>;

  /** A consistent view, to be closed by whoever asked for it. */
  snapshot(): KeyValueSnapshot;

  /** Waits for writes that are under way. Snapshots and cursors must be closed before. */
  close(): Promise<void>;
}

export type KeyRange = {
  /** The first key. */
  readonly from: Uint8Array;
  /** The first key that is not in the range any more. */
  readonly to: Uint8Array;
};

export type IterateOptions = { readonly snapshot?: KeyValueSnapshot; readonly keysOnly?: boolean };

/** A pair; without its value (an empty buffer) where only keys were asked for. */
export type KeyValuePair = readonly [key: Buffer, value: Buffer];

export interface KeyValueCursor {
  /** Up to `count` further pairs; none at the end. */
  next(count: number): Promise<KeyValuePair[]>;
  close(): Promise<void>;
}

/**
 * Reads a range beside its caller, who gets many pairs at a time for the price of one. One range at a time. What it gives, `getSync`
 * would give, too: an implementation may give nothing at any time.
 */
export interface ReadAhead {
  /** Milliseconds for which callers of `begin` and `next` were held up, all together. */
  readonly waitedMs: number;
  /** Gets ready, so that the first range is not kept waiting; resolves when it is, or when it can't be. */
  prepare(): Promise<void>;
  /**
   * Begins with a range, as it is now or a little later, and gives the one before up.
   *
   * @param valuesOnly all keys are empty in the pairs, which costs half as much
   */
  begin(range: KeyRange, valuesOnly: boolean): void;
  /**
   * The next pairs of the range, in order, as in `packed-pairs.ts`; the caller's own. Very large values are left out. Waits for a few
   * milliseconds at most, once for each. Without any at the end of the range; undefined where they can't be had now: they may come later.
   */
  next(): Buffer | undefined;
  /** Gives the range up. */
  end(): void;
  /**
   * Reads everything as it is in one moment, from now on until `release`.
   *
   * @returns the values of some keys in that moment; null where it can't be had
   */
  hold(keys: readonly Uint8Array[]): Promise<readonly (Buffer | undefined)[] | null>;
  /** Reads everything as it is by then. */
  release(): void;
}

/** Changes that happen together or not at all. Keys and values are copied by the call that adds them. */
export interface KeyValueBatch {
  put(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
  /**
   * Once. With `sync` the batch survives a power cut when this resolves; without, it may be lost even if a
   * later one, with sync, is not.
   */
  write(options: { readonly sync: boolean }): Promise<void>;
}

export interface KeyValueSnapshot {
  close(): Promise<void>;
}
