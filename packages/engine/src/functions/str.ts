import { argumentsError, overflowError, valueError } from '../error.js';
import { type Entry, method, type Receiver } from '../run/builtin.js';
import { withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { INT_MIN, isInt } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { Tag } from '../value/tag.js';
import { hasPairs, lengthOf } from '../value/text.js';
import { includesText, PositionCounter, TextSearch, unitsToSearch } from '../value/text-search.js';
import { isSpace, textEnd, textStart } from '../value/text-space.js';
import type { Value } from '../value/value.js';
import { replaceByRegex, replacementText, splitByRegex } from './regex.js';

const TEXT: Receiver<string> = { tags: [Tag.STR] };

/** Methods of texts. */
export const STR: readonly Entry[] = [
  method(TEXT, 'len', {
    doc: 'Number of characters.',
    run: (rt, text) => {
      rt.charge(text.length);
      return lengthOf(text);
    },
  }),
  method(TEXT, 'contains', {
    doc: 'Whether the text has another one in it; the empty text is in every one.',
    params: [p.str('text')],
    run: (rt, text, part) => {
      rt.charge(unitsToSearch(text, part));
      return includesText(text, part);
    },
  }),
  method(TEXT, 'starts_with', {
    doc: 'Whether the text begins with another one.',
    params: [p.str('text')],
    run: (rt, text, part) => {
      rt.charge(part.length);
      return text.startsWith(part);
    },
  }),
  method(TEXT, 'ends_with', {
    doc: 'Whether the text ends with another one.',
    params: [p.str('text')],
    run: (rt, text, part) => {
      rt.charge(part.length);
      return text.endsWith(part);
    },
  }),
  method(TEXT, 'lower', {
    doc: 'The text in lower case.',
    run: (rt, text) => inCase(rt, text, () => text.toLowerCase()),
  }),
  method(TEXT, 'upper', {
    doc: 'The text in upper case.',
    run: (rt, text) => inCase(rt, text, () => text.toUpperCase()),
  }),
  method(TEXT, 'trim', {
    doc: 'The text without white space at both ends.',
    run: (rt, text) => {
      rt.charge(PER_SPACE * text.length);
      return text.slice(textStart(text), textEnd(text));
    },
  }),
  method(TEXT, 'trim_left', {
    doc: 'The text without white space at its start.',
    run: (rt, text) => {
      rt.charge(PER_SPACE * text.length);
      return text.slice(textStart(text));
    },
  }),
  method(TEXT, 'trim_right', {
    doc: 'The text without white space at its end.',
    run: (rt, text) => {
      rt.charge(PER_SPACE * text.length);
      return text.slice(0, textEnd(text));
    },
  }),
  method(TEXT, 'split', {
    doc: 'A list of the parts between separators (default: white space); a limit below 0 counts from the right.',
    params: [p.optional(separatorParam()), p.optional(p.later(p.int('limit')))],
    run: (rt, text, separator, limitGiven) => {
      if (separator === undefined) return splitAtSpace(rt, text, Number.POSITIVE_INFINITY);
      if (isInt(separator)) {
        if (limitGiven === undefined) return splitAtSpace(rt, text, limitOf(separator));
        throw argumentsError('split() takes nothing after a limit: write the separator first');
      }
      const limit = limitGiven === undefined ? Number.POSITIVE_INFINITY : limitOf(limitGiven());
      return separator instanceof RegexValue
        ? splitByRegex(rt, text, separator, limit)
        : splitAt(rt, text, separator, limit);
    },
  }),
  method(TEXT, 'replace', {
    doc: 'Replaces all or some places of a text or regex by a text, or by what a closure gives for each.',
    params: [p.strOrRegex('old'), p.strOrClosure('new'), p.optional(p.int('number'))],
    run: (rt, text, old, by, number) => {
      const limit = number === undefined ? Number.POSITIVE_INFINITY : limitOf(number);
      if (limit === 0) return text;
      if (old instanceof RegexValue) return replaceByRegex(rt, text, old, by, limit);
      if (old === '') throw valueError('replace() can not search for the empty text');
      if (typeof by === 'string') return replaceText(rt, text, old, limit, () => by);
      return replaceByClosure(rt, text, old, limit, by);
    },
  }),
];

/** The first argument of `split`: a separator, or a limit as its only argument. */
function separatorParam(): p.Param<string | RegexValue | number | bigint> {
  const separator = p.param<string | RegexValue | number | bigint>(
    'separator',
    'a str, regex or int',
    (value) =>
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'bigint' ||
      value instanceof RegexValue,
  );
  return p.checked(separator, (value) => {
    if (value === '') throw valueError('a separator must not be empty');
    return value;
  });
}

/** A number of places, counted from the left, or from the right when it is negative. */
function limitOf(count: number | bigint): number {
  if (count === INT_MIN) throw overflowError('the number of places is too large');
  return Number(count);
}

/** A text in another case, which may be longer. */
function inCase(rt: Runtime, text: string, convert: () => string): string {
  rt.charge(PER_CONVERTED * text.length);
  return sized(rt, convert());
}

/** Units for a character of another case, and for a look whether one is white space. */
const PER_CONVERTED = 2;
const PER_SPACE = 2;

/** A text that was just made, within the limit of sizes. */
function sized(rt: Runtime, text: string): string {
  rt.chargeLength(text.length);
  return text;
}

function splitAtSpace(rt: Runtime, text: string, limit: number): List {
  rt.charge(PER_SPACE * text.length);
  return limit < 0 ? splitAtSpaceBackwards(rt, text, -limit) : splitAtSpaceForwards(rt, text, limit);
}

function splitAtSpaceForwards(rt: Runtime, text: string, limit: number): List {
  const parts: Value[] = [];
  let start = 0;
  for (let i = 0; i < text.length && parts.length < limit; i++) {
    if (!isSpace(text.charCodeAt(i))) continue;
    rt.charge(PER_PART);
    parts.push(text.slice(start, i));
    while (i + 1 < text.length && isSpace(text.charCodeAt(i + 1))) i++;
    start = i + 1;
  }
  parts.push(text.slice(start));
  return new List(parts);
}

function splitAtSpaceBackwards(rt: Runtime, text: string, limit: number): List {
  const parts: Value[] = [];
  let end = text.length;
  for (let i = text.length; i > 0 && parts.length < limit; i--) {
    if (!isSpace(text.charCodeAt(i - 1))) continue;
    rt.charge(PER_PART);
    parts.push(text.slice(i, end));
    while (i > 1 && isSpace(text.charCodeAt(i - 2))) i--;
    end = i - 1;
  }
  parts.push(text.slice(0, end));
  return new List(parts.reverse());
}

function splitAt(rt: Runtime, text: string, separator: string, limit: number): List {
  rt.charge(unitsToSearch(text, separator, limit < 0));
  const parts: Value[] = [];
  if (limit < 0) {
    const search = new TextSearch(text, separator, true);
    let end = text.length;
    for (let place = search.next(); place >= 0 && parts.length < -limit; place = search.next()) {
      rt.charge(PER_PART);
      parts.push(text.slice(place + separator.length, end));
      end = place;
    }
    parts.push(text.slice(0, end));
    return new List(parts.reverse());
  }
  const search = new TextSearch(text, separator);
  let start = 0;
  while (parts.length < limit) {
    const place = search.next();
    if (place < 0) break;
    rt.charge(PER_PART);
    parts.push(text.slice(start, place));
    start = place + separator.length;
  }
  parts.push(text.slice(start));
  return new List(parts);
}

/** Units that one part of a text is charged with: one step. */
const PER_PART = 64;

/** Replaces at most `limit` places, counted from the right when it is negative. */
function replaceText(
  rt: Runtime,
  text: string,
  old: string,
  limit: number,
  replacement: (place: number) => string,
): string {
  const backwards = limit < 0;
  rt.charge(unitsToSearch(text, old, backwards));
  const search = new TextSearch(text, old, backwards);
  let result = '';
  /** The place up to which the text has come into the result. */
  let done = backwards ? text.length : 0;
  for (let left = Math.abs(limit); left > 0; left--) {
    const place = search.next();
    if (place < 0) break;
    const by = replacement(place);
    if (backwards) {
      result = by + text.slice(place + old.length, done) + result;
      done = place;
    } else {
      result += text.slice(done, place) + by;
      done = place + old.length;
    }
    rt.charge(PER_PART);
    if (result.length > rt.limits.valueBytes) rt.chargeLength(result.length);
  }
  return sized(rt, backwards ? text.slice(0, done) + result : result + text.slice(done));
}

function replaceByClosure(rt: Runtime, text: string, old: string, limit: number, closure: Closure): string {
  const pairs = hasPairs(text);
  const counter = new PositionCounter(text, pairs);
  const length = pairs ? lengthOf(old) : old.length;
  // Positions from the right are reported one match too high: the contract, as recorded.
  const shift = limit < 0 ? length : 0;
  return withCallback(rt, closure, (callback) =>
    replaceText(rt, text, old, limit, (place) => {
      const start = counter.at(place) + shift;
      return replacementText(callback.call(start, start + length, text));
    }),
  );
}
