/**
 * The data of the packages AUTH, QUERY and RUN:
 *
 *   AUTH  := [user, password] / token
 *   QUERY := [scope, code, vars?, options?]       ; anything but a map as vars: none
 *   RUN   := [scope, procedure, args?, options?]
 *   options := {request?: str, key?: str, min_index?: int, consistency?: str, max_age_ms?: int, timeout_ms?: int, read_only?: bool,
 *               dry_run?: bool | 'explain'}
 *
 * Further elements, and what follows behind the array, are passed over. Values are not read here, see `requests/body.ts`.
 */
import {
  argumentsError,
  badDataError,
  ErrorCode,
  invalidScope,
  MsgpackReader,
  parseScope,
  QueryError,
  type RootGroup,
  type ScopeName,
  ShapeTree,
  typeError,
  valueError,
} from '@althing/engine';
import type { ProgramBody, Terms } from '../../groups/request.js';
import { noTerms, numberedOf, problemOf, type TermHeaders, termsOf } from '../shared/terms.js';

/** The credentials of an AUTH as a header has them: see `parseAuthorization`. Null for values that can be none. */
export type Authorization = string | null;

/** A request as a package holds it. */
export interface PackedRequest {
  readonly scope: ScopeName;
  readonly body: ProgramBody;
  /** Null without options. */
  readonly options: PackedOptions | null;
}

export interface PackedOptions {
  readonly terms: Terms;
  /** Milliseconds that the request may wait; null for as long as others. */
  readonly timeoutMs: number | null;
}

const NO_SHAPES = new ShapeTree();

/** Characters of a name or a password at most. */
const CREDENTIAL_LENGTH_MAX = 127;

/** @throws QueryError bad_data_err */
export function readAuth(data: Buffer): Authorization {
  const reader = new MsgpackReader(data, NO_SHAPES, 1);
  const token = data.length === 0 ? null : reader.str();
  if (token !== null) return isToken(token) ? `Bearer ${token}` : null;
  const count = data.length === 0 ? null : reader.arraySize();
  const [name, password] = count === 2 ? [reader.str(), reader.str()] : [null, null];
  if (name === null || password === null) {
    throw badDataError('AUTH takes [user, password], both str, or a token as str');
  }
  if (!isCredential(name) || !isCredential(password)) return null;
  const text = name.includes(':') ? `${name}\0${password}` : `${name}:${password}`;
  return `Basic ${Buffer.from(text, 'latin1').toString('base64')}`;
}

function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(text);
}

function isCredential(text: string): boolean {
  if (text.length < 1 || text.length > CREDENTIAL_LENGTH_MAX) return false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0 || unit > 0xff) return false;
  }
  return true;
}

/**
 * Reads a query or the run of a procedure.
 *
 * @param level that of the cluster
 * @throws QueryError in the order of the protocol: bad_data_err, value_err for the scope, type_err
 */
export function readRequest(
  data: Buffer,
  type: 'query' | 'run',
  nestingMax: number,
  level: number,
): PackedRequest {
  const reader = new MsgpackReader(data, NO_SHAPES, nestingMax);
  const { scope, count } = readScope(data, reader);
  const text = count < 2 ? null : readCode(reader);
  if (text === null) {
    const what = type === 'query' ? 'the code of a query' : 'the name of a procedure';
    throw typeError(`${what} must be a str`);
  }
  if (type === 'run' && scope.kind === 'node') {
    throw badDataError('procedures can not be run in the scope of a node');
  }
  const start = reader.offset;
  const isNil = data[start] === NIL;
  const isMap = reader.hasMap;
  if (count > 2) skipValue(data, reader);
  const has = count > 2 && (type === 'query' ? isMap : !isNil);
  const values = has ? ({ format: 'msgpack', data: data.subarray(start, reader.offset) } as const) : null;
  const body: ProgramBody =
    type === 'query' ? { type, code: text, vars: values } : { type, name: text, args: values };
  const end = reader.offset;
  const options = count > 3 ? readOptions(reader, data.subarray(0, end), level) : null;
  return { scope, body, options };
}

/** Reads the head of an array whose first element is a scope. */
function readScope(data: Buffer, reader: MsgpackReader): { scope: ScopeName; count: number } {
  const count = data.length === 0 ? null : reader.announcedArray();
  const text = count === null || count === 0 ? null : reader.str();
  if (count === null || text === null) {
    throw badDataError('the data must be an array whose first element is a scope, as str');
  }
  return { scope: scopeOf(text), count };
}

/**
 * A scope as clients of the native protocol write it: the spellings that HTTP has besides are none here.
 *
 * @throws QueryError value_err
 */
export function scopeOf(text: string): ScopeName {
  if (!text.startsWith('@') && !NOTATION.test(text)) throw invalidScope(text);
  return parseScope(text);
}

/** The spellings with a slash. */
const NOTATION = /^\/(?:t[a-z]*|n[a-z]*|[a-z]*\/.*)$/s;

