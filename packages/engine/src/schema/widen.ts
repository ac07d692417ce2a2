/** Which definition accepts everything that another one does, decided by the two alone: what `mod_type` allows without a closure. */
import type { Base, Definition, Item } from './definition.js';

/** Whether every value that fits `from` fits `to`. A definition that is a pattern, or has a form with a default, is never sure. */
export function isWider(to: Definition, from: Definition): boolean {
  if (to.base.kind === 'plain' && to.base.name === 'any') return true;
  if (from.nillable && !to.nillable) return false;
  return isWiderBase(to.base, from.base);
}

function isWiderBase(to: Base, from: Base): boolean {
  switch (to.kind) {
    case 'plain':
      return isWiderPlain(to.name, from);
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

/** Whether every item that fits `from` fits `to`; null is anything. */
export function isWiderItem(to: Item | null, from: Item | null): boolean {
  if (to === null) return true;
  if (from === null) return false;
  if (from.nillable && !to.nillable) return false;
  return isWiderBase(to.base, from.base);
}

/** Plain definitions that accept texts of some kind. */
const TEXTS: ReadonlySet<string> = new Set(['str', 'utf8', 'email', 'url', 'tel']);

function isText(from: Base): boolean {
  if (from.kind === 'plain') return TEXTS.has(from.name);
  return from.kind === 'str' || from.kind === 'form' || from.kind === 'pattern';
}

function isWiderPlain(to: Extract<Base, { kind: 'plain' }>['name'], from: Base): boolean {
  if (isPlain(from, to)) return true;
  switch (to) {
    case 'any':
      return true;
    case 'raw':
      return isText(from) || isPlain(from, 'bytes');
    case 'str':
      return isText(from);
    case 'utf8':
      return from.kind === 'str' && from.name === 'utf8';
    case 'int':
      return from.kind === 'int' || (from.kind === 'plain' && INTS.has(from.name));
    case 'uint':
      return isPlain(from, 'pint') || (from.kind === 'int' && from.min >= 0);
    case 'pint':
      return from.kind === 'int' && from.min > 0;
    case 'nint':
      return from.kind === 'int' && from.max < 0;
    case 'float':
      return from.kind === 'float';
    case 'number':
      return (
        from.kind === 'int' ||
        from.kind === 'float' ||
        isPlain(from, 'float') ||
        (from.kind === 'plain' && INTS.has(from.name))
      );
    case 'bool':
      return from.kind === 'bool';
    case 'enum':
      return from.kind === 'enum';
    case 'thing':
      return from.kind === 'restricted' || from.kind === 'type';
    default:
      return false;
  }
}

const INTS: ReadonlySet<string> = new Set(['int', 'uint', 'pint', 'nint']);

function isPlain(base: Base, name: string): boolean {
  return base.kind === 'plain' && base.name === name;
}
