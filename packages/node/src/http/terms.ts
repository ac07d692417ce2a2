/**
 * Request headers that say how a request is to be carried out:
 *
 *   Consistency: stale | linearizable     whether an answer of this node will do that may lag behind
 *   Althing-Min-Index: N                  the state must hold the entry with this index at least
 *   Idempotency-Key: TEXT                 the client's name for the request, for repeating it
 */
import { createHash } from 'node:crypto';
import type { Format } from '@althing/engine';
import type { Terms } from '../request.js';
import { BODY_HASH_BYTES } from '../scopes/entry.js';

/** The headers as they came; null for none. */
export interface TermHeaders {
  consistency: string | null;
  minIndex: string | null;
  key: string | null;
}

/** Bytes of an Idempotency-Key at most. */
const KEY_BYTES_MAX = 255;

/** What is wrong with the headers; null when nothing is. */
export function problemOf({ consistency, minIndex, key }: TermHeaders): string | null {
  if (consistency !== null && consistency !== 'stale' && consistency !== 'linearizable') {
    return 'Consistency must be linearizable or stale';
  }
  if (minIndex !== null && !Number.isSafeInteger(indexOf(minIndex))) {
    return 'Althing-Min-Index must be the Althing-Index of an earlier answer';
  }
  if (key !== null && (key.length === 0 || Buffer.byteLength(key) > KEY_BYTES_MAX)) {
    return `Idempotency-Key must have 1 to ${KEY_BYTES_MAX} bytes`;
  }
  return null;
}

/** The terms of a request whose headers are sound. */
export function termsOf(
  { consistency, minIndex, key }: TermHeaders,
  body: Uint8Array,
  format: Format,
): Terms {
  return {
    stale: consistency === 'stale',
    minIndex: minIndex === null ? 0 : indexOf(minIndex),
    key: key === null ? null : { key, body: hashOf(body, format) },
  };
}

function indexOf(text: string): number {
  return /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
}

/** The same bytes in another format are another request. */
function hashOf(body: Uint8Array, format: Format): Uint8Array {
  return createHash('sha256').update(`${format}:`).update(body).digest().subarray(0, BODY_HASH_BYTES);
}
