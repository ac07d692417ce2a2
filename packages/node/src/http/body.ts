/**
 * Request bodies: a map with `type` and, for a query, `code` and perhaps `vars`; for a run, `name` and perhaps `args`.
 * Unknown keys are ignored; of repeated keys the last counts.
 */
import {
  ErrorCode,
  type Format,
  JsonReader,
  MsgpackReader,
  NAME,
  QueryError,
  type ShapeTree,
  type Value,
} from '@althing/engine';
import type { RequestBody } from '../request.js';

export interface BodyOptions {
  /** The engine's, for the things that maps become. */
  readonly shapes: ShapeTree;
  /** Arrays and maps inside each other in MessagePack at most. */
  readonly msgpackNestingMax: number;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a request body.
 *
 * @throws QueryError bad_data_err when it is malformed or of the wrong shape; a value in `vars` or `args` that the
 *   language refuses has a code of its own
 */
export function decodeBody(body: Buffer, format: Format, options: BodyOptions): RequestBody {
  const fields: Fields = {
    type: undefined,
    code: undefined,
    name: undefined,
    vars: undefined,
    args: undefined,
  };
  if (format === 'json') readJson(body, options, fields);
  else readMsgpack(body, options, fields);
  return bodyOf(fields);
}

/** What was found under the keys that count; undefined where there is none, null where it has the wrong type. */
interface Fields {
  type: string | null | undefined;
  code: string | null | undefined;
  name: string | null | undefined;
  vars: Map<string, Value> | null | undefined;
  args: Value[] | Map<string, Value> | null | undefined;
}

function bodyOf({ type, code, name, vars, args }: Fields): RequestBody {
  switch (type) {
    case 'query':
      if (typeof code !== 'string') throw shapeError("'code' must be a str");
      if (vars === null) throw shapeError("'vars' must be a map");
      return { type, code, vars: vars === undefined || vars.size === 0 ? null : checkNames(vars) };
    case 'run':
      if (typeof name !== 'string') throw shapeError("'name' must be a str");
      if (args === null) throw shapeError("'args' must be an array or a map");
      return { type, name, args: args ?? [] };
    default:
      throw shapeError('\'type\' must be "query" or "run"');
  }
}

function checkNames(vars: Map<string, Value>): Map<string, Value> {
  for (const name of vars.keys()) {
    if (!NAME.test(name)) {
      throw new QueryError(
        ErrorCode.VALUE,
        `${JSON.stringify(name.slice(0, 60))} can not be the name of a variable`,
      );
    }
  }
  return vars;
}

function readJson(body: Buffer, { shapes }: BodyOptions, fields: Fields): void {
  const reader = new JsonReader(textOf(body), shapes);
  if (!reader.startsWith('{')) {
    reader.value();
    reader.end();
    throw shapeError('the request must be a map');
  }
  const str = (): string | null => {
    const value = reader.value(1);
    return typeof value === 'string' ? value : null;
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
        fields.vars = jsonMap(reader);
        return;
      case 'args':
        fields.args = reader.startsWith('[') ? jsonArray(reader) : jsonMap(reader);
        return;
      default:
        reader.value(1);
    }
  });
  reader.end();
}

function jsonMap(reader: JsonReader): Map<string, Value> | null {
  if (!reader.startsWith('{')) {
    reader.value(1);
    return null;
  }
  const map = new Map<string, Value>();
  reader.object((key) => map.set(key, reader.value(2)), 1);
  return map;
}

function jsonArray(reader: JsonReader): Value[] {
  const values: Value[] = [];
  reader.array(() => values.push(reader.value(2)), 1);
  return values;
}

function textOf(body: Buffer): string {
  if (isAscii(body)) return body.toString('latin1');
  try {
    return UTF8.decode(body);
  } catch {
    throw new QueryError(ErrorCode.BAD_DATA, 'the request is not valid UTF-8');
  }
}

/** Small bodies are mostly ASCII, which needs no decoding. */
function isAscii(body: Buffer): boolean {
  if (body.length > 1024) return false;
  for (let i = 0; i < body.length; i++) if ((body[i] as number) >= 0x80) return false;
  return true;
}

function readMsgpack(body: Buffer, { shapes, msgpackNestingMax }: BodyOptions, fields: Fields): void {
  const reader = new MsgpackReader(body, shapes, msgpackNestingMax);
  const count = reader.mapSize();
  if (count === null) throw shapeError('the request must be a map');
  for (let i = 0; i < count; i++) {
    const key = reader.str();
    if (key === null) throw shapeError('the keys of the request must be str');
    switch (key) {
      case 'type':
        fields.type = msgpackStr(reader);
        break;
      case 'code':
        fields.code = msgpackStr(reader);
        break;
      case 'name':
        fields.name = msgpackStr(reader);
        break;
      case 'vars':
        fields.vars = msgpackMap(reader);
        break;
      case 'args':
        fields.args = msgpackArray(reader) ?? msgpackMap(reader);
        break;
      default:
        reader.value(1);
    }
  }
}

function msgpackStr(reader: MsgpackReader): string | null {
  const text = reader.str();
  if (text === null) reader.value(1);
  return text;
}

function msgpackMap(reader: MsgpackReader): Map<string, Value> | null {
  const count = reader.mapSize();
  if (count === null) {
    reader.value(1);
    return null;
  }
  const map = new Map<string, Value>();
  for (let i = 0; i < count; i++) {
    const key = reader.str();
    if (key === null) throw new QueryError(ErrorCode.VALUE, 'names of variables and arguments must be str');
    map.set(key, reader.value(2));
  }
  return map;
}

function msgpackArray(reader: MsgpackReader): Value[] | null {
  const count = reader.arraySize();
  if (count === null) return null;
  const values: Value[] = [];
  for (let i = 0; i < count; i++) values.push(reader.value(2));
  return values;
}

function shapeError(message: string): QueryError {
  return new QueryError(ErrorCode.BAD_DATA, message);
}
