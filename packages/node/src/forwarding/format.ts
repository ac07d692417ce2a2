/**
 * Requests on their way from the node that took them to the one that carries them out, and the answers to them.
 *
 *   request := version:u8 (1) flags:u8 group:varint epoch:varint sequence:varint low:varint rootIndex:varint
 *              deadline:varint user:varint format:u8 scope key? id? body
 *   scope   := 0 | 1 number:varint | 2 name:text         @thingsdb, a node (number + 1; 0 for none), a collection
 *   key     := key:text hash:16 bytes                    flag 1
 *   id      := text                                       flag 2: the name of the request in logs
 *   body    := MessagePack, as clients send it           the rest
 *
 *   answer  := version:u8 (1) kind:u8 ...
 *     0 result     index:varint format:u8 bytes
 *     1 error      index:varint code:zigzag flags:u8 message:text        flags: 1 a conflict of keys
 *     2 elsewhere  leader:varint                         nothing was done: this node does not lead; 0 for unknown
 *     3 lost       unknown:u8                            the leadership was lost before there was an answer
 *     4 late       unknown:u8                            the deadline passed before there was an answer
 *     5 busy                                             nothing was done: too much is under way
 *
 * `group` is the number of the Raft group, `format` 0 for JSON and 1 for MessagePack, `deadline` the milliseconds that
 * are left, `rootIndex` the place in the log of the root scope that the sender's decision rests on; `unknown` says
 * whether a change may have been made.
 */
import {
  ByteReader,
  ByteWriter,
  type Format,
  FormatError,
  MsgpackWriter,
  pack,
  QueryError,
  type ScopeName,
  type Value,
} from '@althing/engine';
import { conflictingKey, type Reply, type RequestBody } from '../request.js';
import { BODY_HASH_BYTES } from '../scopes/entry.js';

const VERSION = 1;
const WITH_KEY = 1;
const WITH_ID = 2;

export interface ForwardedRequest {
  readonly group: number;
  readonly epoch: number;
  readonly sequence: number;
  readonly low: number;
  readonly rootIndex: number;
  readonly deadlineMs: number;
  readonly user: number;
  readonly format: Format;
  readonly scope: ScopeName;
  readonly key: { readonly key: string; readonly body: Uint8Array } | null;
  /** Null when it has none. */
  readonly id: string | null;
  /** See `encodeBody`. */
  readonly body: Uint8Array;
}

export type ForwardedAnswer =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'elsewhere'; readonly leader: number }
  | { readonly kind: 'lost' | 'late'; readonly unknown: boolean }
  | { readonly kind: 'busy' };

/** The body of a request as MessagePack, whatever it came as. */
export function encodeBody(body: RequestBody): Uint8Array {
  const writer = new MsgpackWriter();
  if (body.type === 'query') {
    writer.beginMap(body.vars === null ? 2 : 3);
    writer.key('type');
    writer.str('query');
    writer.key('code');
    writer.str(body.code);
    if (body.vars !== null) {
      writer.key('vars');
      packMap(writer, body.vars);
    }
  } else {
    writer.beginMap(3);
    writer.key('type');
    writer.str('run');
    writer.key('name');
    writer.str(body.name);
    writer.key('args');
    if (isList(body.args)) {
      writer.beginArray(body.args.length);
      for (const value of body.args) packValue(writer, value);
    } else {
      packMap(writer, body.args);
    }
  }
  return writer.out.take();
}

export function encodeRequest(request: ForwardedRequest): Uint8Array {
  const { key, id, body, scope } = request;
  const out = new ByteWriter(body.length + 128);
  out.u8(VERSION);
  out.u8((key === null ? 0 : WITH_KEY) | (id === null ? 0 : WITH_ID));
  out.varint(request.group);
  out.varint(request.epoch);
  out.varint(request.sequence);
  out.varint(request.low);
  out.varint(request.rootIndex);
  out.varint(request.deadlineMs);
  out.varint(request.user);
  out.u8(FORMATS.indexOf(request.format));
  writeScope(out, scope);
  if (key !== null) {
    out.text(key.key);
    out.bytes(key.body);
  }
  if (id !== null) out.text(id);
  out.bytes(body);
  return out.take();
}

