/**
 * Types: what the state knows of one, and what stands for it while the engine runs.
 *
 *   type     := id:varint name:text flags:u8 generation:varint created:varint modified:varint idName:text nextField:varint
 *               fields:varint field* methods          `methods` as in `structure.ts`; `modified` is 0 for never
 *             | id:varint name:text 80 generation:varint   deleted; its id is given to a later type of this name only
 *   field    := id:varint name:text definition relation initial
 *   relation := 00 | 01 type:varint field:varint
 *             | 02 of:varint                          the last one, which is no field yet, but the successor of one: see `Successor`
 *   initial  := value                                 as in `state/value-codec.ts`
 *
 * Records of instances name fields by id. So a thing that is not in memory needs no change when its type changes: when it is read,
 * values of fields that are gone are dropped, and a field that came later has its `initial` value.
 */
import type { Closure } from '../value/closure.js';
import type { Shape } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Definition } from './definition.js';
import { IdSet } from './id-set.js';
import type { Rule } from './rule.js';

export const TypeFlag = {
  /** It has no instances and only wraps. */
  WRAP_ONLY: 2,
  /** Answers leave out the ids of instances. */
  HIDE_ID: 4,
  /** Kept for those who ask; every type has an index. */
  INDEX: 8,
  /** Making an instance with a key that is no property of the type is an error. */
  STRICT: 16,
} as const;

/** Properties of one type at most. */
export const FIELDS_MAX = 1024;

/** Methods of one type or enum at most. */
export const METHODS_MAX = 1024;

/** Types and enums that a collection can have, those included that are gone and remembered. Their ids go on behind that. */
export const TYPES_MAX = 16_384;
export const ENUMS_MAX = 8191;

/** References of a type to itself at most. */
export const SELF_REFERENCES_MAX = 255;

/** The other side of a relation. */
export interface RelationEnd {
  readonly type: number;
  readonly field: number;
}

export interface FieldDef {
  /** Never used again within the type. */
  readonly id: number;
  readonly name: string;
  readonly definition: Definition;
  readonly relation: RelationEnd | null;
  /** The value in instances that were made before the field and were not in memory since. Refers to no thing. */
  readonly initial: Value;
  readonly mark: FieldMark;
}

/**
 * A field that a job gives to instances, one after the other, and that is in the place of another when they all have it. Until then nobody
 * sees it: an instance that has it already holds its value behind those of its fields.
 */
export interface Successor extends FieldDef {
  /** The id of the field that it takes the place, and the name, of. */
  readonly of: number;
}

/** The same object for a field through all its changes, and no other's: values are found by it. */
export interface FieldMark {
  /**
   * True if the change that added the field was taken back. Its id may be given to another field then, so no record may have a value
   * of this one: see `writeThing`.
   */
  isUndone: boolean;
}

/** A type as the state has it. Never changes; the next one replaces it. */
export interface TypeDef {
  readonly id: number;
  /** The number of types that had the id before: all of this name. */
  readonly generation: number;
  readonly name: string;
  /** Bits of `TypeFlag`. */
  readonly flags: number;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly modifiedAt: number | null;
  readonly idName: string | null;
  /** Above the ids of all fields that it ever had. */
  readonly nextField: number;
  readonly fields: readonly FieldDef[];
  /** Null for none. */
  readonly successor: Successor | null;
  readonly methods: ReadonlyMap<string, Closure>;
}

/** A field as instances have it. */
export interface Field extends FieldDef {
  readonly type: Type;
  readonly slot: number;
  /** The rule for the values that it accepts; see `rule.ts`. */
  readonly rule: Rule;
}

/** Values of fields that were dropped by a change that may still be taken back. */
export interface Rescue {
  readonly fields: FieldDef[];
  readonly values: Map<Thing, Map<object, Value>>;
}

const NO_IDS: ReadonlySet<number> = new Set();

/** One type of a collection, through all its changes, and also when it is gone. */
export class Type {
  /** Null when it was deleted. */
  def: TypeDef | null = null;
  /** The number of types that had the id before. */
  generation = 0;
  /** Above the ids of all fields that this node has ever seen it have, those too that were taken back. */
  nextField = 0;
  /** The shape of instances. Each change makes a new one and retires the old. */
  shape: Shape | null = null;
  /** Ids of the stored instances. */
  readonly instances = new IdSet();
  /** Ids of the fields that open jobs give to instances. */
  filling: ReadonlySet<number> = NO_IDS;
  /** The number of its uses, during which it must not change. */
  uses = 0;
  /** True if it is being made: the arguments of the `set_type` that makes it are evaluated. */
  isUnfinished = false;
  /** Locks that are held on instances. */
  locks = 0;
  /** Values of the fields that were dropped last, as long as a change holds them that may be taken back; null once none may. */
  rescue: WeakRef<Rescue> | null = null;

  constructor(
    readonly id: number,
    /** The last name that it had. */
    public name: string,
  ) {}

  get isWrapOnly(): boolean {
    return this.def !== null && (this.def.flags & TypeFlag.WRAP_ONLY) !== 0;
  }

  get isStrict(): boolean {
    return this.def !== null && (this.def.flags & TypeFlag.STRICT) !== 0;
  }

  get hidesId(): boolean {
    return this.def !== null && (this.def.flags & TypeFlag.HIDE_ID) !== 0;
  }
}
