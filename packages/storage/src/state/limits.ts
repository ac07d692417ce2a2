import { isU53 } from '../bytes.js';
import { LimitError, MisuseError } from '../errors.js';
import { KIND_MAX, PART_MAX } from './keys.js';

/** Bytes of one value. Larger things belong into several parts. */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024;

/** Throws `MisuseError` unless this can be the name of a record. */
export function checkName(kind: number, id: number, part: number): void {
  const isNumber = Number.isInteger(kind) && Number.isInteger(part) && isU53(id);
  if (isNumber && kind >= 0 && kind <= KIND_MAX && part >= 0 && part <= PART_MAX) return;
  throw new MisuseError(`no record can be called (${kind}, ${id}, ${part})`);
}

/** Throws `LimitError` for a value that is too large. */
export function checkValueSize(bytes: number): void {
  if (bytes > VALUE_BYTES_MAX) throw new LimitError('A value in bytes', bytes, VALUE_BYTES_MAX);
}
