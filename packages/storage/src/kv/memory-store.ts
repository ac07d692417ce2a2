import { DiskError, DiskFullError } from '../errors.js';
import type {
  IterateOptions,
  KeyRange,
  KeyValueBatch,
  KeyValueCursor,
  KeyValuePair,
  KeyValueSnapshot,
  KeyValueStore,
  ReadAhead,
} from './key-value-store.js';
import { packedBytes, packPair } from './packed-pairs.js';

export type StoreOperation = { readonly kind: 'write' | 'flush' | 'read' | 'close'; readonly count: number };

/** A write fails, or claims to be synced when it is not. A flush can only do nothing. */
export type StoreFault = 'EIO' | 'ENOSPC' | 'lie';

export type MemoryStoreOptions = {
  readonly fault?: (operation: StoreOperation) => StoreFault | undefined;
  /** When an operation completes: a simulator puts `complete` on its event heap. Default: a microtask. */
  readonly defer?: (operation: StoreOperation, complete: () => void) => void;
};

/**
 * The medium of an ordered store in memory: it outlives the processes that {@link attach} to it, one at a
 * time, and knows which batches are synced. A power cut loses a random part of the others; a batch is never
 * torn.
 */
export class MemoryStore {
  fault: (operation: StoreOperation) => StoreFault | undefined;
  private readonly defer: (operation: StoreOperation, complete: () => void) => void;
  private durable = new SortedMap();
  private current = new SortedMap();
  /** Batches that were issued, in order, from the first that is not surely durable. */
  private batches: IssuedBatch[] = [];
  private life = 0;

  constructor(options: MemoryStoreOptions = {}) {
    this.fault = options.fault ?? (() => undefined);
    this.defer = options.defer ?? ((_operation, complete) => queueMicrotask(complete));
  }

  /** The store as one process sees it; dead after the next `crash` or `kill`. */
  attach(): KeyValueStore {
    const life = this.life;
    return {
      getSync: (key, snapshot) => copied(mapOf(snapshot, this.current).get(stringOf(key))),
      iterate: (range, options) => this.iterate(life, range, options),
      readAhead: new MemoryReadAhead(() => this.current.share()),
      batch: () => this.batch(life),
      flush: () => this.flush(life),
      // Deleted records take no room here.
      approximateBytes: () => Promise.resolve(0),
      compact: () => Promise.resolve(),
      snapshot: () => new MemorySnapshot(this.current.share()),
      close: () => this.complete(life, { kind: 'close', count: 0 }, () => undefined),
    };
  }

  /** Power loss: each batch that was not synced may be lost, whichever came after it. */
  crash(random: () => number): void {
    this.life++;
    for (const batch of this.batches) {
      if (batch.isSynced || random() < 0.5) this.durable.apply(batch.changes);
    }
    this.batches = [];
    this.current = this.durable.share();
  }

  /**
   * The process ends, the power stays: every batch that was issued is there, and not more durable than
   * before.
   */
  kill(): void {
    this.life++;
    for (const batch of this.batches) {
      if (!batch.isApplied) this.current.apply(batch.changes);
      batch.isApplied = true;
    }
  }

  /** Flips one bit of a stored value behind the store's back. */
  flip(key: Uint8Array, bit: number): void {
    const value = copied(this.current.get(stringOf(key)));
    if (value === undefined) return;
    const at = (bit >> 3) % value.length;
    value[at] = value[at]! ^ (1 << (bit & 7));
    this.overwrite(key, value);
  }

  /** Replaces or (with undefined) loses a value behind the store's back, durably. */
  overwrite(key: Uint8Array, value: Uint8Array | undefined): void {
    const change: Change = [stringOf(key), value === undefined ? undefined : Buffer.from(value)];
    this.current.apply([change]);
    this.durable.apply([change]);
  }

  /** All keys, for tests. */
  keys(): Buffer[] {
    return [...this.current.keys].map((key) => Buffer.from(key, 'latin1'));
  }

  private batch(life: number): KeyValueBatch {
    const changes: Change[] = [];
    return {
      put: (key, value) => {
        changes.push([stringOf(key), Buffer.from(value)]);
      },
      delete: (key) => {
        changes.push([stringOf(key), undefined]);
      },
      write: ({ sync }) => this.write(life, changes, sync),
    };
  }

  private write(life: number, changes: readonly Change[], sync: boolean): Promise<void> {
    const operation: StoreOperation = { kind: 'write', count: changes.length };
    if (life !== this.life) return new Promise(() => undefined);
    const fault = this.fault(operation);
    const batch: IssuedBatch = { changes, isApplied: false, isSynced: false };
    if (fault === undefined || fault === 'lie') this.batches.push(batch);
    return this.complete(life, operation, () => {
      if (fault === 'EIO') throw new DiskError('EIO', 'write', 'the key-value store');
      if (fault === 'ENOSPC') throw new DiskFullError('the key-value store can not write');
      this.current.apply(changes);
      batch.isApplied = true;
      batch.isSynced = sync && fault !== 'lie';
      this.settle();
    });
  }

  private flush(life: number): Promise<void> {
    const operation: StoreOperation = { kind: 'flush', count: 0 };
    const lies = this.fault(operation) !== undefined;
    const before = this.batches.filter(({ isApplied }) => isApplied);
    return this.complete(life, operation, () => {
      if (lies) return;
      for (const batch of before) batch.isSynced = true;
      this.settle();
    });
  }

