/** The bodies of requests on their way to another node: those of programs as MessagePack, others in formats of their own. */
import { MsgpackWriter, type WireValues } from '@althing/engine';
import type { ProgramBody, RequestBody } from '../groups/request.js';
import { decodeBody } from './body.js';
import { decodeEmit, encodeEmit, isEmit } from './emits.js';
import { decodeSession, encodeSession, isSession } from './session-asks.js';

/**
 * The body of a request as MessagePack, whatever it came as.
 *
 * @param toMsgpack gives values as MessagePack; what it throws is thrown
 * @param writer one for this; the bytes are valid until it is written again
 */
export function encodeBody(
  body: RequestBody,
  toMsgpack: (values: WireValues) => Uint8Array,
  writer = new MsgpackWriter(),
): Uint8Array {
  if (body.type === 'emit') return encodeEmit(body, toMsgpack);
  if (body.type === 'session') return encodeSession(body);
  if (body.type === 'find_rooms') throw new Error('rooms are joined and left on the node of the client');
  const isQuery = body.type === 'query';
  const values = isQuery ? body.vars : body.args;
  writer.out.rewind();
  writer.beginMap(values === null ? 2 : 3);
  writer.key('type');
  writer.str(body.type);
  writer.key(isQuery ? 'code' : 'name');
  writer.str(isQuery ? body.code : body.name);
  if (values !== null) {
    writer.key(isQuery ? 'vars' : 'args');
    writer.packed(toMsgpack(values));
  }
  return writer.out.view();
}

/** True if a body takes about so many bytes at most; not for requests about rooms. */
export function isShorterThan(body: RequestBody, bytes: number): boolean {
  if (body.type === 'find_rooms' || body.type === 'emit') return false;
  if (body.type === 'session') return true;
  const values = body.type === 'query' ? body.vars : body.args;
  const { length } = body.type === 'query' ? body.code : body.name;
  return length <= bytes && (values === null || values.data.length <= bytes);
}

/**
 * @param decodeProgram reads a body in MessagePack
 * @throws FormatError, and what `decodeProgram` throws
 */
export function decodeForwarded(body: Buffer, decodeProgram: (body: Buffer) => ProgramBody): RequestBody {
  if (isSession(body)) return decodeSession(body);
  return isEmit(body) ? decodeEmit(body) : decodeProgram(body);
}

/**
 * Reads a body that another node wrote.
 *
 * @throws QueryError bad_data_err
 */
export function readForwarded(body: Buffer): ProgramBody {
  return decodeBody(body, 'msgpack', { msgpackNestingMax: FORWARDED_NESTING_MAX });
}

/** Arrays and maps inside each other in what nodes send each other: more than a client may send. */
const FORWARDED_NESTING_MAX = 10_000;
