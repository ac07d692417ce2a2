import { ShardedMap } from '../sharded-map.js';
import { eachThing } from '../value/kinds.js';
import { Thing, ThingBit } from '../value/thing.js';
import { eachReference } from './pages/paged-containers.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';
import { Unlinking } from './unlinking.js';

/**
 * The search for circles of garbage: things that refer to each other while nothing else refers to them, which reference
 * counts can't find. Everything that the root reaches is marked, a few things at a time, while changes go on; then the
 * suspects that have no mark are garbage, and what only they reach, which is gathered in the same way. It goes in portions of whole circles: what
 * stays must not refer to what is gone. A circle that is too large for that is unlinked before, see `unlinking.ts`.
 *
 * Incremental marking with an insertion barrier (Dijkstra et al., "On-the-fly garbage collection", 1978): whenever a
 * reference is made, its target is reached. Between queries there are no references but those from stored things.
 */
export class Marking {
  private marks: Uint32Array;
  /** Ids that are marked and whose references are still to be followed. */
  private readonly grey: number[] = [];
  /** The suspects of the beginning. */
  readonly suspects: readonly number[];
  /** Suspects that have their turn in gathering. */
  private candidates: number[];
  /** Garbage that was found, each with another thing of the same circle, or itself; and what of it is still to be followed. */
  private readonly parents = new ShardedMap<number>();
  private readonly open: number[] = [];
  /** The weights of what was found that refers to much. */
  private readonly weights = new Map<number, number>();
  /** Cuts what was found into portions, a little at each step; null as long as there may be more. */
  private cutting: Generator<void, Portion[], undefined> | null = null;
  /** Garbage that has its turn later, in portions that refer to none of each other; null until all of it is found. */
  private portions: Portion[] | null = null;
  /** The number of things of the next portion that were looked for in order to bring them into memory, and those that are there. */
  private brought = 0;
  private present: number[] = [];
  /** Ids of things that these refer to, which come into memory next. */
  private referred: number[] = [];
  /** True if what `next` gave is part of a circle. */
  private isPart = false;
  private readonly unlinking: Unlinking;

  /** @param circleMax weight of a circle that goes in one step: its things and their references */
  constructor(
    private readonly store: Store,
    private readonly circleMax = CIRCLE_MAX,
  ) {
    this.unlinking = new Unlinking(store);
    this.marks = new Uint32Array(Math.floor(store.nextId / 32) + 64);
    this.suspects = [...store.suspects];
    this.candidates = [...this.suspects];
    store.suspects.clear();
    store.marking = this;
    this.reach(store.root.id);
    for (const of of store.schema.allEnums()) {
      for (const { value } of of.members) if (value instanceof Thing) this.reach(value.id);
    }
    for (const value of store.tasks?.arguments() ?? []) eachThing(value, ({ id }) => this.reach(id));
  }

  /** Marks a thing that is referred to. */
  reach(id: number): void {
    if (this.isMarked(id)) return;
    const word = Math.floor(id / 32);
    if (word >= this.marks.length) this.grow(word);
    this.marks[word] = this.marks[word]! | (1 << (id & 31));
    this.grey.push(id);
  }

  /**
   * Follows the references of some things; returns false when everything is marked, all garbage is found, and what goes next is in memory,
   * where it goes in one step.
   */
  step(things: number): boolean {
    for (let i = 0; i < things; i++) {
      const id = this.grey.pop();
      if (id === undefined) {
        if (this.cutting !== null) this.cut(this.cutting);
        else if (this.portions === null) this.gather();
        else if (!this.bring(this.portions)) return false;
      } else if (this.store.find(id) !== undefined)
        this.store.visitReferences(id, (child) => this.reach(child));
    }
    return true;
  }

  /**
   * Ids of garbage that is to go next, to which nothing else refers; none when the search is over. To be called when `step` has found
   * everything: what somebody has come to by its id since then, and referred to, stays.
   */
  next(): number[] {
    const portions = this.portions ?? [];
    this.beginPortion();
    for (let portion = portions.pop(); portion !== undefined; portion = portions.pop()) {
      const garbage = portion.ids.filter((id) => this.isGarbage(id));
      this.isPart = portion.isPart;
      if (garbage.length > 0) return garbage;
    }
    this.store.marking = null;
    return [];
  }

  /** Removes what `next` gave, or unlinks some of it: the rest has its turn next. */
  remove(ids: readonly number[], transaction: Transaction): void {
    if (!this.isPart) {
      transaction.removeGarbage(ids);
      return;
    }
    const count = transaction.unlinkGarbage(ids, this.unlinking);
    if (count < ids.length) this.portions?.push({ ids: ids.slice(count), isPart: true });
  }

  /** Brings one thing of the next portion into memory, with those that it refers to; returns false when all of them are. */
  private bring(portions: Portion[]): boolean {
    const portion = portions.at(-1);
    if (portion === undefined) return false;
    const { store } = this;
    const referred = this.referred.pop();
    const id = referred ?? portion.ids[this.brought++];
    if (id === undefined) return this.endPortion(portions, portion);
    const thing = store.find(id);
    if (thing === undefined) return true;
    store.load(thing);
    if (referred !== undefined) return true;
    this.present.push(id);
    if (portion.isPart && this.weights.has(id)) return true;
    for (const value of thing.slots)
      eachReference(value, (child) => {
        if ((child.bits & ThingBit.LOADED) === 0) this.referred.push(child.id);
      });
    return true;
  }

