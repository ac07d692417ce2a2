/** Information that functions give, as plain data, and its packed form, in which clients get it. */
import { Float, MpData } from '../value/scalars.js';
import { MsgpackWriter } from './msgpack-writer.js';
import type { Sink } from './walk.js';

/**
 * Numbers are ints, and a float is a `Float`. An object is a map of its fields in their order, without those that are undefined. What is
 * packed already is passed on, and a function writes one value by itself.
 */
export type Info =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | MpData
  | ((sink: Sink) => void)
  | readonly Info[]
  | ReadonlyMap<string, Info>
  | InfoFields;

export interface InfoFields {
  readonly [key: string]: Info | undefined;
}

/** Steps that count for each piece of information that a function gives, besides one for two bytes. */
const STEPS_PER_INFO = 30;

/** Packs information as MessagePack, and counts that as steps of the query: to gather a piece takes microseconds. */
export function packInfo(query: { step(count: number): void }, info: Info): MpData {
  const out = new MsgpackWriter();
  writeInfo(out, info);
  const data = out.out.take();
  query.step(STEPS_PER_INFO + (data.length >> 1));
  return new MpData(data);
}

export function writeInfo(sink: Sink, info: Info): void {
  if (typeof info === 'string') sink.str(info);
  else if (typeof info === 'number' || typeof info === 'bigint') sink.int(info);
  else if (typeof info === 'boolean') sink.bool(info);
  else if (info === null) sink.nil();
  else if (typeof info === 'function') info(sink);
  else if (isList(info)) {
    sink.beginArray(info.length);
    for (const item of info) writeInfo(sink, item);
    sink.endArray();
  } else if (info instanceof Float) sink.float(info.value);
  else if (info instanceof MpData) sink.packed(info.data);
  else if (isMap(info)) {
    sink.beginMap(info.size);
    for (const [key, value] of info) {
      sink.key(key);
      writeInfo(sink, value);
    }
    sink.endMap();
  } else {
    let count = 0;
    for (const key in info) if (info[key] !== undefined) count += 1;
    sink.beginMap(count);
    writeFields(sink, info);
    sink.endMap();
  }
}

/** Writes fields into a map that was begun. */
export function writeFields(sink: Sink, fields: InfoFields): void {
  for (const key in fields) {
    const value = fields[key];
    if (value === undefined) continue;
    sink.key(key);
    writeInfo(sink, value);
  }
}

function isMap(info: InfoFields | ReadonlyMap<string, Info>): info is ReadonlyMap<string, Info> {
  return info instanceof Map;
}

function isList(info: Info): info is readonly Info[] {
  return Array.isArray(info);
}
