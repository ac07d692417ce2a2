/**
 * What the values of a plain thing can be restricted to, by the names that types have in definitions: `str`, `uint`,
 * `[]` for any list, `{}` for any set; with `?` behind it nil is accepted too.
 */
import { type QueryError, typeError } from '../error.js';
import { isEmail, isTel, isUrl } from '../regex/index.js';
import { List, ThingSet } from './containers.js';
import { Bytes, Float } from './scalars.js';
import { Tag } from './tag.js';
import { tagOf, typeName, type Value } from './value.js';

/** Whether a text is a restriction. */
export function isRestriction(restriction: string): boolean {
  return TESTS.has(baseOf(restriction));
}

/** Whether a thing with this restriction may hold a value. */
export function meetsRestriction(restriction: string, value: Value): boolean {
  if (value === null) return restriction.endsWith('?');
  const test = TESTS.get(baseOf(restriction));
  return test?.(value) ?? false;
}

/** Throws type_err unless a thing with this restriction may hold the value. */
export function checkRestriction(restriction: string, value: Value): void {
  if (!meetsRestriction(restriction, value)) throw refused(restriction, value);
}

function refused(restriction: string, value: Value): QueryError {
  return typeError(`the thing accepts '${restriction}' only, and not this ${typeName(value)}`);
}

function baseOf(restriction: string): string {
  return restriction.endsWith('?') ? restriction.slice(0, -1) : restriction;
}

type Test = (value: Value) => boolean;

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['str', isStr],
  ['utf8', isStr],
  ['bytes', ofTag(Tag.BYTES)],
  ['raw', (value) => isStr(value) || value instanceof Bytes],
  ['bool', ofTag(Tag.BOOL)],
  ['int', isInt],
  ['uint', (value) => isInt(value) && value >= 0],
  ['pint', (value) => isInt(value) && value > 0],
  ['nint', (value) => isInt(value) && value < 0],
  ['float', ofTag(Tag.FLOAT)],
  ['number', (value) => isInt(value) || value instanceof Float],
  ['datetime', ofTag(Tag.DATETIME)],
  ['timeval', ofTag(Tag.TIMEVAL)],
  ['regex', ofTag(Tag.REGEX)],
  ['closure', ofTag(Tag.CLOSURE)],
  ['error', ofTag(Tag.ERROR)],
  // Nothing makes a value of these types yet.
  ['room', () => false],
  ['task', () => false],
  ['email', (value) => isStr(value) && (value === '' || isEmail(value))],
  ['url', (value) => isStr(value) && (value === '' || isUrl(value))],
  ['tel', (value) => isStr(value) && (value === '' || isTel(value))],
  ['thing', ofTag(Tag.THING)],
  ['[]', (value) => value instanceof List],
  ['{}', (value) => value instanceof ThingSet],
]);

function ofTag(tag: Tag): Test {
  return (value) => tagOf(value) === tag;
}

function isStr(value: Value): value is string {
  return typeof value === 'string';
}

function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
