/**
 * The values of a request in the form in which they came. They stay so until the query runs, so that they take the memory
 * of their bytes as long as they wait, and so that making values of them is part of the query: under its clock and its
 * budget of memory, and only for those who may run it.
 */

import { badDataError, quotaError, valueError } from '../error.js';
import { NAME } from '../schema/name.js';
import type { ShapeTree } from '../value/shape.js';
import type { Value } from '../value/value.js';
import { type JsonOptions, REQUEST_JSON } from './json-options.js';
import { JsonReader } from './json-reader.js';
import { type Extensions, MsgpackReader } from './msgpack-reader.js';
import { MsgpackWriter } from './msgpack-writer.js';
import { pack } from './walk.js';

export type Format = 'json' | 'msgpack';

/**
 * A map or an array of values. Its brackets or its frame were followed to its end before (see `skip` and `skipBrackets` of
 * the readers), so what can be read as one value ends where that ends; what is in it was not looked at.
 */
export interface WireValues {
  readonly format: Format;
  /** Text for JSON that is short or of ASCII alone; else bytes, for JSON as UTF-8 that is known to be valid. */
  readonly data: string | Buffer;
  /** Where in the text they begin; 0 or nothing for bytes. */
  readonly start?: number;
}

/** Variables that one query may have. Each is bound to its name. */
export const VARIABLES_MAX = 10_000;

/** Levels of a request around its values: its own map, and the map or array of the values. */
const LEVELS_AROUND = 2;

/** Options of reading values. */
export interface WireOptions {
  readonly shapes: ShapeTree;
  readonly onValues: (count: number) => void;
  readonly json: JsonOptions;
  /** Null where values of extension types are refused. */
  readonly extensions: Extensions | null;
}

/** @param onValues called with a number of values that were read; what it throws ends the work */
export function wireOptions(
  shapes: ShapeTree,
  onValues: (count: number) => void,
  extensions: Extensions | null = null,
): WireOptions {
  return { shapes, onValues, json: { ...REQUEST_JSON, onValues }, extensions };
}

/** A variable whose name is known ahead, with its value: the name needs neither become a text nor be checked. */
export interface KnownVariable {
  readonly name: string;
  /** Undefined as long as it was given none. */
  value: Value | undefined;
}

/**
 * The variables of a query.
 *
 * @param known variables that are likely to be among them, none of which has a value yet; few
 * @returns the others
 * @throws QueryError for values that the language refuses, and what `onValues` throws; known ones may have values then
 */
export function readVariables(
  wire: WireValues,
  options: WireOptions,
  known: readonly KnownVariable[] = NONE_KNOWN,
): ReadonlyMap<string, Value> {
  const map = readMap(readerOf(wire, options), known);
  if (map.size === 0) return map;
  let { size } = map;
  for (const { value } of known) if (value !== undefined) size += 1;
  if (size > VARIABLES_MAX) {
    throw quotaError(`a query has at most ${VARIABLES_MAX} variables: put the values into a list or a thing`);
  }
  for (const name of map.keys()) {
    if (!NAME.test(name)) {
      throw valueError(`${JSON.stringify(name.slice(0, 60))} can not be the name of a variable`);
    }
  }
  return map;
}

/**
 * The arguments of a procedure, by position or by name.
 *
 * @throws as `readVariables`
 */
export function readArguments(wire: WireValues, options: WireOptions): Value[] | ReadonlyMap<string, Value> {
  const reader = readerOf(wire, options);
  const args = readList(reader) ?? readMap(reader);
  return args;
}

/**
 * The same values as MessagePack.
 *
 * @throws as `readVariables`
 */
export function toMsgpack(wire: WireValues, reading: WireOptions, charge: (units: number) => void): Buffer {
  if (wire.format === 'msgpack') return bytesOf(wire);
  const values = readArguments(wire, reading);
  const writer = new MsgpackWriter();
  const options = { ...WHOLE, charge };
  if (Array.isArray(values)) {
    writer.beginArray(values.length);
    for (const value of values) pack(value, writer, options);
  } else {
    writer.beginMap(values.size);
    for (const [key, value] of values) {
      writer.key(key);
      pack(value, writer, options);
    }
  }
  return writer.out.view();
}

