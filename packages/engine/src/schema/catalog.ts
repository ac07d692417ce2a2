import type { LateValues, Loader, Shape, ShapeTree } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Definition, Labels, Names } from './definition.js';
import { isScalarDefinition, referencesOf } from './definition.js';
import { type EnumDef, EnumType } from './enum.js';
import { ruleOf } from './rule.js';
import { type Field, type FieldDef, type Rescue, Type, type TypeDef } from './type.js';
import { WeakById } from './weak-by-id.js';

/** The entry of an id: a definition, the name that a deleted one had, or nothing. */
export type TypeState = TypeDef | { readonly gone: string; readonly generation: number } | undefined;
export type EnumState = EnumDef | { readonly gone: string } | undefined;

/** The name of what is not there, or not yet: no type or enum can have it. */
const UNKNOWN = '?';

/** Tells states of catalogs apart, also those of two catalogs: equal to itself alone. */
export type CatalogVersion = Readonly<Record<never, never>>;

/**
 * The types and enums of one collection, by name and by id. Types and enums share one space of names. A deleted type is remembered
 * under its name: a later type of that name gets its id, so that what it wraps is wrapped again. It is forgotten when there are too many,
 * but for the highest id: from that one nodes know, when they start, which ids were given.
 */
export class Catalog implements Names, Labels {
  /** Tells it from the catalogs of other collections, whose restrictions share the tree of shapes. */
  readonly id: number;
  /** Where ids of types and enums come from that are not given to a name again; see `state/ids.ts`. */
  readonly typeIds = { nextId: 0, idFloor: 0 };
  readonly enumIds = { nextId: 0, idFloor: 0 };
  /** Makes the default of a definition in the running query; for loose instances that nobody could find when their type changed. */
  makeDefault: ((definition: Definition) => Value) | null = null;
  /** Gives the value of a property that a job still gives to instances, in the running query. */
  makeLate: ((thing: Thing, field: Field) => Value) | null = null;
  /** Changes whenever a name comes to mean something else. */
  version: CatalogVersion = {};
  /** Types that lost fields by a change that may still be taken back, with the number of the last such change; 0 while it is made. */
  private readonly rescuing = new Map<Type, number>();
  private readonly types = new Map<number, Type>();
  private readonly typesByName = new Map<string, Type>();
  private readonly typesWithIdName = new Set<Type>();
  private readonly enums = new Map<number, EnumType>();
  private readonly enumsByName = new Map<string, EnumType>();
  /** Deleted types by the names under which they are remembered. */
  private readonly gone = new Map<string, Type>();
  /** Ids of the types and enums that are remembered; on a node that was there, in the order in which they were deleted. */
  private readonly goneTypes = new Set<number>();
  private readonly goneEnums = new Set<number>();
  /** Types and enums that the state does not know: those that are wrapped by a value, or come back by an undo, stay one object. */
  private readonly detachedTypes = new WeakById<Type>();
  private readonly detachedEnums = new WeakById<EnumType>();
  /** Types by the ids of the types, and of the enums, that their definitions name. */
  private readonly usersByType = new Map<number, Set<Type>>();
  private readonly usersByEnum = new Map<number, Set<Type>>();
  /** The compiled forms of fields, kept so that a change of one field of a type costs no work on all others. */
  private readonly compiled = new WeakMap<FieldDef, Field>();

  constructor(
    private readonly shapes: ShapeTree,
    private readonly loader: Loader,
  ) {
    this.id = shapes.newCatalogId();
  }

  /** Number of types and enums. */
  get count(): number {
    return this.typesByName.size + this.enumsByName.size;
  }

  /** Numbers of the types and of the enums that are there. */
  get typeCount(): number {
    return this.typesByName.size;
  }

  get enumCount(): number {
    return this.enumsByName.size;
  }

