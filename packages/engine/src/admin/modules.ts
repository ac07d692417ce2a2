/**
 * Modules as a part of the state of the root scope: programs that queries can call. A definition and deployed code are
 * replicated; each node runs a process of its own for each module, and what becomes of that is no part of the state.
 *
 *   effect := 2d module                          new or changed module
 *           | 2e id:varint                       delete module, with its code
 *           | 2f id:varint length:varint bytes   set its code; length 0: it has none any more
 *   module := id:varint name:text folder:text source:text created:varint scope confs:varint starts:varint
 *             length:varint conf
 *   scope  := 0                     every scope
 *           | 1                     @thingsdb
 *           | 2                     @node
 *           | 3 collection:varint
 *
 * Records: MODULE (id, part 0) holds `module`, the parts from 1 on slices of its code.
 */

import { ByteReader, type ByteWriter, encoded, FormatError } from '../bytes.js';
import { getOrInsertComputed } from '../get-or-insert.js';
import type { Dirty } from '../state/dirty.js';
import { effect, effectsOn } from '../state/effect.js';
import { type Ids, takeIdsBack } from '../state/ids.js';
import type { GroupPart } from '../state/parts/part.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';
import { Module } from '../value/module.js';

export interface ModuleInfo {
  readonly id: number;
  readonly name: string;
  /** Name of its folder on each node, for life. */
  readonly folder: string;
  /** Path in that folder: of the file to start, or of a manifest. */
  readonly source: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The only scope that it may be called in, a collection by its id; null for every one. */
  readonly scope: 'thingsdb' | 'node' | number | null;
  /** The number of times that it was configured. */
  readonly confs: number;
  /** The number of times that all nodes were told to start it anew. */
  readonly starts: number;
  /** Its configuration, packed; empty for none. */
  readonly conf: Uint8Array;
}

/** Modules of a cluster at most. */
export const MODULES_MAX = 100;

/** Bytes of a packed configuration at most. */
export const MODULE_CONF_BYTES_MAX = 1024 * 1024;

/**
 * Bytes of the deployed code of one module, and of all together, at most: each node keeps them in memory, and a restore puts all of
 * them into one change (64 MiB).
 */
export const MODULE_CODE_BYTES_MAX = 32 * 1024 * 1024;
export const MODULES_CODE_BYTES_MAX = 48 * 1024 * 1024;

/** Bytes of a slice of code in one record. */
const SLICE_BYTES = 4 * 1024 * 1024;

export class Modules implements GroupPart {
  readonly effects = effectsOn(this, ModuleEffect);
  readonly kinds = [RecordKind.MODULE];
  readonly byId = new Map<number, ModuleInfo>();
  readonly byName = new Map<string, ModuleInfo>();
  /** Rises with every change. */
  version = 0;
  /** Gives the ids of modules, with others; rises above each that comes up. */
  ids: Ids = { nextId: 1, idFloor: 0 };
  /** Modules as values of the language, by id. */
  private readonly values = new Map<number, Module>();
  /** Deployed code, in the slices of its records. */
  private readonly codes = new Map<number, readonly Uint8Array[]>();

  constructor(private readonly dirty: Dirty) {}

  /** The value of a module, equal to itself alone. */
  valueOf({ id }: ModuleInfo): Module {
    return getOrInsertComputed(this.values, id, () => new Module(id));
  }

  /** The deployed code of a module, in slices; null for none. */
  codeOf(id: number): readonly Uint8Array[] | null {
    return this.codes.get(id) ?? null;
  }

  /** Bytes of deployed code of all modules but one. */
  codeBytesBeside(id: number): number {
    let bytes = 0;
    for (const [other, slices] of this.codes) if (other !== id) bytes += bytesOf(slices);
    return bytes;
  }

  put(module: ModuleInfo): void {
    this.index(module);
    this.dirty.put(RecordKind.MODULE, module.id, 0, encoded(writeModule, module));
  }

  delete(id: number): void {
    const module = this.byId.get(id);
    if (module === undefined) return;
    this.setCode(id, null);
    this.byId.delete(id);
    this.byName.delete(module.name);
    this.values.delete(id);
    this.version += 1;
    this.dirty.put(RecordKind.MODULE, id, 0, null);
  }

  /** Sets the code of a module, in slices as `slicesOf` makes them; null for none. */
  setCode(id: number, slices: readonly Uint8Array[] | null): void {
    const before = this.codes.get(id)?.length ?? 0;
    const count = slices?.length ?? 0;
    if (slices === null || count === 0) this.codes.delete(id);
    else this.codes.set(id, slices);
    slices?.forEach((slice, i) => {
      this.dirty.put(RecordKind.MODULE, id, i + 1, slice);
    });
    for (let part = count + 1; part <= before; part++) this.dirty.put(RecordKind.MODULE, id, part, null);
    this.version += 1;
  }

