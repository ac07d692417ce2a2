/**
 * A value for people: like JSON, indented, and with what JSON lacks.
 */
import { base64Of } from './base64.js';
import { floatText } from './json.js';
import { isWireBytes, isWireList, type WireValue } from './value.js';

/** Lists and maps up to this many characters stay on one line. */
const lineLength = 100;

/** Writes any value, over several lines when it is long. */
export function showValue(value: WireValue, indent = ''): string {
  if (isWireList(value)) {
    return bracketed(
      '[',
      value.map((item) => showValue(item, `${indent}  `)),
      ']',
      indent,
    );
  }
  if (value instanceof Map) {
    const items = [...value].map(
      ([key, item]) => `${JSON.stringify(key)}: ${showValue(item, `${indent}  `)}`,
    );
    return bracketed('{', items, '}', indent);
  }
  return showScalar(value);
}

function showScalar(value: WireValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return showFloat(value);
  if (isWireBytes(value)) return `bytes(${JSON.stringify(base64Of(value))})`;
  return String(value);
}

function showFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return floatText(value);
}

function bracketed(open: string, items: readonly string[], close: string, indent: string): string {
  const line = `${open}${items.join(', ')}${close}`;
  if (indent.length + line.length <= lineLength && !line.includes('\n')) return line;
  const lines = items.map((item) => `${indent}  ${item}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
