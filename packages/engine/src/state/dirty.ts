import { IdSet } from '../schema/id-set.js';
import { type Thing, ThingBit } from '../value/thing.js';
import { RecordKind } from './records.js';

/** A record that is written as a whole whenever it changes; null when it is to be deleted. */
export interface SmallRecord {
  readonly kind: RecordKind;
  readonly id: number;
  readonly part: number;
  readonly value: Uint8Array | null;
}

/** Ids in the order in which they were added, of which those of new things mostly follow each other. */
export class IdRuns implements Iterable<number> {
  /** First id of each run, and how many there are in it. */
  private readonly runs: number[] = [];
  /** The id behind those of the last run. */
  private next = -1;

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  add(id: number): void {
    const { runs } = this;
    if (id === this.next) runs[runs.length - 1] = runs[runs.length - 1]! + 1;
    else runs.push(id, 1);
    this.next = id + 1;
  }

  /** Takes an id away, if it is the last one. */
  removeLast(id: number): void {
    if (id + 1 !== this.next) return;
    const { runs } = this;
    runs[runs.length - 1] = runs[runs.length - 1]! - 1;
    this.next = id;
    if (runs[runs.length - 1] !== 0) return;
    runs.length -= 2;
    const { length } = runs;
    this.next = length === 0 ? -1 : runs[length - 2]! + runs[length - 1]!;
  }

  *[Symbol.iterator](): Generator<number, void, undefined> {
    for (let i = 0; i < this.runs.length; i += 2) {
      const first = this.runs[i]!;
      for (let id = first, end = first + this.runs[i + 1]!; id < end; id++) yield id;
    }
  }
}

/** The numbers of the records of a thing that has no pages. */
export const ONLY_FIRST: readonly number[] = [0];

/** Ids of removed things, with the numbers of all their records. Most have one record, and are bits of a set. */
export class Removed implements Iterable<[id: number, parts: readonly number[]]> {
  private readonly small = new IdSet();
  private readonly large = new Map<number, readonly number[]>();

  get size(): number {
    return this.small.size + this.large.size;
  }

  has(id: number): boolean {
    return this.small.has(id) || this.large.has(id);
  }

  set(id: number, parts: readonly number[]): void {
    if (parts === ONLY_FIRST) this.small.put(id);
    else this.large.set(id, parts);
  }

  delete(id: number): void {
    this.small.take(id);
    this.large.delete(id);
  }

  *[Symbol.iterator](): Generator<[id: number, parts: readonly number[]], void, undefined> {
    for (const id of this.small) yield [id, ONLY_FIRST];
    yield* this.large;
  }
}

/** Changes while one checkpoint was the latest. */
export interface Changes {
  /**
   * Ids of changed things. Some may be here twice, or belong to things that are gone: `Dirty.frozenThing` tells. A set of
   * things would cost several times as much where many are stored at once.
   */
  readonly things: IdRuns;
  readonly removed: Removed;
  readonly records: Map<string, SmallRecord>;
}

/**
 * Changes that the next checkpoint must write. A checkpoint freezes the changes so far and encodes them bit by bit while
 * queries go on: a frozen thing that is about to change is encoded first, as it was (copy on write). Two dirty bits
 * take turns, so that freezing needs no walk over the things.
 */
export class Dirty {
  private current: Changes = noChanges();
  private frozen: Changes | null = null;
  /** Things among the current changes. */
  private count = 0;
  private bit: number = ThingBit.DIRTY_EVEN;
  private saveFrozen: ((thing: Thing) => void) | null = null;
  /** Puts the records of what is encoded only when a checkpoint begins. */
  beforeFreeze: () => void = () => {};

  /** @param thingOf finds a thing that is in memory, which everything that is dirty is */
  constructor(private readonly thingOf: (id: number) => Thing | undefined) {}

  /** Bit that says that a thing is among the current changes. */
  get currentBit(): number {
    return this.bit;
  }

  get size(): number {
    return this.count + this.current.removed.size + this.current.records.size;
  }

  get freezing(): boolean {
    return this.frozen !== null;
  }

  /** Forgets everything: the state that it is about is gone. */
  clear(): void {
    this.current = noChanges();
    this.count = 0;
    this.release();
  }

  /** Must be called before a thing changes. */
  mark(thing: Thing): void {
    if ((thing.bits & this.bit) !== 0) return;
    this.thaw(thing);
    this.add(thing);
  }

  /** Must be called before a thing is removed. `parts` are the numbers of its records. */
  remove(thing: Thing, parts: readonly number[]): void {
    this.thaw(thing);
    this.take(thing);
    this.current.removed.set(thing.id, parts);
  }