  /** The type with an id, whether it is there yet or not any more: values may be read before it. */
  type(id: number): Type {
    let type = this.types.get(id);
    if (type === undefined) {
      type = this.detachedTypes.take(id) ?? new Type(id, UNKNOWN);
      this.types.set(id, type);
    }
    return type;
  }

  typeNamed(name: string): Type | undefined {
    return this.typesByName.get(name);
  }

  allTypes(): Iterable<Type> {
    return this.typesByName.values();
  }

  enum(id: number): EnumType {
    let found = this.enums.get(id);
    if (found === undefined) {
      found = this.detachedEnums.take(id) ?? new EnumType(id, UNKNOWN);
      this.enums.set(id, found);
    }
    return found;
  }

  enumNamed(name: string): EnumType | undefined {
    return this.enumsByName.get(name);
  }

  allEnums(): Iterable<EnumType> {
    return this.enumsByName.values();
  }

  /** True if a name is that of a type or an enum. */
  has(name: string): boolean {
    return this.typesByName.has(name) || this.enumsByName.has(name);
  }

  typeId(name: string): number | undefined {
    return this.typesByName.get(name)?.id;
  }

  enumId(name: string): number | undefined {
    return this.enumsByName.get(name)?.id;
  }

  memberId(enumId: number, name: string): number | undefined {
    return this.enum(enumId).named(name)?.id;
  }

  typeLabel(id: number): string {
    return this.type(id).name;
  }

  enumLabel(id: number): string {
    return this.enum(id).name;
  }

  memberLabel(enumId: number, memberId: number): string {
    return this.enum(enumId).member(memberId).name;
  }

  /** The name under which the id of a thing is shown, found without bringing the thing into memory. */
  idNameOf({ id, shape }: Thing): string {
    if (shape.type !== null) return shape.type.def?.idName ?? '#';
    if (shape.stale === null) return '#';
    for (const type of this.typesWithIdName) if (type.instances.has(id)) return type.def?.idName ?? '#';
    return '#';
  }

  /** The id of a deleted type of this name. */
  goneType(name: string): number | undefined {
    return this.gone.get(name)?.id;
  }

  /** A deleted type to be forgotten before there are more than a number, the one that was deleted first; undefined where there is room. */
  typeToForget(max: number): number | undefined {
    if (this.typesByName.size + this.goneTypes.size < max) return undefined;
    return firstBelow(this.goneTypes, this.typeIds.nextId - 1);
  }

  /** The same for enums. */
  enumToForget(max: number): number | undefined {
    if (this.enumsByName.size + this.goneEnums.size < max) return undefined;
    return firstBelow(this.goneEnums, this.enumIds.nextId - 1);
  }

  /** Ids of the types that are there, or remembered, rising. */
  typeIdsKnown(): readonly number[] {
    return idsOf(this.typesByName.values(), this.goneTypes);
  }

  /** The same of enums. */
  enumIdsKnown(): readonly number[] {
    return idsOf(this.enumsByName.values(), this.goneEnums);
  }

  stateOfType(id: number): TypeState {
    const type = this.types.get(id);
    if (type === undefined) return undefined;
    return type.def ?? (type.name === UNKNOWN ? undefined : { gone: type.name, generation: type.generation });
  }

  stateOfEnum(id: number): EnumState {
    const found = this.enums.get(id);
    if (found === undefined) return undefined;
    return found.def ?? (found.name === UNKNOWN ? undefined : { gone: found.name });
  }

