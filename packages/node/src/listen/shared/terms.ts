/**
 * Request headers that say how a request is to be carried out:
 *
 *   Consistency: stale | linearizable | snapshot   whether an answer of this node will do that may lag behind; `snapshot`: from a thread of its
 *                                         own, over what the disk has
 *   Althing-Max-Age: MS                   how old the state of a snapshot may be, in milliseconds; 0: it holds all that was acknowledged
 *   Althing-Min-Index: N                  the state must hold the entry with this index at least
 *   Idempotency-Key: TEXT                 the client's name for the request, for repeating it
 *   Althing-Request: CLIENT.SEQUENCE.LOW  the same by numbers: a name of the client, chosen at random (letters, digits, - and _);
 *                                         a number that rises by one with each of its requests to a scope, from 1 on; and the
 *                                         lowest number of a request that it may still repeat
 *   Althing-Read-Only: true | false       whether it runs as if its user had neither CHANGE nor GRANT
 *   Althing-Dry-Run: true | false | explain   whether it is only tried out, and explained besides. Its name does not count then: it may be
 *                                         repeated freely
 *   Althing-Timing: 1                     the answer says how long its request took, and what for (Server-Timing)
 */
import { createHash } from 'node:crypto';
import type { Format } from '@althing/engine';
import { BODY_HASH_BYTES } from '../../groups/entry.js';
import type { Terms } from '../../groups/request.js';

/** The headers as they came; null for none. */
export interface TermHeaders {
  consistency: string | null;
  minIndex: string | null;
  key: string | null;
  request: string | null;
  readOnly: string | null;
  dryRun: string | null;
  timing: string | null;
  maxAge: string | null;
}

export const NO_TERMS: TermHeaders = {
  consistency: null,
  minIndex: null,
  key: null,
  request: null,
  readOnly: null,
  dryRun: null,
  timing: null,
  maxAge: null,
};

const SNAPSHOT = 'snapshot';

const CONSISTENCIES: ReadonlySet<string> = new Set(['linearizable', 'stale', SNAPSHOT]);

/** Bytes of an Idempotency-Key at most. */
const KEY_BYTES_MAX = 255;

/** Characters of the name of a client at most. */
const CLIENT_LENGTH_MAX = 64;

/** Requests that a client may still repeat, from the lowest to the newest, at most. */
const OPEN_MAX = 10_000;

/** The problem of the headers; null for none. */
export function problemOf({
  consistency,
  minIndex,
  key,
  request,
  readOnly,
  dryRun,
  timing,
  maxAge,
}: TermHeaders): string | null {
  if (consistency !== null && !CONSISTENCIES.has(consistency)) {
    return 'Consistency must be linearizable, stale or snapshot';
  }
  if (maxAge !== null && !Number.isSafeInteger(indexOf(maxAge))) {
    return 'Althing-Max-Age must be a number of milliseconds';
  }
  if (maxAge !== null && consistency !== SNAPSHOT) return 'Althing-Max-Age is for the Consistency snapshot';
  if (minIndex !== null && !Number.isSafeInteger(indexOf(minIndex))) {
    return 'Althing-Min-Index must be the Althing-Index of an earlier answer';
  }
  if (key !== null && (key.length === 0 || Buffer.byteLength(key) > KEY_BYTES_MAX)) {
    return `Idempotency-Key must have 1 to ${KEY_BYTES_MAX} bytes`;
  }
  if (!isFlag(readOnly)) return 'Althing-Read-Only must be true or false';
  if (!isFlag(dryRun) && dryRun !== EXPLAIN) return 'Althing-Dry-Run must be true, false or explain';
  if (timing !== null && timing !== '1') return 'Althing-Timing must be 1';
  if (request === null) return null;
  if (key !== null) return 'a request is named by Idempotency-Key or by Althing-Request, not by both';
  const name = nameOf(request);
  if (name === null) {
    return `Althing-Request must be CLIENT.SEQUENCE.LOW: 1 to ${CLIENT_LENGTH_MAX} letters, digits, - or _, and two numbers from 1 on`;
  }
  if (name.low > name.sequence) return 'Althing-Request has a LOW that is above its SEQUENCE';
  if (name.sequence - name.low >= OPEN_MAX) {
    return `a client may have ${OPEN_MAX} requests from LOW to SEQUENCE of Althing-Request`;
  }
  return null;
}

/** The terms of a request whose headers are sound. */
export function termsOf(
  { consistency, minIndex, key, request, readOnly, dryRun, timing, maxAge }: TermHeaders,
  body: Uint8Array,
  format: Format,
): Terms {
  const isDryRun = isDry(dryRun);
  const name = request === null || isDryRun ? null : nameOf(request);
  return {
    stale: consistency === 'stale',
    ...(consistency === SNAPSHOT && { snapshot: { maxAgeMs: maxAge === null ? null : indexOf(maxAge) } }),
    minIndex: minIndex === null ? 0 : indexOf(minIndex),
    key: key === null || isDryRun ? null : { key, body: hashOf(body, format) },
    name: name === null ? null : { ...name, body: hashOf(body, format) },
    readOnly: readOnly === 'true',
    dryRun: dryRun === EXPLAIN ? EXPLAIN : isDryRun,
    timing: timing !== null,
  };
}

/** The content of the header; null when it is malformed. */
function nameOf(text: string): { client: string; sequence: number; low: number } | null {
  const [, client, sequence, low] = NAME.exec(text) ?? [];
  if (client === undefined) return null;
  const name = { client, sequence: Number(sequence), low: Number(low) };
  return Number.isSafeInteger(name.sequence) && Number.isSafeInteger(name.low) ? name : null;
}

const NAME = new RegExp(`^([A-Za-z0-9_-]{1,${CLIENT_LENGTH_MAX}})\\.([1-9][0-9]*)\\.([1-9][0-9]*)$`);

/** Whether the header asks for a dry run. */
export function isDry(dryRun: string | null): boolean {
  return dryRun === 'true' || dryRun === EXPLAIN;
}

const EXPLAIN = 'explain';

function isFlag(text: string | null): boolean {
  return text === null || text === 'true' || text === 'false';
}

function indexOf(text: string): number {
  return /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
}

/** A body in another format is another request, though its bytes are the same. */
function hashOf(body: Uint8Array, format: Format): Uint8Array {
  return createHash('sha256').update(`${format}:`).update(body).digest().subarray(0, BODY_HASH_BYTES);
}
