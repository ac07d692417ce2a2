import { getOrInsertComputed } from '../get-or-insert.js';
import { eachThing } from '../value/kinds.js';
import { Thing } from '../value/thing.js';
import { eachReference } from './pages/paged-containers.js';
import type { Store } from './store.js';

/**
 * The search for circles of garbage: things that refer to each other while nothing else refers to them, which reference
 * counts can't find. Everything that the root reaches is marked, a few things at a time, while changes go on; then the
 * suspects that have no mark are garbage, and what only they reach, which is gathered in the same way. It goes in portions of whole circles: what
 * stays must not refer to what is gone.
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
  private readonly parents = new Map<number, number>();
  private readonly open: number[] = [];
  /** Garbage that has its turn later, in portions that refer to none of each other; null until all of it is found. */
  private portions: number[][] | null = null;
  /** Ids of the next portion that were brought into memory. */
  private brought = 0;

  constructor(private readonly store: Store) {
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
        if (this.portions === null) this.gather();
        else if (!this.bring(this.portions.at(-1) ?? [])) return false;
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
    this.brought = 0;
    for (let ids = portions.pop(); ids !== undefined; ids = portions.pop()) {
      const garbage = ids.filter((id) => this.isGarbage(id));
      if (garbage.length > 0) return garbage;
    }
    this.store.marking = null;
    return [];
  }

  /** Brings one thing of a portion into memory, with those that it refers to; returns false when all of them are. */
  private bring(ids: readonly number[]): boolean {
    const id = ids[this.brought++];
    if (id === undefined) return false;
    const { store } = this;
    const thing = store.find(id);
    if (thing === undefined) return true;
    store.load(thing);
    for (const value of thing.slots) eachReference(value, (child) => store.load(child));
    return true;
  }

  /** Follows the references of a thing without a mark, or cuts what was found into portions when there is none left. */
  private gather(): void {
    const { parents, open } = this;
    const id = open.pop() ?? this.nextSuspect();
    if (id === undefined) {
      this.portions = cut(this.circles());
      parents.clear();
      return;
    }
    // It may have lost its last reference meanwhile.
    if (this.store.find(id) === undefined) return;
    this.store.visitReferences(id, (child) => {
      if (parents.has(child)) parents.set(firstOf(parents, child), firstOf(parents, id));
      else if (this.isGarbage(child)) {
        parents.set(child, id);
        open.push(child);
      }
    });
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

  /** The garbage that was found, in parts that refer to none of each other. */
  private circles(): Iterable<number[]> {
    const circles = new Map<number, number[]>();
    for (const id of this.parents.keys())
      getOrInsertComputed(circles, firstOf(this.parents, id), () => []).push(id);
    return circles.values();
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

/** Things that go at once, unless one circle has more. */
const PORTION_MAX = 1024;

/** Puts small circles together. */
function cut(circles: Iterable<number[]>): number[][] {
  const portions: number[][] = [];
  for (const ids of circles) {
    const last = portions.at(-1);
    if (last !== undefined && last.length + ids.length <= PORTION_MAX) last.push(...ids);
    else portions.push(ids);
  }
  return portions;
}

/** The one that stands for the part of another; the way to it gets shorter. */
function firstOf(parents: Map<number, number>, id: number): number {
  let at = id;
  for (let next = parents.get(at) ?? at; next !== at; next = parents.get(at) ?? at) {
    const further = parents.get(next) ?? next;
    parents.set(at, further);
    at = further;
  }
  return at;
}
