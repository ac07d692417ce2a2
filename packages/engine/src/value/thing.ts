import type { Restriction } from '../schema/restriction.js';
import type { Field, Type } from '../schema/type.js';
import type { Shape } from './shape.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** Bits of `Thing.bits`. */
export const ThingBit = {
  /** Its properties are in memory. A stored thing without this bit is a stub. */
  LOADED: 1,
  /** Touched since the last round of the eviction clock. */
  USED: 2,
  /** Changed since the checkpoint of even or odd number began; see `state/dirty.ts`. */
  DIRTY_EVEN: 4,
  DIRTY_ODD: 8,
  /** Removed: nothing stored refers to it any more. */
  GONE: 16,
  /** The receiver of a running modification. */
  WRITE_LOCK: 32,
  /** Some of it lies in pages; see `state/pages/`. */
  PAGED: 64,
  /** One running iteration; the bits above count them. */
  READ_LOCK: 128,
} as const;

const ANY_LOCK = ~(ThingBit.READ_LOCK - 1) | ThingBit.WRITE_LOCK;

/**
 * A thing: mutable properties with identity. It is *stored* when it has an id, else *loose*. Values lie in `slots`, at
 * the places that its shape gives to the keys.
 *
 * An instance of a type has the shape of its type. A stored thing changes through `state/` alone, which records what happens; a
 * loose one that nobody else has yet is filled by whoever makes it.
 */
export class Thing {
  /** References from stored containers, enum members and tasks; kept on disk with the thing. */
  refs = 0;
  /** References from containers that are in memory. A stub that nothing in memory refers to may be forgotten. */
  holders = 0;
  bits: number = ThingBit.LOADED;

  constructor(
    /** 0 while loose. */
    public id: number,
    public shape: Shape,
    public slots: Value[],
  ) {}

  get tag(): typeof Tag.THING {
    return Tag.THING;
  }

  /** The type that it is an instance of; null for a plain thing. Brings it into memory. */
  get type(): Type | null {
    if (this.shape.stale !== null) this.shape.stale.load(this);
    return this.shape.type;
  }

  /** The restriction of its values, as far as that is in force. */
  get restriction(): Restriction | null {
    const { restriction } = this.shape;
    return restriction?.inForce === true ? restriction : null;
  }

  /** The field of an instance by that name. The thing must be loaded. */
  field(key: string): Field | undefined {
    const slot = this.shape.index.get(key);
    return slot === undefined ? undefined : this.shape.fields[slot];
  }

  get stored(): boolean {
    return this.id !== 0;
  }

  get locked(): boolean {
    return (this.bits & ANY_LOCK) !== 0;
  }

  /** The value of a key; undefined when there is no such property. The thing must be loaded. */
  get(key: string): Value | undefined {
    const slot = this.shape.index.get(key);
    return slot === undefined ? undefined : this.slots[slot];
  }

  /** The value in a slot as a program sees it. The thing must be loaded. */
  readAt(slot: number): Value {
    const { late } = this.shape;
    return late?.has(slot) === true ? late.valueOf(this, slot) : (this.slots[slot] as Value);
  }

  /** The value of a key as a program sees it; undefined when there is no such property. The thing must be loaded. */
  read(key: string): Value | undefined {
    const slot = this.shape.index.get(key);
    return slot === undefined ? undefined : this.readAt(slot);
  }

  /** The values by slot as a program sees them: not to be changed. The thing must be loaded. */
  readAll(): readonly Value[] {
    const { slots } = this;
    const { late } = this.shape;
    return late === null
      ? slots
      : slots.map((value, slot) => (late.has(slot) ? late.valueOf(this, slot) : value));
  }

  /** Sets a property; a new key comes last. Returns the value that was there before. */
  put(key: string, value: Value): Value | undefined {
    const slot = this.shape.index.get(key);
    if (slot !== undefined) {
      const old = this.slots[slot];
      this.slots[slot] = value;
      return old;
    }
    const end = this.slots.length;
    this.shape = this.shape.with(key, end);
    this.slots.push(value);
    return undefined;
  }

  /** Takes a property away and returns its value; undefined when there was none. */
  drop(key: string): Value | undefined {
    const slot = this.shape.index.get(key);
    if (slot === undefined) return undefined;
    const value = this.slots[slot];
    if (this.shape.owned) {
      this.shape.remove(key);
      this.slots[slot] = null;
      if (this.slots.length > 2 * this.shape.size + 16) this.closeHoles();
    } else {
      this.shape = this.shape.without(key);
      this.slots = this.slots.toSpliced(slot, 1);
    }
    return value;
  }

  /**
   * Puts a property back that `drop` took away, to its old slot. A shared shape has kept the key all along; in an owned
   * one the key comes last, until `Shape.restoreOrder`.
   */
  reinsert(key: string, value: Value, slot: number): void {
    this.slots[slot] = value;
    if (this.shape.owned) this.shape.place(key, slot);
  }

  /** Calls `visit` for each property in order. */
  forEach(visit: (key: string, value: Value) => void): void {
    const { slots } = this;
    const { keys, index } = this.shape;
    if (keys === null) {
      for (const [key, slot] of index) visit(key, slots[slot] as Value);
    } else {
      for (let i = 0; i < keys.length; i++) visit(keys[i]!, slots[i] as Value);
    }
  }

  entries(): [string, Value][] {
    const entries: [string, Value][] = [];
    this.forEach((key, value) => {
      entries.push([key, value]);
    });
    return entries;
  }

  /** Moves to a fresh shape and slots; the old ones stay as they are, for taking the change back. */
  private closeHoles(): void {
    const shape = this.shape.own();
    const slots: Value[] = [];
    for (const [key, slot] of this.shape.index) {
      shape.place(key, slots.length);
      slots.push(this.slots[slot] as Value);
    }
    this.shape = shape;
    this.slots = slots;
  }
}

/** True if a key is one of the sixteen single characters that no thing may have as a key. */
export function isReservedKey(key: string): boolean {
  if (key.length !== 1) return false;
  const code = key.charCodeAt(0);
  return code >= 0x20 && code <= 0x2f;
}
