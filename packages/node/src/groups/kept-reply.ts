/**
 * Answers as entries of the log and the session table keep them:
 *
 *   reply := 0 text            an answer in JSON
 *          | 1 bytes           an answer in MessagePack
 *          | 2                 the answer was too large to be kept
 *          | 3 text            the answer holds a secret, and is not kept; what may be said of it       from level 2 on
 *          | 4 code:u8 text    the error with which a request ended that had changed something before; its code is negative.
 *                              From level 2 on
 *          | 5 code:u8 text    the error for which nothing was changed, and never will be under this name. From level 2 on
 *          | 6 code:u8 text    as 4, of a request that had changed nothing then, but may have acted elsewhere, and was not done
 */

import { type Format, FormatError, QueryError } from '@althing/engine';
import { elementAt } from '../base/element.js';

export type KeptReply =
  | { readonly kind: 'result'; readonly format: Format; readonly result: string | Uint8Array }
  /** The change was made; its answer is not kept. */
  | { readonly kind: 'too_large' }
  /** The change was made; its answer is not kept, and `hint` says what to do instead. */
  | { readonly kind: 'secret'; readonly hint: string }
  /** A part of what was asked for was made, and then this went wrong. */
  | { readonly kind: 'failure'; readonly error: QueryError }
  /** Nothing was made, for this reason. */
  | { readonly kind: 'refusal'; readonly error: QueryError }
  /** It was begun, and may have had effects outside of the state; nobody knows what became of it. */
  | { readonly kind: 'begun'; readonly error: QueryError };

/**
 * Bytes of a reply that is kept at most. It decides what is kept, so it is the same on all nodes of all
 * versions.
 */
export const REPLY_BYTES_MAX = 64 * 1024;

/** Up to this size it takes less time to copy byte by byte than to ask the platform. */
const BRIEF_BYTES = 32;

const Reply = { JSON: 0, MSGPACK: 1, TOO_LARGE: 2, SECRET: 3, FAILURE: 4, REFUSAL: 5, BEGUN: 6 } as const;

/** Stands for an answer that is not kept, in the words that all versions know. */
export const TOO_LARGE: Uint8Array = new Uint8Array([Reply.TOO_LARGE]);

export function encodeReply(result: string | Uint8Array): Uint8Array {
  const isText = typeof result === 'string';
  const size = isText ? Buffer.byteLength(result) : result.length;
  if (size > REPLY_BYTES_MAX) return TOO_LARGE;
  if (!isText && size === 1) return elementAt(ONE_BYTE, elementAt(result, 0));
  if (isText) {
    const reply = Buffer.allocUnsafeSlow(size + 1);
    reply[0] = Reply.JSON;
    reply.write(result, 1);
    return reply;
  }
  // Unlike a Buffer, an array of up to 64 bytes has no memory of its own outside of the heap, which would take longer than all else here.
  const reply = new Uint8Array(size + 1);
  reply[0] = Reply.MSGPACK;
  if (size > BRIEF_BYTES) reply.set(result, 1);
  else for (let i = 0; i < size; i++) reply[i + 1] = elementAt(result, i);
  return reply;
}

/** Answers of one byte, which most changes give: nil, true, false and small ints need no memory each. */
const ONE_BYTE = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(Reply.MSGPACK, byte));

/** Stands for an answer with a secret. */
export function encodeSecret(hint: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(Reply.SECRET), Buffer.from(hint)]);
}

/** Stands for an error behind which something was changed. */
export function encodeFailure(error: QueryError): Uint8Array {
  return encodeError(Reply.FAILURE, error);
}

/** Stands for an error for which nothing was changed. */
export function encodeRefusal(error: QueryError): Uint8Array {
  return encodeError(Reply.REFUSAL, error);
}

/** Stands for a request that was begun. */
export function encodeBegun(error: QueryError): Uint8Array {
  return encodeError(Reply.BEGUN, error);
}

function encodeError(kind: number, { code, message }: QueryError): Uint8Array {
  return Buffer.concat([Uint8Array.of(kind, -code), Buffer.from(message)]);
}

/** @throws FormatError */
export function decodeReply(reply: Uint8Array): KeptReply {
  const content = reply.subarray(1);
  switch (reply[0]) {
    case Reply.JSON:
      return { kind: 'result', format: 'json', result: Buffer.from(content).toString('utf8') };
    case Reply.MSGPACK:
      return { kind: 'result', format: 'msgpack', result: content };
    case Reply.TOO_LARGE:
      return { kind: 'too_large' };
    case Reply.SECRET:
      return { kind: 'secret', hint: Buffer.from(content).toString('utf8') };
    case Reply.FAILURE:
      return { kind: 'failure', error: decodeError(content) };
    case Reply.REFUSAL:
      return { kind: 'refusal', error: decodeError(content) };
    case Reply.BEGUN:
      return { kind: 'begun', error: decodeError(content) };
    default:
      throw new FormatError(`a kept answer of the unknown kind ${reply[0]}`);
  }
}

function decodeError(content: Uint8Array): QueryError {
  return new QueryError(-(content[0] ?? 0), Buffer.from(content.subarray(1)).toString('utf8'));
}
