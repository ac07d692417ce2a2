/**
 * Requests about sessions, on their way to the leader.
 *
 *   session := c1 02 act:u8 hash:32 bytes begun?     c1 begins nothing in MessagePack, c1 00 and c1 01 an `emit`
 *   begun   := readOnly:u8 proof:rest                of one that begins (act 0); 1: renew, 2: end
 *            | proof:rest                            of a password whose hash is another one now (act 3)
 *
 * They are sent only where the level of the cluster says that all nodes know them: before that the node that was asked refuses them.
 */
import { ByteReader, ByteWriter, FormatError, type SessionAsk } from '@althing/engine';
import type { SessionBody } from '../groups/request.js';

const MARK = 0xc1;
const SESSION = 2;
const HASH_BYTES = 32;

const ACTS: readonly SessionAsk['act'][] = ['begin', 'renew', 'end', 'rehash'];

/** True if a body is such a request. */
export function isSession(body: Uint8Array): boolean {
  return body[0] === MARK && body[1] === SESSION;
}

export function encodeSession({ ask }: SessionBody): Uint8Array {
  const out = new ByteWriter(128);
  out.u8(MARK);
  out.u8(SESSION);
  out.u8(ACTS.indexOf(ask.act));
  out.bytes(ask.hash);
  if (ask.act === 'begin') out.u8(ask.readOnly ? 1 : 0);
  if ('proof' in ask) out.bytes(ask.proof);
  return out.take();
}

/** @throws FormatError */
export function decodeSession(body: Buffer): SessionBody {
  const input = new ByteReader(body, 2);
  const act = ACTS[input.u8()];
  if (act === undefined) throw new FormatError('a request about a session of an unknown kind');
  const hash = input.bytes(HASH_BYTES);
  if (act === 'rehash') return { type: 'session', ask: { act, hash, proof: input.bytes(input.remaining) } };
  if (act !== 'begin') return { type: 'session', ask: { act, hash } };
  const readOnly = input.u8() === 1;
  return { type: 'session', ask: { act, hash, readOnly, proof: input.bytes(input.remaining) } };
}
