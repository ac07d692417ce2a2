/** Checks MessagePack of programs that are not ours, so that it can be passed on as it is. Makes nothing of it. */
import { isUtf8 } from 'node:buffer';
import { badDataError, type QueryError } from '../error.js';

type Refuse = (what: string) => QueryError;

/**
 * Throws bad_data_err unless the bytes are exactly one value as clients get it: no extension types, keys that are str, valid UTF-8,
 * ints within int64.
 *
 * @param nestingMax arrays and maps inside each other at most
 * @param onValues called after so many values each; what it throws ends the work
 * @param isLoaded whether it is read as values afterwards, where keys and ints have errors of their own
 * @param whose what the value is, for errors
 */
export function checkMsgpack(
  given: Uint8Array,
  nestingMax: number,
  onValues: (count: number) => void,
  isLoaded: boolean,
  whose = 'the answer of the module',
): void {
  const wrong: Refuse = (what) => badDataError(`${whose} is not one MessagePack value: ${what}`);
  const ends = (): QueryError => wrong('it ends too early');
  const data = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  /** Values that are left in the arrays and maps around the present one; those of maps below zero. */
  const open: number[] = [];
  let position = 0;
  let left = 1;
  let isMap = false;
  let values = 0;
  for (;;) {
    while (left === 0) {
      const outer = open.pop();
      if (outer === undefined) {
        if (position < data.length) throw wrong(`${data.length - position} bytes follow behind the value`);
        return;
      }
      isMap = outer < 0;
      left = Math.abs(outer) - (isMap ? 1 : 0);
    }
    values += 1;
    if (values % VALUES_PER_CALL === 0) onValues(VALUES_PER_CALL);
    const code = data[position];
    if (code === undefined) throw ends();
    const isKey = isMap && left % 2 === 0;
    left -= 1;
    position += 1;
    const form = formOf(code, wrong);
    if (isKey && !isLoaded && form.kind !== 'str') throw wrong('a key of a map is no str');
    let { size } = form;
    if (form.length > 0) {
      if (position + form.length > data.length) throw ends();
      size = data.readUIntBE(position, form.length);
      position += form.length;
    }
    if (form.kind === 'array' || form.kind === 'map') {
      const count = form.kind === 'map' ? size * 2 : size;
      if (count > data.length - position) throw ends();
      if (open.length >= nestingMax) throw wrong(`it is nested more than ${nestingMax} deep`);
      // Zero has no sign of its own, so those of maps are counted from one on.
      open.push(isMap ? -left - 1 : left);
      left = count;
      isMap = form.kind === 'map';
      continue;
    }
    const end = position + size;
    if (end > data.length) throw ends();
    if (form.kind === 'str' && !isUtf8(data.subarray(position, end))) throw wrong('a str is not valid UTF-8');
    if (code === UINT64 && !isLoaded && data[position]! >= 0x80)
      throw wrong('an integer is larger than 2^63 - 1');
    position = end;
  }
}

/** The form of a value by its first byte: what follows is `length` bytes that hold its size, or none, and `size` is known. */
interface Form {
  readonly kind: 'plain' | 'str' | 'array' | 'map';
  readonly length: number;
  readonly size: number;
}

const UINT64 = 0xcf;

const VALUES_PER_CALL = 32;

const FORMS: readonly (Form | null)[] = Array.from({ length: 256 }, (_, code) => makeForm(code));

function formOf(code: number, wrong: Refuse): Form {
  const form = FORMS[code] ?? null;
  if (form === null) throw wrong(`the MessagePack type 0x${code.toString(16)} is not accepted`);
  return form;
}

function makeForm(code: number): Form | null {
  const plain = (size: number): Form => ({ kind: 'plain', length: 0, size });
  if (code < 0x80 || code >= 0xe0) return plain(0);
  if (code < 0x90) return { kind: 'map', length: 0, size: code & 0x0f };
  if (code < 0xa0) return { kind: 'array', length: 0, size: code & 0x0f };
  if (code < 0xc0) return { kind: 'str', length: 0, size: code & 0x1f };
  if (code === 0xc0 || code === 0xc2 || code === 0xc3) return plain(0);
  if (code >= 0xc4 && code <= 0xc6) return { kind: 'plain', length: 1 << (code - 0xc4), size: 0 };
  if (code === 0xca || code === 0xcb) return plain(code === 0xca ? 4 : 8);
  if (code >= 0xcc && code <= 0xcf) return plain(1 << (code - 0xcc));
  if (code >= 0xd0 && code <= 0xd3) return plain(1 << (code - 0xd0));
  if (code >= 0xd9 && code <= 0xdb) return { kind: 'str', length: 1 << (code - 0xd9), size: 0 };
  if (code >= 0xdc && code <= 0xdd) return { kind: 'array', length: code === 0xdc ? 2 : 4, size: 0 };
  if (code >= 0xde) return { kind: 'map', length: code === 0xde ? 2 : 4, size: 0 };
  return null;
}
