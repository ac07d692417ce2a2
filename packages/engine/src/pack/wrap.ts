/** The packed form of a wrapped thing: the view of the wrapping type, and its methods as computed properties. */
import type { Catalog } from '../schema/catalog.js';
import { type Definition, DefinitionFlag } from '../schema/definition.js';
import { mapsDefinition, mapsValue } from '../schema/mapping.js';
import type { Structure, StructureField } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import type { Closure } from '../value/closure.js';
import { chargeFill, List, ThingSet } from '../value/containers.js';
import { isTruthy } from '../value/kinds.js';
import { Member } from '../value/member.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Anonymous } from '../value/wrap.js';

/** The value of a computed property. */
export interface Computed {
  readonly value: Value;
  readonly deep: number;
  readonly ids: boolean;
}

/**
 * Calls a method of a wrapping type; an error becomes its text.
 *
 * @param level in how many computed values the wrapped thing lies
 */
export type Compute = (closure: Closure, thing: Thing, level: number) => Computed;

/** The packing of values, as far as wraps need it. */
export interface Packing {
  /** In how many computed values the present one lies. */
  readonly computedLevel: number;
  /** Packs a value, whose things are wrapped by what the definition says. */
  value(value: Value, deep: number): void;
  /** Packs a value that was computed, as `value` does. */
  computed(value: Value, deep: number): void;
  /** Charges units of work that is about to be done. */
  check(units: number): void;
  /** With or without ids, and members by name. */
  withModes(modes: { readonly ids?: boolean; readonly names?: boolean }, work: () => void): void;
  array(items: Iterable<Value>, count: number, item: (value: Value) => void): void;
  /** A map that belongs to a thing: cut at depth 0 and where the thing is being packed already. */
  mapOf(thing: Thing, deep: number, idNames: IdNames, entries: () => readonly Entry[]): void;
}

/** Names of the id: where it stands alone, and in front of properties; null where it is hidden. */
export interface IdNames {
  readonly cut: string;
  readonly whole: string | null;
}

/** A key, and what packs its value. */
export interface Entry {
  readonly key: string;
  readonly pack: () => void;
}

/** The wrapper of a thing: a type, or a structure of a definition or of an anonymous type. */
export interface Shown {
  readonly idName: string | null;
  readonly hidesId: boolean;
  readonly fields: readonly StructureField[];
  readonly methods: ReadonlyMap<string, Closure>;
}

/** The view of a wrap; null for a type that is gone, which shows everything. */
export function shownBy(by: Type | Anonymous): Shown | null {
  if (by instanceof Anonymous) return shownByStructure(by.structure);
  if (by.def === null) return null;
  const { idName, fields, methods } = by.def;
  return { idName, hidesId: by.hidesId, fields, methods };
}

function shownByStructure({ idName, fields, methods }: Structure): Shown {
  return { idName, hidesId: idName === null, fields, methods };
}

/** Packs a thing as something shows it. `idName` is for where the id alone is shown. */
export function packShown(
  packing: Packing,
  thing: Thing,
  shown: Shown,
  deep: number,
  idName: string,
  schema: Catalog,
  compute: Compute,
): void {
  const entries = (): readonly Entry[] => {
    packing.check(UNITS_PER_SHOWN * (1 + shown.fields.length + shown.methods.size));
    // Brings it into memory.
    const { type } = thing;
    const found: Entry[] = [];
    const computed = [...shown.methods].map(([key, closure]) => ({
      key,
      ...compute(closure, thing, packing.computedLevel),
    }));
    for (const { name, definition } of shown.fields) {
      if (shown.methods.has(name)) continue;
      const value = thing.read(name);
      if (value === undefined) continue;
      const from = type === null ? undefined : thing.field(name)?.definition;
      const maps =
        from === undefined ? mapsValue(definition, value) : mapsDefinition(definition, from, schema);
      if (!maps || isSkipped(definition, value)) continue;
      found.push({ key: name, pack: () => packField(packing, definition, value, deep - 1, schema, compute) });
    }
    for (const { key, value, deep: own, ids } of computed) {
      found.push({
        key,
        pack: () => packing.withModes(ids ? {} : { ids: false }, () => packing.computed(value, own)),
      });
    }
    return found;
  };
  const whole = shown.hidesId ? null : (shown.idName ?? '#');
  packing.mapOf(thing, deep, { cut: idName, whole }, entries);
}

/** Units charged for a wrapped thing, and for each property and method that shows of it. */
const UNITS_PER_SHOWN = 256;

function isSkipped({ flags, base }: Definition, value: Value): boolean {
  if (value === null && (flags & DefinitionFlag.SKIP_NIL) !== 0) return true;
  // A nested structure shows things only.
  if (base.kind === 'nested' && value === null) return true;
  return (flags & DefinitionFlag.SKIP_FALSE) !== 0 && !isTruthy(value);
}

const DEEPEST = 126;

/** The depth at which a property is packed, given that of the wrapped thing less one. */
function depthOf(flags: number, deep: number): number {
  const more = (flags & DefinitionFlag.DEEPER) !== 0 ? 1 : 0;
  if ((flags & DefinitionFlag.SHALLOW) !== 0) return more;
  return (flags & DefinitionFlag.DEEPEST) !== 0 ? DEEPEST + more : deep + more;
}

function packField(
  packing: Packing,
  definition: Definition,
  value: Value,
  deep: number,
  schema: Catalog,
  compute: Compute,
): void {
  const { flags } = definition;
  const own = depthOf(flags, deep);
  const shown = innerShown(definition, schema);
  const one = (item: Value): void => {
    if (shown !== null && item instanceof Thing) {
      packShown(packing, item, shown, own, shown.idName ?? '#', schema, compute);
    } else if (shown !== null && item instanceof Member && item.value instanceof Thing) {
      packShown(packing, item.value, shown, own, shown.idName ?? '#', schema, compute);
    } else {
      packing.value(item, own);
    }
  };
  const modes = {
    ...((flags & DefinitionFlag.NO_IDS) === 0 ? {} : { ids: false }),
    names: (flags & DefinitionFlag.NAMES) !== 0,
  };
  packing.withModes(modes, () => {
    chargeFill(value, (units) => packing.check(units));
    if (shown !== null && value instanceof List) packing.array(value.items, value.length, one);
    else if (shown !== null && value instanceof ThingSet) packing.array(value.members, value.size, one);
    else one(value);
  });
}

/** The wrapper of the things of a property: the type that its definition names, or the structure nested in it. */
function innerShown({ base }: Definition, schema: Catalog): Shown | null {
  if (base.kind === 'nested') return shownByStructure(base.structure);
  if (base.kind === 'type') return shownBy(schema.type(base.id));
  if ((base.kind === 'list' || base.kind === 'set') && base.item?.base.kind === 'type') {
    return shownBy(schema.type(base.item.base.id));
  }
  return null;
}
