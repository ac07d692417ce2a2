/**
 * Requests on their way from the node that took them to the one that carries them out, and the answers to
 * them.
 *
 *   request := version:u8 (1) flags:u8 group:varint incarnation:varint sequence:varint low:varint rootIndex:varint
 *              deadline:varint user:varint format:u8 scope key? id? client? saltKey? modes? body
 *   flags   := 1 a key, 2 an id, 4 always (without it, nodes of earlier versions tell no outcomes), 8: an earlier attempt may have made
 *              the change, 16: a client's name, 32: the sender wants to know what code says by `log`, 64: a key for salts, and 128: modes
 *   scope   := 0 | 1 number:varint | 2 name:text         @thingsdb, a node (number + 1; 0 for none or a name: it goes to that node), a collection
 *   key     := key:text hash:16 bytes
 *   id      := text                                       the name of the request in logs
 *   client  := client:text sequence:varint low:varint hash:16 bytes       the client's name for it by numbers
 *   saltKey := 16 bytes                                   for passwords that it sets
 *   modes   := u8                                         1: it runs without CHANGE and GRANT, 2: it is only tried out, 4 beside 2: explained
 *   body    := MessagePack, as clients send it | emit | session    the rest; see `forwarded-body.ts`
 *
 *   answer  := version:u8 (1) kind:u8 ...
 *     0 result     index:varint flags:u8 bytes           flags: 1 MessagePack, else JSON; 2 a change was made
 *     1 error      index:varint code:zigzag flags:u8 message:text places? detail?     flags: 1 a conflict of keys; 2 it is not known
 *                                                         whether a change was made; 4 it was made; 8 the log
 *                                                         holds that none was; 16 with 4: it is the error of
 *                                                         code that ran behind it; 32 it is
 *                                                         about what exists already; 64 places follow; 128 a detail follows, see `forwarded-detail.ts`;
 *                                                         1 with 8: its user has used up what it may take
 *       places := count:varint (line:varint column:varint offset:varint length:varint in:text)*    empty `in`: the text of the query
 *     2 elsewhere  leader:varint                         nothing was done now: this node does not lead; 0 for unknown
 *     3 lost       unknown:u8                            the leadership was lost before there was an answer
 *     4 late       unknown:u8                            the deadline passed before there was an answer
 *     5 busy                                             nothing was done now: too much is under way
 *     6 logged     count:varint text* answer             what code said by `log`, to a sender that wants to know
 *
 * An error without flags 2, 4 and 8 means that no attempt made the change, and none that has come so far will; with flag 8, that
 * none ever will.
 *
 * `group` is the number of the Raft group, `format` 0 for JSON and 1 for MessagePack, `deadline` the
 * milliseconds that are left, `rootIndex` the log position of the root scope that the sender's decision rests
 * on; `unknown` says whether a change may have been made.
 */
import {
  ByteReader,
  ByteWriter,
  type Format,
  FormatError,
  QueryError,
  type ScopeName,
  type ToldPlace,
  toldPlaces,
} from '@althing/engine';
import { SALT_KEY_BYTES } from '../base/password-salts.js';
import { readKeyText, readName, writeKey, writeName } from '../groups/entry.js';
import { type ChangeOutcome, conflictingKey, type Reply, type Terms } from '../groups/request.js';
import { readDetail, writeDetail } from './forwarded-detail.js';

const VERSION = 1;
const WITH_KEY = 1;
const WITH_ID = 2;
const KNOWS_OUTCOMES = 4;
const UNDECIDED = 8;
const WITH_CLIENT = 16;
const WANTS_LOGS = 32;
const WITH_SALT_KEY = 64;
const WITH_MODES = 128;

/** Modes. */
const READ_ONLY = 1;
const DRY_RUN = 2;
const EXPLAIN = 4;
const KNOWN_MODES = READ_ONLY | DRY_RUN | EXPLAIN;

