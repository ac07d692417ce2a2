import { zoneByName } from '@althing/datetime';
import { compileRegex, isEmail, isTel, isUrl, RegexSyntaxError } from '@althing/regex';
import { Privilege } from '../admin/privileges.js';
import { lookupError, typeError, valueError } from '../error.js';
import { checkMsgpack } from '../pack/msgpack-check.js';
import type { Extensions } from '../pack/msgpack-reader.js';
import { type Entry, func, variadic } from '../run/builtin.js';
import { textFor } from '../run/charge.js';
import { isGone } from '../run/gone.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Closure } from '../value/closure.js';
import { assertMembers, List, listOf, ThingSet, UNITS_PER_MEMBER } from '../value/containers.js';
import { toBytes, toFloat, toInt } from '../value/convert.js';
import { isTruthy } from '../value/kinds.js';
import { isInt } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { Float, MpData } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { tagName, tagOf, typeName, type Value } from '../value/value.js';

/** Conversions and tests of types: `int(v)`, `is_int(v)` and the like. */
export const CONVERSION: readonly Entry[] = [
  func('bool', {
    doc: 'Truth of a value.',
    params: [p.optional(p.any('value'))],
    run: (_rt, value = false) => isTruthy(value),
  }),
  func('int', {
    doc: 'Converts to an int; default 0.',
    params: [p.optional(p.any('value'))],
    run: (rt, value = 0) => {
      chargeText(rt, value);
      return toInt(value);
    },
  }),
  func('float', {
    doc: 'Converts to a float; default 0.0.',
    params: [p.optional(p.any('value'))],
    run: (rt, value = 0) => {
      chargeText(rt, value);
      return toFloat(value);
    },
  }),
  func('str', {
    doc: 'Converts to a str; default empty.',
    params: [p.optional(p.any('value'))],
    run: (rt, value = '') => textFor(rt, value),
  }),
  func('bytes', {
    doc: 'Converts to bytes; default empty.',
    params: [p.optional(p.any('value'))],
    run: (rt, value = '') => {
      chargeText(rt, value);
      const bytes = toBytes(value);
      rt.chargeLength(bytes.data.length);
      return bytes;
    },
  }),
  func('list', {
    doc: 'A new list, the given list or tuple itself, or a list of the things of a set.',
    params: [p.optional(p.any('value'))],
    run: (rt, value) => {
      if (value === undefined) return new List([]);
      if (value instanceof List) return value;
      if (value instanceof ThingSet) {
        rt.chargeFill(value);
        rt.charge(UNITS_PER_MEMBER * value.size);
        return listOf([...value.members]);
      }
      throw typeError(`${typeName(value)} can not be converted to a list`);
    },
  }),
  variadic('set', {
    doc: 'A new set of things, from a list or from arguments; a set is given back as it is.',
    rest: p.any('thing'),
    run: (rt, values) => {
      const [first] = values;
      if (values.length === 1 && first instanceof ThingSet) return first;
      rt.charge(UNITS_PER_MEMBER * (first instanceof List ? first.items.length : values.length));
      if (values.length === 1 && first instanceof List) {
        assertMembers(first.items.length);
        return new ThingSet(first.items.map(asMember));
      }
      return new ThingSet(values.map(asMember));
    },
  }),
  func('thing', {
    doc: 'A new thing, the given thing itself, or the stored thing with an id.',
    params: [p.optional(p.any('value'))],
    readsState: true,
    run: (rt, value) => {
      if (value === undefined) return new Thing(0, rt.shapes.empty(), []);
      if (value instanceof Thing) return value;
      if (isInt(value)) return storedThing(rt, value);
      throw typeError(`${typeName(value)} can not be converted to a thing`);
    },
  }),
  func('closure', {
    doc: 'Compiles a text to a closure; without argument one that gives nil.',
    params: [p.optional(p.any('source'))],
    run: (rt, value = '||nil') => {
      if (value instanceof Closure) return value;
      if (typeof value !== 'string') throw typeError(`${typeName(value)} can not be converted to a closure`);
      return rt.compileText(value);
    },
  }),
  func('regex', {
    doc: 'Makes a regular expression from a pattern and flags.',
    params: [p.str('pattern'), p.optional(p.str('flags'))],
    run: (rt, pattern, flags = '') => regexOf(rt, pattern, flags),
  }),
  ...(
    [
      ['is_nil', Tag.NIL],
      ['is_bool', Tag.BOOL],
      ['is_int', Tag.INT],
      ['is_float', Tag.FLOAT],
      ['is_str', Tag.STR],
      ['is_utf8', Tag.STR],
      ['is_bytes', Tag.BYTES],
      ['is_regex', Tag.REGEX],
      ['is_datetime', Tag.DATETIME],
      ['is_timeval', Tag.TIMEVAL],
      ['is_err', Tag.ERROR],
      ['is_closure', Tag.CLOSURE],
      ['is_list', Tag.LIST],
      ['is_tuple', Tag.TUPLE],
      ['is_set', Tag.SET],
      ['is_thing', Tag.THING],
      ['is_mpdata', Tag.MPDATA],
      ['is_enum', Tag.MEMBER],
      ['is_future', Tag.FUTURE],
      ['is_task', Tag.TASK],
      ['is_module', Tag.MODULE],
      ['is_room', Tag.ROOM],
    ] as const
  ).map(([name, tag]) => test(name, `of the type ${tagName(tag)}`, (value) => tagOf(value) === tag)),
  test('is_array', 'a list or tuple', (value) => value instanceof List),
  test('is_raw', 'str, bytes or mpdata', (value) => {
    const tag = tagOf(value);
    return tag === Tag.STR || tag === Tag.BYTES || tag === Tag.MPDATA;
  }),
  textTest('is_ascii', 'a str with only the characters 1 to 127', (text) => ASCII.test(text)),
  test('is_nan', 'nan, or nothing that has a numeric value', (value) => {
    if (value instanceof Float) return Number.isNaN(value.value);
    return typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean';
  }),
  test('is_inf', 'an infinite float', (value) => {
    if (value instanceof Float) return Math.abs(value.value) === Number.POSITIVE_INFINITY;
    if (isInt(value) || typeof value === 'boolean') return false;
    throw typeError(`is_inf() takes an int, float or bool, not ${typeName(value)}`);
  }),
  textTest('is_email', 'a str with the form of an e-mail address', isEmail),
  textTest('is_url', 'a str with the form of a URL', isUrl),
  textTest('is_tel', 'a str with the form of a telephone number', isTel),
  test(
    'is_time_zone',
    'the name of a known time zone',
    (value) => typeof value === 'string' && zoneByName(value) !== undefined,
  ),
];

