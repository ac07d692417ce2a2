/** Checks MessagePack of programs that are not ours, so that it can be passed on as it is. Makes nothing of it. */
import { isUtf8 } from 'node:buffer';
import { badDataError, type QueryError } from '../error.js';
import { FORMS, type Form } from './msgpack-forms.js';
import { MSGPACK_NESTING_MAX } from './walk.js';

type Refuse = (what: string) => QueryError;

/**
 * Throws bad_data_err unless the bytes are exactly one value as clients get it: no extension types, keys that are str, valid UTF-8,
 * ints within int64.
 *
 * @param onValues called after so many values each; what it throws ends the work
 * @param isLoaded whether it is read as values afterwards, where keys and ints have errors of their own
 * @param whose what the value is, for errors
 */
export function checkMsgpack(
  given: Uint8Array,
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
      if (open.length >= MSGPACK_NESTING_MAX)
        throw wrong(`it is nested more than ${MSGPACK_NESTING_MAX} deep`);
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

const UINT64 = 0xcf;

const VALUES_PER_CALL = 32;

function formOf(code: number, wrong: Refuse): Form {
  const form = FORMS[code] ?? null;
  if (form === null || form.kind === 'ext')
    throw wrong(`the MessagePack type 0x${code.toString(16)} is not accepted`);
  return form;
}