  /**
   * Makes this the state of a type. Instances follow when they are touched: their shape says that it is stale.
   *
   * @returns what keeps the values of dropped fields for as long as somebody holds it: see `migrate.ts`
   */
  setType(id: number, state: TypeState): Rescue | null {
    const type = this.type(id);
    const before = type.def;
    if (before !== null) {
      this.typesByName.delete(before.name);
      this.forgetUser(type, before);
    } else if (this.gone.get(type.name) === type) this.gone.delete(type.name);
    this.goneTypes.delete(id);
    this.version = {};
    const { shape } = type;
    if (state === undefined || 'gone' in state) {
      type.def = null;
      this.typesWithIdName.delete(type);
      type.name = state === undefined ? UNKNOWN : state.gone;
      type.generation = state === undefined ? 0 : state.generation;
      type.shape = null;
      if (shape !== null) shape.stale = this.loader;
      if (state === undefined) {
        this.types.delete(id);
        this.detachedTypes.put(id, type);
      } else {
        this.gone.set(state.gone, type);
        this.goneTypes.add(id);
      }
      return null;
    }
    type.def = state;
    this.noteUser(type, state);
    if (state.idName === null) this.typesWithIdName.delete(type);
    else this.typesWithIdName.add(type);
    type.name = state.name;
    type.generation = state.generation;
    type.nextField = Math.max(type.nextField, state.nextField);
    this.typesByName.set(state.name, type);
    if (id >= this.typeIds.nextId) this.typeIds.nextId = id + 1;
    const now = slottedOf(state);
    const old = before === null ? [] : slottedOf(before);
    if (before !== null && sameFields(old, now) && before.successor === state.successor) return null;
    const slotted = this.fieldsOf(type, now);
    const successor = state.successor === null ? null : (slotted.pop() ?? null);
    type.shape = this.shapeOf(type, slotted, successor);
    if (shape === null) return null;
    shape.stale = this.loader;
    const dropped = old.filter(({ mark }) => !now.some((field) => field.mark === mark));
    if (dropped.length === 0) return null;
    this.rescuing.set(type, 0);
    return rescueOf(type, dropped);
  }

  /** Says that the change which was made is complete, and its number. */
  numberRescues(change: number): void {
    for (const [type, number] of this.rescuing) if (number === 0) this.rescuing.set(type, change);
  }

  /**
   * Says that no change up to one is taken back any more. From then on instances forget the values of fields that these dropped when they
   * are touched: to keep them would take memory for each, until a garbage collection looks at everything.
   */
  endRescues(upTo: number): void {
    for (const [type, change] of this.rescuing) {
      if (change === 0 || change > upTo) continue;
      type.rescue = null;
      this.rescuing.delete(type);
    }
  }

  /** Says which fields of a type open jobs give to its instances. What remembers where a value lies forgets it: there is a new shape. */
  setFilling(id: number, fields: ReadonlySet<number>): void {
    const type = this.type(id);
    type.filling = fields;
    const { shape } = type;
    if (shape === null || (fields.size === 0 && shape.late === null)) return;
    type.shape = this.shapeOf(type, shape.fields, shape.successor);
    shape.stale = this.loader;
  }

  private shapeOf(type: Type, fields: readonly Field[], successor: Field | null): Shape {
    const shape = this.shapes.ofType(type, fields, successor);
    const late = fields.filter(
      ({ id, definition }) => type.filling.has(id) && isScalarDefinition(definition),
    );
    if (late.length > 0) shape.late = this.lateValues(new Map(late.map((field) => [field.slot, field])));
    return shape;
  }

  private lateValues(fields: ReadonlyMap<number, Field>): LateValues {
    return {
      has: (slot) => fields.has(slot),
      valueOf: (thing, slot) => {
        const field = fields.get(slot);
        return field === undefined || this.makeLate === null
          ? (thing.slots[slot] as Value)
          : this.makeLate(thing, field);
      },
    };
  }

  setEnum(id: number, state: EnumState): void {
    const found = this.enum(id);
    if (found.def !== null) this.enumsByName.delete(found.def.name);
    this.goneEnums.delete(id);
    this.version = {};
    if (state === undefined || 'gone' in state) {
      found.end(state === undefined ? UNKNOWN : state.gone);
      if (state !== undefined) this.goneEnums.add(id);
      else {
        this.enums.delete(id);
        this.detachedEnums.put(id, found);
      }
      return;
    }
    found.become(state);
    this.enumsByName.set(state.name, found);
    if (id >= this.enumIds.nextId) this.enumIds.nextId = id + 1;
  }

