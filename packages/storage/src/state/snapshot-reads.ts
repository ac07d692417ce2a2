import { DamagedStateError, StoreClosedError } from '../errors.js';
import type { KeyValueSnapshot, KeyValueStore } from '../kv/key-value-store.js';
import { type Applied, decodeMeta } from './group-meta.js';
import { groupKey, nameOfRecord, nameRecord, recordKeyBuffer, recordRange } from './keys.js';
import { READ_AHEAD_AFTER_DEFAULT, SequentialReads } from './sequential-reads.js';
import type { StateRecord } from './state-store.js';
import { decodeStored, decodeValue } from './values.js';

/** Time for which a checkpoint that is half in the records is left alone before the next look, in milliseconds. */
export const REDO_PAUSE_MS = 5;

const FETCHED_PAIRS = 512;

/**
 * Consistent views of groups for readers that go on beside checkpoints, for as long as they like: in another thread, which has the same
 * LevelDB open, or in the same one.
 */
export class SnapshotReads {
  /** @param pause resolves after some milliseconds */
  constructor(
    private readonly store: KeyValueStore,
    private readonly pause: (ms: number) => Promise<void>,
  ) {}

  /**
   * A view of some groups in one moment. It waits for checkpoints that are decided and not yet all in the records: there is no
   * consistent view of these. Must be closed.
   *
   * @throws DamagedStateError
   */
  async take(groups: readonly number[]): Promise<StateView> {
    for (;;) {
      const snapshot = this.store.snapshot();
      const view = viewOf(this.store, snapshot, groups);
      if (view !== null) return view;
      await snapshot.close();
      await this.pause(REDO_PAUSE_MS);
    }
  }
}

/** Null while a checkpoint of one of the groups is half in the records. */
function viewOf(
  store: KeyValueStore,
  snapshot: KeyValueSnapshot,
  groups: readonly number[],
): StateView | null {
  const places = new Map<number, GroupPlace>();
  for (const group of groups) {
    const key = groupKey(group);
    const value = store.getSync(key, snapshot);
    if (value === undefined) continue;
    const { generation, applied, redo } = decodeMeta(decodeValue(key, value, group), group);
    if (redo !== undefined) return null;
    places.set(group, { applied, generation, key: recordKeyBuffer(group, generation), meta: value });
  }
  return new StateView(store, snapshot, places);
}

interface GroupPlace {
  readonly applied: Applied;
  readonly generation: number;
  /** A key of the group's records, to be named and used at once. */
  readonly key: Buffer;
  /** The value under the key of the group. */
  readonly meta: Buffer;
}

/** Groups as they were in one moment. Every value that is read is verified. */
export class StateView {
  private ahead: SequentialReads | null = null;
  private isOpen = true;

  constructor(
    private readonly store: KeyValueStore,
    private readonly snapshot: KeyValueSnapshot,
    private readonly places: ReadonlyMap<number, GroupPlace>,
  ) {}

  /** Up to where the log of a group is applied in what the view shows; undefined if nothing of it is stored. */
  applied(group: number): Applied | undefined {
    return this.places.get(group)?.applied;
  }

  /**
   * Has records that are read one behind the other read ahead from now on, where the thread that does so can have the same state of all
   * groups. One view of a store at a time.
   */
  async readAhead(): Promise<void> {
    const { readAhead } = this.store;
    const places = [...this.places];
    const held = await readAhead.hold(places.map(([group]) => groupKey(group)));
    // A group whose record is the same has the same records.
    const isSame = held !== null && places.every(([, { meta }], i) => held[i]?.equals(meta) === true);
    if (isSame && this.isOpen) this.ahead = new SequentialReads(readAhead, READ_AHEAD_AFTER_DEFAULT);
    else readAhead.release();
  }

  /**
   * The value of a record; undefined if there is none. Synchronous. The result is the caller's own.
   *
   * @throws DamagedStateError
   */
  read(group: number, kind: number, id: number, part = 0): Buffer | undefined {
    this.assertOpen();
    const key = this.places.get(group)?.key;
    if (key === undefined) return undefined;
    nameRecord(key, kind, id, part);
    const ahead = this.ahead?.find(key, group, kind, id, part);
    return ahead ?? decodeStored(key, this.store.getSync(key, this.snapshot), group);
  }

  /** The records of a group of the kinds from `kind` to `lastKind`, in the order of (kind, id, part). */
  async *scan(group: number, kind: number, lastKind = kind): AsyncGenerator<StateRecord, void, undefined> {
    this.assertOpen();
    const place = this.places.get(group);
    if (place === undefined) return;
    const cursor = this.store.iterate(recordRange(group, place.generation, kind, lastKind), {
      snapshot: this.snapshot,
    });
    try {
      for (;;) {
        const pairs = await cursor.next(FETCHED_PAIRS);
        if (pairs.length === 0) return;
        for (const [key, value] of pairs) {
          const name = nameOfRecord(key);
          if (name === undefined)
            throw new DamagedStateError(`${key.toString('hex')} is no key of a record`, group);
          yield { ...name, value: decodeValue(key, value, group) };
        }
      }
    } finally {
      await cursor.close();
    }
  }

  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (this.ahead !== null) this.store.readAhead.release();
    await this.snapshot.close();
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new StoreClosedError('view of the state');
  }
}