  /** All things of a portion are in memory. Returns true if another one has its turn before it. */
  private endPortion(portions: Portion[], { ids, isPart }: Portion): boolean {
    const { present } = this;
    if (present.length === ids.length) return false;
    portions.pop();
    // The rest of a circle that was unlinked may still be large, and fall apart further.
    if (present.length > 0 && (isPart || this.weightOf(present) <= this.circleMax))
      portions.push({ ids: present, isPart });
    else if (present.length > 0) portions.push(...unlinked(present));
    this.beginPortion();
    return true;
  }

  private beginPortion(): void {
    this.brought = 0;
    this.present = [];
    this.referred = [];
  }

  /** Follows the references of a thing without a mark, or cuts what was found into portions when there is none left. */
  private gather(): void {
    const { parents, open } = this;
    const id = open.pop() ?? this.nextSuspect();
    if (id === undefined) {
      this.cutting = this.inPortions();
      return;
    }
    // It may have lost its last reference meanwhile.
    if (this.store.find(id) === undefined) return;
    const first = firstOf(parents, id);
    let weight = 1;
    this.store.visitReferences(id, (child) => {
      weight += 1;
      if (parents.has(child)) parents.set(firstOf(parents, child), first);
      else if (!this.isMarked(child)) {
        parents.set(child, first);
        open.push(child);
      }
    });
    if (weight > HEAVY) this.weights.set(id, weight);
  }

  /**
   * A suspect without a mark that was not found yet. Also what became suspect since the beginning, and in the course of gathering: it may refer
   * to other garbage, which must not go without it.
   */
  private nextSuspect(): number | undefined {
    const { parents } = this;
    const isNew = (id: number): boolean => !parents.has(id) && this.isGarbage(id);
    let next = this.candidates.pop();
    while (next !== undefined && !isNew(next)) next = this.candidates.pop();
    if (next === undefined) {
      this.candidates = [...this.store.suspects].filter(isNew);
      next = this.candidates.pop();
    }
    if (next !== undefined) parents.set(next, next);
    return next;
  }

  private cut(cutting: Generator<void, Portion[], undefined>): void {
    const { done, value } = cutting.next();
    if (done !== true) return;
    this.portions = value;
    this.cutting = null;
  }

  /** The garbage that was found, in parts that refer to none of each other, of which small ones are put together. */
  private *inPortions(): Generator<void, Portion[], undefined> {
    const circles = new ShardedMap<number[]>();
    for (const id of this.parents.keys()) {
      const first = firstOf(this.parents, id);
      const circle = circles.get(first);
      if (circle === undefined) circles.set(first, [id]);
      else circle.push(id);
      yield;
    }
    this.parents.clear();
    const portions: Portion[] = [];
    let small: number[] = [];
    for (const ids of circles.values()) {
      yield;
      if (this.weightOf(ids) > this.circleMax) portions.unshift(...unlinked(ids));
      else if (small.length > 0 && small.length + ids.length <= PORTION_MAX) small.push(...ids);
      else portions.push({ ids: (small = ids), isPart: false });
    }
    return portions;
  }

  private weightOf(ids: readonly number[]): number {
    let weight = ids.length;
    for (const id of this.weights.size === 0 ? [] : ids) weight += this.weights.get(id) ?? 0;
    return weight;
  }

  /** True if this is a search of a store. */
  isOf(store: Store): boolean {
    return this.store === store;
  }

  /** Gives the search up; its suspects stay suspects. */
  abandon(): void {
    this.store.marking = null;
    for (const id of this.suspects) if (this.store.find(id) !== undefined) this.store.suspects.put(id);
  }

  private isGarbage(id: number): boolean {
    return !this.isMarked(id) && this.store.find(id) !== undefined;
  }

  private isMarked(id: number): boolean {
    const word = this.marks[Math.floor(id / 32)];
    return word !== undefined && (word & (1 << (id & 31))) !== 0;
  }

  private grow(word: number): void {
    const marks = new Uint32Array(Math.max(word + 1, this.marks.length * 2));
    marks.set(this.marks);
    this.marks = marks;
  }
}

/** Ids of things that go in one change, or of a part of a circle that is unlinked. */
interface Portion {
  readonly ids: readonly number[];
  readonly isPart: boolean;
}

/** Things that go at once, unless one circle has more. */
const PORTION_MAX = 1024;

/** Weight of a circle that goes at once: it takes some 2 µs for each on a slow machine, and ten times that where it has left memory. */
const CIRCLE_MAX = 32 * 1024;

/** References of a thing from which on they are counted. */
const HEAVY = 16;

/** The portions of a circle that is unlinked, the last one first; what is left of it goes at its end. */
function unlinked(ids: readonly number[]): Portion[] {
  const portions: Portion[] = [{ ids, isPart: false }];
  for (let i = 0; i < ids.length; i += PART_MAX)
    portions.push({ ids: ids.slice(i, i + PART_MAX), isPart: true });
  return portions;
}

/** Things of a circle that are unlinked in one change at most. */
const PART_MAX = 512;

/** The one that stands for the part of another; the way to it gets shorter. */
function firstOf(parents: ShardedMap<number>, id: number): number {
  let at = id;
  for (let next = parents.get(at) ?? at; next !== at; next = parents.get(at) ?? at) {
    const further = parents.get(next) ?? next;
    parents.set(at, further);
    at = further;
  }
  return at;
}
