/**
 * Definitions: the strings that say what a property of a type accepts, as parsed objects.
 *
 *   definition := flag* base "?"?            flag = one of  & + - ^ * ? !
 *   base       := name | name "<" info ">" | pattern | "[" item? "]" | "{" item? "}" | "thing<" item? ">" | enum "{" member "}"
 *   item       := name "?"?
 *   pattern    := "/" regex "/" "i"? ("<" default ">")?
 *
 * A parsed definition names types, enums and members by id, so renaming them rewrites nothing. Its stored text is the text as it
 * was written, with ids for these names: `#7` for a type, `%7` for an enum, `%7{#2}` for a member.
 */
import { isEmail, isTel, isUrl } from '@althing/regex';
import type { RegexValue } from '../value/regex-value.js';
import type { Structure } from './structure.js';

/** Flags in front of a definition, which count where a type wraps. */
export const DefinitionFlag = {
  DEEPER: 1,
  DEEPEST: 2,
  SHALLOW: 4,
  NO_IDS: 8,
  NAMES: 16,
  SKIP_NIL: 32,
  SKIP_FALSE: 64,
} as const;

/** Characters of one definition at most; `docs/limits.md`. */
export const DEFINITION_LENGTH_MAX = 16_384;

export const PLAIN_NAMES = [
  'any',
  'str',
  'utf8',
  'raw',
  'bytes',
  'bool',
  'int',
  'uint',
  'pint',
  'nint',
  'float',
  'number',
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
  'thing',
  'enum',
] as const;

/** Base definitions that are a name alone. */
export type PlainName = (typeof PLAIN_NAMES)[number];

export interface PlainBase {
  readonly kind: 'plain';
  readonly name: PlainName;
}

/** Instances of one type. */
export interface TypeBase {
  readonly kind: 'type';
  readonly id: number;
}

/** Members of one enum; `member` is the default, if it is not that of the enum. */
export interface EnumBase {
  readonly kind: 'enum';
  readonly id: number;
  readonly member: number | null;
}

/** Any list, or any set, as what a thing is restricted to. */
export interface ContainerBase {
  readonly kind: 'list' | 'set';
  readonly item: null;
}

/** The values that a list, set or restricted thing may hold. */
export interface Item {
  readonly base: PlainBase | TypeBase | EnumBase | ContainerBase;
  readonly nillable: boolean;
}

export type Base =
  | PlainBase
  | TypeBase
  | EnumBase
  | {
      readonly kind: 'int';
      readonly min: number | bigint;
      readonly max: number | bigint;
      readonly initial: number | bigint;
    }
  | { readonly kind: 'float'; readonly min: number; readonly max: number; readonly initial: number }
  | {
      readonly kind: 'str';
      readonly name: 'str' | 'utf8';
      readonly min: number;
      readonly max: number;
      /** Null for as many dashes as `min` says. */
      readonly initial: string | null;
    }
  | { readonly kind: 'bool'; readonly initial: boolean }
  | { readonly kind: 'form'; readonly name: FormName; readonly initial: string }
  | { readonly kind: 'pattern'; readonly regex: RegexValue; readonly initial: string | null }
  /** `item` is null where anything goes. */
  | { readonly kind: 'list'; readonly item: Item | null }
  | { readonly kind: 'set'; readonly item: Item | null }
  | { readonly kind: 'restricted'; readonly item: Item }
  /** The part of a thing that a wrap shows, or of the things of a list or set. */
  | { readonly kind: 'nested'; readonly isList: boolean; readonly structure: Structure };

export interface Definition {
  /** Bits of `DefinitionFlag`. */
  readonly flags: number;
  readonly base: Base;
  readonly nillable: boolean;
  /** True if the text has a default of its own, which is then the default of a nillable definition too. */
  readonly hasDefault: boolean;
  /** With ids for names; empty for a nested structure. */
  readonly stored: string;
}