export interface ForwardedRequest {
  readonly group: number;
  readonly incarnation: number;
  readonly sequence: number;
  readonly low: number;
  readonly rootIndex: number;
  readonly deadlineMs: number;
  readonly user: number;
  readonly format: Format;
  readonly scope: ScopeName;
  readonly key: Terms['key'];
  /** The client's name for it by numbers. */
  readonly name: Terms['name'];
  /** Null when it has none. */
  readonly id: string | null;
  /** An earlier attempt may have made the change. */
  readonly undecided: boolean;
  /** True if the sender wants to know what code says by `log`. */
  readonly wantsLogs: boolean;
  /** See `Request`; null for none. */
  readonly saltKey: Uint8Array | null;
  /** See `Terms`. */
  readonly readOnly: boolean;
  readonly dryRun: Terms['dryRun'];
  /** See `forwarded-body.ts`. */
  readonly body: Uint8Array;
}

export type ForwardedAnswer =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'elsewhere'; readonly leader: number }
  | { readonly kind: 'lost' | 'late'; readonly unknown: boolean }
  | { readonly kind: 'busy' };

/** @param out a writer for this; the bytes are valid until it is written again */
export function encodeRequest(request: ForwardedRequest, out = new ByteWriter()): Uint8Array {
  const { key, name, id, body, scope, undecided, wantsLogs, saltKey } = request;
  const explains = request.dryRun === 'explain' ? EXPLAIN : 0;
  const modes = (request.readOnly ? READ_ONLY : 0) | (request.dryRun ? DRY_RUN : 0) | explains;
  out.rewind();
  out.u8(VERSION);
  const wishes = KNOWS_OUTCOMES | (undecided ? UNDECIDED : 0) | (wantsLogs ? WANTS_LOGS : 0);
  const names = (key === null ? 0 : WITH_KEY) | (name === null ? 0 : WITH_CLIENT);
  const keyed = saltKey === null ? 0 : WITH_SALT_KEY;
  out.u8(names | (id === null ? 0 : WITH_ID) | wishes | keyed | (modes === 0 ? 0 : WITH_MODES));
  out.varint(request.group);
  out.varint(request.incarnation);
  out.varint(request.sequence);
  out.varint(request.low);
  out.varint(request.rootIndex);
  out.varint(request.deadlineMs);
  out.varint(request.user);
  out.u8(FORMATS.indexOf(request.format));
  writeScope(out, scope);
  if (key !== null) writeKey(out, key);
  if (id !== null) out.text(id);
  if (name !== null) writeName(out, name);
  if (saltKey !== null) out.bytes(saltKey);
  if (modes !== 0) out.u8(modes);
  out.bytes(body);
  return out.view();
}

/** @throws FormatError */
export function decodeRequest(payload: Uint8Array): ForwardedRequest {
  const input = new ByteReader(payload);
  expectVersion(input);
  const flags = input.u8();
  return {
    group: input.varint(),
    incarnation: input.varint(),
    sequence: input.varint(),
    low: input.varint(),
    rootIndex: input.varint(),
    deadlineMs: input.varint(),
    user: input.varint(),
    format: formatOf(input.u8()),
    scope: readScope(input),
    key: (flags & WITH_KEY) === 0 ? null : readKeyText(input),
    id: (flags & WITH_ID) === 0 ? null : input.text(),
    name: (flags & WITH_CLIENT) === 0 ? null : readName(input),
    undecided: (flags & UNDECIDED) !== 0,
    wantsLogs: (flags & WANTS_LOGS) !== 0,
    saltKey: (flags & WITH_SALT_KEY) === 0 ? null : input.bytes(SALT_KEY_BYTES),
    ...readModes((flags & WITH_MODES) === 0 ? 0 : input.u8()),
    body: input.bytes(input.remaining),
  };
}

function readModes(modes: number): Pick<ForwardedRequest, 'readOnly' | 'dryRun'> {
  const isDryRun = (modes & DRY_RUN) !== 0;
  const explains = (modes & EXPLAIN) !== 0;
  if (modes > KNOWN_MODES || (explains && !isDryRun))
    throw new FormatError(`a forwarded request with the unknown modes ${modes}`);
  return { readOnly: (modes & READ_ONLY) !== 0, dryRun: explains ? 'explain' : isDryRun };
}