/** Everything there is: the limits were kept when the request came. */
const WHOLE = {
  deep: Number.MAX_SAFE_INTEGER,
  ids: false,
  store: null,
  sizeMax: Number.MAX_SAFE_INTEGER,
  nestingMax: Number.MAX_SAFE_INTEGER,
} as const;

function readerOf(wire: WireValues, options: WireOptions): JsonReader | MsgpackReader {
  const { shapes, onValues, json, extensions } = options;
  if (wire.format === 'json') return new JsonReader(wire.data.toString(), shapes, json, wire.start);
  // The nesting was checked when the request came.
  return new MsgpackReader(bytesOf(wire), shapes, Number.MAX_SAFE_INTEGER, onValues, extensions);
}

function bytesOf({ data }: WireValues): Buffer {
  if (typeof data === 'string') throw new Error('MessagePack comes as bytes');
  return data;
}

/** Gives known variables their values, and returns the others. */
function readMap(
  reader: JsonReader | MsgpackReader,
  known: readonly KnownVariable[] = NONE_KNOWN,
): ReadonlyMap<string, Value> {
  let map: Map<string, Value> | null = null;
  if (reader instanceof JsonReader) {
    if (!reader.startsWith('{')) throw badDataError('variables and named arguments must be a map');
    let more = reader.begins(LEVELS_AROUND - 1);
    for (let i = 0; more; i++) {
      const variable = nextOf(reader, known, i);
      if (variable !== null) variable.value = reader.value(LEVELS_AROUND);
      else {
        map ??= new Map();
        put(reader.key(), reader.value(LEVELS_AROUND), known, map);
      }
      more = reader.goesOn();
    }
    return map ?? NO_MORE;
  }
  const count = reader.mapSize();
  if (count === null) throw badDataError('variables and named arguments must be a map');
  for (let i = 0; i < count; i++) {
    const variable = nextOf(reader, known, i);
    if (variable !== null) {
      variable.value = reader.value(LEVELS_AROUND);
      continue;
    }
    const key = reader.str();
    if (key === null) throw valueError('names of variables and arguments must be str');
    map ??= new Map();
    put(key, reader.value(LEVELS_AROUND), known, map);
  }
  return map ?? NO_MORE;
}

/** Takes a value whose key did not stand there as known ones do: it may be one of them all the same, in another form. */
function put(key: string, value: Value, known: readonly KnownVariable[], others: Map<string, Value>): void {
  const same = known.find(({ name }) => name === key);
  if (same === undefined) others.set(key, value);
  else same.value = value;
}

/** The known variable whose name is read next; null for none, and then nothing is read. They mostly come in the same order. */
function nextOf(
  reader: JsonReader | MsgpackReader,
  known: readonly KnownVariable[],
  index: number,
): KnownVariable | null {
  const { length } = known;
  for (let i = 0; i < length; i++) {
    const variable = known[(index + i) % length];
    if (variable !== undefined && reader.isKey(variable.name)) return variable;
  }
  return null;
}

const NONE_KNOWN: readonly KnownVariable[] = [];
const NO_MORE: ReadonlyMap<string, Value> = new Map();

/** Null for what is no array; nothing is read then. */
function readList(reader: JsonReader | MsgpackReader): Value[] | null {
  if (reader instanceof JsonReader) {
    if (!reader.startsWith('[')) return null;
    const values: Value[] = [];
    for (let more = reader.beginsArray(LEVELS_AROUND - 1); more; more = reader.goesOnArray()) {
      values.push(reader.value(LEVELS_AROUND));
    }
    return values;
  }
  const count = reader.arraySize();
  if (count === null) return null;
  const values: Value[] = [];
  for (let i = 0; i < count; i++) values.push(reader.value(LEVELS_AROUND));
  return values;
}
