/** Results for people and for programs: as a tree, a table, JSON or CSV. */
import {
  isWireBytes,
  isWireList,
  isWireMap,
  showValue,
  stringifyJson,
  type WireValue,
} from '@althing/client';
import { clip } from './screen.js';
import type { Paint, Style } from './style.js';
import { textWidth, visible } from './text-width.js';

export const FORMATS = ['auto', 'tree', 'table', 'json', 'csv'] as const;

/** `auto` is a table for a list of things of which each fits in a row, else a tree. */
export type OutputFormat = (typeof FORMATS)[number];

export interface Layout {
  /** Cells of a row. */
  readonly width: number;
  readonly paint: Paint;
}

/** A result as text, without a line feed at its end. */
export function formatValue(value: WireValue, format: OutputFormat, layout: Layout): string {
  switch (format) {
    case 'json':
      return jsonLine(value);
    case 'csv':
      return csv(value);
    case 'table':
      return table(value, layout) ?? tree(value, layout, 0);
    case 'tree':
      return tree(value, layout, 0);
    case 'auto':
      return (isTabular(value) ? table(value, layout, true) : null) ?? tree(value, layout, 0);
  }
}

/** A value as one line of JSON: bytes as base64, and the floats that JSON lacks as the texts `nan`, `inf` and `-inf`. */
export function jsonLine(value: WireValue): string {
  return stringifyJson(forJson(value));
}

function forJson(value: WireValue): WireValue {
  if (isWireBytes(value)) return Buffer.from(value).toString('base64');
  if (typeof value === 'number' && !Number.isFinite(value)) return showValue(value);
  if (isWireList(value)) return value.map(forJson);
  return isWireMap(value) ? new Map([...value].map(([key, item]) => [key, forJson(item)])) : value;
}

/** Rows and columns of a table at least: anything smaller is easier to read as a tree. */
const TABLE_ROWS_MIN = 2;
/** Columns that a table may have without being asked for. */
const TABLE_COLUMNS_MAX = 12;
/** Narrowest column that is not shortened any more. */
const COLUMN_WIDTH_MIN = 6;
const CELL_WIDTH_MAX = 60;

type Row = ReadonlyMap<string, WireValue>;

function isTabular(value: WireValue): boolean {
  const rows = rowsOf(value);
  return rows !== null && rows.length >= TABLE_ROWS_MIN && columnsOf(rows).length <= TABLE_COLUMNS_MAX;
}

/** The things of a list that has nothing else. */
function rowsOf(value: WireValue): Row[] | null {
  if (!isWireList(value) || value.length === 0) return null;
  const rows = value.filter((item): item is Row => isWireMap(item));
  return rows.length === value.length ? rows : null;
}

function columnsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => [...row.keys()]))];
}

/** Null for what is no list of things, or, where it must, does not fit into a row. */
function table(value: WireValue, { width, paint }: Layout, mustFit = false): string | null {
  const rows = rowsOf(value);
  if (rows === null) return null;
  const columns = columnsOf(rows);
  const cells = rows.map((row) => columns.map((column) => cell(row.get(column))));
  const widths = fitted(
    columns.map((column, i) =>
      Math.min(
        CELL_WIDTH_MAX,
        Math.max(textWidth(visible(column)), ...cells.map((row) => textWidth(row[i]?.text ?? ''))),
      ),
    ),
    width,
  );
  if (mustFit && widthOf(widths) > width) return null;
  const line = (texts: readonly string[], styles: readonly Style[], isRight: readonly boolean[]): string =>
    texts
      .map((text, i) => {
        const shown = clip(text, widths[i] ?? 0);
        const blanks = ' '.repeat(Math.max(0, (widths[i] ?? 0) - textWidth(shown)));
        const painted = paint(styles[i] ?? 'plain', shown);
        return isRight[i] === true ? blanks + painted : painted + blanks;
      })
      .join('  ')
      .trimEnd();
  return [
    line(
      columns.map(visible),
      columns.map(() => 'bold'),
      [],
    ),
    line(
      widths.map((cells) => '─'.repeat(cells)),
      columns.map(() => 'dim'),
      [],
    ),
    ...cells.map((row) =>
      line(
        row.map(({ text }) => text),
        row.map(({ style }) => style),
        row.map(({ isNumber }) => isNumber),
      ),
    ),
  ].join('\n');
}

interface Cell {
  readonly text: string;
  readonly style: Style;
  readonly isNumber: boolean;
}

function cell(value: WireValue | undefined): Cell {
  if (value === undefined) return { text: '', style: 'plain', isNumber: false };
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  const text = typeof value === 'string' ? visible(value).replaceAll('\n', '⏎') : inline(value);
  return { text, style: styleOf(value), isNumber };
}

