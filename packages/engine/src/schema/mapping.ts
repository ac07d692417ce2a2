/** The view of a wrap: which properties of a thing go with the definitions of the type that wraps it. */
import { List, ThingSet } from '../value/containers.js';
import { Member } from '../value/member.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { tagOf, type Value } from '../value/value.js';
import type { Catalog } from './catalog.js';
import { type Base, type Definition, DefinitionFlag, type Item, type PlainName } from './definition.js';
import { testsOf } from './rule.js';
import { isWider } from './widen.js';

/** True if a property of an instance shows, decided by the two definitions alone. */
export function mapsDefinition(to: Definition, from: Definition, schema: Catalog): boolean {
  const { base } = to;
  if (isPlain(base, 'any')) return true;
  if (base.kind === 'nested') return mapsNested(base.isList, from.base);
  if (from.nillable && !to.nillable) return false;
  return mapsBase(base, from.base, (to.flags & DefinitionFlag.NAMES) !== 0, schema);
}

function mapsNested(isList: boolean, from: Base): boolean {
  if (!isList) return isThingBase(from);
  if (from.kind === 'set') return true;
  return from.kind === 'list' && from.item !== null && !from.item.nillable && isThingBase(from.item.base);
}

function mapsBase(to: Base, from: Base, asName: boolean, schema: Catalog): boolean {
  const isEnum = to.kind === 'enum' || isPlain(to, 'enum');
  if (from.kind === 'enum' && !isEnum)
    return mapsBase(to, asName ? STR : valueBase(from.id, schema), false, schema);
  switch (to.kind) {
    case 'type':
    case 'restricted':
      return isThingBase(from);
    case 'list':
      return mapsList(to.item, from, asName, schema);
    case 'set':
      return from.kind === 'set';
    case 'pattern':
      return from.kind === 'pattern' && from.regex.text === to.regex.text;
    case 'form':
      return from.kind === 'form' && from.name === to.name;
    case 'plain':
      return to.name === 'thing' ? isThingBase(from) : isWiderBase(to, from);
    case 'enum':
    case 'int':
    case 'float':
    case 'str':
    case 'bool':
    case 'nested':
      return isWiderBase(to, from);
  }
}

function mapsList(to: Item | null, from: Base, asName: boolean, schema: Catalog): boolean {
  if (from.kind === 'set' && (to === null || isThingBase(to.base))) return true;
  if (from.kind !== 'list') return false;
  if (to === null) return true;
  if (from.item === null) return false;
  if (from.item.nillable && !to.nillable) return false;
  return mapsBase(to.base, from.item.base, asName, schema);
}

function isWiderBase(to: Base, from: Base): boolean {
  return isWider(definitionOf(to), definitionOf(from));
}

function definitionOf(base: Base): Definition {
  return { flags: 0, base, nillable: false, hasDefault: false, stored: '' };
}

const STR: Base = { kind: 'plain', name: 'str' };

/** The base by which the members of an enum count where a definition asks for a value: the kind of its default. */
function valueBase(enumId: number, schema: Catalog): Base {
  return { kind: 'plain', name: PLAIN_NAMES_OF[tagOf(schema.enum(enumId).default.value)] };
}

/** The plain definition that accepts the values of a kind, and as few others as there are. */
const PLAIN_NAMES_OF: Readonly<Record<Tag, PlainName>> = {
  [Tag.NIL]: 'any',
  [Tag.BOOL]: 'bool',
  [Tag.INT]: 'int',
  [Tag.FLOAT]: 'float',
  [Tag.STR]: 'str',
  [Tag.BYTES]: 'bytes',
  [Tag.REGEX]: 'regex',
  [Tag.DATETIME]: 'datetime',
  [Tag.TIMEVAL]: 'timeval',
  [Tag.ERROR]: 'error',
  [Tag.CLOSURE]: 'closure',
  [Tag.LIST]: 'any',
  [Tag.TUPLE]: 'any',
  [Tag.SET]: 'any',
  [Tag.THING]: 'thing',
  [Tag.MPDATA]: 'any',
  [Tag.MEMBER]: 'enum',
  [Tag.WRAP]: 'any',
  [Tag.ANONYMOUS]: 'any',
  [Tag.FUTURE]: 'any',
  [Tag.TASK]: 'task',
  [Tag.MODULE]: 'any',
  [Tag.ROOM]: 'room',
};

function isThingBase(base: Base): boolean {
  return base.kind === 'type' || base.kind === 'restricted' || isPlain(base, 'thing');
}

function isPlain(base: Base, name: string): boolean {
  return base.kind === 'plain' && base.name === name;
}

/** True if a property of a plain thing shows, decided by its value. */
export function mapsValue(to: Definition, value: Value): boolean {
  const { base } = to;
  if (isPlain(base, 'any')) return true;
  if (base.kind === 'nested') return showsNested(base.isList, value);
  if (value === null) return to.nillable || isPlain(base, 'enum');
  return mapsOne(base, value, (to.flags & DefinitionFlag.NAMES) !== 0);
}

function showsNested(isList: boolean, value: Value): boolean {
  if (!isList) return value instanceof Thing;
  if (value instanceof ThingSet) return true;
  return value instanceof List && value.items.every((item) => item instanceof Thing);
}

function mapsOne(base: Base, given: Value, asName: boolean): boolean {
  const isEnum = base.kind === 'enum' || isPlain(base, 'enum') || isPlain(base, 'any');
  const value = given instanceof Member && !isEnum ? (asName ? given.name : given.value) : given;
  switch (base.kind) {
    case 'type':
      return value instanceof Thing;
    case 'list': {
      const { item } = base;
      if (value instanceof ThingSet) return item === null || isThingBase(item.base);
      if (!(value instanceof List)) return false;
      return item === null || value.items.every((one) => mapsItem(item, one, asName));
    }
    case 'set':
      return value instanceof ThingSet;
    case 'restricted': {
      if (!(value instanceof Thing) || value.type !== null) return false;
      return value.entries().every(([, one]) => mapsItem(base.item, one, asName));
    }
    case 'nested':
      return false;
    case 'plain':
    case 'enum':
    case 'int':
    case 'float':
    case 'str':
    case 'bool':
    case 'form':
    case 'pattern': {
      const [test] = testsOf(base);
      return test(value);
    }
  }
}

function mapsItem(item: Item, value: Value, asName: boolean): boolean {
  if (value === null) return item.nillable || isPlain(item.base, 'enum');
  return mapsOne(item.base, value, asName);
}
