import type { ByteWriter } from '../../bytes.js';
import type { List } from '../../value/containers.js';
import { writeEffect } from '../effect.js';
import { beginAppends, ThingEffect, writeAppendedThings } from '../effects.js';
import type { Store } from '../store.js';
import type { Tally } from '../tally.js';
import type { Appended } from './storing.js';

/** Items of one effect at most: their number is one byte, which is there before the items. */
const ITEMS_MAX = 127;

/**
 * Items that a query appends to one stored list, with nothing in between. They grow one effect; new things grow the one that makes
 * them, and the one that puts them in the list is written at the end of the run: the state is the same as if they came one by one.
 */
export class AppendRun {
  /** Number of items of the list before, and the id of the first new thing. */
  private readonly start: number;
  private readonly base: number;
  /** Place of the byte that has the number of items. */
  private readonly countAt: number;
  private count = 0;

  /** Begins the effect. The owner of the list must have been touched. */
  constructor(
    out: ByteWriter,
    readonly list: List,
    readonly store: Store,
    /** True if the items are things that are not stored yet and bring no others along; if not, they are values that are there. */
    readonly isOfNew: boolean,
    /** The undo of the items. */
    readonly step: Appended,
  ) {
    this.start = list.length;
    this.base = store.nextId;
    if (isOfNew) writeEffect(out, ThingEffect.NEW_THINGS, this.base, 0);
    else beginAppends(out, list);
    this.countAt = out.length - 1;
  }

  /** True if the effect takes one more item of a kind. */
  takes(list: List, isNew: boolean): boolean {
    return (
      this.list === list &&
      this.isOfNew === isNew &&
      this.count < ITEMS_MAX &&
      (!isNew || this.store.nextId === this.base + this.count)
    );
  }

  /** Notes that one item more is written and in the list. */
  note(): void {
    this.count += 1;
    this.step.added += 1;
  }

  /** Counts what the effects do. */
  countIn(tally: Tally): void {
    tally.add(['items', this.count]);
    if (this.isOfNew) tally.add(ThingEffect.NEW_THINGS.counts(this.store, this.base, this.count));
  }

  /** Completes the effects. */
  end(out: ByteWriter): void {
    out.patch(this.countAt, this.count);
    if (this.isOfNew) writeAppendedThings(out, this.list, this.start, this.base, this.count);
  }
}
