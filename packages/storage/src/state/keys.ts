/**
 * The keys of the state. All kinds of keys have a fixed length, or are the only ones under their first byte,
 * so no two names share a key and no range reaches into another. Numbers are big-endian: keys order as
 * numbers do.
 *
 *   key        = store | group | clearing | journal | record
 *   store      = 0x00 name                                         'format', 'identity'
 *   group      = 0x01 group[8]
 *   clearing   = 0x02 generation[4]
 *   journal    = 0x03 batch[8]
 *   record     = 0x10 group[8] generation[4] kind[1] id[8] part[4]
 *
 * A group's records all lie under its present generation. A snapshot is written under a new one, to which the
 * group then switches; what lies under an old one is garbage, named by a clearing key until it is gone. A
 * generation number is used again only when nothing is left of its former use.
 */
import { readU53BE, writeU53BE } from '../bytes.js';
import type { KeyRange } from '../kv/key-value-store.js';

const STORE = 0x00;
const GROUP = 0x01;
const CLEARING = 0x02;
const JOURNAL = 0x03;
const RECORD = 0x10;

export const GENERATION_MAX = 0xffffffff;
export const KIND_MAX = 0xff;
export const PART_MAX = 0xffffffff;
export const RECORD_KEY_BYTES = 26;
const PREFIX_BYTES = 13;
/** Where the name of a record is in its key, and how long it is. */
export const NAME_AT = 13;
export const NAME_BYTES: number = RECORD_KEY_BYTES - NAME_AT;
const KIND_AT = NAME_AT;
const ID_AT = 14;
const PART_AT = 22;

/** The name of a record within its group. */
export type RecordName = { readonly kind: number; readonly id: number; readonly part: number };

/** The order of records. */
export function compareNames(a: RecordName, b: RecordName): number {
  return a.kind - b.kind || a.id - b.id || a.part - b.part;
}

export function storeKey(name: 'format' | 'identity'): Buffer {
  return Buffer.concat([Buffer.of(STORE), Buffer.from(name, 'latin1')]);
}

export function groupKey(group: number): Buffer {
  return numberKey(GROUP, group);
}

/** The group of a group key. */
export function groupOfKey(key: Buffer): number | undefined {
  return readU53BE(key, 1);
}

export const ALL_GROUPS: KeyRange = tagRange(GROUP);

export function clearingKey(generation: number): Buffer {
  const key = Buffer.alloc(5);
  key[0] = CLEARING;
  key.writeUInt32BE(generation, 1);
  return key;
}

export function generationOfClearingKey(key: Buffer): number {
  return key.readUInt32BE(1);
}

export const ALL_CLEARINGS: KeyRange = tagRange(CLEARING);

export function journalKey(batch: number): Buffer {
  return numberKey(JOURNAL, batch);
}

export function batchOfJournalKey(key: Buffer): number | undefined {
  return readU53BE(key, 1);
}

export const ALL_JOURNAL: KeyRange = tagRange(JOURNAL);

export const ALL_RECORDS: KeyRange = tagRange(RECORD);

/** A buffer for record keys of one group and generation, whose name {@link nameRecord} sets. */
export function recordKeyBuffer(group: number, generation: number): Buffer {
  const key = Buffer.alloc(RECORD_KEY_BYTES);
  key[0] = RECORD;
  writeU53BE(key, group, 1);
  key.writeUInt32BE(generation, 9);
  return key;
}

/** Sets the name in a record key. Hot: bytes are set one by one. */
export function nameRecord(key: Buffer, kind: number, id: number, part: number): void {
  const high = Math.floor(id / 4294967296);
  key[KIND_AT] = kind;
  key[ID_AT] = high >>> 24;
  key[ID_AT + 1] = high >>> 16;
  key[ID_AT + 2] = high >>> 8;
  key[ID_AT + 3] = high;
  key[ID_AT + 4] = id >>> 24;
  key[ID_AT + 5] = id >>> 16;
  key[ID_AT + 6] = id >>> 8;
  key[ID_AT + 7] = id;
  key[PART_AT] = part >>> 24;
  key[PART_AT + 1] = part >>> 16;
  key[PART_AT + 2] = part >>> 8;
  key[PART_AT + 3] = part;
}

