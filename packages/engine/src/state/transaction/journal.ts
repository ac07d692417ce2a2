import type { ByteWriter } from '../../bytes.js';
import { operationError } from '../../error.js';
import { type Labels, NO_LABELS } from '../../schema/definition.js';
import { type Charge, List, ThingSet } from '../../value/containers.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import type { Undo } from '../effect.js';
import type { Store } from '../store.js';
import type { Tally } from '../tally.js';
import type { AppendRun } from './append-run.js';
import { NS_PER_KEY, NS_PER_UNDO, NS_PER_UNIT } from './undo-costs.js';

/**
 * Taking removals from a set back restores the order of its members up to this size. The order of a set is no
 * contract, and copying a large one would cost more than it is worth.
 */
const EXACT_UNDO_MAX = 1000;

/** A place in a change that is being made. */
export interface ChangeMark {
  readonly effects: number;
  readonly undos: number;
  readonly undoNs: number;
}

/** The record of a change: its effects, the way back, and what the query pays for. */
export class Journal {
  /** The effects, of which those of `run` are not complete. */
  protected readonly written: ByteWriter;
  /** The append to a list under way; null while the last thing that the query did was something else. */
  protected run: AppendRun | null = null;
  /** Units that are not charged yet: single ones are too few to count. */
  private uncharged = 0;
  /** Length of the effects up to which they are counted, if that is known. */
  private countedTo = 0;
  protected readonly undos: Undo[] = [];
  private undoNs = 0;
  /**
   * Lists and sets that were properties of stored things when the change began and are loose now. What the query does
   * to them is no effect, but it must be taken back: undoing the change makes them properties again.
   */
  private detached: Set<List | ThingSet> | null = null;
  /** True if the query may change nothing for a while, whatever it is. */
  private frozen = false;
  /** Counts what a dry run changes, which is taken back at its end; null for any other query. */
  tally: Tally | null = null;
  /** Sets, and indexes of keys, whose order comes right again when everything is taken back. */
  private ordered: Set<object> | null = null;

  /** @param effects an empty writer, for this transaction's use until it ends */
  constructor(
    protected readonly store: Store | null,
    /** True if the query is a change. */
    readonly writable: boolean,
    effects: ByteWriter,
    private readonly charge: Charge,
  ) {
    this.written = effects;
    effects.watcher = this;
  }

  /** The change so far. Reading it ends the append under way. */
  get effects(): ByteWriter {
    if (this.run !== null) this.endRun();
    return this.written;
  }

  get changed(): boolean {
    return this.effects.length > 0;
  }

  /** Does some work during which nothing stored may be modified. */
  whileFrozen<T>(work: () => T): T {
    this.endRun();
    const before = this.frozen;
    this.frozen = true;
    try {
      return work();
    } finally {
      this.frozen = before;
    }
  }

  /** Records the inverse of a modification that was made elsewhere, on state that is not things. */
  onUndo(undo: Undo, ns: number): void {
    this.undoBy(undo, ns);
  }

  /** Time it takes to take everything back, in milliseconds: estimated, since a query has to end in time with it. */
  get undoMs(): number {
    return this.undoNs / 1e6;
  }

  /** A step takes about as long as its way back: both must fit into the time that the query has left. */
  lookAhead(ns: number): void {
    if (ns > NS_LOOKED_AHEAD) this.charge(Math.floor((2 * ns) / NS_PER_UNIT));
  }

  /** The same for a step that little else is charged for: a short one takes some times as long as its way back. */
  chargeStep(ns: number): void {
    if (ns > NS_LOOKED_AHEAD) this.lookAhead(ns);
    else this.count(Math.floor((4 * ns) / NS_PER_UNIT));
  }

  /** Records an inverse, with an estimate of how long it runs. */
  protected undoBy(undo: Undo, ns = NS_PER_UNDO): void {
    if (this.run !== null) this.endRun();
    this.undos.push(undo);
    this.undoNs += ns;
  }

  /** Makes the last inverse that takes something back longer. */
  protected undoTakes(ns: number): void {
    this.undoNs += ns;
  }