/** @param out a writer for this; the bytes are valid until it is written again */
export function encodeAnswer(answer: ForwardedAnswer, out = new ByteWriter()): Uint8Array {
  out.rewind();
  out.u8(VERSION);
  switch (answer.kind) {
    case 'reply':
      writeReply(out, answer.reply);
      break;
    case 'elsewhere':
      out.u8(Kind.ELSEWHERE);
      out.varint(answer.leader);
      break;
    case 'lost':
    case 'late':
      out.u8(answer.kind === 'lost' ? Kind.LOST : Kind.LATE);
      out.u8(answer.unknown ? 1 : 0);
      break;
    case 'busy':
      out.u8(Kind.BUSY);
  }
  return out.view();
}

/** The answer with a result of a change that was made, but for the index, which comes behind its second byte. */
export function encodePrepared(result: string | Uint8Array, out: ByteWriter): Uint8Array {
  out.rewind();
  out.u8(VERSION);
  out.u8(Kind.RESULT);
  writeResult(out, result, true);
  return out.view();
}

/** An answer with what code said by `log`. */
export function withLogs(answer: Uint8Array, texts: readonly string[]): Uint8Array {
  if (texts.length === 0) return answer;
  const out = new ByteWriter(answer.length + 256);
  out.u8(VERSION);
  out.u8(Kind.LOGGED);
  out.varint(texts.length);
  for (const text of texts) out.text(text);
  out.bytes(answer);
  return out.take();
}

/**
 * @param logged takes what code said by `log`
 * @throws FormatError
 */
export function decodeAnswer(
  payload: Uint8Array,
  logged: (text: string) => void = () => {},
): ForwardedAnswer {
  const input = new ByteReader(payload);
  expectVersion(input);
  const kind = input.u8();
  switch (kind) {
    case Kind.RESULT: {
      const index = input.varint();
      const flags = input.u8();
      if (flags > (PACKED | CHANGED))
        throw new FormatError(`a forwarded result with the unknown flags ${flags}`);
      const { remaining } = input;
      const result = (flags & PACKED) === 0 ? input.utf8(remaining) : input.bytes(remaining);
      const isMade = (flags & CHANGED) !== 0;
      return { kind: 'reply', reply: { ok: true, result, index, ...(isMade ? { outcome: 'made' } : {}) } };
    }
    case Kind.ERROR: {
      const index = input.varint();
      const code = input.zigzag();
      const given = input.u8();
      const flags = given & ~(EXISTS | PLACES | DETAIL);
      const message = input.text();
      const exists = (given & EXISTS) !== 0;
      const told = (given & PLACES) === 0 ? null : input.list(() => readPlace(input));
      const detail = (given & DETAIL) === 0 ? null : readDetail(input);
      const error = QueryError.of(code, message, exists, told, detail);
      if (flags === THROTTLED) return { kind: 'reply', reply: { ok: false, error, throttled: true } };
      if ((flags & CONFLICT) !== 0) return { kind: 'reply', reply: conflictingKey(error) };
      if (flags === SEALED)
        return { kind: 'reply', reply: { ok: false, error, index, outcome: 'none', sealed: true } };
      if (flags === (MADE | OWN))
        return { kind: 'reply', reply: { ok: false, error, index, outcome: 'made', own: true } };
      const outcome = OUTCOMES.get(flags);
      if (outcome === undefined) throw new FormatError(`a forwarded error with the unknown flags ${flags}`);
      return { kind: 'reply', reply: { ok: false, error, index, outcome } };
    }
    case Kind.ELSEWHERE:
      return { kind: 'elsewhere', leader: input.varint() };
    case Kind.LOST:
    case Kind.LATE:
      return { kind: kind === Kind.LOST ? 'lost' : 'late', unknown: input.u8() !== 0 };
    case Kind.BUSY:
      return { kind: 'busy' };
    case Kind.LOGGED: {
      for (let count = input.varint(); count > 0; count--) logged(input.text());
      return decodeAnswer(input.bytes(input.remaining));
    }
    default:
      throw new FormatError(`a forwarded answer of the unknown kind ${kind}`);
  }
}