/** Units charged for each character of a regular expression, and for each word of its program. */
const PER_WORD = 64;

/** Words that count for one that is refused: how far its program had come is not known. */
const SIZE_REFUSED = 10_000;

const ASCII = /^[\x01-\x7f]*$/;

/** Counts the work of looking through a text. */
function chargeText(rt: Runtime, value: Value): void {
  if (typeof value === 'string') rt.charge(value.length);
}

function test(name: string, what: string, holds: (value: Value) => boolean): Entry {
  return func(name, {
    doc: `Whether a value is ${what}.`,
    params: [p.any('value')],
    run: (_rt, value) => holds(value),
  });
}

/** A test of which characters a text has. */
function textTest(name: string, what: string, holds: (text: string) => boolean): Entry {
  return func(name, {
    doc: `Whether a value is ${what}.`,
    params: [p.any('value')],
    run: (rt, value) => {
      if (typeof value !== 'string') return false;
      rt.charge(PER_TESTED * value.length);
      return holds(value);
    },
  });
}

/** Units charged for each character of a text that is tested. */
const PER_TESTED = 3;

function asMember(value: Value): Thing {
  if (value instanceof Thing) return value;
  throw typeError(`a set holds things, not ${typeName(value)}`);
}

function storedThing(rt: Runtime, id: number | bigint): Thing {
  const thing = rt.store?.find(Number(id));
  if (thing === undefined || isGone(rt, thing)) throw lookupError(`there is no thing with the id ${id}`);
  return thing;
}

/** As `makeRegex`, with the work charged for. */
function regexOf(rt: Runtime, pattern: string, flags: string): RegexValue {
  rt.charge(PER_WORD * pattern.length);
  let size = SIZE_REFUSED;
  try {
    const made = makeRegex(pattern, flags);
    size = made.regex.size;
    return made;
  } finally {
    rt.charge(PER_WORD * size);
  }
}

/** Makes the values of a request that come as extension types of MessagePack: by the same rules as code does. */
export function extensionsOf(rt: Runtime): Extensions {
  return {
    mpdata: (data) => {
      rt.charge(data.length);
      checkMsgpack(data, (count) => rt.step(count), false, 'the content of an mpdata');
      return new MpData(Uint8Array.prototype.slice.call(data));
    },
    regex: (text) => {
      const end = text.lastIndexOf('/');
      if (end < 1 || !text.startsWith('/'))
        throw valueError('a regular expression is written as /pattern/flags');
      return regexOf(rt, text.slice(1, end), text.slice(end + 1));
    },
    closure: (source) => {
      // A closure that a client brings is code of its own, also among the arguments of a procedure.
      rt.access.require(Privilege.QUERY);
      return rt.compileText(source);
    },
  };
}

/** Compiles a regular expression; throws value_err for a bad pattern or flag. */
export function makeRegex(pattern: string, flags: string): RegexValue {
  try {
    return new RegexValue(pattern, flags, compileRegex(pattern, flags));
  } catch (error) {
    if (error instanceof RegexSyntaxError) throw valueError(`bad regular expression: ${error.message}`);
    throw error;
  }
}
