/** The rows of a file, as they are read: JSON a line, or CSV; compressed by gzip or not. */
import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { isWireMap, parseJson, type WireValue } from '@althing/client';
import { messageOf } from '../system-error.js';
import { CsvError, CsvParser, RECORD_LENGTH_MAX, type TextRecord } from './csv.js';

export type RowFormat = 'jsonl' | 'csv' | 'tsv';

/** A row of a file. */
export interface SourceRow {
  readonly line: number;
  /** As it stands in the file. */
  readonly raw: string;
  /** Values by the names of columns; of CSV they are texts, and null for nothing. Null where the row can't be read. */
  readonly values: ReadonlyMap<string, WireValue> | null;
  /** Why it can't be read; empty where it can. */
  readonly why: string;
}

/** Bytes that tell a file from others, together with the plan. */
const HEAD_BYTES = 64 * 1024;

/** A source that is opened: what tells it from others, and its rows. */
export interface RowSource {
  /** SHA-256 of the beginning, in hexadecimal digits. */
  readonly head: string;
  /** Rows in the order of the file, some at a time. */
  readonly rows: AsyncGenerator<readonly SourceRow[], void, undefined>;
  /** The names of the columns of a CSV; empty for JSON. */
  readonly columns: readonly string[];
}

/**
 * Reads the beginning of a source.
 *
 * @param given names of the columns, where the file has no line with them
 * @throws CsvError for what can't be read at all
 */
export async function openRows(
  bytes: AsyncIterable<Uint8Array>,
  format: RowFormat,
  given: readonly string[] | null,
): Promise<RowSource> {
  const plain = unpacked(bytes);
  const first: Uint8Array[] = [];
  let size = 0;
  while (size < HEAD_BYTES) {
    const next = await plain.next();
    if (next.done === true) break;
    first.push(next.value);
    size += next.value.length;
  }
  const head = Buffer.concat(first);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff))
    throw new CsvError(1, 'this is UTF-16: make it UTF-8 first, as by iconv -f UTF-16 -t UTF-8');
  const digest = createHash('sha256').update(head.subarray(0, HEAD_BYTES)).digest('hex');
  const texts = decoded(head, plain);
  if (format === 'jsonl') return { head: digest, rows: jsonRows(texts), columns: [] };
  const records = csvRecords(texts, format === 'csv' ? ',' : '\t');
  const begun = await records.next();
  const [header, ...others] = begun.done === true ? [] : begun.value;
  if (header === undefined) return { head: digest, rows: noRows(), columns: [] };
  const columns = given ?? header.cells.map((cell) => cell ?? '');
  if (columns.some((name) => name.includes('\r')))
    throw new CsvError(1, 'a carriage return alone ends no line: make the ends of lines LF or CRLF first');
  if (new Set(columns).size < columns.length || columns.includes(''))
    throw new CsvError(1, 'the first line has to name each column, each once; or give --columns');
  const before = given === null ? others : [header, ...others];
  return { head: digest, rows: csvRows(columns, before, records), columns };
}

async function* noRows(): AsyncGenerator<readonly SourceRow[], void, undefined> {}

/** The bytes of a source, unpacked where gzip compressed them. */
async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = bytes[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done === true) return;
  const rest: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: async function* () {
      yield first.value;
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
    },
  };
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* rest;
    return;
  }
  const gunzip = createGunzip();
  const feeding = (async () => {
    for await (const piece of rest)
      if (!gunzip.write(piece)) await new Promise((resolve) => gunzip.once('drain', resolve));
    gunzip.end();
  })();
  feeding.catch((error: Error) => gunzip.destroy(error));
  try {
    for await (const piece of gunzip) yield piece;
  } catch (error) {
    throw new CsvError(1, `the file can't be unpacked: ${messageOf(error)}`);
  } finally {
    gunzip.destroy();
  }
}

/** UTF-8 as text. */
async function* decoded(
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines = 1;
  const decode = (bytes: Uint8Array | null): string => {
    try {
      const text = bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
      return text;
    } catch {
      throw new CsvError(lines, 'at or behind this line is what is no UTF-8; iconv can make it so');
    }
  };
  yield decode(head);
  for await (const bytes of rest) yield decode(bytes);
  yield decode(null);
}

async function* jsonRows(
  texts: AsyncIterable<string>,
): AsyncGenerator<readonly SourceRow[], void, undefined> {
  let rest = '';
  let line = 0;
  const take = (lines: readonly string[]): SourceRow[] =>
    lines.flatMap((text) => {
      line += 1;
      const raw = text.endsWith('\r') ? text.slice(0, -1) : text;
      return raw.trim() === '' ? [] : [jsonRow(raw, line)];
    });
  for await (const text of texts) {
    const lines = text.split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    if (rest.length > RECORD_LENGTH_MAX)
      throw new CsvError(line + lines.length + 1, `a line of more than ${RECORD_LENGTH_MAX} characters`);
    yield take(lines);
  }
  yield take([rest]);
}

function jsonRow(raw: string, line: number): SourceRow {
  try {
    const values = parseJson(raw);
    if (isWireMap(values)) return { line, raw, values, why: '' };
    return { line, raw, values: null, why: 'this is no JSON object' };
  } catch (error) {
    return { line, raw, values: null, why: `this is no JSON: ${messageOf(error)}` };
  }
}

async function* csvRecords(
  texts: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<readonly TextRecord[], void, undefined> {
  const parser = new CsvParser(separator);
  for await (const text of texts) {
    const records = [...parser.push(text)];
    if (records.length > 0) yield records;
  }
  yield [...parser.end()];
}

async function* csvRows(
  columns: readonly string[],
  before: readonly TextRecord[],
  records: AsyncIterable<readonly TextRecord[]>,
): AsyncGenerator<readonly SourceRow[], void, undefined> {
  const row = ({ cells, raw, line }: TextRecord): SourceRow => {
    if (cells.length === columns.length)
      return {
        line,
        raw,
        values: new Map(columns.map((name, place) => [name, cells[place] ?? null])),
        why: '',
      };
    return { line, raw, values: null, why: `${cells.length} values for ${columns.length} columns` };
  };
  yield before.map(row);
  for await (const some of records) yield some.map(row);
}