  /** Throws operation_err when the query may not modify this thing, list or set. */
  assertWritable(target: { readonly stored: boolean }): void {
    if (target.stored && (this.frozen || !this.writable)) {
      throw operationError('stored data can only be modified by a query with a change: use wse(...)');
    }
  }

  /** Charges the query for work done elsewhere. */
  chargeUnits(units: number): void {
    this.count(units);
  }

  /** The place that the change has reached. */
  mark(): ChangeMark {
    return { effects: this.effects.length, undos: this.undos.length, undoNs: this.undoNs };
  }

  /** True if nothing was recorded behind a place. */
  isAt({ effects, undos }: ChangeMark): boolean {
    return this.effects.length === effects && this.undos.length === undos;
  }

  /** Takes what was recorded behind a place back. The query goes on. */
  takeBackTo({ effects, undos, undoNs }: ChangeMark): void {
    this.endRun();
    takeBack(this.undos.splice(undos));
    this.undoNs = undoNs;
    this.written.rewind(effects);
    this.countedTo = Math.min(this.countedTo, effects);
  }

  /** The way back from the whole change, for a leader that loses its leadership before the change is committed. */
  get inverse(): readonly Undo[] {
    return this.undos;
  }

  /** `count`, for what charges as it goes. */
  protected readonly counting: Charge = (units) => this.count(units);

  protected count(units: number): void {
    this.uncharged += units;
    if (this.uncharged < CHARGED_AT_ONCE) return;
    this.charge(this.uncharged);
    this.uncharged = 0;
  }

  protected noteDetached(value: Value): void {
    if (value instanceof List || value instanceof ThingSet) {
      this.detached ??= new Set();
      this.detached.add(value);
    }
  }

  protected isDetached(value: List | ThingSet): boolean {
    return this.detached?.has(value) === true;
  }

  /**
   * Must be called before a key is taken away. Taking removals back one by one would have to find the place of each key
   * again; the slots know it, so the whole order is restored once, after all of them.
   */
  protected keepOrder(thing: Thing): void {
    const { shape } = thing;
    if (!shape.owned || this.isOrdered(shape.index)) return;
    this.undoBy(() => shape.restoreOrder(), NS_PER_KEY * shape.size);
  }

  /** The same for the members of a set. */
  protected keepMemberOrder(set: ThingSet): void {
    if (set.size > EXACT_UNDO_MAX || this.isOrdered(set)) return;
    const before = new Set(set.members);
    this.undoBy(() => {
      set.held = before;
    });
  }

  /** True if the order of something comes right again already; from now on it does. */
  private isOrdered(what: object): boolean {
    this.ordered ??= new Set();
    if (this.ordered.has(what)) return true;
    this.ordered.add(what);
    return false;
  }

  /** Names of types and enums, for messages. */
  protected get labels(): Labels {
    return this.store === null ? NO_LABELS : this.store.schema;
  }

  protected needStore(): Store {
    if (this.store === null) throw new Error('there are stored things in collections only');
    return this.store;
  }

  /** Charges for what was written to the effects since they had some length. */
  protected countWritten(length: number): void {
    this.count(this.written.length - Math.max(length, this.countedTo));
  }

  /** Charges for a part of many values that are written, before the next one. */
  noteWritten(from: number): void {
    this.countWritten(from);
    this.countedTo = this.written.length;
    this.count(UNITS_PER_PART);
  }

  /** Ends what is being appended: what is appended next is another effect. */
  endRun(): void {
    if (this.run === null) return;
    this.run.end(this.written);
    if (this.tally !== null) this.run.countIn(this.tally);
    this.run = null;
  }
}

/** Runs inverses, newest first. */
export function takeBack(undos: readonly Undo[]): void {
  for (let i = undos.length - 1; i >= 0; i--) undos[i]!();
}

/** Units charged for a thousand values, besides their bytes. */
const UNITS_PER_PART = 24 * 1024;

/** Nanoseconds from which on the clock is looked at before a step. */
const NS_LOOKED_AHEAD = 1e6;

/** Units that are charged together. */
const CHARGED_AT_ONCE = 1024;

/** Units charged for each property that is stored. */
export const UNITS_PER_PROPERTY = 8;