const Kind = { RESULT: 0, ERROR: 1, ELSEWHERE: 2, LOST: 3, LATE: 4, BUSY: 5, LOGGED: 6 } as const;

/** Flags of a result. */
const PACKED = 1;
const CHANGED = 2;

/** Flags of an error. */
const CONFLICT = 1;
const UNKNOWN = 2;
const MADE = 4;
const SEALED = 8;
const OWN = 16;
const EXISTS = 32;
const PLACES = 64;
const DETAIL = 128;
/** Beside each other the two mean nothing else. */
const THROTTLED = CONFLICT | SEALED;

const OUTCOMES: ReadonlyMap<number, ChangeOutcome> = new Map([
  [0, 'none'],
  [UNKNOWN, 'unknown'],
  [MADE, 'made'],
]);

const FORMATS: readonly Format[] = ['json', 'msgpack'];

function formatOf(number: number): Format {
  const format = FORMATS[number];
  if (format === undefined) throw new FormatError(`unknown format ${number}`);
  return format;
}

function expectVersion(input: ByteReader): void {
  const version = input.u8();
  if (version !== VERSION)
    throw new FormatError(`forwarding of version ${version}; this node knows ${VERSION}`);
}

function writeReply(out: ByteWriter, reply: Reply): void {
  const outcome = reply.outcome ?? 'none';
  if (!reply.ok) {
    out.u8(Kind.ERROR);
    out.varint(reply.index ?? 0);
    out.zigzag(reply.error.code);
    const isOwn = outcome === 'made' && reply.own === true;
    const places = toldPlaces(reply.error);
    const { detail, exists } = reply.error;
    const further =
      (reply.sealed === true ? SEALED : 0) |
      (isOwn ? OWN : 0) |
      (exists ? EXISTS : 0) |
      (places.length > 0 ? PLACES : 0) |
      (detail === null ? 0 : DETAIL);
    const throttled = reply.throttled === true ? THROTTLED : 0;
    out.u8((reply.conflict === true ? CONFLICT : 0) | FLAGS_OF[outcome] | further | throttled);
    out.text(reply.error.message);
    if (places.length > 0) out.list(places, (place) => writePlace(out, place));
    if (detail !== null) writeDetail(out, detail);
    return;
  }
  out.u8(Kind.RESULT);
  out.varint(reply.index ?? 0);
  writeResult(out, reply.result, outcome === 'made');
}

function writePlace(out: ByteWriter, { line, column, offset, length, in: callee }: ToldPlace): void {
  for (const number of [line, column, offset, length]) out.varint(number);
  out.text(callee ?? '');
}

function readPlace(input: ByteReader): ToldPlace {
  const [line = 0, column = 0, offset = 0, length = 0] = [0, 1, 2, 3].map(() => input.varint());
  return { line, column, offset, length, in: input.text() || null };
}

function writeResult(out: ByteWriter, result: string | Uint8Array, isMade: boolean): void {
  const isText = typeof result === 'string';
  out.u8((isText ? 0 : PACKED) | (isMade ? CHANGED : 0));
  if (isText) out.utf8(result, Buffer.byteLength(result));
  else out.bytes(result);
}

const FLAGS_OF: Readonly<Record<ChangeOutcome, number>> = { none: 0, unknown: UNKNOWN, made: MADE };

const SCOPE_KINDS: readonly ScopeName['kind'][] = ['thingsdb', 'node', 'collection'];

function writeScope(out: ByteWriter, scope: ScopeName): void {
  out.u8(SCOPE_KINDS.indexOf(scope.kind));
  if (scope.kind === 'node') out.varint(typeof scope.id === 'number' ? scope.id + 1 : 0);
  else if (scope.kind === 'collection') out.text(scope.name);
}

function readScope(input: ByteReader): ScopeName {
  const kind = SCOPE_KINDS[input.u8()];
  switch (kind) {
    case 'thingsdb':
      return { kind };
    case 'node': {
      const number = input.varint();
      return { kind, id: number === 0 ? null : number - 1 };
    }
    case 'collection':
      return { kind, name: input.text() };
    default:
      throw new FormatError('a scope of an unknown kind');
  }
}
