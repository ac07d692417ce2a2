/** The properties of a type, as far as values of files have to be made to fit them. */
import { isWireList, isWireMap, parseJson, type WireValue } from '@althing/client';

/** Makes values of a file those of a property. */
export type FieldKind = 'int' | 'float' | 'bool' | 'text' | 'date' | 'nested' | 'bytes' | 'any';

export interface Field {
  readonly kind: FieldKind;
  readonly isNillable: boolean;
  /** The name of a definition that is none of the language's: of a type or an enum; null for others. */
  readonly named: string | null;
}

const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ['int', 'int'],
  ['uint', 'int'],
  ['pint', 'int'],
  ['nint', 'int'],
  ['float', 'float'],
  ['number', 'float'],
  ['bool', 'bool'],
  ['str', 'text'],
  ['utf8', 'text'],
  ['raw', 'text'],
  ['email', 'text'],
  ['url', 'text'],
  ['tel', 'text'],
  ['datetime', 'date'],
  ['timeval', 'date'],
  ['bytes', 'bytes'],
  ['any', 'any'],
]);

/** The properties that `type_info` tells, by name. */
export function fieldsIn(info: WireValue): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  const list = isWireMap(info) ? info.get('fields') : undefined;
  for (const pair of isWireList(list) ? list : []) {
    if (!isWireList(pair) || typeof pair[1] !== 'string') continue;
    fields.set(String(pair[0]), fieldOf(pair[1]));
  }
  return fields;
}

/** The properties in relations that `type_info` tells. */
export function relatedIn(info: WireValue): readonly string[] {
  const relations = isWireMap(info) ? info.get('relations') : undefined;
  return isWireMap(relations) ? [...relations.keys()] : [];
}

function fieldOf(definition: string): Field {
  const isNillable = /\?(?:<.*>)?$/s.test(definition);
  if (definition.startsWith('/')) return { kind: 'text', isNillable, named: null };
  if (/^[[{]/.test(definition)) return { kind: 'nested', isNillable, named: null };
  const base = /^[A-Za-z_][A-Za-z0-9_]*/.exec(definition)?.[0] ?? '';
  const kind = KINDS.get(base);
  return kind === undefined ? { kind: 'any', isNillable, named: base } : { kind, isNillable, named: null };
}

/**
 * The value of a text of a CSV.
 *
 * @throws Error in words
 */
export function fittingText(text: string, field: Field | undefined): WireValue {
  switch (field?.kind) {
    case 'int':
      if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new Error(`${JSON.stringify(text)} is no int`);
      return BigInt(text.trim().replace(/^\+/, ''));
    case 'float': {
      const value = Number(text);
      if (text.trim() === '' || (Number.isNaN(value) && text.trim().toLowerCase() !== 'nan'))
        throw new Error(`${JSON.stringify(text)} is no float`);
      return value;
    }
    case 'bool':
      if (/^(true|1|yes)$/i.test(text)) return true;
      if (/^(false|0|no)$/i.test(text)) return false;
      throw new Error(`${JSON.stringify(text)} is no bool`);
    case 'bytes':
      return Buffer.from(text, 'base64');
    case 'nested':
      return parseJson(text);
    case 'any':
      // A value of an enum, or a key by which a thing is found.
      return field.named !== null && /^-?\d{1,18}$/.test(text) ? BigInt(text) : text;
    default:
      return text;
  }
}

/** A value of JSON, which has no floats that are whole. */
export function fittingJson(value: WireValue, field: Field | undefined): WireValue {
  if (field?.kind === 'float' && typeof value === 'bigint') return Number(value);
  if (field?.kind === 'bytes' && typeof value === 'string') return Buffer.from(value, 'base64');
  return value;
}