/** Finds types and enums by name. */
export interface Names {
  typeId(name: string): number | undefined;
  enumId(name: string): number | undefined;
  memberId(enumId: number, name: string): number | undefined;
}

/** Finds the names of types, enums and members. */
export interface Labels {
  typeLabel(id: number): string;
  enumLabel(id: number): string;
  memberLabel(enumId: number, memberId: number): string;
}

/** Labels where there are no types: what is named there has no other name. */
export const NO_LABELS: Labels = { typeLabel: String, enumLabel: String, memberLabel: String };

/** The text of a definition as it was written, with the present names. */
export function definitionText({ stored, base }: Definition, labels: Labels): string {
  return refersToNames(base) ? withLabels(stored, labels) : stored;
}

/** The text of an item: what `restriction()` gives. */
export function itemText(item: Item | null, labels: Labels): string | null {
  return item === null ? null : withLabels(storedItem(item), labels);
}

/** The text of an item with ids for names, which is a key for it. */
export function storedItem({ base, nillable }: Item): string {
  const name = storedName(base);
  return nillable ? `${name}?` : name;
}

function storedName(base: Item['base']): string {
  switch (base.kind) {
    case 'plain':
      return base.name;
    case 'type':
      return `#${base.id}`;
    case 'enum':
      return `%${base.id}`;
    case 'list':
      return '[]';
    case 'set':
      return '{}';
  }
}

const STORED_REFERENCE = /#(\d+)|%(\d+)(?:\{#(\d+)\})?/;

function withLabels(stored: string, labels: Labels): string {
  return stored.replace(STORED_REFERENCE, (_, type?: string, enumId?: string, member?: string) => {
    if (type !== undefined) return labels.typeLabel(Number(type));
    const id = Number(enumId);
    const label = labels.enumLabel(id);
    return member === undefined ? label : `${label}{${labels.memberLabel(id, Number(member))}}`;
  });
}

/** The types and enums that a definition names, nested ones included. */
export function referencesOf(definition: Definition): {
  readonly types: readonly number[];
  readonly enums: readonly EnumBase[];
} {
  const types: number[] = [];
  const enums: EnumBase[] = [];
  const visit = (base: Base): void => {
    if (base.kind === 'type') types.push(base.id);
    else if (base.kind === 'enum') enums.push(base);
    else if (base.kind === 'nested') {
      for (const { definition: inner } of base.structure.fields) visit(inner.base);
    } else if ('item' in base && base.item !== null) visit(base.item.base);
  };
  visit(definition.base);
  return { types, enums };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** True if the text of a base holds a name that may change. */
function refersToNames(base: Base): boolean {
  if (base.kind === 'type' || base.kind === 'enum') return true;
  return 'item' in base && base.item !== null && base.item.base.kind !== 'plain';
}

export type FormName = 'email' | 'url' | 'tel';

/** Tests of the forms that texts can have. */
export const FORMS: Readonly<Record<FormName, (text: string) => boolean>> = {
  email: isEmail,
  url: isUrl,
  tel: isTel,
};

/** Names of types, enums, properties, methods and members. */
export function isSchemaName(name: string): boolean {
  return name.length <= 255 && NAME.test(name);
}

/** Names that no type or enum may have. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  (
    'ano any big bool break bytes catch closure continue date datetime else email enum error false final float future for if ' +
    'in int interface list module mpdata nil nint number pint raw regex return room set str task tel thing time timedelta ' +
    'timeval trait true try tuple type typed uint union url utf8'
  ).split(' '),
);

/** True for a definition whose values refer to no thing or member, and lie in one piece. */
export function isScalarDefinition({ base }: Definition): boolean {
  switch (base.kind) {
    case 'plain':
      return (
        base.name !== 'any' &&
        base.name !== 'thing' &&
        base.name !== 'enum' &&
        base.name !== 'room' &&
        base.name !== 'task'
      );
    case 'int':
    case 'float':
    case 'str':
    case 'bool':
    case 'form':
    case 'pattern':
      return true;
    default:
      return false;
  }
}
