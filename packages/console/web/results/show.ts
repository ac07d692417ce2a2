/** Values as texts: previews, items, tables and files, always exact. */
import {
  encodeMessagePack,
  floatText,
  isWireBytes,
  isWireList,
  isWireMap,
  showValue,
  stringifyJson,
  type WireValue,
} from '@althing/client';
import { type FileFormat, type Items, PAGE, PREVIEW, type Shown, type TablePage } from './protocol.js';

/** Columns of a table at most. */
const COLUMNS_MAX = 60;
/** Items whose properties make the columns. */
const COLUMN_ITEMS = 200;

export function shown(value: WireValue): Shown {
  if (isWireList(value)) {
    return {
      type: 'list',
      text: `${value.length} ${value.length === 1 ? 'item' : 'items'}`,
      isCut: false,
      size: value.length,
      id: null,
    };
  }
  if (isWireMap(value)) {
    const id = idOf(value);
    const size = value.size - (id === null ? 0 : 1);
    const what = size === 1 ? '1 property' : `${size} properties`;
    return {
      type: 'thing',
      text: id === null ? what : size === 0 ? `#${id}` : `#${id}, ${what}`,
      isCut: false,
      size,
      id,
    };
  }
  const text = scalarText(value);
  const isCut = text.length > PREVIEW;
  return { type: typeOf(value), text: isCut ? cut(text) : text, isCut, size: 0, id: null };
}

/** The text of a value that has no items: what a cell shows, and a form takes. */
export function scalarText(value: WireValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return 'nan';
    return Number.isFinite(value) ? floatText(value) : value > 0 ? 'inf' : '-inf';
  }
  if (isWireBytes(value)) {
    const hex = [...value.subarray(0, PREVIEW)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    return value.length > PREVIEW ? `${hex} … (${value.length} bytes)` : hex;
  }
  if (value === null) return 'nil';
  return isWireList(value) || isWireMap(value) ? showValue(value) : String(value);
}

export function typeOf(value: WireValue): Exclude<Shown['type'], 'set'> {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  if (typeof value === 'string') return 'str';
  if (isWireBytes(value)) return 'bytes';
  return isWireList(value) ? 'list' : 'thing';
}

/** The value at places within places. */
export function valueAt(root: WireValue, path: readonly number[]): WireValue {
  let value = root;
  for (const index of path) value = (isWireList(value) ? value[index] : entriesOf(value)[index]?.[1]) ?? null;
  return value;
}

export function itemsAt(value: WireValue, from: number): Items {
  if (isWireList(value)) {
    const items = value
      .slice(from, from + PAGE)
      .map((item, i) => ({ key: String(from + i), value: shown(item) }));
    return { total: value.length, items };
  }
  const entries = entriesOf(value);
  const items = entries.slice(from, from + PAGE).map(([key, item]) => ({ key, value: shown(item) }));
  return { total: entries.length, items };
}

/** A list of things as a table of their properties; anything else as one of keys and values. */
export function tableOf(value: WireValue, from: number): TablePage {
  if (!isWireList(value) || !value.some(isWireMap)) {
    const { total, items } = itemsAt(isWireList(value) || isWireMap(value) ? value : [value], from);
    const text = (key: string): Shown => ({ type: 'str', text: key, isCut: false, size: 0, id: null });
    return {
      total,
      columns: [isWireMap(value) ? 'key' : 'index', 'value'],
      rows: items.map((each) => [text(each.key), each.value]),
    };
  }
  const columns = columnsOf(value);
  const rows = value.slice(from, from + PAGE).map((item) => {
    if (!isWireMap(item)) return columns.map((_, i) => (i === 0 ? shown(item) : null));
    return columns.map((column) => {
      const found = item.get(column);
      return found === undefined ? null : shown(found);
    });
  });
  return { total: value.length, columns, rows };
}

function columnsOf(value: readonly WireValue[]): string[] {
  const columns = new Set<string>();
  for (const item of value.slice(0, COLUMN_ITEMS)) {
    if (isWireMap(item)) for (const key of item.keys()) columns.add(key);
  }
  return [...columns].slice(0, COLUMNS_MAX);
}

export function fileOf(value: WireValue, format: FileFormat): Blob {
  if (format === 'json') return new Blob([stringifyJson(value)], { type: 'application/json' });
  if (format === 'msgpack')
    return new Blob([new Uint8Array(encodeMessagePack(value))], { type: 'application/msgpack' });
  return new Blob([csvOf(value)], { type: 'text/csv' });
}

/** As RFC 4180 has it. A cell with items is JSON. */
export function csvOf(value: WireValue): string {
  const rows = isWireList(value) ? value : [value];
  const columns = columnsOf(rows);
  const cell = (item: WireValue | undefined): string => {
    if (item === undefined || item === null) return '';
    const text =
      isWireList(item) || isWireMap(item)
        ? stringifyJson(item)
        : isWireBytes(item)
          ? base64(item)
          : scalarText(item);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) =>
    (isWireMap(row) ? columns.map((key) => cell(row.get(key))) : [cell(row)]).join(','),
  );
  return [columns.length > 0 ? columns.map((key) => cell(key)).join(',') : 'value', ...lines, ''].join(
    '\r\n',
  );
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function entriesOf(value: WireValue): [string, WireValue][] {
  return isWireMap(value) ? [...value].filter(([key]) => key !== '#') : [];
}

function idOf(value: ReadonlyMap<string, WireValue>): bigint | null {
  const id = value.get('#');
  return typeof id === 'bigint' ? id : null;
}

/** Not within a character of two units. */
function cut(text: string): string {
  const last = text.charCodeAt(PREVIEW - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? PREVIEW - 1 : PREVIEW);
}

/** The statements of an answer that explains a run, as rows; all of the answer where there are none, or where the run failed. */
export function explainedTable(answer: WireValue): WireValue {
  if (!isWireMap(answer) || answer.has('error')) return answer;
  const explain = answer.get('explain');
  const statements = isWireMap(explain) ? explain.get('statements') : undefined;
  return statements ?? answer;
}
