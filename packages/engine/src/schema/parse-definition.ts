/** Reads the texts of definitions and restrictions: as they are written, with names, and as they are stored, with ids. */
import { compileRegex, RegexSyntaxError } from '@althing/regex';
import { lookupError, overflowError, typeError, valueError } from '../error.js';
import { INT_MAX, INT_MIN, toIntValue } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { lengthOf } from '../value/text.js';
import {
  type Base,
  DEFINITION_LENGTH_MAX,
  type Definition,
  DefinitionFlag,
  type EnumBase,
  FORMS,
  type Item,
  type Names,
  PLAIN_NAMES,
  type PlainBase,
  type PlainName,
  storedItem,
  type TypeBase,
} from './definition.js';

/**
 * The definition of a text.
 *
 * @throws QueryError type_err for an unknown name, lookup_err for an unknown member, overflow_err for a bound outside int64,
 *   value_err for everything else that can't be
 */
export function parseDefinition(text: string, names: Names): Definition {
  if (text.length > DEFINITION_LENGTH_MAX) {
    throw valueError(`a definition has at most ${DEFINITION_LENGTH_MAX} characters, not ${text.length}`);
  }
  if (!ASCII.test(text)) throw valueError(`a definition is ASCII text: '${text}' is not`);
  return new Parser(text, resolverOf(names)).definition();
}

/**
 * The restriction of a thing: an item, `[]` for any list, or `{}` for any set. Null where anything fits.
 *
 * @throws QueryError type_err for an unknown name, value_err for everything else that can't be
 */
export function parseRestriction(text: string, names: Names): Item | null {
  if (!ASCII.test(text)) throw valueError(`a restriction is ASCII text: '${text}' is not`);
  if (text === '') throw valueError('a restriction is not empty');
  return containerItem(text) ?? new Parser(text, resolverOf(names)).item(text).item;
}

function containerItem(text: string): Item | null {
  const nillable = text.endsWith('?');
  const name = nillable ? text.slice(0, -1) : text;
  if (name === '[]') return { base: { kind: 'list', item: null }, nillable };
  return name === '{}' ? { base: { kind: 'set', item: null }, nillable } : null;
}

/** The definition of a stored text. */
export function readStored(stored: string): Definition {
  return new Parser(stored, STORED).definition();
}

/** The item of a text that `storedItem` made. */
export function readStoredItem(stored: string): Item {
  const item = containerItem(stored) ?? new Parser(stored, STORED).item(stored).item;
  if (item === null) throw new Error(`'${stored}' is no restriction`);
  return item;
}

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['&', DefinitionFlag.DEEPER],
  ['+', DefinitionFlag.DEEPEST],
  ['-', DefinitionFlag.SHALLOW],
  ['^', DefinitionFlag.NO_IDS],
  ['*', DefinitionFlag.NAMES],
  ['?', DefinitionFlag.SKIP_NIL],
  ['!', DefinitionFlag.SKIP_FALSE],
]);

const PLAIN: ReadonlySet<string> = new Set(PLAIN_NAMES);

const ASCII = /^[\x00-\x7f]*$/;

/** Finds what a name in a text stands for. */
interface Resolver {
  named(name: string): TypeBase | EnumBase | undefined;
  member(base: EnumBase, name: string): number | undefined;
}

function resolverOf(names: Names): Resolver {
  return {
    named(name) {
      const type = names.typeId(name);
      if (type !== undefined) return { kind: 'type', id: type };
      const found = names.enumId(name);
      return found === undefined ? undefined : { kind: 'enum', id: found, member: null };
    },
    member: (base, name) => names.memberId(base.id, name),
  };
}

/** Stored texts have ids where written ones have names. */
const STORED: Resolver = {
  named(name) {
    const id = Number(name.slice(1));
    if (name.startsWith('#')) return { kind: 'type', id };
    return name.startsWith('%') ? { kind: 'enum', id, member: null } : undefined;
  },
  member: (_, name) => Number(name.slice(1)),
};

/** The meaning of a text without its flags; `hasDefault` is false by default. */
interface Parsed {
  readonly base: Base;
  readonly stored: string;
  readonly hasDefault?: boolean;
}

class Parser {
  constructor(
    private readonly text: string,
    private readonly resolver: Resolver,
  ) {}

  definition(): Definition {
    const { text } = this;
    const { flags, length } = this.flags();
    const nillable = text.length > length && text.endsWith('?');
    const body = text.slice(length, nillable ? -1 : undefined);
    if (body === '') throw this.bad('there is nothing but flags');
    const { base, stored, hasDefault = false } = this.base(body, nillable);
    if ((flags & DefinitionFlag.SKIP_NIL) !== 0 && !nillable && !isAny(base)) {
      throw typeError(`the flag ? of '${text}' needs a definition that accepts nil`);
    }
    const whole = `${text.slice(0, length)}${stored}${nillable ? '?' : ''}`;
    return { flags, base, nillable, hasDefault, stored: whole };
  }