/** The name in a record key, or undefined if it is none. */
export function nameOfRecord(key: Buffer): RecordName | undefined {
  if (key.length !== RECORD_KEY_BYTES || key[0] !== RECORD) return undefined;
  const id = readU53BE(key, ID_AT);
  return id === undefined ? undefined : { kind: key[KIND_AT]!, id, part: key.readUInt32BE(PART_AT) };
}

/** True if a key is that of a record. */
export function isRecordKey(key: Buffer): boolean {
  return (
    key.length === RECORD_KEY_BYTES &&
    key[0] === RECORD &&
    key[ID_AT] === 0 &&
    (key[ID_AT + 1] as number) < 0x20
  );
}

/** True if the bytes at `at` are the name in a record key. */
export function isName(bytes: Buffer, at: number): boolean {
  return bytes[at + 1] === 0 && (bytes[at + 2] as number) < 0x20;
}

/** The name in bytes that {@link isName} holds for. */
export function readName(bytes: Buffer): RecordName {
  return { kind: bytes[0]!, id: readU53BE(bytes, 1)!, part: bytes.readUInt32BE(9) };
}

/** Writes the name in a record key in the form of snapshots: kind, id and part, numbers little-endian. Hot, as `nameRecord`. */
export function copyNameLE(key: Buffer, bytes: Buffer, at: number): void {
  bytes[at] = key[KIND_AT]!;
  for (let i = 0; i < 8; i++) bytes[at + 1 + i] = key[ID_AT + 7 - i]!;
  for (let i = 0; i < 4; i++) bytes[at + 9 + i] = key[PART_AT + 3 - i]!;
}

/** Group and generation of a record key, or undefined if it is none. */
export function ownerOfRecord(key: Buffer): { group: number; generation: number } | undefined {
  if (key.length !== RECORD_KEY_BYTES || key[0] !== RECORD) return undefined;
  const group = readU53BE(key, 1);
  return group === undefined ? undefined : { group, generation: key.readUInt32BE(9) };
}

/** All records of a group's generation, or those of one kind. */
export function recordRange(group: number, generation: number, kind?: number, lastKind = kind): KeyRange {
  const prefix = recordKeyBuffer(group, generation).subarray(0, PREFIX_BYTES);
  const from = kind === undefined ? prefix : Buffer.concat([prefix, Buffer.of(kind)]);
  const last = lastKind === undefined ? prefix : Buffer.concat([prefix, Buffer.of(lastKind)]);
  return { from, to: successor(last) };
}

/** All records behind that of a record key, among those of its group, generation and kind. */
export function restOfKind(key: Buffer): KeyRange {
  return { from: Buffer.concat([key, Buffer.of(0)]), to: successor(key.subarray(0, PREFIX_BYTES + 1)) };
}

/** All records behind that of a record key, among those with its group, generation, kind and id. */
export function restOfThing(key: Buffer): KeyRange {
  return { from: Buffer.concat([key, Buffer.of(0)]), to: successor(key.subarray(0, PART_AT)) };
}

/** Compares the name in a key, at `at` of some bytes, with another one: below 0 in front of it, above 0 behind it. */
export function compareNameAt(bytes: Buffer, at: number, kind: number, id: number, part: number): number {
  const otherKind = bytes[at]!;
  if (otherKind !== kind) return otherKind - kind;
  const otherId = bytes.readUInt32BE(at + 1) * 4294967296 + bytes.readUInt32BE(at + 5);
  return otherId !== id ? otherId - id : bytes.readUInt32BE(at + 9) - part;
}

/** The first key after all that begin with `prefix`. */
function successor(prefix: Buffer): Buffer {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  const after = Buffer.from(prefix.subarray(0, end));
  if (end > 0) after[end - 1] = after[end - 1]! + 1;
  return after;
}

function tagRange(tag: number): KeyRange {
  return { from: Buffer.of(tag), to: Buffer.of(tag + 1) };
}

function numberKey(tag: number, number: number): Buffer {
  const key = Buffer.alloc(9);
  key[0] = tag;
  writeU53BE(key, number, 1);
  return key;
}
