/**
 * Request headers that say how a request is to be carried out:
 *
 *   Consistency: stale | linearizable | snapshot   whether an answer of this node will do that may lag behind; `snapshot`: from a thread of its
 *                                         own, over what the disk has
 *   Althing-Max-Age: MS                   how old the state of a snapshot may be, in milliseconds; 0: it holds all that was acknowledged
 *   Althing-Min-Index: N                  the state must hold the entry with this index at least
 *   Accept: application/x-ndjson          a snapshot is answered by a line for each value that its code gives to out();
 *                                         with ?end=1 behind the path the last line says that these are all
 *   Idempotency-Key: TEXT                 the client's name for the request, for repeating it
 *   Althing-Request: CLIENT.SEQUENCE.LOW  the same by numbers: a name of the client, chosen at random (letters, digits, - and _);
 *                                         a number that rises by one with each of its requests to a scope, from 1 on; and the
 *                                         lowest number of a request that it may still repeat
 *   Althing-Read-Only: true | false       whether it runs as if its user had neither CHANGE nor GRANT
 *   Althing-Dry-Run: true | false | explain   whether it is only tried out, and explained besides. Its name does not count then: it may be
 *                                         repeated freely
 *   Althing-Timing: 1                     the answer says how long its request took, and what for (Server-Timing)
 */
import type { Format } from '@althing/engine';
import { elementAt } from '../../base/element.js';
import { ANY_BODY, type BodyHash, bodyHashOf } from '../../groups/body-hash.js';
import type { Terms } from '../../groups/request.js';

/** The headers as they came; null for none. */
export interface TermHeaders {
  consistency: string | null;
  minIndex: string | null;
  key: string | null;
  request: Numbered | 'malformed' | null;
  readOnly: string | null;
  dryRun: string | null;
  timing: string | null;
  maxAge: string | null;
  accept: string | null;
  /** True if lines are to end with one that says so. */
  hasEnd: boolean;
}

/** The content of Althing-Request, and the hash of the body, once that is there. */
export interface Numbered {
  readonly client: string;
  readonly sequence: number;
  readonly low: number;
  body: BodyHash;
}

/** Headers of which none came, to be filled in. Not a copy of others: that takes several times as long. */
export function noTerms(): TermHeaders {
  return {
    consistency: null,
    minIndex: null,
    key: null,
    request: null,
    readOnly: null,
    dryRun: null,
    timing: null,
    maxAge: null,
    accept: null,
    hasEnd: false,
  };
}

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
  hasEnd,
}: TermHeaders): string | null {
  if (consistency !== null && !CONSISTENCIES.has(consistency)) {
    return 'Consistency must be linearizable, stale or snapshot';
  }
  if (maxAge !== null && !Number.isSafeInteger(indexOf(maxAge))) {
    return 'Althing-Max-Age must be a number of milliseconds';
  }
  if (maxAge !== null && consistency !== SNAPSHOT) return 'Althing-Max-Age is for the Consistency snapshot';
  if (hasEnd && consistency !== SNAPSHOT) return 'end=1 is for lines of the Consistency snapshot';
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
  if (request === 'malformed') {
    return `Althing-Request must be CLIENT.SEQUENCE.LOW: 1 to ${CLIENT_LENGTH_MAX} letters, digits, - or _, and two numbers from 1 on`;
  }
  if (request.low > request.sequence) return 'Althing-Request has a LOW that is above its SEQUENCE';
  if (request.sequence - request.low >= OPEN_MAX) {
    return `a client may have ${OPEN_MAX} requests from LOW to SEQUENCE of Althing-Request`;
  }
  return null;
}

/**
 * The terms of a request whose headers are sound.
 *
 * @param level that of the cluster
 */
export function termsOf(
  { consistency, minIndex, key, request, readOnly, dryRun, timing, maxAge, accept, hasEnd }: TermHeaders,
  body: Uint8Array,
  format: Format,
  level: number,
): Terms {
  const isDryRun = isDry(dryRun);
  const isNumbered = request !== null && request !== 'malformed' && !isDryRun;
  return {
    stale: consistency === 'stale',
    snapshot:
      consistency === SNAPSHOT
        ? { maxAgeMs: maxAge === null ? null : indexOf(maxAge), wantsLines: accept !== null, hasEnd }
        : null,
    minIndex: minIndex === null ? 0 : indexOf(minIndex),
    key:
      key === null || isDryRun
        ? null
        : { key, body: bodyHashOf(Buffer.concat([FORMAT_MARKS[format], body]), level) },
    name: isNumbered ? named(request, body, level) : null,
    readOnly: readOnly === 'true',
    dryRun: dryRun === EXPLAIN ? EXPLAIN : isDryRun,
    timing: timing !== null,
  };
}

/** The hash needs no mark of the format: a map of MessagePack begins as no JSON does. */
function named(request: Numbered, body: Uint8Array, level: number): Numbered {
  request.body = bodyHashOf(body, level);
  return request;
}

/** The content of the header Althing-Request. */
export function numberedOf(text: string): Numbered | 'malformed' {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  if (first < 1 || first > CLIENT_LENGTH_MAX || second < 0) return 'malformed';
  const client = clientOf(text, first);
  const sequence = wholeNumber(text, first + 1, second);
  const low = wholeNumber(text, second + 1, text.length);
  return client === null || sequence === 0 || low === 0
    ? 'malformed'
    : { client, sequence, low, body: ANY_BODY };
}

/** Names of clients that came lately, at places that follow from their last characters; '' where there is none. */
const recentClients: string[] = new Array(256).fill('');

/**
 * The name of a client, which ends at a place of a text; null for none. Mostly it is the very text that came before: a part of a header would
 * be hashed and compared anew, slowly, wherever the name is looked up.
 */
function clientOf(text: string, end: number): string | null {
  const place = (text.charCodeAt(end - 1) + 16 * text.charCodeAt(end >> 1)) % recentClients.length;
  const recent = elementAt(recentClients, place);
  if (recent.length === end && text.startsWith(recent)) return recent;
  for (let i = 0; i < end; i++) if (!isNameCharacter(text.charCodeAt(i))) return null;
  const client = Buffer.from(text.slice(0, end), 'latin1').toString('latin1');
  recentClients[place] = client;
  return client;
}

/** The number from 1 on whose decimal digits lie between two places of a text; 0 for anything else. */
function wholeNumber(text: string, from: number, to: number): number {
  if (to - from > DIGITS_MAX || text.charCodeAt(from) === DIGIT_0) return 0;
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - DIGIT_0;
    if (digit >>> 0 > 9) return 0;
    number = 10 * number + digit;
  }
  return number <= Number.MAX_SAFE_INTEGER ? number : 0;
}

/** True if a character is a letter of ASCII, a digit, - or _. */
function isNameCharacter(code: number): boolean {
  const lower = code | 0x20;
  const isDigit = code >= DIGIT_0 && code <= DIGIT_0 + 9;
  return (lower >= 0x61 && lower <= 0x7a) || isDigit || code === DASH || code === UNDERSCORE;
}

const DIGIT_0 = 0x30;
/** Digits of the largest safe integer. */
const DIGITS_MAX = 16;
const DASH = 0x2d;
const UNDERSCORE = 0x5f;

/** True if the header asks for a dry run. */
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

/** A body in another format is another request, though its bytes are the same. Release 0.1.0 keeps these hashes of keys. */
const FORMAT_MARKS: Readonly<Record<Format, Buffer>> = {
  json: Buffer.from('json:'),
  msgpack: Buffer.from('msgpack:'),
};
