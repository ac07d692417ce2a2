/** Changes as ThingsDB writes them into the files of its archive, for tests. */
import { Buffer } from 'node:buffer';
import { DataOutput } from '../thingsdb/output.js';
import { Float } from '../value/scalars.js';

/** A value as it is written: objects are maps, `Ext` an extension, bytes a bin. */
export type Written =
  | null
  | boolean
  | number
  | string
  | Float
  | Uint8Array
  | Ext
  | readonly Written[]
  | { readonly [key: string]: Written };

export class Ext {
  constructor(
    readonly type: number,
    readonly data: Uint8Array,
  ) {}
}

/** A reference to a thing that is there. */
export function thing(id: number): Ext {
  return idOf(5, id);
}

export function task(id: number): Ext {
  return idOf(4, id);
}

export function room(id: number): Ext {
  return idOf(3, id);
}

export function closure(source: string): Ext {
  return new Ext(2, Buffer.from(source));
}

export function regex(source: string): Ext {
  return new Ext(1, Buffer.from(source));
}

/** A new plain thing. */
export function plain(id: number, properties: { readonly [key: string]: Written } = {}): Written {
  return { ',': [0x4000, id, properties] };
}

/** A new instance. */
export function instance(type: number, id: number, values: readonly Written[]): Written {
  return { '.': [type, id, values] };
}

/** The changes of one thing: its id, and records, each a number with its payload. */
export type ThingChange = readonly [id: number, ...records: (readonly [number, Written])[]];

/** A file of changes of one scope. */
export function changesFile(
  first: number,
  scope: number,
  changes: readonly (readonly ThingChange[])[],
): { readonly path: string; readonly data: Uint8Array } {
  const packages = changes.map((change, place) => packageOf([first + place, scope, ...change]));
  const name = (number: number): string => number.toString(16).padStart(16, '0');
  return {
    path: `archive/${name(first)}_${name(first + changes.length - 1)}.mp`,
    data: packed(packages),
  };
}

/** The files of a store in which nothing happened but change 1. */
export function emptyStore(): Map<string, Uint8Array> {
  return new Map([
    ['store/idstat.mp', packed({ ccid: 1, next_free_id: 2 })],
    ['store/names.mp', packed([])],
    ['store/users.mp', packed({ users: [[1, 'admin', null, 5, [], null, null]] })],
    ['store/access_node.mp', packed({ access: [[1, 31]] })],
    ['store/access_thingsdb.mp', packed({ access: [[1, 31]] })],
    ['store/collections.mp', packed({ collections: [] })],
    ['store/procedures.mp', packed({ procedures: [] })],
    ['store/tasks.mp', packed({ tasks: [] })],
    ['store/modules.mp', packed({ modules: [] })],
    ['store/commits.mp', packed({})],
  ]);
}

export function packed(value: Written): Uint8Array {
  const out = new DataOutput();
  write(out, value);
  return out.take();
}

function packageOf(change: Written): Uint8Array {
  const data = packed(change);
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 128, 127]);
  head.writeUInt32LE(data.length, 0);
  return Buffer.concat([head, data]);
}

function idOf(type: number, id: number): Ext {
  const data = Buffer.alloc(8);
  data.writeBigUInt64BE(BigInt(id));
  return new Ext(type, data);
}

function write(out: DataOutput, value: Written): void {
  if (value === null) out.nil();
  else if (typeof value === 'boolean') out.bool(value);
  else if (typeof value === 'number') out.int(value);
  else if (typeof value === 'string') out.str(value);
  else if (value instanceof Float) out.float(value.value);
  else if (value instanceof Uint8Array) out.bin(value);
  else if (value instanceof Ext) out.ext(value.type, value.data);
  else if (isList(value)) {
    out.beginArray(value.length);
    for (const item of value) write(out, item);
  } else {
    const pairs = Object.entries(value);
    out.beginMap(pairs.length);
    for (const [key, item] of pairs) {
      out.str(key);
      write(out, item);
    }
  }
}

function isList(
  value: readonly Written[] | { readonly [key: string]: Written },
): value is readonly Written[] {
  return Array.isArray(value);
}
