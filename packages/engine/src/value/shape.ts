import type { Restriction } from '../schema/restriction.js';
import type { Field, Type } from '../schema/type.js';
import type { Charge } from './containers.js';
import type { Thing } from './thing.js';
import type { Value } from './value.js';

/** A thing with more properties than this gets a shape of its own. */
const SHARED_KEYS_MAX = 32;

/** The charge for a key of each kind of shape: where there are very many, it takes some 600 ns to find its place. */
const UNITS_PER_SHARED_KEY = 8;
const UNITS_PER_OWNED_KEY = 128;

/** An owned shape of so many keys knows them by slot. */
const MANY_KEYS = 1024;

/** Shared shapes of one engine at most: keys can come from data. */
const SHARED_SHAPES_MAX = 8192;

/**
 * The keys of a thing and the slot of each value. Things with the same keys in the same order share one shape, so that
 * a thing costs little more than its array of values; their slots are 0, 1, 2, ... without holes. A thing with many
 * keys, or one that comes when the tree is full, *owns* its shape: keys are added and removed in place, and a removed
 * key leaves a hole in the slots. The instances of a type have the shape of their type, which has no others behind it.
 */
export class Shape {
  /** The keys of a shared shape, each at its slot; null for an owned one. Going over them costs less than over `index`. */
  readonly keys: readonly string[] | null;
  /**
   * The step that brings a thing with this shape up to date: a stub, whose properties are not in memory, or an instance from before its type
   * changed. Null for every other shape.
   */
  stale: Loader | null = null;
  /** Properties that a job still gives to instances; null where none does. */
  late: LateValues | null = null;
  /** The keys of an owned shape at their slots, null for free ones; once it has many, or somebody asked for them. */
  private bySlot: (string | null)[] | null = null;
  private readonly next: Map<string, Shape> = new Map();
  /** The key that was asked for last behind these keys, and the shape with it: mostly the next thing has it, too. */
  private last: Shape | null = null;
  private keyOfLast: string | null = null;

  constructor(
    private readonly tree: ShapeTree,
    /** Slot of each key, in the order of the keys. */
    readonly index: Map<string, number>,
    readonly owned: boolean,
    /** The values that the thing accepts, as given to `restrict`; null for everything. */
    readonly restriction: Restriction | null,
    /** The type whose instances have the shape; null for plain things. */
    readonly type: Type | null = null,
    /** The fields of the type, by slot. */
    readonly fields: readonly Field[] = NO_FIELDS,
    /** The successor of a field, whose slot is behind theirs: it is there where an instance has its value. */
    readonly successor: Field | null = null,
  ) {
    this.keys = owned ? null : [...index.keys()];
  }

  get size(): number {
    return this.index.size;
  }

  /** The cost of copying the keys or looking each of them up, in units of `Runtime.charge`: an owned shape has a table of its own. */
  get unitsToWalk(): number {
    return (this.owned ? UNITS_PER_OWNED_KEY : UNITS_PER_SHARED_KEY) * this.index.size;
  }

  /** The key that came behind these keys last. */
  get lastKey(): string | null {
    return this.keyOfLast;
  }

  /** The keys of an owned shape at their slots; null, or nothing, for free ones. */
  get keysBySlot(): readonly (string | null)[] {
    return this.findSlots();
  }

  private findSlots(): (string | null)[] {
    if (this.bySlot === null) {
      let end = 0;
      for (const slot of this.index.values()) end = Math.max(end, slot + 1);
      const keys = new Array<string | null>(end).fill(null);
      for (const [key, slot] of this.index) keys[slot] = key;
      this.bySlot = keys;
    }
    return this.bySlot;
  }

  /** Gives a key of an owned shape its slot. */
  place(key: string, slot: number): void {
    this.index.set(key, slot);
    if (this.bySlot !== null) this.bySlot[slot] = key;
    // Early, since it takes long for very many.
    else if (this.index.size === MANY_KEYS) this.findSlots();
  }

  /** Takes a key of an owned shape away. */
  remove(key: string): void {
    const slot = this.index.get(key);
    if (slot === undefined) return;
    this.index.delete(key);
    if (this.bySlot !== null) this.bySlot[slot] = null;
  }

