import type { QueryError } from '../../error.js';
import { type ItemRule, itemRefusal } from '../../schema/rule.js';
import { Closure } from '../../value/closure.js';
import {
  assertInnerItems,
  assertItems,
  chargeFill,
  innerOf,
  List,
  ThingSet,
  toItem,
  UNITS_PER_INNER_ITEM,
  UNITS_PER_REFERENCE,
} from '../../value/containers.js';
import { isScalar } from '../../value/kinds.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { perform, type Undo, writeEffect } from '../effect.js';
import { nsOfSplice, ThingEffect } from '../effects.js';
import { putRuns, type Run, spliceItems, takeRuns } from '../list-edits.js';
import type { Store } from '../store.js';
import { writeValue } from '../value-codec.js';
import { AppendRun } from './append-run.js';
import { type Appended, isFlat, Storing } from './storing.js';
import { chargeLoads, NS_PER_ITEM, NS_PER_THING, NS_PER_UNIT } from './undo-costs.js';

/** Changes of lists. */
export class ListChanges extends Storing {
  /**
   * Replaces `count` items of a list from `start` on by `values`, which become items: lists and sets turn into tuples.
   *
   * @returns the removed items, in an array that is the caller's own
   */
  spliceList(list: List, start: number, count: number, values: readonly Value[]): Value[] {
    assertItems(list.length - count + values.length);
    const { stored } = list;
    if (list.rule !== null) this.checkItems(list.rule, values);
    const items = this.toItems(values, list);
    const added = items.length;
    if (!stored) {
      this.count(UNITS_PER_MOVED * (count + added));
      const ns = nsOfSplice(list, start, count, added);
      const removed = spliceItems(list, start, count, items);
      if (this.isDetached(list)) this.undoBy(() => spliceItems(list, start, added, removed), ns);
      return removed.slice();
    }
    this.assertWritable(list);
    if (count === 0 && added === 0) return [];
    const store = this.needStore();
    for (const item of items) chargeLoads(item, this.counting);
    this.storeItems(items);
    const { length } = this.effects;
    writeEffect(this.effects, ThingEffect.SPLICE, list, start, count, items);
    this.tally?.add(ThingEffect.SPLICE.counts(store, list, start, count, items));
    this.countWritten(length);
    const isAppended = start === list.length;
    const ns = ThingEffect.SPLICE.cost(store, list, start, count, items);
    this.count(UNITS_PER_PLACED * (count + added));
    if (count > 0) this.countGone(list, list.slice(start, start + count));
    const removed = store.splice(list, start, count, items);
    if (isAppended) this.undoAppend(store, list, start, added);
    else this.undoBy(() => store.splice(list, start, added, removed), ns);
    return removed.slice();
  }

  /** Appends one value to a list, which is the most frequent change of a list; as `spliceList` at its end. */
  append(list: List, value: Value): void {
    const isNew = value instanceof Thing && value.id === 0;
    const { run } = this;
    const comesAlone = isAlone(value);
    if (run !== null && comesAlone && run.takes(list, isNew)) {
      this.checkAppended(list, value);
      if (isNew) this.checkStored(run.store, value);
      this.appendNext(run, value);
      return;
    }
    if (!list.stored || !isItem(value)) {
      this.spliceList(list, list.length, 0, [value]);
      return;
    }
    this.checkAppended(list, value);
    this.assertWritable(list);
    if (comesAlone && isNew) this.checkStored(this.needStore(), value);
    if (comesAlone) this.appendNext(this.beginRun(list, isNew), value);
    else this.appendWithOthers(list, value);
  }

  private checkAppended(list: List, value: Value): void {
    assertItems(list.length + 1);
    if (list.rule !== null && !list.rule.fits(value)) throw this.refusedItem(list.rule, value);
  }

  private beginRun(list: List, isOfNew: boolean): AppendRun {
    const store = this.needStore();
    const out = this.effects;
    if (isOfNew) this.undoStoring(store);
    const step = this.stepOfAppend(store, list);
    store.touchOwner(list);
    const run = new AppendRun(out, list, store, isOfNew, step);
    this.run = run;
    return run;
  }

  /** Appends a value to the list of a run. */
  private appendNext(run: AppendRun, value: Value): void {
    const { written } = this;
    const { length } = written;
    let units = 0;
    if (run.isOfNew) units = this.storeNext(run.store, value as Thing);
    else writeValue(written, value);
    run.store.appendNext(run.list, value);
    run.note();
    this.undoTakes(run.isOfNew ? NS_PER_ITEM + NS_PER_THING : NS_PER_ITEM);
    // Last, since it may end the query, which is taken back then.
    this.count(units + written.length - length + UNITS_PER_APPEND);
  }

  /** Appends a loose thing that brings others along. */
  private appendWithOthers(list: List, value: Value): void {
    const store = this.needStore();
    const start = list.length;
    this.storeItems([value]);
    const { length } = this.effects;
    writeEffect(this.effects, ThingEffect.SPLICE, list, start, 0, [value]);
    this.tally?.add(['items', 1]);
    this.countWritten(length);
    store.append(list, value);
    this.undoAppend(store, list, start, 1);
  }