/** Columns that fit into a row: the widest give way first. */
function fitted(widths: readonly number[], width: number): number[] {
  const fits = [...widths];
  let over = widthOf(fits) - width;
  while (over > 0) {
    const widest = Math.max(...fits);
    if (widest <= COLUMN_WIDTH_MIN) break;
    fits[fits.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return fits;
}

/** The width of a row with columns of these widths. */
function widthOf(columns: readonly number[]): number {
  return columns.reduce((sum, each) => sum + each + 2, -2);
}

function tree(value: WireValue, layout: Layout, indent: number): string {
  const short = inline(value, layout.width - indent);
  if (short !== null && !isNested(value)) return layout.paint(styleOf(value), short);
  const blanks = ' '.repeat(indent + 2);
  const end = ' '.repeat(indent);
  if (isWireList(value)) {
    if (value.length === 0) return '[]';
    if (short !== null) return painted(value, layout.paint);
    return `[\n${value.map((item) => `${blanks}${tree(item, layout, indent + 2)}`).join(',\n')}\n${end}]`;
  }
  if (isWireMap(value)) {
    if (value.size === 0) return '{}';
    if (short !== null) return painted(value, layout.paint);
    const lines = [...value].map(
      ([key, item]) => `${blanks}${layout.paint('blue', keyText(key))}: ${tree(item, layout, indent + 2)}`,
    );
    return `{\n${lines.join(',\n')}\n${end}}`;
  }
  return layout.paint(styleOf(value), inline(value));
}

function isNested(value: WireValue): boolean {
  return isWireList(value) || isWireMap(value);
}

/** A value on one line, with its parts in their colours. */
function painted(value: WireValue, paint: Paint): string {
  if (isWireList(value)) return `[${value.map((item) => painted(item, paint)).join(', ')}]`;
  if (isWireMap(value)) {
    const parts = [...value].map(([key, item]) => `${paint('blue', keyText(key))}: ${painted(item, paint)}`);
    return `{${parts.join(', ')}}`;
  }
  return paint(styleOf(value), inline(value));
}

function inline(value: WireValue): string;
/** Null when it takes more than so many cells. */
function inline(value: WireValue, width: number): string | null;
function inline(value: WireValue, width = Number.POSITIVE_INFINITY): string | null {
  const parts: string[] = [];
  let left = width;
  const put = (text: string): boolean => {
    left -= textWidth(text);
    parts.push(text);
    return left >= 0;
  };
  const write = (item: WireValue): boolean => {
    if (isWireList(item)) {
      return put('[') && item.every((each, i) => (i === 0 || put(', ')) && write(each)) && put(']');
    }
    if (isWireMap(item)) {
      let isFirst = true;
      if (!put('{')) return false;
      for (const [key, each] of item) {
        if (!put(`${isFirst ? '' : ', '}${keyText(key)}: `) || !write(each)) return false;
        isFirst = false;
      }
      return put('}');
    }
    return put(scalar(item));
  };
  return write(value) ? parts.join('') : null;
}

function scalar(value: WireValue): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return `"${visible(value).replaceAll('\n', '⏎').replaceAll('"', '""')}"`;
  if (typeof value === 'number') return showValue(value);
  if (isWireBytes(value)) return `bytes(${JSON.stringify(Buffer.from(value).toString('base64'))})`;
  return String(value);
}

function keyText(key: string): string {
  return /^[A-Za-z_#][A-Za-z_0-9]*$/.test(key) ? key : JSON.stringify(visible(key));
}

function styleOf(value: WireValue): Style {
  if (value === null || typeof value === 'boolean') return 'magenta';
  if (typeof value === 'string') return 'green';
  if (typeof value === 'bigint' || typeof value === 'number') return 'cyan';
  return isWireBytes(value) ? 'yellow' : 'plain';
}

/** CSV as of RFC 4180: things become rows, and nil an empty field. */
function csv(value: WireValue): string {
  const items = isWireList(value) ? value : [value];
  const rows = rowsOf(items);
  if (rows === null) return items.map((item) => csvField(item)).join('\r\n');
  const columns = columnsOf(rows);
  return [
    columns.map((column) => csvField(column)).join(','),
    ...rows.map((row) => columns.map((column) => csvField(row.get(column) ?? null)).join(',')),
  ].join('\r\n');
}

function csvField(value: WireValue): string {
  const text = value === null ? '' : typeof value === 'string' ? value : csvText(value);
  return /[",\r\n]|^\s|\s$/.test(text) || value === '' ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(value: WireValue): string {
  if (typeof value === 'number') return showValue(value);
  return isWireBytes(value) ? Buffer.from(value).toString('base64') : jsonLine(value);
}