  /** The shape with one more key, whose value goes to `slot` (for a shared shape: the one after the last). */
  with(key: string, slot: number): Shape {
    if (this.owned) {
      this.place(key, slot);
      return this;
    }
    if (this.last !== null && this.keyOfLast === key) return this.last;
    const known = this.next.get(key);
    if (known !== undefined) {
      this.last = known;
      this.keyOfLast = key;
      return known;
    }
    if (this.index.size >= SHARED_KEYS_MAX || this.tree.full) return this.own().with(key, slot);
    const index = new Map(this.index);
    index.set(key, slot);
    const shape = this.tree.share(index, this.restriction);
    this.next.set(key, shape);
    return shape;
  }

  /** The shape of the remaining keys of a shared shape, in the same order, slots closed up. */
  without(key: string): Shape {
    let shape = this.tree.empty(this.restriction);
    let slot = 0;
    for (const other of this.index.keys()) {
      if (other !== key) shape = shape.with(other, slot++);
    }
    return shape;
  }

  /** A shape with the same keys and slots that its one thing may change. */
  own(): Shape {
    return new Shape(this.tree, new Map(this.index), true, this.restriction);
  }

  /** Puts the keys of an owned shape in the order of their slots, which is the order in which they were added. */
  restoreOrder(): void {
    const keys = this.findSlots();
    this.index.clear();
    keys.forEach((key, slot) => {
      if (key !== null) this.index.set(key, slot);
    });
  }

  /** The same keys and slots under another restriction. */
  restricted(restriction: Restriction | null): Shape {
    if (this.owned) {
      const same = new Shape(this.tree, this.index, true, restriction);
      same.bySlot = this.findSlots();
      return same;
    }
    let shape = this.tree.empty(restriction);
    for (const [key, slot] of this.index) shape = shape.with(key, slot);
    return shape;
  }

  /** The shape without properties that a thing gets when it is cleared. */
  cleared(): Shape {
    return this.tree.empty(this.restriction);
  }
}

/** Brings the properties of a thing into memory, in their present form. */
export interface Loader {
  /** @param charge told of what is read of large things, before that is done; may throw */
  load(thing: Thing, charge?: Charge): void;
}

/** Properties of a type that a job gives to its instances, one after the other: who reads one before that gets the value all the same. */
export interface LateValues {
  /** True for the slot of such a property. */
  has(slot: number): boolean;
  /** The value in such a slot, as a program sees it. */
  valueOf(thing: Thing, slot: number): Value;
}

const NO_FIELDS: readonly Field[] = [];

/** The shape of plain things with the fields of a type. An owned one is for one thing: give each its own. */
export function plainShape(shapes: ShapeTree, fields: readonly Field[]): Shape {
  return fields.reduce((shape, { name, slot }) => shape.with(name, slot), shapes.empty());
}

/** All shared shapes of one engine. */
export class ShapeTree {
  /** The roots by the key of their restriction, which is empty for none. */
  private readonly roots = new Map<string, Shape>();
  private count = 0;
  private catalogs = 0;

  /** A number for one of the catalogs that use this tree, which no other of them has. */
  newCatalogId(): number {
    this.catalogs += 1;
    return this.catalogs;
  }

  get full(): boolean {
    return this.count >= SHARED_SHAPES_MAX;
  }

  /** The shape of a thing without properties. */
  empty(restriction: Restriction | null = null): Shape {
    const key = restriction === null ? '' : restriction.key;
    let root = this.roots.get(key);
    if (root === undefined) {
      root = this.share(new Map(), restriction);
      this.roots.set(key, root);
    }
    return root;
  }

  /** The shape of things that are not in memory. */
  stub(loader: Loader): Shape {
    const shape = new Shape(this, new Map(), false, null);
    shape.stale = loader;
    return shape;
  }

  ofType(type: Type, fields: readonly Field[], successor: Field | null): Shape {
    const index = new Map(fields.map(({ name, slot }) => [name, slot]));
    return new Shape(this, index, false, null, type, fields, successor);
  }

  share(index: Map<string, number>, restriction: Restriction | null): Shape {
    this.count += 1;
    return new Shape(this, index, false, restriction);
  }
}