  /** Notes how to take back what was appended to a list. Appending one by one, which is frequent, takes one step in all. */
  private undoAppend(store: Store, list: List, start: number, added: number): void {
    this.stepOfAppend(store, list, start).added += added;
    this.undoTakes(NS_PER_ITEM * added);
  }

  /** The last inverse, if it takes back what was appended to a list, else a new one for items from `start` on. */
  private stepOfAppend(store: Store, list: List, start = list.length): Appended {
    const { undos, appended } = this;
    if (appended !== null && appended.list === list && appended.place === undos.length - 1) return appended;
    const step = { list, added: 0, place: undos.length };
    this.undoBy(undoOfAppend(store, step, start));
    this.appended = step;
    return step;
  }

  /** Replaces every item of a list by one value. */
  fillList(list: List, value: Value): void {
    const count = list.length;
    const { stored } = list;
    if (list.rule !== null) this.checkItems(list.rule, [value]);
    const [item = null] = this.toItems([value], list, count);
    const items = new Array<Value>(count).fill(item);
    this.count(count);
    if (!stored) {
      const removed = spliceItems(list, 0, count, items);
      const ns = nsOfSplice(list, 0, count, count);
      if (this.isDetached(list)) this.undoBy(() => spliceItems(list, 0, count, removed), ns);
      return;
    }
    this.assertWritable(list);
    if (count === 0) return;
    const store = this.needStore();
    this.storeAll(item);
    this.count(UNITS_PER_PLACED * count + UNITS_PER_REFERENCE * (isScalar(item) ? 0 : count));
    const { length } = this.effects;
    perform(this, ThingEffect.FILL, store, list, item);
    this.countWritten(length);
  }

  /**
   * Removes the items at some positions, which are in order.
   *
   * @returns the removed items, in an array that is the caller's own
   */
  removeItems(list: List, positions: readonly number[]): Value[] {
    if (positions.length === 0) return [];
    const runs = runsOf(positions);
    this.count(list.length);
    if (!list.stored) {
      const ns = nsOfSplice(list, 0, positions.length, 0);
      const removed = takeRuns(list, runs);
      if (this.isDetached(list)) this.undoBy(() => putRuns(list, runs, removed), ns);
      return removed.slice();
    }
    this.assertWritable(list);
    this.countGone(
      list,
      positions.map((i) => list.at(i)),
    );
    return perform(this, ThingEffect.REMOVE_ITEMS, this.needStore(), list, runs).slice();
  }

  /** Charges for items that go from a stored list: what they refer to is counted out, and in again when that is taken back. */
  private countGone(list: List, items: readonly Value[]): void {
    let references = 0;
    for (const item of items) {
      if (isScalar(item)) continue;
      references += 1;
      chargeLoads(item, this.counting);
    }
    this.count(
      2 * UNITS_PER_REFERENCE * references + (list.inner > 0 ? UNITS_PER_INNER_ITEM * innerOf(items) : 0),
    );
    this.undoTakes(NS_PER_UNIT * UNITS_PER_REFERENCE * references);
  }

  protected checkItems(rule: ItemRule, values: readonly Value[]): void {
    this.count(values.length);
    for (const value of values) if (!rule.fits(value)) throw this.refusedItem(rule, value);
  }

  private refusedItem(rule: ItemRule, value: Value): QueryError {
    return itemRefusal(rule, value, this.labels);
  }

  /**
   * The form of values that are put into a list.
   *
   * @param times how often each of them is going to be in the list
   */
  private toItems(values: readonly Value[], list: List, times = 1): readonly Value[] {
    const [first = null] = values;
    if (values.length === 1 && isItem(first)) return values;
    // A list of their own, so that `list` stays as it is when a value is refused.
    const made = new List(new Array<Value>(values.length));
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as Value;
      if (value instanceof Closure) {
        this.count(value.unitsToStore);
        value.store();
      } else if (value instanceof ThingSet) chargeFill(value, this.counting);
      made.items[i] = toItem(value, made);
    }
    assertInnerItems(list, made.inner * times);
    this.count(values.length + made.inner);
    return made.items;
  }
}

function undoOfAppend(store: Store, step: Appended, start: number): Undo {
  return () => store.splice(step.list, start, step.added, []);
}

/** True if a list holds a value as it is. */
function isItem(value: Value): boolean {
  return value instanceof Thing || isScalar(value);
}

/** True if a list holds a value as it is, and no other comes with it that is not stored. */
function isAlone(value: Value): boolean {
  return value instanceof Thing ? value.id !== 0 || isFlat(value) : isScalar(value);
}

/** Neighbouring positions, taken together. */
function runsOf(positions: readonly number[]): Run[] {
  const runs: Run[] = [];
  let start = positions[0] ?? 0;
  for (let i = 1; i <= positions.length; i++) {
    const before = positions[i - 1]!;
    if (positions[i] === before + 1) continue;
    runs.push({ start, count: before + 1 - start });
    start = positions[i] ?? 0;
  }
  return runs;
}

/** Units charged for an item that comes into a list or leaves it, before that is done: without and with pages and the counts of references. */
const UNITS_PER_MOVED = 4;
const UNITS_PER_PLACED = 16;

/** Units charged for an item that is appended besides its own bytes: as if it had an effect for itself. */
const UNITS_PER_APPEND = 16;