  /** Types other than this one whose definitions name it. */
  usersOfType(id: number): Type[] {
    return [...(this.usersByType.get(id) ?? [])].filter((type) => type.id !== id);
  }

  /** Types whose definitions name an enum, or one member of it. */
  usersOfEnum(id: number, member?: number): Type[] {
    const users = [...(this.usersByEnum.get(id) ?? [])];
    if (member === undefined) return users;
    const namesMember = ({ definition }: FieldDef): boolean =>
      referencesOf(definition).enums.some((base) => base.id === id && base.member === member);
    return users.filter(({ def }) => def?.fields.some(namesMember) === true);
  }

  /** The fields as instances have them, each with what it accepts compiled. */
  private fieldsOf(type: Type, fields: readonly FieldDef[]): Field[] {
    return fields.map((def, slot) => {
      const known = this.compiled.get(def);
      if (known !== undefined && known.type === type && known.slot === slot) return known;
      const field = { ...def, type, slot };
      const rule = ruleOf(field);
      const compiled = Object.assign(field, { rule });
      this.compiled.set(def, compiled);
      return compiled;
    });
  }

  private noteUser(type: Type, { fields }: TypeDef): void {
    for (const { definition } of fields) {
      const { types, enums } = referencesOf(definition);
      for (const id of types) userSet(this.usersByType, id).add(type);
      for (const { id } of enums) userSet(this.usersByEnum, id).add(type);
    }
  }

  private forgetUser(type: Type, { fields }: TypeDef): void {
    for (const { definition } of fields) {
      const { types, enums } = referencesOf(definition);
      for (const id of types) forgetIn(this.usersByType, id, type);
      for (const { id } of enums) forgetIn(this.usersByEnum, id, type);
    }
  }

  clear(): void {
    for (const type of this.types.values()) {
      type.def = null;
      type.instances.clear();
    }
    for (const map of [this.types, this.typesByName, this.enums, this.enumsByName]) map.clear();
    for (const map of [this.gone, this.usersByType, this.usersByEnum, this.rescuing]) map.clear();
    for (const ids of [this.goneTypes, this.goneEnums, this.detachedTypes, this.detachedEnums]) ids.clear();
    this.typeIds.nextId = 0;
    this.enumIds.nextId = 0;
    this.version = {};
  }
}

function userSet(users: Map<number, Set<Type>>, id: number): Set<Type> {
  let found = users.get(id);
  if (found === undefined) users.set(id, (found = new Set()));
  return found;
}

function forgetIn(users: Map<number, Set<Type>>, id: number, type: Type): void {
  const found = users.get(id);
  found?.delete(type);
  if (found?.size === 0) users.delete(id);
}

function idsOf(present: Iterable<{ readonly id: number }>, gone: ReadonlySet<number>): readonly number[] {
  return [...Array.from(present, ({ id }) => id), ...gone].sort((a, b) => a - b);
}

function firstBelow(ids: ReadonlySet<number>, max: number): number | undefined {
  for (const id of ids) if (id < max) return id;
  return undefined;
}

/** The fields that instances may have values of; a field's successor stands behind them. */
export function slottedOf({ fields, successor }: TypeDef): readonly FieldDef[] {
  return successor === null ? fields : [...fields, successor];
}

function sameFields(a: readonly FieldDef[], b: readonly FieldDef[]): boolean {
  return a === b || (a.length === b.length && a.every((field, i) => field === b[i]));
}

function rescueOf(type: Type, dropped: readonly FieldDef[]): Rescue {
  const rescue: Rescue = type.rescue?.deref() ?? { fields: [], values: new Map() };
  rescue.fields.push(...dropped);
  type.rescue = new WeakRef(rescue);
  return rescue;
}