  /** Synced batches, from the first one on, become the ground of everything. */
  private settle(): void {
    while (this.batches[0]?.isSynced) this.durable.apply(this.batches.shift()?.changes ?? []);
  }

  private iterate(life: number, range: KeyRange, options: IterateOptions = {}): KeyValueCursor {
    const map = mapOf(options.snapshot, this.current).share();
    let at = map.firstAtOrAfter(stringOf(range.from));
    const end = stringOf(range.to);
    return {
      next: (count) =>
        this.complete(life, { kind: 'read', count }, () => {
          const pairs: KeyValuePair[] = [];
          for (
            let key = map.keys[at];
            key !== undefined && key < end && pairs.length < count;
            key = map.keys[++at]
          ) {
            const value = options.keysOnly === true ? Buffer.alloc(0) : Buffer.from(map.get(key) ?? []);
            pairs.push([Buffer.from(key, 'latin1'), value]);
          }
          return pairs;
        }),
      close: async () => undefined,
    };
  }

  private complete<T>(life: number, operation: StoreOperation, task: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (life !== this.life) return;
      this.defer(operation, () => {
        if (life !== this.life) return;
        try {
          resolve(task());
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}

type Change = readonly [key: string, value: Buffer | undefined];

type IssuedBatch = { readonly changes: readonly Change[]; isApplied: boolean; isSynced: boolean };

/**
 * A map with sorted keys (bytes as latin1 strings, which compare as bytes) that is copied when it is written
 * to.
 */
class SortedMap {
  private content: { readonly values: Map<string, Buffer>; readonly keys: string[] } = {
    values: new Map(),
    keys: [],
  };
  private isShared = false;

  get keys(): readonly string[] {
    return this.content.keys;
  }

  get(key: string): Buffer | undefined {
    return this.content.values.get(key);
  }

  /** Another map with the same content; changes of one are not seen by the other. */
  share(): SortedMap {
    const other = new SortedMap();
    other.content = this.content;
    other.isShared = true;
    this.isShared = true;
    return other;
  }

  /** The place of the first key that is not before `key`. */
  firstAtOrAfter(key: string): number {
    let low = 0;
    for (let high = this.keys.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  apply(changes: readonly Change[]): void {
    if (this.isShared) {
      this.content = { values: new Map(this.content.values), keys: [...this.content.keys] };
      this.isShared = false;
    }
    const { values, keys } = this.content;
    for (const [key, value] of changes) {
      const isNew = !values.has(key);
      if (value === undefined && !isNew) {
        values.delete(key);
        keys.splice(this.firstAtOrAfter(key), 1);
      } else if (value !== undefined) {
        values.set(key, value);
        if (isNew) keys.splice(this.firstAtOrAfter(key), 0, key);
      }
    }
  }
}

/** Pairs of a batch that was read ahead: few, so that tests see several. */
const BATCH_PAIRS = 16;
/** Each batch of so many is late once, as those of another thread may be. */
const LATE_EVERY = 3;

class MemoryReadAhead implements ReadAhead {
  readonly waitedMs = 0;
  private held: SortedMap | null = null;
  private map = new SortedMap();
  private at = 0;
  private to = '';
  private asked = 0;
  private valuesOnly = false;

  constructor(private readonly snapshot: () => SortedMap) {}

  async prepare(): Promise<void> {}

  begin(range: KeyRange, valuesOnly: boolean): void {
    this.valuesOnly = valuesOnly;
    this.map = this.held ?? this.snapshot();
    this.at = this.map.firstAtOrAfter(stringOf(range.from));
    this.to = stringOf(range.to);
  }

  next(): Buffer | undefined {
    this.asked += 1;
    if (this.asked % LATE_EVERY === 0) return undefined;
    const pairs: Buffer[] = [];
    for (; pairs.length < BATCH_PAIRS; this.at++) {
      const key = this.map.keys[this.at];
      if (key === undefined || key >= this.to) break;
      const value = this.map.get(key) ?? Buffer.alloc(0);
      const packedKey = Buffer.from(this.valuesOnly ? '' : key, 'latin1');
      const pair = Buffer.alloc(packedBytes(packedKey, value));
      packPair(pair, 0, packedKey, value);
      pairs.push(pair);
    }
    return Buffer.concat(pairs);
  }

  end(): void {
    this.to = '';
  }

  async hold(keys: readonly Uint8Array[]): Promise<readonly (Buffer | undefined)[]> {
    const held = this.snapshot();
    this.held = held;
    return keys.map((key) => copied(held.get(stringOf(key))));
  }

  release(): void {
    this.held = null;
  }
}

class MemorySnapshot implements KeyValueSnapshot {
  constructor(readonly map: SortedMap) {}

  async close(): Promise<void> {}
}

function mapOf(snapshot: KeyValueSnapshot | undefined, current: SortedMap): SortedMap {
  return snapshot instanceof MemorySnapshot ? snapshot.map : current;
}

function stringOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

function copied(value: Buffer | undefined): Buffer | undefined {
  return value === undefined ? undefined : Buffer.from(value);
}
