/**
 * Request bodies: a map with `type` and, for a query, `code` and perhaps `vars`; for a run, `name` and
 * perhaps `args`. Unknown keys are ignored; of repeated keys the last counts. The values in `vars` and `args`
 * are not read here, only their form is checked: they come later, when it is known that the user may run the
 * request.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import {
  ErrorCode,
  type Format,
  JsonReader,
  MsgpackReader,
  QueryError,
  ShapeTree,
  type WireValues,
} from '@althing/engine';
import { elementAt } from '../base/element.js';
import type { ProgramBody } from '../groups/request.js';

export interface BodyOptions {
  /** Arrays and maps inside each other in MessagePack at most. */
  readonly msgpackNestingMax: number;
}

/** Bodies in JSON up to this size, and the values in them, are kept as text. */
const SHORT_BYTES = 8192;

/** Up to this size it takes less time to look for other than ASCII here than to ask the platform. */
const LOOKED_AT_BYTES = 256;

/**
 * Decodes a request body.
 *
 * @param isLent whether the memory of the body is gone after the call, so that values have to be copied
 * @throws QueryError bad_data_err when it is malformed or of the wrong shape
 */
export function decodeBody(body: Buffer, format: Format, options: BodyOptions, isLent = false): ProgramBody {
  const fields: Fields = {
    type: undefined,
    code: undefined,
    name: undefined,
    vars: undefined,
    args: undefined,
  };
  const kept = isLent ? copyOf : viewOf;
  if (format === 'json') readJson(body, kept, fields);
  else readMsgpack(body, options, kept, fields);
  return bodyOf(fields);
}

/** The values under the keys that count; undefined where there is none, null where it has the wrong type. */
interface Fields {
  type: string | null | undefined;
  code: string | null | undefined;
  name: string | null | undefined;
  vars: WireValues | null | undefined;
  args: WireValues | null | undefined;
}

/** Bytes of a body that stay after it is gone. */
type Keep = (body: Buffer, start: number, end: number) => Buffer;

function viewOf(body: Buffer, start: number, end: number): Buffer {
  return body.subarray(start, end);
}

function copyOf(body: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  body.copy(copy, 0, start, end);
  return copy;
}

function bodyOf({ type, code, name, vars = NO_VALUES, args = NO_VALUES }: Fields): ProgramBody {
  switch (type) {
    case 'query':
      if (typeof code !== 'string') throw shapeError("'code' must be a str");
      if (vars === null) throw shapeError("'vars' must be a map");
      return { type, code, vars: vars === NO_VALUES ? null : vars };
    case 'run':
      if (typeof name !== 'string') throw shapeError("'name' must be a str");
      if (args === null) throw shapeError("'args' must be an array or a map");
      return { type, name, args: args === NO_VALUES ? null : args };
    default:
      throw shapeError('\'type\' must be "query" or "run"');
  }
}

/** Stands for values that there are none of. */
const NO_VALUES: WireValues = { format: 'json', data: '' };

/** Nothing is made of values here. */
const NO_SHAPES = new ShapeTree();

/**
 * A short body is read as the text that it is. Of a long one the text that is read is that of the bytes, one
 * character for each: what JSON is made of are ASCII characters, places in the text are places in the body
 * then, and what is between quotes is read as UTF-8 where it is not ASCII.
 */
function readJson(body: Buffer, kept: Keep, fields: Fields): void {
  const isShort = body.length <= SHORT_BYTES;
  const ascii = body.length <= LOOKED_AT_BYTES ? isShortAscii(body) : isAscii(body);
  if (!ascii && !isUtf8(body)) {
    throw new QueryError(ErrorCode.BAD_DATA, 'the request is not valid UTF-8');
  }
  const isText = isShort || ascii;
  const text = body.toString(isShort && !ascii ? 'utf8' : 'latin1');
  const reader = new JsonReader(text, NO_SHAPES);
  if (!reader.startsWith('{')) {
    reader.skip();
    reader.end();
    throw shapeError('the request must be a map');
  }
  const str = (): string | null => {
    if (!reader.startsWith('"')) {
      reader.skip(1);
      return null;
    }
    const start = reader.start();
    if (isText) return reader.string();
    reader.skip(1);
    return new JsonReader(body.toString('utf8', start, reader.offset), NO_SHAPES).string();
  };
  const values = (brackets: string): WireValues | null => {
    const start = reader.start();
    if (!brackets.includes(text[start] ?? ' ')) {
      reader.skip(1);
      return null;
    }
    reader.skipBrackets();
    if (isShort) return { format: 'json', data: text, start };
    return { format: 'json', data: kept(body, start, reader.offset) };
  };
  reader.object((key) => {
    switch (key) {
      case 'type':
        fields.type = str();
        return;
      case 'code':
        fields.code = str();
        return;
      case 'name':
        fields.name = str();
        return;
      case 'vars':
        fields.vars = values('{');
        return;
      case 'args':
        fields.args = values('[{');
        return;
      default:
        reader.skip(1);
    }
  });
  reader.end();
}

function isShortAscii(body: Buffer): boolean {
  for (let i = 0; i < body.length; i++) if (elementAt(body, i) >= 0x80) return false;
  return true;
}

function readMsgpack(body: Buffer, { msgpackNestingMax }: BodyOptions, kept: Keep, fields: Fields): void {
  const reader = new MsgpackReader(body, NO_SHAPES, msgpackNestingMax);
  const str = (): string | null => {
    const text = reader.str();
    if (text === null) reader.skip(1);
    return text;
  };
  const values = (fits: boolean): WireValues | null => {
    const start = reader.offset;
    reader.skip(1);
    return fits ? { format: 'msgpack', data: kept(body, start, reader.offset) } : null;
  };
  const count = reader.mapSize();
  if (count === null) throw shapeError('the request must be a map');
  for (let i = 0; i < count; i++) {
    const key = reader.str();
    if (key === null) throw shapeError('the keys of the request must be str');
    switch (key) {
      case 'type':
        fields.type = str();
        break;
      case 'code':
        fields.code = str();
        break;
      case 'name':
        fields.name = str();
        break;
      case 'vars':
        fields.vars = values(reader.hasMap);
        break;
      case 'args':
        fields.args = values(reader.hasMap || reader.hasArray);
        break;
      default:
        reader.skip(1);
    }
  }
  reader.end();
}

function shapeError(message: string): QueryError {
  return new QueryError(ErrorCode.BAD_DATA, message);
}
