/**
 * Records of request sessions, of kinds that the engine does not use. `reply` is described in `kept-reply.ts`:
 *
 *   SESSION (id: its number, parts) := head? result*                   the head in part 0
 *   head                   := kind:u8 owner:varint name:text incarnation:varint low:varint age:varint
 *   kind                   := 0 node | 1 client | 2 key
 *   result                 := sequence:varint body:16 bytes reply:blob
 *
 * A cluster that was founded at the first level, and a group of it that was not changed since, has another form, which is read only:
 *
 *   ORIGINS (id 0, parts)  := (origin:varint incarnation:varint low:varint age:varint count:varint (sequence:varint reply:blob)*)*
 *   KEY (id: its number)   := age:varint user:varint key:text body:16 bytes reply:blob
 */
import { ByteReader, type ByteWriter, FormatError } from '@althing/engine';
import { ANY_BODY, BODY_HASH_BYTES } from './body-hash.js';
import type { RecordNumbers } from './record-numbers.js';
import type { RequestSessions, Result, Session } from './request-sessions.js';

export const SessionRecord = { TABLE: 0x20, ORIGINS: 0x21, KEY: 0x22, SESSION: 0x23 } as const;

/** A record that is put at its place. */
export type PlacedRecord = readonly [kind: number, id: number, part: number, value: Uint8Array];

/** Bytes of a record after which another one begins. */
const PART_BYTES = 256 * 1024;

/**
 * The records of a session; counts them in it.
 *
 * @param out a writer that is free for this
 */
export function encodeSession(kind: number, session: Session, out: ByteWriter): PlacedRecord[] {
  const { owner, name, incarnation, low, age, number } = session;
  const records = [...chunksOf(session)].map((chunk, part): PlacedRecord => {
    out.rewind();
    if (part === 0) {
      out.u8(kind);
      out.varint(owner.id);
      out.text(name);
      out.varint(incarnation);
      out.varint(low);
      out.varint(age);
    }
    for (const [sequence, { body, reply }] of chunk) {
      out.varint(sequence);
      out.latin1(body);
      out.blob(reply);
    }
    return [SessionRecord.SESSION, number, part, out.take()];
  });
  session.parts = records.length;
  return records;
}

/** A session that is being read. */
export interface LoadedSession {
  readonly sessions: RequestSessions;
  readonly session: Session;
}

/**
 * Reads one record of a session.
 *
 * @param kinds the sessions of each kind
 * @param before the session of the record before; null for none
 * @throws FormatError
 */
export function loadSession(
  kinds: readonly RequestSessions[],
  number: number,
  part: number,
  record: Uint8Array,
  before: LoadedSession | null,
): LoadedSession {
  const input = new ByteReader(record);
  const loaded = part === 0 ? loadHead(kinds, number, input) : before;
  if (loaded === null || loaded.session.number !== number) {
    throw new FormatError(`part ${part} of request session ${number} has no beginning`);
  }
  const { sessions, session } = loaded;
  session.parts = part + 1;
  while (input.remaining > 0) {
    sessions.load(session, input.varint(), input.latin1(BODY_HASH_BYTES), input.blob());
  }
  return loaded;
}

function loadHead(kinds: readonly RequestSessions[], number: number, input: ByteReader): LoadedSession {
  const kind = input.u8();
  const sessions = kinds[kind];
  if (sessions === undefined)
    throw new FormatError(`request session ${number} is of the unknown kind ${kind}`);
  const [owner, name, incarnation] = [input.varint(), input.text(), input.varint()];
  const session = sessions.add(owner, name, {
    incarnation,
    low: input.varint(),
    age: input.varint(),
    number,
  });
  return { sessions, session };
}

/** Reads a record of nodes of the first form; they get numbers as if they had just been used. */
export function loadFirstNodes(nodes: RequestSessions, numbers: RecordNumbers, record: Uint8Array): void {
  const input = new ByteReader(record);
  while (input.remaining > 0) {
    const [owner, incarnation, low, age] = [input.varint(), input.varint(), input.varint(), input.varint()];
    const session =
      nodes.find(owner, '') ?? nodes.add(owner, '', { incarnation, low, age, number: numbers.take() });
    for (let count = input.varint(); count > 0; count--)
      nodes.load(session, input.varint(), ANY_BODY, input.blob());
  }
}

/** As `loadFirstNodes`, a key. */
export function loadFirstKey(keys: RequestSessions, numbers: RecordNumbers, record: Uint8Array): void {
  const input = new ByteReader(record);
  const [age, owner, name] = [input.varint(), input.varint(), input.text()];
  const session = keys.add(owner, name, { incarnation: 0, low: 0, age, number: numbers.take() });
  keys.load(session, 0, input.latin1(BODY_HASH_BYTES), input.blob());
}

/** The results in the order of their sequences, in chunks of a bounded size: at least one, which may be empty. */
function* chunksOf({ results }: Session): Generator<(readonly [sequence: number, Result])[]> {
  let chunk: (readonly [number, Result])[] = [];
  let bytes = 0;
  for (const entry of results.entries().sort(([a], [b]) => a - b)) {
    if (bytes >= PART_BYTES) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(entry);
    bytes += entry[1].reply.length;
  }
  yield chunk;
}