  load(_kind: RecordKind, id: number, part: number, value: Uint8Array): void {
    if (part === 0) {
      this.index(readModule(new ByteReader(value)));
      return;
    }
    const slices = [...(this.codes.get(id) ?? [])];
    slices[part - 1] = value.slice();
    this.codes.set(id, slices);
    this.version += 1;
  }

  clear(): void {
    this.byId.clear();
    this.byName.clear();
    this.values.clear();
    this.codes.clear();
    this.version += 1;
  }

  contents(): string | null {
    const [name] = this.byName.keys();
    return name === undefined ? null : `the module '${name}'`;
  }

  private index(module: ModuleInfo): void {
    const old = this.byId.get(module.id);
    if (old !== undefined) this.byName.delete(old.name);
    this.byId.set(module.id, module);
    this.byName.set(module.name, module);
    this.version += 1;
    this.ids.nextId = Math.max(this.ids.nextId, module.id + 1);
  }
}

/** Cuts code into what records hold. */
export function slicesOf(code: Uint8Array): readonly Uint8Array[] {
  const slices: Uint8Array[] = [];
  for (let at = 0; at < code.length; at += SLICE_BYTES) slices.push(code.slice(at, at + SLICE_BYTES));
  return slices;
}

export const ModuleEffect = {
  /** Makes a module, or changes its definition. */
  PUT: effect<Modules, [module: ModuleInfo]>({
    code: 0x2d,
    write: writeModule,
    read: (input) => [readModule(input)],
    apply: (modules, module) => modules.put(module),
    inverse: (modules, { id }) => {
      const old = modules.byId.get(id);
      const { nextId } = modules.ids;
      return () => {
        if (old !== undefined) return modules.put(old);
        modules.delete(id);
        takeIdsBack(modules.ids, nextId);
      };
    },
    cost: () => NS_PER_UNDO,
    counts: one('modules'),
  }),
  /** With its code. */
  DELETE: effect<Modules, [id: number]>({
    code: 0x2e,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (modules, id) => modules.delete(id),
    inverse: (modules, id) => {
      const old = modules.byId.get(id);
      const code = modules.codeOf(id);
      return () => {
        if (old !== undefined) modules.put(old);
        modules.setCode(id, code);
      };
    },
    cost: () => NS_PER_UNDO,
    counts: one('modules'),
  }),
  /** Sets the code of a module; no slices for none. */
  CODE: effect<Modules, [id: number, slices: readonly Uint8Array[]]>({
    code: 0x2f,
    write: (out, id, slices) => {
      out.varint(id);
      out.varint(bytesOf(slices));
      for (const slice of slices) out.bytes(slice);
    },
    read: (input) => [input.varint(), slicesOf(input.blobView())],
    apply: (modules, id, slices) => modules.setCode(id, slices),
    inverse: (modules, id) => {
      const old = modules.codeOf(id);
      return () => modules.setCode(id, old);
    },
    cost: () => NS_PER_UNDO,
    counts: one('modules'),
  }),
};

/** Nanoseconds that it takes to take a change of a module back. */
const NS_PER_UNDO = 2000;

function bytesOf(slices: readonly Uint8Array[]): number {
  return slices.reduce((bytes, { length }) => bytes + length, 0);
}

const Scope = { ALL: 0, ROOT: 1, NODE: 2, COLLECTION: 3 } as const;

function writeModule(out: ByteWriter, module: ModuleInfo): void {
  out.varint(module.id);
  out.text(module.name);
  out.text(module.folder);
  out.text(module.source);
  out.varint(module.createdAt);
  const { scope, conf } = module;
  if (scope === null) out.u8(Scope.ALL);
  else if (typeof scope === 'string') out.u8(scope === 'thingsdb' ? Scope.ROOT : Scope.NODE);
  else {
    out.u8(Scope.COLLECTION);
    out.varint(scope);
  }
  out.varint(module.confs);
  out.varint(module.starts);
  out.blob(conf);
}

function readModule(input: ByteReader): ModuleInfo {
  return {
    id: input.varint(),
    name: input.text(),
    folder: input.text(),
    source: input.text(),
    createdAt: input.varint(),
    scope: readScope(input),
    confs: input.varint(),
    starts: input.varint(),
    conf: input.blob(),
  };
}

function readScope(input: ByteReader): ModuleInfo['scope'] {
  const kind = input.u8();
  switch (kind) {
    case Scope.ALL:
      return null;
    case Scope.ROOT:
      return 'thingsdb';
    case Scope.NODE:
      return 'node';
    case Scope.COLLECTION:
      return input.varint();
    default:
      throw new FormatError(`there is no scope of kind ${kind}`);
  }
}
