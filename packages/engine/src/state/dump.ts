/**
 * A collection as a file: what export({dump: true}) gives and import() takes.
 *
 *   dump := 0xc1 "ALTHDUMP" format:u8 version:text contents:blob procedures:varint procedure* tasks:varint task* crc:u32
 *
 * `contents` as in `transfer.ts`, `procedure` as in `parts/procedures.ts`, `task` as in `parts/tasks.ts`; `version` is that of the node that wrote it, for people;
 * `crc` is the CRC-32 of all that stands in front of it. The first byte tells clients that show what looks like text as text that this is
 * none; earlier dumps are without it.
 */

import { crc32 } from 'node:zlib';
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { NAME } from '../schema/name.js';
import { parseCharged } from '../value/closure.js';
import { ShapeTree } from '../value/shape.js';
import { CollectionGroup } from './collection-group.js';
import { type Procedure, readProcedure, writeProcedure } from './parts/procedures.js';
import { readTasks, START_MAX, writeTasks } from './parts/tasks.js';
import { EMPTY_SOURCE } from './records.js';
import type { Store } from './store.js';
import type { Charge } from './transaction.js';
import { checkInside, readContents, writeContents } from './transfer.js';

const MAGIC = Buffer.from('\xc1ALTHDUMP', 'latin1');

/** The first beginning of dumps. */
const MAGIC_OLD = MAGIC.subarray(1);

const FORMAT = 1;

/** Bytes of a checksum. */
const CRC_BYTES = 4;

export interface Dump {
  readonly contents: Uint8Array;
  readonly procedures: readonly Procedure[];
  /** The input of `readTasks`, once the contents were taken up. */
  readonly tasks: Uint8Array;
}

/** Bytes that are no dump, or one that this version does not read. */
export class NoDumpError extends Error {}

/** The content that a dump of a collection would have. */
export function dumpOf({ store, procedures, tasks }: CollectionGroup, charge: Charge): Dump {
  const out = new ByteWriter();
  writeTasks(out, tasks.list());
  return {
    contents: writeContents(store, charge),
    procedures: [...procedures.byName.values()],
    tasks: out.take(),
  };
}

/** Writes a collection. Brings all of it into memory. */
export function writeDump(
  { store, procedures, tasks }: CollectionGroup,
  version: string,
  charge: Charge,
): Uint8Array {
  const out = new ByteWriter();
  out.bytes(MAGIC);
  out.u8(FORMAT);
  out.text(version);
  out.blob(writeContents(store, charge));
  out.varint(procedures.byName.size);
  for (const procedure of procedures.byName.values()) {
    charge(procedure.closure.source.length);
    writeProcedure(out, procedure);
  }
  const { length } = out;
  writeTasks(out, tasks.list());
  charge(out.length - length);
  out.u32(crc32(out.view()));
  return out.take();
}

/**
 * Reads a dump, which may be anything: what it holds was taken up in a collection of its own and looks as if queries had made it.
 *
 * @throws NoDumpError for what is no dump or has a format that is not known; FormatError, and what `charge` throws
 */
export function readDump(bytes: Uint8Array, charge: Charge): Dump {
  const magic = [MAGIC, MAGIC_OLD].find((one) => one.equals(bytes.subarray(0, one.length)));
  if (magic === undefined) {
    throw new NoDumpError('this is no dump: export({dump: true}) makes one');
  }
  const end = bytes.length - CRC_BYTES;
  const input = new ByteReader(bytes, magic.length, Math.max(end, magic.length));
  const format = input.u8();
  const version = input.text();
  if (format !== FORMAT) {
    throw new NoDumpError(
      `the dump has format ${format}, of version ${version}; this version reads ${FORMAT}`,
    );
  }
  charge(bytes.length);
  if (crc32(bytes.subarray(0, end)) !== new ByteReader(bytes, end).u32()) {
    throw new FormatError('the dump is damaged: its checksum is not right');
  }
  const contents = input.blob();
  const procedures = readProcedures(input, charge);
  const tasks = bytes.subarray(input.offset, end);
  const scratch = new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE);
  scratch.create();
  readContents(contents, scratch.store, charge);
  checkTasks(input, scratch.store, charge);
  return { contents, procedures, tasks };
}

function readProcedures(input: ByteReader, charge: Charge): Procedure[] {
  const names = new Set<string>();
  const procedures: Procedure[] = [];
  for (let count = input.varint(); count > 0; count--) {
    const procedure = readProcedure(input);
    const { name, closure } = procedure;
    if (!NAME.test(name) || names.has(name)) throw new FormatError(`the procedure '${name}' can not be`);
    parseCharged(closure.source, charge);
    names.add(name);
    procedures.push(procedure);
  }
  return procedures;
}

/** Checks the tasks of a dump whose contents were taken up in a store of their own. */
function checkTasks(input: ByteReader, store: Store, charge: Charge): void {
  const ids = new Set<number>();
  store.guard = charge;
  for (const { id, startAt, closure, args } of readTasks(input, store)) {
    if (id === 0 || id >= store.nextId || ids.has(id) || store.find(id) !== undefined || startAt > START_MAX)
      throw new FormatError(`the task ${id} can not be`);
    ids.add(id);
    const { params } = parseCharged(closure.source, charge);
    if (!args.tuple || args.length !== Math.max(0, params.length - 1)) {
      throw new FormatError(`the arguments of task ${id} can not be`);
    }
    checkInside(args, store, charge);
  }
  store.guard = null;
  if (input.remaining > 0) throw new FormatError('there is more than a dump');
}