/** @throws FormatError */
export function decodeRequest(payload: Uint8Array): ForwardedRequest {
  const input = new ByteReader(payload);
  expectVersion(input);
  const flags = input.u8();
  if (flags > (WITH_KEY | WITH_ID))
    throw new FormatError(`a forwarded request with the unknown flags ${flags}`);
  return {
    group: input.varint(),
    epoch: input.varint(),
    sequence: input.varint(),
    low: input.varint(),
    rootIndex: input.varint(),
    deadlineMs: input.varint(),
    user: input.varint(),
    format: formatOf(input.u8()),
    scope: readScope(input),
    key: (flags & WITH_KEY) === 0 ? null : { key: input.text(), body: input.bytes(BODY_HASH_BYTES) },
    id: (flags & WITH_ID) === 0 ? null : input.text(),
    body: input.bytes(input.remaining),
  };
}

export function encodeAnswer(answer: ForwardedAnswer): Uint8Array {
  const out = new ByteWriter(
    answer.kind === 'reply' && answer.reply.ok ? answer.reply.result.length + 32 : 64,
  );
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
  return out.take();
}

/** @throws FormatError */
export function decodeAnswer(payload: Uint8Array): ForwardedAnswer {
  const input = new ByteReader(payload);
  expectVersion(input);
  const kind = input.u8();
  switch (kind) {
    case Kind.RESULT: {
      const index = input.varint();
      const isText = formatOf(input.u8()) === 'json';
      const { remaining } = input;
      return {
        kind: 'reply',
        reply: { ok: true, result: isText ? input.utf8(remaining) : input.bytes(remaining), index },
      };
    }
    case Kind.ERROR: {
      const index = input.varint();
      const code = input.zigzag();
      const isConflict = input.u8() !== 0;
      const error = new QueryError(code, input.text());
      return { kind: 'reply', reply: isConflict ? conflictingKey(error) : { ok: false, error, index } };
    }
    case Kind.ELSEWHERE:
      return { kind: 'elsewhere', leader: input.varint() };
    case Kind.LOST:
    case Kind.LATE:
      return { kind: kind === Kind.LOST ? 'lost' : 'late', unknown: input.u8() !== 0 };
    case Kind.BUSY:
      return { kind: 'busy' };
    default:
      throw new FormatError(`a forwarded answer of the unknown kind ${kind}`);
  }
}

const Kind = { RESULT: 0, ERROR: 1, ELSEWHERE: 2, LOST: 3, LATE: 4, BUSY: 5 } as const;

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
  if (!reply.ok) {
    out.u8(Kind.ERROR);
    out.varint(reply.index ?? 0);
    out.zigzag(reply.error.code);
    out.u8(reply.conflict === true ? 1 : 0);
    out.text(reply.error.message);
    return;
  }
  const { result } = reply;
  const isText = typeof result === 'string';
  out.u8(Kind.RESULT);
  out.varint(reply.index ?? 0);
  out.u8(isText ? 0 : 1);
  if (isText) out.utf8(result, Buffer.byteLength(result));
  else out.bytes(result);
}

const SCOPE_KINDS: readonly ScopeName['kind'][] = ['thingsdb', 'node', 'collection'];

function writeScope(out: ByteWriter, scope: ScopeName): void {
  out.u8(SCOPE_KINDS.indexOf(scope.kind));
  if (scope.kind === 'node') out.varint(scope.id === null ? 0 : scope.id + 1);
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

function isList(args: readonly Value[] | ReadonlyMap<string, Value>): args is readonly Value[] {
  return Array.isArray(args);
}

function packMap(writer: MsgpackWriter, map: ReadonlyMap<string, Value>): void {
  writer.beginMap(map.size);
  for (const [key, value] of map) {
    writer.key(key);
    packValue(writer, value);
  }
}

function packValue(writer: MsgpackWriter, value: Value): void {
  pack(value, writer, WHOLE);
}

/** Everything there is: the limits were kept when the request was read. */
const WHOLE = {
  deep: Number.MAX_SAFE_INTEGER,
  ids: false,
  store: null,
  sizeMax: Number.MAX_SAFE_INTEGER,
  nestingMax: Number.MAX_SAFE_INTEGER,
} as const;