/** A text with what is not UTF-8 in it, or with a NUL, is no code. Null for what is no str; then it is not read. */
function readCode(reader: MsgpackReader): string | null {
  let text: string | null;
  try {
    text = reader.str();
  } catch (error) {
    if (error instanceof QueryError && error.message.includes('UTF-8')) {
      throw new QueryError(ErrorCode.SYNTAX, 'the code is not valid UTF-8');
    }
    throw error;
  }
  return text;
}

/**
 * Passes over a value.
 *
 * @throws QueryError num_arguments_err when elements are missing, bad_data_err for what is no value
 */
function skipValue(data: Buffer, reader: MsgpackReader): void {
  const start = reader.offset;
  try {
    reader.skip(1);
  } catch (error) {
    if (error instanceof QueryError && lacksElements(data, start)) {
      throw argumentsError('the data end before the last of the values that they announce');
    }
    throw error;
  }
}

/** True if data that can't be read are whole values up to their end, and only further ones are missing. */
function lacksElements(data: Buffer, start: number): boolean {
  let at = start;
  while (at < data.length) {
    const one = new MsgpackReader(data.subarray(at), NO_SHAPES, 1);
    try {
      if (one.hasArray || one.hasMap) at += headBytes(data.readUInt8(at));
      else {
        one.skip();
        at += one.offset;
      }
    } catch {
      return false;
    }
  }
  return at === data.length;
}

/** Bytes of the head of an array or a map. */
function headBytes(code: number): number {
  if (code < 0xa0) return 1;
  return code === 0xdc || code === 0xde ? 3 : 5;
}

/** @throws QueryError bad_data_err */
function readOptions(reader: MsgpackReader, named: Buffer, level: number): PackedOptions | null {
  const count = reader.mapSize();
  if (count === null) return null;
  const headers: TermHeaders = noTerms();
  let timeoutMs: number | null = null;
  for (let i = 0; i < count; i++) {
    const key = reader.str();
    switch (key) {
      case null:
        throw badDataError('the keys of the options must be str');
      case 'request':
        headers.request = numberedOf(textOf(reader, key));
        break;
      case 'key':
        headers.key = textOf(reader, key);
        break;
      case 'consistency':
        headers.consistency = textOf(reader, key);
        break;
      case 'min_index':
        headers.minIndex = String(wholeOf(reader, key, 0, Number.MAX_SAFE_INTEGER));
        break;
      case 'max_age_ms':
        headers.maxAge = String(wholeOf(reader, key, 0, Number.MAX_SAFE_INTEGER));
        break;
      case 'read_only':
        headers.readOnly = String(boolOf(reader, key));
        break;
      case 'dry_run':
        headers.dryRun = dryRunOf(reader, key);
        break;
      case 'timeout_ms':
        timeoutMs = wholeOf(reader, key, 1, TIMEOUT_MAX_MS);
        break;
      default:
        reader.skip(1);
    }
  }
  const problem = problemOf(headers);
  if (problem !== null) throw badDataError(inOptions(problem));
  return { terms: termsOf(headers, named, 'msgpack', level), timeoutMs };
}

function textOf(reader: MsgpackReader, key: string): string {
  const text = reader.str();
  if (text === null) throw badDataError(`the option '${key}' must be a str`);
  return text;
}

function dryRunOf(reader: MsgpackReader, key: string): string {
  const text = reader.str();
  if (text !== null && text !== 'explain')
    throw badDataError(`the option '${key}' must be a bool or 'explain'`);
  return text ?? String(boolOf(reader, key));
}

export function boolOf(reader: MsgpackReader, key: string): boolean {
  const value = reader.hasMap || reader.hasArray ? null : reader.value();
  if (typeof value !== 'boolean') throw badDataError(`the option '${key}' must be a bool`);
  return value;
}

function wholeOf(reader: MsgpackReader, key: string, min: number, max: number): number {
  const value = reader.hasMap || reader.hasArray ? null : reader.value();
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw badDataError(`the option '${key}' must be an int from ${min} to ${max}`);
  }
  return value;
}

/** A text about headers, with the names of options instead. */
function inOptions(problem: string): string {
  return problem
    .replaceAll('Althing-Min-Index', 'min_index')
    .replaceAll('Althing-Max-Age', 'max_age_ms')
    .replaceAll('Althing-Request', 'request')
    .replaceAll('Idempotency-Key', 'key')
    .replaceAll('Consistency', 'consistency');
}

const NIL = 0xc0;

const TIMEOUT_MAX_MS = 3_600_000;

/**
 * Clients of this protocol know nodes by numbers: a scope that is neither a number nor the name of a member is a mistake in writing.
 *
 * @throws QueryError value_err
 */
export function assertNode(scope: ScopeName, root: Pick<RootGroup, 'memberByName'>): void {
  if (scope.kind !== 'node' || typeof scope.id !== 'string') return;
  if (root.memberByName(scope.id) !== undefined) return;
  throw valueError('the scope names no node: write @node:NUMBER, or the name of a node');
}