  item(text: string): { readonly item: Item | null; readonly stored: string } {
    if (text === '') return { item: null, stored: '' };
    if (/^[/[{]|</.test(text)) throw this.bad(`items are plain names, and '${text}' is none`);
    const nillable = text.endsWith('?');
    const name = nillable ? text.slice(0, -1) : text;
    if (name === '') throw this.bad('an item without a name');
    const base = this.named(name);
    const item = isAny(base) ? null : { base, nillable };
    return { item, stored: item === null ? text : storedItem(item) };
  }

  private flags(): { flags: number; length: number } {
    let flags = 0;
    let length = 0;
    for (const character of this.text) {
      const flag = FLAGS.get(character);
      if (flag === undefined) break;
      if ((flags & flag) !== 0) throw this.bad(`the flag ${character} stands there twice`);
      flags |= flag;
      length += 1;
    }
    const both = DefinitionFlag.DEEPEST | DefinitionFlag.SHALLOW;
    if ((flags & both) === both) throw this.bad('the flags + and - exclude each other');
    return { flags, length };
  }

  private base(body: string, nillable: boolean): Parsed {
    switch (body[0]) {
      case '[': {
        const { item, stored } = this.item(this.between(body, ']'));
        return { base: { kind: 'list', item }, stored: `[${stored}]` };
      }
      case '{': {
        const { item, stored } = this.item(this.between(body, '}'));
        return { base: { kind: 'set', item: setItem(item, this.text) }, stored: `{${stored}}` };
      }
      case '/':
        return this.pattern(body, nillable);
      default:
        break;
    }
    if (body.endsWith('>')) return this.withInfo(body);
    if (body.endsWith('}') && body.includes('{')) return this.enumMember(body);
    const base = this.named(body);
    return { base, stored: base.kind === 'plain' ? body : storedItem({ base, nillable: false }) };
  }

  private between(body: string, end: string): string {
    if (body.length < 2 || !body.endsWith(end)) throw this.bad(`a ${end} is missing at the end`);
    return body.slice(1, -1);
  }

  private named(name: string): PlainBase | TypeBase | EnumBase {
    if (isPlainName(name)) return { kind: 'plain', name };
    const found = this.resolver.named(name);
    if (found === undefined)
      throw typeError(`there is no type or enum '${name}' for the definition '${this.text}'`);
    return found;
  }

  private enumMember(body: string): Parsed {
    const open = body.indexOf('{');
    const name = body.slice(0, open);
    const found = this.resolver.named(name);
    const memberName = body.slice(open + 1, -1);
    if (found?.kind !== 'enum')
      throw typeError(`there is no enum '${name}' for the definition '${this.text}'`);
    if (memberName === '') throw typeError(`the definition '${this.text}' names no member`);
    const member = this.resolver.member(found, memberName);
    if (member === undefined) throw lookupError(`the enum '${name}' has no member '${memberName}'`);
    return {
      base: { kind: 'enum', id: found.id, member },
      stored: `%${found.id}{#${member}}`,
      hasDefault: true,
    };
  }

  private pattern(body: string, nillable: boolean): Parsed {
    const open = body.endsWith('>') ? body.lastIndexOf('<') : -1;
    const literal = open < 0 ? body : body.slice(0, open);
    const parts = /^\/(.*)\/(i?)$/s.exec(literal);
    if (parts === null) throw this.bad('a pattern is /regex/ or /regex/i, and perhaps a default in < and >');
    const [, source = '', flags = ''] = parts;
    const regex = new RegexValue(source, flags, this.regex(source, flags));
    const given = open < 0 ? null : body.slice(open + 1, -1);
    const initial = given ?? (nillable ? null : '');
    if (initial !== null && !regex.matches(initial)) {
      throw this.bad(`the default '${initial}' does not match the pattern`);
    }
    return { base: { kind: 'pattern', regex, initial }, stored: body, hasDefault: given !== null };
  }

  private regex(source: string, flags: string): RegexValue['regex'] {
    try {
      return compileRegex(source, flags);
    } catch (error) {
      if (error instanceof RegexSyntaxError) throw this.bad(`bad regular expression: ${error.message}`);
      throw error;
    }
  }

  private withInfo(body: string): Parsed {
    const open = body.indexOf('<');
    if (open < 0) throw this.bad('a < is missing');
    const name = body.slice(0, open);
    const info = body.slice(open + 1, -1);
    switch (name) {
      case 'thing': {
        const { item, stored } = this.item(info);
        const base: Base = item === null ? { kind: 'plain', name: 'thing' } : { kind: 'restricted', item };
        return { base, stored: `thing<${stored}>` };
      }
      case 'int':
        return { stored: body, ...this.int(info) };
      case 'float':
        return { stored: body, ...this.float(info) };
      case 'str':
      case 'utf8':
        return { stored: body, ...this.str(name, info) };
      case 'bool':
        if (info !== 'true' && info !== 'false') throw this.bad('the default of a bool is true or false');
        return { stored: body, base: { kind: 'bool', initial: info === 'true' }, hasDefault: true };
      case 'email':
      case 'url':
      case 'tel':
        if (!FORMS[name](info)) throw this.bad(`'${info}' is not of the form ${name}`);
        return { stored: body, base: { kind: 'form', name, initial: info }, hasDefault: true };
      default:
        throw this.bad(`'${name}' takes no < and >`);
    }
  }

  /** The parts of `min:max` or `min:max:default`. */
  private range(info: string): { min: string; max: string; initial: string | null } {
    const first = info.indexOf(':');
    if (first < 0) throw this.bad('a range is min:max or min:max:default');
    const second = info.indexOf(':', first + 1);
    return {
      min: info.slice(0, first),
      max: second < 0 ? info.slice(first + 1) : info.slice(first + 1, second),
      initial: second < 0 ? null : info.slice(second + 1),
    };
  }

  private int(info: string): Omit<Parsed, 'stored'> {
    const { min: minText, max: maxText, initial: initialText } = this.range(info);
    const min = this.intBound(minText, 0);
    const max = this.intBound(maxText, INT_MAX);
    if (max < min) throw this.bad('the maximum is below the minimum');
    const initial = initialText === null ? nearestToZero(min, max) : this.intBound(initialText, 0);
    if (initial < min || initial > max) throw this.bad('the default is outside of the range');
    return { base: { kind: 'int', min, max, initial }, hasDefault: initialText !== null };
  }

  private intBound(text: string, otherwise: number | bigint): number | bigint {
    const parts = /^\s*([+-]?)(0[xX][0-9A-Fa-f]+|0[oO][0-7]+|0[bB][01]+|[0-9]+)$/.exec(text);
    if (parts === null) {
      if (text === '') return otherwise;
      throw this.bad(`'${text}' is no int`);
    }
    const [, sign, digits = ''] = parts;
    if (digits.length > BOUND_DIGITS_MAX)
      throw overflowError(`the bound ${digits.slice(0, 30)}... is outside of int64`);
    const magnitude = BigInt(/^0\d/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : digits);
    const value = sign === '-' ? -magnitude : magnitude;
    if (value > INT_MAX || value < INT_MIN) throw overflowError(`the bound ${text} is outside of int64`);
    return toIntValue(value);
  }

  private float(info: string): Omit<Parsed, 'stored'> {
    const { min: minText, max: maxText, initial: initialText } = this.range(info);
    const min = this.floatBound(minText, 0);
    const max = this.floatBound(maxText, Number.POSITIVE_INFINITY);
    if (max < min) throw this.bad('the maximum is below the minimum');
    const initial = initialText === null ? Number(nearestToZero(min, max)) : this.floatBound(initialText, 0);
    if (initial < min || initial > max) throw this.bad('the default is outside of the range');
    return { base: { kind: 'float', min, max, initial }, hasDefault: initialText !== null };
  }

  private floatBound(text: string, otherwise: number): number {
    if (text === '') return otherwise;
    const parts = /^\s*([+-]?)(inf|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)$/.exec(
      text,
    );
    if (parts === null) throw this.bad(`'${text}' is no float`);
    const [, sign, digits = ''] = parts;
    const magnitude = digits === 'inf' ? Number.POSITIVE_INFINITY : Number(digits);
    return (sign === '-' ? -magnitude : magnitude) + 0;
  }

  private str(name: 'str' | 'utf8', info: string): Omit<Parsed, 'stored'> {
    const { min: minText, max: maxText, initial } = this.range(info);
    const min = Number(this.intBound(minText, 0));
    const max = maxText === '' ? Number.POSITIVE_INFINITY : Number(this.intBound(maxText, 0));
    if (min < 0) throw this.bad('a length can not be negative');
    if (max < min) throw this.bad('the maximum is below the minimum');
    if (initial !== null) {
      const length = lengthOf(initial);
      if (length < min || length > max) throw this.bad('the length of the default is outside of the range');
    }
    return { base: { kind: 'str', name, min, max, initial }, hasDefault: initial !== null };
  }

  private bad(why: string): ReturnType<typeof valueError> {
    return valueError(`bad definition '${this.text}': ${why}`);
  }
}

/** Digits that a bound within int64 can have, in any base, leading zeros included. */
const BOUND_DIGITS_MAX = 70;

function isPlainName(name: string): name is PlainName {
  return PLAIN.has(name);
}

function isAny(base: Base): boolean {
  return base.kind === 'plain' && base.name === 'any';
}

function setItem(item: Item | null, text: string): Item | null {
  if (item === null) return null;
  if (
    item.nillable ||
    (item.base.kind !== 'type' && !(item.base.kind === 'plain' && item.base.name === 'thing'))
  ) {
    throw typeError(`the definition '${text}': a set holds things, or instances of a type`);
  }
  return item.base.kind === 'plain' ? null : item;
}

function nearestToZero(min: number | bigint, max: number | bigint): number | bigint {
  if (min > 0) return min;
  return max < 0 ? max : 0;
}
