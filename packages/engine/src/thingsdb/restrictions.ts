/**
 * Restrictions of the values of a thing, as ThingsDB writes them, a number: the id of a type, 0x6000 and the id of an enum, or one of a table from
 * 0x4000 on; 0x8000 is added where nil may be, too.
 */
import type { Catalog } from '../schema/catalog.js';
import type { Item, PlainName } from '../schema/definition.js';
import type { TypeNumbers } from './type-numbers.js';

const ANY = 0x4000;
const ENUMS = 0x6000;
const NILLABLE = 0x8000;

/** The first one is 0x4001. */
const NAMES: readonly (PlainName | 'list' | 'set')[] = [
  'thing',
  'raw',
  'str',
  'utf8',
  'bytes',
  'int',
  'uint',
  'pint',
  'nint',
  'float',
  'number',
  'bool',
  'list',
  'set',
  'datetime',
  'timeval',
  'regex',
  'closure',
  'error',
  'room',
  'task',
  'email',
  'url',
  'tel',
  'enum',
];

/** The restriction that a code stands for; null for a code that there is not. */
export function restrictionOf(code: number, schema: Catalog): Item | 'any' | null {
  const nillable = (code & NILLABLE) !== 0;
  const plain = code & ~NILLABLE;
  if (plain === ANY) return 'any';
  if (plain < ANY) {
    return schema.type(plain).def === null ? null : { base: { kind: 'type', id: plain }, nillable };
  }
  if (plain >= ENUMS) {
    const id = plain - ENUMS;
    return schema.enum(id).def === null ? null : { base: { kind: 'enum', id, member: null }, nillable };
  }
  const name = NAMES[plain - ANY - 1];
  if (name === undefined) return null;
  const isContainer = name === 'list' || name === 'set';
  return { base: isContainer ? { kind: name, item: null } : { kind: 'plain', name }, nillable };
}

/** The code of a restriction; null where there is none of it. */
export function restrictionCode(item: Item | null, numbers: TypeNumbers): number | null {
  if (item === null) return ANY;
  const code = codeOf(item.base, numbers);
  return code === null ? null : code + (item.nillable ? NILLABLE : 0);
}

function codeOf(base: Item['base'], numbers: TypeNumbers): number | null {
  if (base.kind === 'type') return numbers.type(base.id);
  if (base.kind === 'enum') return ENUMS + numbers.enum(base.id);
  const name = base.kind === 'plain' ? base.name : base.kind;
  if (name === 'any') return ANY;
  const place = NAMES.indexOf(name);
  return place < 0 ? null : ANY + 1 + place;
}
