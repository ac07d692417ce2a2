import { eachThing } from '../value/kinds.js';
import { Thing } from '../value/thing.js';
import type { Store } from './store.js';

/**
 * The search for circles of garbage: things that refer to each other while nothing else refers to them, which reference
 * counts can't find. Everything that the root reaches is marked, a few things at a time, while changes go on; then the
 * suspects that have no mark are garbage, and what only they reach.
 *
 * Incremental marking with an insertion barrier (Dijkstra et al., "On-the-fly garbage collection", 1978): whenever a
 * reference is made, its target is reached. Between queries there are no references but those from stored things.
 */
export class Marking {
  private marks: Uint32Array;
  /** Ids that are marked and whose references are still to be followed. */
  private readonly grey: number[] = [];
  /** The suspects of the beginning. */
  private readonly suspects: readonly number[];

  constructor(private readonly store: Store) {
    this.marks = new Uint32Array(Math.floor(store.nextId / 32) + 64);
    this.suspects = [...store.suspects];
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

  /** Follows the references of some things; returns false when everything is marked. */
  step(things: number): boolean {
    for (let i = 0; i < things; i++) {
      const id = this.grey.pop();
      if (id === undefined) return false;
      if (this.store.find(id) !== undefined) this.store.visitReferences(id, (child) => this.reach(child));
    }
    return true;
  }

  /** Ids of all garbage. To be called when everything is marked; ends the search. */
  finish(): number[] {
    this.store.marking = null;
    const garbage = new Set<number>();
    // Also what became suspect meanwhile: it may refer to other garbage, which must not go without it.
    const stack = [...this.suspects, ...this.store.suspects].filter((id) => this.isGarbage(id));
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (garbage.has(id)) continue;
      garbage.add(id);
      this.store.visitReferences(id, (child) => {
        if (!garbage.has(child) && this.isGarbage(child)) stack.push(child);
      });
    }
    return [...garbage];
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
