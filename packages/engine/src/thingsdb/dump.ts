/**
 * ThingsDB's dump of a collection, which `export({dump: true})` gives there and `import()` takes:
 *
 *   dump   := array [1500, version:str, record*]        bytes behind it are not looked at
 *   record := [number, payload] | {name: payload}       the second in old data
 *
 * The numbers are those of the changes of ThingsDB. A payload that is a map is told by the order of its values: their keys are empty.
 */
import type { CollectionGroup } from '../state/collection-group.js';
import type { Charge } from '../state/transaction.js';
import { checkContents } from '../state/transfer.js';
import { CollectionBuilder } from './builder.js';
import { type ByteSource, DataInput } from './input.js';
import { CollectionRecords, type LateNames, readRecordHead, SET_ENUM } from './records.js';

/** The schema of dumps, in every version that writes them. */
export const DUMP_SCHEMA = 1500;

/** The newest version of ThingsDB whose dumps are read. */
export const THINGSDB_VERSION = '1.9.3';

/** Bytes that are no dump of ThingsDB, or one of a version that is not known. */
export class NoThingsdbDumpError extends Error {}

/** True if bytes could be a dump of ThingsDB: an array. */
export function looksLikeThingsdbDump(first: number): boolean {
  return (first >= 0x90 && first < 0xa0) || first === 0xdc || first === 0xdd;
}

/**
 * Makes a collection of a dump; tasks have no owner there.
 *
 * @throws NoThingsdbDumpError; DamagedDataError, with the place; and what `charge` throws
 */
export function readThingsdbDump(data: Uint8Array | ByteSource, charge: Charge): CollectionGroup {
  const builder = new CollectionBuilder(charge);
  readDumpInto(new DataInput(data, charge), builder);
  checkContents(builder.store, [...builder.store.all()], charge);
  return builder.group;
}

/** Reads a dump into a collection in which there is nothing. */
export function readDumpInto(input: DataInput, builder: CollectionBuilder): void {
  const count = readHead(input);
  const begin = input.offset;
  let late: LateNames | null = null;
  const lateNames: LateNames = (id, members) => {
    if (late === null) {
      const here = input.offset;
      input.seek(begin);
      late = findNames(input, count);
      input.seek(here);
    }
    return late(id, members);
  };
  const records = new CollectionRecords(input, builder, lateNames);
  for (let left = count; left > 0; left--) {
    const number = readRecordHead(input);
    records.run(number, () => builder.root);
  }
  records.end();
}

/** Reads what stands in front of the records; gives their number. */
function readHead(input: DataInput): number {
  const refuse = (why: string): never => {
    throw new NoThingsdbDumpError(why);
  };
  const none = 'this is no dump: export({dump: true}) makes one';
  if (input.remaining === 0 || input.token() !== 'array') refuse(none);
  const count = input.array('a dump');
  if (count < 2 || input.token() !== 'int') refuse(none);
  const schema = input.int();
  if (schema < 0 || input.token() !== 'str') refuse(none);
  if (schema !== DUMP_SCHEMA) refuse(`the dump has the schema ${schema}; this version reads ${DUMP_SCHEMA}`);
  const version = input.text('the version');
  if (isNewer(version, THINGSDB_VERSION))
    refuse(`the dump is of ThingsDB ${version}; this version reads dumps up to ${THINGSDB_VERSION}`);
  return count - 2;
}

/** Compares three numbers each, whatever stands behind them. */
function isNewer(version: string, than: string): boolean {
  const numbers = (text: string): number[] =>
    [0, 1, 2].map((place) => Number(/^\d{1,15}/.exec(text.split('.')[place] ?? '')?.[0] ?? 0));
  const [a, b] = [numbers(version), numbers(than)];
  const place = a.findIndex((number, at) => number !== b[at]);
  return place >= 0 && (a[place] ?? 0) > (b[place] ?? 0);
}

/** The names of members, of dumps in which they come with the values only. */
function findNames(input: DataInput, records: number): LateNames {
  const names = new Map<number, readonly string[]>();
  for (let left = records; left > 0; left--) {
    const number = readRecordHead(input);
    if (number === SET_ENUM) readNames(input, names);
    else input.skip();
  }
  return (id) => names.get(id) ?? null;
}

function readNames(input: DataInput, names: Map<number, readonly string[]>): void {
  const values = input.map('the values of an enum');
  if (values < 2) input.fail('an enum without members');
  input.skip();
  const id = input.uint('the id of an enum');
  input.skip();
  const members = Array.from({ length: input.array('members') }, () => {
    input.parts(2, 'a member');
    const name = input.text('the name of a member');
    input.skip();
    return name;
  });
  names.set(id, members);
  for (let left = 2 * (values - 2); left > 0; left--) input.skip();
}
