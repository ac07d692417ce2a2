/** Decides if a definition accepts everything that another one does, by the two alone: such changes need no closure in `mod_type`. */
import type { Base, Definition, Item, PlainName } from './definition.js';

/** True if every value that fits `from` fits `to`. A definition that is a pattern, or has a form with a default, is never sure. */
export function isWider(to: Definition, from: Definition): boolean {
  if (to.base.kind === 'plain' && to.base.name === 'any') return true;
  if (from.nillable && !to.nillable) return false;
  return isWiderBase(to.base, from.base);
}

function isWiderBase(to: Base, from: Base): boolean {
  switch (to.kind) {
    case 'plain':
      return isPlain(from, to.name) || WIDER[to.name](from);
    case 'int':
      return from.kind === 'int' && from.min >= to.min && from.max <= to.max;
    case 'float':
      return from.kind === 'float' && from.min >= to.min && from.max <= to.max;
    case 'str':
      if (from.kind !== 'str' || (to.name === 'utf8' && from.name !== 'utf8')) return false;
      return from.min >= to.min && from.max <= to.max;
    case 'bool':
      return from.kind === 'bool' || isPlain(from, 'bool');
    case 'form':
    case 'pattern':
      return false;
    case 'enum':
      return from.kind === 'enum' && from.id === to.id;
    case 'type':
      return from.kind === 'type' && from.id === to.id;
    case 'restricted':
      return from.kind === 'restricted' && isWiderItem(to.item, from.item);
    case 'list':
      return from.kind === 'list' && isWiderItem(to.item, from.item);
    case 'set':
      return from.kind === 'set' && isWiderItem(to.item, from.item);
    case 'nested':
      return false;
  }
}

/** True if every item that fits `from` fits `to`; null is anything. */
export function isWiderItem(to: Item | null, from: Item | null): boolean {
  if (to === null) return true;
  if (from === null) return false;
  if (from.nillable && !to.nillable) return false;
  return isWiderBase(to.base, from.base);
}

/** The definitions whose values each plain one accepts, besides itself. */
const WIDER: Readonly<Record<PlainName, (from: Base) => boolean>> = {
  any: () => true,
  raw: (from) => isText(from) || isPlain(from, 'bytes'),
  str: isText,
  utf8: (from) => from.kind === 'str' && from.name === 'utf8',
  bytes: () => false,
  bool: (from) => from.kind === 'bool',
  int: isInt,
  uint: (from) => isPlain(from, 'pint') || (from.kind === 'int' && from.min >= 0),
  pint: (from) => from.kind === 'int' && from.min > 0,
  nint: (from) => from.kind === 'int' && from.max < 0,
  float: (from) => from.kind === 'float',
  number: (from) => isInt(from) || from.kind === 'float' || isPlain(from, 'float'),
  datetime: () => false,
  timeval: () => false,
  regex: () => false,
  closure: () => false,
  error: () => false,
  room: () => false,
  task: () => false,
  email: () => false,
  url: () => false,
  tel: () => false,
  thing: (from) => from.kind === 'restricted' || from.kind === 'type',
  enum: (from) => from.kind === 'enum',
};

function isText(from: Base): boolean {
  if (from.kind !== 'plain') return from.kind === 'str' || from.kind === 'form' || from.kind === 'pattern';
  return isPlain(from, 'str', 'utf8', 'email', 'url', 'tel');
}

function isInt(from: Base): boolean {
  return from.kind === 'int' || isPlain(from, 'int', 'uint', 'pint', 'nint');
}

function isPlain(base: Base, ...names: readonly PlainName[]): boolean {
  return base.kind === 'plain' && names.includes(base.name);
}
