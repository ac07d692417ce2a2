import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../bytes.js';
import { ErrorCode, QueryError } from '../error.js';
import {
  type Definition,
  definitionText,
  itemText,
  type Labels,
  type Names,
  PLAIN_NAMES,
  referencesOf,
  storedItem,
} from './definition.js';
import { parseDefinition, parseRestriction, readStored, readStoredItem } from './parse-definition.js';
import { nestedDefinition, readDefinition, writeDefinition } from './structure.js';

/** A catalog of names that can be renamed. */
class FakeCatalog implements Names, Labels {
  readonly types = ['User', 'T2', 'str_'];
  readonly enums = ['Color', 'E'];
  readonly members = ['RED', 'M2'];

  typeId(name: string): number | undefined {
    return at(this.types, name);
  }

  enumId(name: string): number | undefined {
    return at(this.enums, name);
  }

  memberId(_: number, name: string): number | undefined {
    return at(this.members, name);
  }

  typeLabel(id: number): string {
    return this.types[id] ?? '?';
  }

  enumLabel(id: number): string {
    return this.enums[id] ?? '?';
  }

  memberLabel(_: number, member: number): string {
    return this.members[member] ?? '?';
  }
}

function at(names: readonly string[], name: string): number | undefined {
  const place = names.indexOf(name);
  return place < 0 ? undefined : place;
}

function renamed(): FakeCatalog {
  const names = new FakeCatalog();
  names.types[0] = 'Person';
  names.enums[0] = 'Hue';
  names.members[0] = 'CRIMSON';
  return names;
}

const types = fc.constantFrom('User', 'T2', 'str_');
const enums = fc.constantFrom('Color', 'E');
const plain = fc.constantFrom(...PLAIN_NAMES);
const nil = fc.constantFrom('', '?');
const item = fc.oneof(
  fc.constant(''),
  fc.tuple(fc.oneof(plain, types, enums), nil).map(([name, end]) => name + end),
);
const int = fc.integer({ min: -1000, max: 1000 });
const range = fc.tuple(int, fc.nat(1000)).map(([min, more]) => [min, min + more] as const);
const bases = fc.oneof(
  plain,
  types,
  enums,
  fc.tuple(enums, fc.constantFrom('RED', 'M2')).map(([name, member]) => `${name}{${member}}`),
  item.map((one) => `[${one}]`),
  fc.oneof(fc.constantFrom('', 'any', 'thing'), types).map((one) => `{${one}}`),
  item.map((one) => `thing<${one}>`),
  range.map(([min, max]) => `int<${min}:${max}>`),
  range.map(([min, max]) => `int<${min}:${max}:${max}>`),
  range.map(([min, max]) => `float<${min}.5:${max + 1}>`),
  fc.constantFrom(
    'int<:>',
    'int<-0x10:0b11>',
    'float<-inf:>',
    'str<:3>',
    'utf8<1:>',
    'bool<true>',
    'str<0:9:#1>',
  ),
  fc.constantFrom('email<a@b.c>', 'url<http://x.y>', '/^a+$/i<aa>', '/#1|%2|/', '/x?/', 'str<0:9:a:b%0{#0}>'),
);
/** Texts of definitions that are right. */
const texts = fc
  .tuple(fc.shuffledSubarray(['&', '^', '*', '!']), fc.constantFrom('', '+', '-'), bases, nil)
  .map(([flags, depth, base, end]) => `${flags.join('')}${depth}${base}${end}`);

function parts({ stored: _, ...rest }: Definition): unknown {
  return rest;
}

