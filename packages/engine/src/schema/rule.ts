/**
 * Definitions, compiled to rules: a property of an instance is checked by one call of `fits`.
 */
import { type QueryError, typeError, valueError } from '../error.js';
import { List, ThingSet } from '../value/containers.js';
import { Future } from '../value/future.js';
import { Member } from '../value/member.js';
import { isInt } from '../value/numbers.js';
import { Bytes, Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { lengthOf } from '../value/text.js';
import { Thing } from '../value/thing.js';
import { tagOf, typeName, type Value } from '../value/value.js';
import {
  type Base,
  type Definition,
  definitionText,
  FORMS,
  type Item,
  itemText,
  type Labels,
  storedItem,
} from './definition.js';
import type { Field } from './type.js';

/** True if a value fits. */
export type Test = (value: Value) => boolean;

export interface Rule {
  readonly definition: Definition;
  readonly fits: Test;
  /** True for a value that does not fit, though others of its type could. */
  readonly isOfKind: Test;
  /**
   * Ints from here to there fit, told without a call: one for each definition is too many for the compiler of JavaScript. Others may
   * fit all the same.
   */
  readonly leastInt: number;
  readonly greatestInt: number;
  /** Rule of the items of a list or set; null where anything goes. */
  readonly item: ItemRule | null;
  /** The restriction that a thing must have, or gets. */
  readonly restriction: Item | null;
}

/** The rule for the items of an attached list, or for the members of an attached set. */
export interface ItemRule {
  readonly item: Item | null;
  readonly fits: Test;
  readonly isOfKind: Test;
  /** The property that the list or set is the value of. */
  readonly field: Field;
  /** True if the set is one side of a relation. */
  readonly isRelated: boolean;
}

/** Compiles a definition. */
export function ruleOf(field: Omit<Field, 'rule'>): Rule {
  const { definition } = field;
  const { base, nillable } = definition;
  const [fits, isOfKind] = testsOf(base);
  const [leastInt, greatestInt] = intsOf(base);
  const rule: Mutable<Rule> = {
    definition,
    leastInt,
    greatestInt,
    fits: nillable ? orNil(fits) : fits,
    isOfKind,
    item: null,
    restriction: base.kind === 'restricted' ? base.item : null,
  };
  if (base.kind === 'list' || base.kind === 'set') {
    const isRelated = field.relation !== null && base.kind === 'set';
    if (base.item !== null || isRelated) {
      const [itemFits, isItemOfKind] = itemTests(base.item);
      // The rule is a part of the field whose rule this is.
      const owner = field as Field;
      rule.item = { item: base.item, fits: itemFits, isOfKind: isItemOfKind, field: owner, isRelated };
    }
  }
  return rule;
}

/** The least and greatest int that surely fit; the other way round for none. */
function intsOf(base: Base): readonly [least: number, greatest: number] {
  if (base.kind === 'int') {
    const { min, max } = base;
    return typeof min === 'number' && typeof max === 'number' ? [min, max] : NO_INTS;
  }
  return base.kind === 'plain' ? (PLAIN_INTS.get(base.name) ?? NO_INTS) : NO_INTS;
}

const NO_INTS = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const;

const PLAIN_INTS: ReadonlyMap<string, readonly [least: number, greatest: number]> = new Map([
  ['any', [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ['int', [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ['uint', [0, Number.POSITIVE_INFINITY]],
  ['pint', [1, Number.POSITIVE_INFINITY]],
  ['nint', [Number.NEGATIVE_INFINITY, -1]],
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The tests of what an item can be. */
export function itemTests(item: Item | null): readonly [fits: Test, isOfKind: Test] {
  if (item === null) return [always, always];
  const [fits, isOfKind] = testsOf(item.base);
  return [item.nillable ? orNil(fits) : fits, isOfKind];
}

/** The error for a value that does not fit a property. */
export function refusal(field: Field, value: Value, labels: Labels): QueryError {
  const { rule, definition, name, type } = field;
  const expected = definitionText(definition, labels);
  const where = `type \`${type.name}\`, property \`${name}\``;
  const { base } = definition;
  if ((base.kind === 'list' || base.kind === 'set') && rule.item !== null) {
    const items = value instanceof List ? value.items : value instanceof ThingSet ? [...value.members] : [];
    const bad = items.find((item) => !(rule.item as ItemRule).fits(item));
    if (bad !== undefined) return itemRefusal(rule.item, bad, labels);
  }
  const message = `${where}: expected \`${expected}\`, got ${inWords(value)}`;
  return rule.isOfKind(value) ? valueError(message) : typeError(message);
}

/** The same for an item of a list or set. */
export function itemRefusal(rule: ItemRule, value: Value, labels: Labels): QueryError {
  const { field } = rule;
  const message = `type \`${field.type.name}\`, property \`${field.name}\`: expected items \`${
    itemText(rule.item, labels) ?? 'any'
  }\`, got ${inWords(value)}`;
  return rule.isOfKind(value) ? valueError(message) : typeError(message);
}

/** A value in an error message. */
export function inWords(value: Value): string {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'string':
      return value.length <= 60 ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, 57))}...`;
    default:
      if (value instanceof Float) return `the float ${value.value}`;
      if (value instanceof Thing && value.type !== null) return `an instance of \`${value.type.name}\``;
      if (value instanceof Member) return `the member \`${value.label}\``;
      return value === null ? 'nil' : typeName(value);
  }
}

const always: Test = () => true;
const never: Test = () => false;

/** A future can't be stored; where no definition says what is accepted, it becomes nil. */
const notFuture: Test = (value) => !(value instanceof Future);

function orNil(fits: Test): Test {
  return (value) => value === null || fits(value);
}

function isStr(value: Value): value is string {
  return typeof value === 'string';
}

function isFloat(value: Value): value is Float {
  return value instanceof Float;
}

function ofTag(tag: Tag): Test {
  return (value) => tagOf(value) === tag;
}

/** Both tests of a base: what fits, and what is of its kind. */
export function testsOf(base: Base): readonly [fits: Test, isOfKind: Test] {
  switch (base.kind) {
    case 'plain':
      return PLAIN_TESTS[base.name];
    case 'type': {
      const { id } = base;
      const fits: Test = (value) => value instanceof Thing && value.type?.id === id;
      return [fits, fits];
    }
    case 'enum': {
      const { id } = base;
      const fits: Test = (value) => value instanceof Member && value.enum.id === id;
      return [fits, fits];
    }
    case 'int': {
      const { min, max } = base;
      return [isIntFrom(min, max), isInt];
    }
    case 'float': {
      const { min, max } = base;
      return [
        (value) => value instanceof Float && value.value >= min && value.value <= max,
        (value) => value instanceof Float,
      ];
    }
    case 'str': {
      const { min, max } = base;
      return [(value) => isStr(value) && hasLength(value, min, max), isStr];
    }
    case 'bool':
      return PLAIN_TESTS.bool;
    case 'form': {
      const test = FORMS[base.name];
      return [(value) => isStr(value) && test(value), isStr];
    }
    case 'pattern': {
      const { regex } = base;
      return [(value) => isStr(value) && regex.matches(value), isStr];
    }
    case 'list': {
      if (base.item === null) return [isList, isList];
      const [fits] = itemTests(base.item);
      return [(value) => value instanceof List && value.items.every(fits), isList];
    }
    case 'set': {
      if (base.item === null) return [isSet, isSet];
      const [fits] = itemTests(base.item);
      return [(value) => value instanceof ThingSet && everyMember(value, fits), isSet];
    }
    case 'restricted': {
      const [fits] = itemTests(base.item);
      const { item } = base;
      const [, isItemOfKind] = itemTests(item);
      const isOfKind: Test = (value) => {
        if (!(value instanceof Thing) || value.type !== null) return false;
        if (value.restriction !== null) return true;
        let isOne = true;
        value.forEach((_, property) => {
          if (!fits(property) && !isItemOfKind(property)) isOne = false;
        });
        return isOne;
      };
      return [
        (value) => {
          if (!(value instanceof Thing) || value.type !== null) return false;
          const { restriction } = value;
          if (restriction !== null) return sameItem(restriction.item, item);
          let isFit = true;
          value.forEach((_, property) => {
            if (!fits(property)) isFit = false;
          });
          return isFit;
        },
        isOfKind,
      ];
    }
    case 'nested':
      return [never, never];
  }
}

const isList: Test = (value) => value instanceof List;
const isSet: Test = (value) => value instanceof ThingSet;

function everyMember({ members }: ThingSet, fits: Test): boolean {
  for (const member of members) if (!fits(member)) return false;
  return true;
}

export function sameItem(a: Item, b: Item): boolean {
  return storedItem(a) === storedItem(b);
}

/** True if a text has so many characters. Most texts are decided without counting them: a character is one unit or two. */
function hasLength(text: string, min: number, max: number): boolean {
  const units = text.length;
  if (units <= max && units >= 2 * min) return true;
  if (units < min || units > 2 * max) return false;
  const length = lengthOf(text);
  return length >= min && length <= max;
}

/** Comparisons of numbers alone, where there is no bigint, take half the time. */
function isIntFrom(min: number | bigint, max: number | bigint): Test {
  if (typeof min === 'bigint' || typeof max === 'bigint') {
    return (value) => isInt(value) && value >= min && value <= max;
  }
  return (value) =>
    typeof value === 'number'
      ? value >= min && value <= max
      : typeof value === 'bigint' && value >= min && value <= max;
}

const STR: readonly [Test, Test] = [isStr, isStr];

function ofTagTests(tag: Tag): readonly [Test, Test] {
  const test = ofTag(tag);
  return [test, test];
}

function form(test: (text: string) => boolean): readonly [Test, Test] {
  return [(value) => isStr(value) && (value === '' || test(value)), isStr];
}

const raw: Test = (value) => isStr(value) || value instanceof Bytes;
const number: Test = (value) => isInt(value) || value instanceof Float;

const PLAIN_TESTS: Readonly<Record<Extract<Base, { kind: 'plain' }>['name'], readonly [Test, Test]>> = {
  any: [notFuture, notFuture],
  str: STR,
  utf8: STR,
  raw: [raw, raw],
  bytes: ofTagTests(Tag.BYTES),
  bool: ofTagTests(Tag.BOOL),
  int: [isInt, isInt],
  uint: [(value) => isInt(value) && value >= 0, isInt],
  pint: [(value) => isInt(value) && value > 0, isInt],
  nint: [(value) => isInt(value) && value < 0, isInt],
  float: [isFloat, isFloat],
  number: [number, number],
  datetime: ofTagTests(Tag.DATETIME),
  timeval: ofTagTests(Tag.TIMEVAL),
  regex: ofTagTests(Tag.REGEX),
  closure: ofTagTests(Tag.CLOSURE),
  error: ofTagTests(Tag.ERROR),
  room: ofTagTests(Tag.ROOM),
  task: ofTagTests(Tag.TASK),
  email: form(FORMS.email),
  url: form(FORMS.url),
  tel: form(FORMS.tel),
  thing: ofTagTests(Tag.THING),
  enum: [(value) => value === null || value instanceof Member, (value) => value instanceof Member],
};