  /**
   * Encodes a frozen thing, as it is now. Must be called before it looks different in memory though its record stays valid; `mark`
   * and `remove` do it, too.
   */
  thaw(thing: Thing): void {
    if ((thing.bits & this.frozenBit) === 0) return;
    this.saveFrozen?.(thing);
    this.saved(thing);
  }

  /** A removed thing is back. */
  restore(thing: Thing): void {
    this.current.removed.delete(thing.id);
    // A removal that is taken back was not committed, so the checkpoint that it went into comes to nothing.
    this.frozen?.removed.delete(thing.id);
    this.mark(thing);
  }

  /** A new thing never was: its creation was taken back. */
  forget(thing: Thing): void {
    this.take(thing);
    this.saved(thing);
  }

  isRemoved(id: number): boolean {
    if (this.current.removed.has(id)) return true;
    return this.frozen?.removed.has(id) === true && !this.isPut(id);
  }

  /** The record of a thing is put as a whole, whatever became of the thing before. */
  putThing(id: number, part: number, value: Uint8Array): void {
    this.current.removed.delete(id);
    this.put(RecordKind.THING, id, part, value);
  }

  put(kind: RecordKind, id: number, part: number, value: Uint8Array | null): void {
    this.current.records.set(`${kind}:${id}:${part}`, { kind, id, part, value });
  }

  /** The newest of a record that was put and may not be on disk yet; undefined when there is none. */
  pending(kind: RecordKind, id: number, part: number): SmallRecord | undefined {
    const { current, frozen } = this;
    if (current.records.size === 0 && (frozen === null || frozen.records.size === 0)) return undefined;
    const key = `${kind}:${id}:${part}`;
    return current.records.get(key) ?? frozen?.records.get(key);
  }

  /** Starts a checkpoint. `save` is called for each frozen thing that changes before it was encoded. */
  freeze(save: (thing: Thing) => void): Changes {
    if (this.frozen !== null) throw new Error('a checkpoint is under way already');
    this.beforeFreeze();
    const changes = this.current;
    this.frozen = changes;
    this.saveFrozen = save;
    this.current = noChanges();
    this.count = 0;
    this.bit = this.bit === ThingBit.DIRTY_EVEN ? ThingBit.DIRTY_ODD : ThingBit.DIRTY_EVEN;
    return changes;
  }

  /** The thing of a frozen id, if it is not encoded yet. */
  frozenThing(id: number): Thing | undefined {
    const thing = this.thingOf(id);
    return thing !== undefined && (thing.bits & this.frozenBit) !== 0 ? thing : undefined;
  }

  /** Says that a frozen thing is encoded. */
  saved(thing: Thing): void {
    thing.bits &= ~this.frozenBit;
  }

  /** Ends a checkpoint that is durable. */
  release(): void {
    this.frozen = null;
    this.saveFrozen = null;
  }

  /**
   * Ends a checkpoint that failed: what it should have written is dirty again.
   *
   * @param again is called for each thing of it that still is
   */
  refreeze(again: (thing: Thing) => void): void {
    if (this.frozen === null) return;
    const { things, removed, records } = this.frozen;
    const now = this.current;
    for (const id of things) {
      const thing = this.thingOf(id);
      // A thing that is not there any more was removed, or never was.
      if (thing === undefined) continue;
      this.saved(thing);
      if ((thing.bits & this.bit) === 0) this.add(thing);
      again(thing);
    }
    for (const [id, parts] of removed) if (!this.isPut(id)) now.removed.set(id, parts);
    for (const [key, record] of records) if (!now.records.has(key)) now.records.set(key, record);
    this.release();
  }

  /** True if the record of a thing was put since the last checkpoint. */
  private isPut(id: number): boolean {
    return this.current.records.has(`${RecordKind.THING}:${id}:0`);
  }

  private add(thing: Thing): void {
    thing.bits |= this.bit;
    this.count += 1;
    this.current.things.add(thing.id);
  }

  /** Takes a thing out of the current changes, if it is among them. */
  private take(thing: Thing): void {
    if ((thing.bits & this.bit) === 0) return;
    thing.bits &= ~this.bit;
    this.count -= 1;
    // Changes are taken back in reverse order, so the list does not grow by queries that fail.
    this.current.things.removeLast(thing.id);
  }

  private get frozenBit(): number {
    return (ThingBit.DIRTY_EVEN | ThingBit.DIRTY_ODD) & ~this.bit;
  }
}

function noChanges(): Changes {
  return { things: new IdRuns(), removed: new Removed(), records: new Map() };
}
