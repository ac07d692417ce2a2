/**
 * Request bodies: a map with `type` and, for a query, `code` and perhaps `vars`; for a run, `name` and
 * perhaps `args`. Unknown keys are ignored; of repeated keys the last counts. The values in `vars` and `args`
 * are not read here, only their form is checked: they come later, when it is known that the user may run the
 * request.
 */

// The global of the name has a getter, which takes time at each request.
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import {
  badDataError,
  type Format,
  JsonReader,
  MsgpackReader,
  ShapeTree,
  type WireValues,
} from '@althing/engine';
import { elementAt } from '../base/element.js';
import type { ProgramBody } from '../groups/request.js';

export interface BodyOptions {
  /** Arrays and maps inside each other in MessagePack at most. */
  readonly msgpackNestingMax: number;
}

/** Bodies in JSON up to this size are kept as text, and so are longer ones of ASCII alone. */
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
  if (format === 'json') new JsonBody(body, kept).readInto(fields);
  else new MsgpackBody(body, options, kept).readInto(fields);
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

const KEYS = ['type', 'code', 'name', 'vars', 'args'] as const;

/** Reads the fields of a body. */
abstract class FieldReader<Reader extends JsonReader | MsgpackReader> {
  protected abstract readonly reader: Reader;

  abstract readInto(fields: Fields): void;

  /** Reads a key and its value. */
  protected readField(fields: Fields): void {
    const key = this.knownKey() ?? this.key();
    if (key === null) throw badDataError('the keys of the request must be str');
    if (key === 'type') fields.type = this.type();
    else if (key === 'code') fields.code = this.str();
    else if (key === 'name') fields.name = this.str();
    else if (key === 'vars') fields.vars = this.values(false);
    else if (key === 'args') fields.args = this.values(true);
    else this.reader.skip(1);
  }

  /** A known key in the usual spelling, which need not become a text; null, and nothing is read, for another one. */
  private knownKey(): string | null {
    for (const key of KEYS) if (this.reader.isKey(key)) return key;
    return null;
  }

  private type(): string | null {
    const { reader } = this;
    if (reader.isWord('query')) return 'query';
    return reader.isWord('run') ? 'run' : this.str();
  }

  /** Null for a key that is no text. */
  protected abstract key(): string | null;
  /** The value of the key that was read last; null for one of the wrong type. */
  protected abstract str(): string | null;
  /** The same. @param mayBeList whether values come in an array as well */
  protected abstract values(mayBeList: boolean): WireValues | null;
}

/** Bytes of a body that stay after it is gone. */
type Keep = (body: Buffer, start: number, end: number) => Buffer;

/** Up to this size it takes less time to copy here than to ask the platform. */
const COPIED_HERE_BYTES = 64;

function viewOf(body: Buffer, start: number, end: number): Buffer {
  return body.subarray(start, end);
}

function copyOf(body: Buffer, start: number, end: number): Buffer {
  const size = end - start;
  const copy = Buffer.allocUnsafe(size);
  if (size > COPIED_HERE_BYTES) body.copy(copy, 0, start, end);
  else for (let i = 0; i < size; i++) copy[i] = elementAt(body, start + i);
  return copy;
}

function bodyOf({ type, code, name, vars = NO_VALUES, args = NO_VALUES }: Fields): ProgramBody {
  switch (type) {
    case 'query':
      if (typeof code !== 'string') throw badDataError("'code' must be a str");
      if (vars === null) throw badDataError("'vars' must be a map");
      return { type, code, vars: vars === NO_VALUES ? null : vars };
    case 'run':
      if (typeof name !== 'string') throw badDataError("'name' must be a str");
      if (args === null) throw badDataError("'args' must be an array or a map");
      return { type, name, args: args === NO_VALUES ? null : args };
    default:
      throw badDataError('\'type\' must be "query" or "run"');
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
class JsonBody extends FieldReader<JsonReader> {
  private readonly text: string;
  /** True if the text says what is between quotes. */
  private readonly isText: boolean;
  protected readonly reader: JsonReader;

  constructor(
    private readonly body: Buffer,
    private readonly kept: Keep,
  ) {
    super();
    const isShort = body.length <= SHORT_BYTES;
    const ascii = body.length <= LOOKED_AT_BYTES ? isShortAscii(body) : isAscii(body);
    if (!ascii && !isUtf8(body)) {
      throw badDataError('the request is not valid UTF-8');
    }
    this.isText = isShort || ascii;
    this.text = body.toString(isShort && !ascii ? 'utf8' : 'latin1');
    this.reader = new JsonReader(this.text, NO_SHAPES);
  }

  readInto(fields: Fields): void {
    const { reader } = this;
    if (!reader.startsWith('{')) {
      reader.skip();
      reader.end();
      throw badDataError('the request must be a map');
    }
    for (let more = reader.begins(); more; more = reader.goesOn()) this.readField(fields);
    reader.end();
  }

  protected key(): string {
    return this.reader.key();
  }

  protected str(): string | null {
    const { reader, isText, body } = this;
    if (!reader.startsWith('"')) {
      reader.skip(1);
      return null;
    }
    const start = reader.start();
    if (isText) return reader.string();
    reader.skip(1);
    return new JsonReader(body.toString('utf8', start, reader.offset), NO_SHAPES).string();
  }

  protected values(mayBeList: boolean): WireValues | null {
    const { reader, text, body } = this;
    const start = reader.start();
    const code = text.charCodeAt(start);
    if (code !== OPENING_BRACE && !(mayBeList && code === OPENING_BRACKET)) {
      reader.skip(1);
      return null;
    }
    reader.skipBrackets();
    if (this.isText) return { format: 'json', data: text, start };
    return { format: 'json', data: this.kept(body, start, reader.offset) };
  }
}

const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;

function isShortAscii(body: Buffer): boolean {
  for (let i = 0; i < body.length; i++) if (elementAt(body, i) >= 0x80) return false;
  return true;
}

/** As `JsonBody`, for MessagePack. */
class MsgpackBody extends FieldReader<MsgpackReader> {
  protected readonly reader: MsgpackReader;

  constructor(
    private readonly body: Buffer,
    { msgpackNestingMax }: BodyOptions,
    private readonly kept: Keep,
  ) {
    super();
    this.reader = new MsgpackReader(body, NO_SHAPES, msgpackNestingMax);
  }

  readInto(fields: Fields): void {
    const { reader } = this;
    const count = reader.mapSize();
    if (count === null) throw badDataError('the request must be a map');
    for (let i = 0; i < count; i++) this.readField(fields);
    reader.end();
  }

  protected key(): string | null {
    return this.reader.str();
  }

  protected str(): string | null {
    const text = this.reader.str();
    if (text === null) this.reader.skip(1);
    return text;
  }

  protected values(mayBeList: boolean): WireValues | null {
    const { reader } = this;
    const start = reader.offset;
    const fits = reader.hasMap || (mayBeList && reader.hasArray);
    reader.skip(1);
    return fits ? { format: 'msgpack', data: this.kept(this.body, start, reader.offset) } : null;
  }
}