describe('a definition', () => {
  const names = new FakeCatalog();

  test('is printed as it was written, also after it was stored', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseDefinition(text, names);
        expect(definitionText(parsed, names)).toBe(text);
        const read = readStored(parsed.stored);
        expect(read.stored).toBe(parsed.stored);
        expect(parts(read)).toEqual(parts(parsed));
        expect(definitionText(read, names)).toBe(text);

        const out = new ByteWriter();
        writeDefinition(out, parsed);
        const input = new ByteReader(out.take());
        expect(readDefinition(input)).toEqual(read);
        expect(input.remaining).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  test('follows its types, enums and members when they are renamed', () => {
    const later = renamed();
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseDefinition(text, names);
        const printed = definitionText(parsed, later);
        const { types: users, enums: colors } = referencesOf(parsed);
        if (users.length === 0 && colors.length === 0) expect(printed).toBe(text);
        if (users.includes(0)) expect(printed).toBe(text.replace('User', 'Person'));
        if (colors.some(({ id }) => id === 0)) {
          expect(printed).toBe(text.replace('Color', 'Hue').replace('{RED}', '{CRIMSON}'));
        }
        expect(parseDefinition(printed, later).stored).toBe(parsed.stored);
      }),
      { numRuns: 1000 },
    );
  });

  test('a definition that nests structures comes back as it was', () => {
    const inner = parseDefinition('[User?]', names);
    const structure = { idName: 'nr', fields: [{ name: 'users', definition: inner }], methods: new Map() };
    const whole = nestedDefinition({ ...structure, idName: null }, true);
    const nested = nestedDefinition({ ...structure, fields: [{ name: 'x', definition: whole }] }, false);
    const out = new ByteWriter();
    writeDefinition(out, nested);
    const input = new ByteReader(out.take());
    expect(readDefinition(input)).toEqual(nested);
    expect(input.remaining).toBe(0);
    expect(referencesOf(nested).types).toEqual([0]);
  });

  test.each([
    ['', ErrorCode.VALUE],
    ['?', ErrorCode.VALUE],
    ['&&str', ErrorCode.VALUE],
    ['+-str', ErrorCode.VALUE],
    ['?str', ErrorCode.TYPE],
    ['Nobody', ErrorCode.TYPE],
    ['[Nobody]', ErrorCode.TYPE],
    ['Color{}', ErrorCode.TYPE],
    ['Color{BLUE}', ErrorCode.LOOKUP],
    ['User{RED}', ErrorCode.TYPE],
    ['[int<0:1>]', ErrorCode.VALUE],
    ['[[int]]', ErrorCode.VALUE],
    ['[/a/]', ErrorCode.VALUE],
    ['{int}', ErrorCode.TYPE],
    ['{User?}', ErrorCode.TYPE],
    ['[int', ErrorCode.VALUE],
    ['int<5:1>', ErrorCode.VALUE],
    ['int<5>', ErrorCode.VALUE],
    ['int<0:5:9>', ErrorCode.VALUE],
    ['int<0:9223372036854775808>', ErrorCode.OVERFLOW],
    ['int<-9223372036854775809:>', ErrorCode.OVERFLOW],
    ['int<:-1>', ErrorCode.VALUE],
    ['str<-1:>', ErrorCode.VALUE],
    ['str<0:1:long>', ErrorCode.VALUE],
    ['float<nan:>', ErrorCode.VALUE],
    ['bool<x>', ErrorCode.VALUE],
    ['uint<0:1>', ErrorCode.VALUE],
    ['int<0:1', ErrorCode.TYPE],
    ['email<x>', ErrorCode.VALUE],
    ['/a/', ErrorCode.VALUE],
    ['/a/g', ErrorCode.VALUE],
    ['/(/', ErrorCode.VALUE],
    ['é', ErrorCode.VALUE],
    ['s tr', ErrorCode.TYPE],
  ])('a definition that is wrong is refused: %s', (text, code) => {
    expect(codeOf(() => parseDefinition(text, names))).toBe(code);
  });

  test.each([
    ['int<-9223372036854775808:9223372036854775807>', -(2n ** 63n)],
    ['int<:>', 0],
    ['int<-9007199254740991:>', -9007199254740991],
  ])('has bounds within int64: %s', (text, min) => {
    const { base } = parseDefinition(text, names);
    expect(base.kind === 'int' && base.min).toEqual(min);
  });
});

test('a restriction is printed as it was written, follows renames, and comes back from its key', () => {
  const names = new FakeCatalog();
  const later = renamed();
  const restrictions = fc.oneof(
    item.filter((one) => one !== ''),
    fc.constantFrom('[]', '{}', '[]?', '{}?'),
  );
  fc.assert(
    fc.property(restrictions, (text) => {
      const parsed = parseRestriction(text, names);
      if (parsed === null) {
        expect(text.replace('?', '')).toBe('any');
        return;
      }
      expect(itemText(parsed, names)).toBe(text);
      expect(itemText(parsed, later)).toBe(text.replace('User', 'Person').replace('Color', 'Hue'));
      expect(readStoredItem(storedItem(parsed))).toEqual(parsed);
    }),
    { numRuns: 500 },
  );
});

function codeOf(work: () => void): number | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
  return undefined;
}
