/**
 * The subject of an error, on its way between nodes.
 *
 *   detail := type:text index:text fields:text* id:varint hasKey:u8 value*      `id` 0 for none; a value for each field, if there is a key
 *   value  := 0 text | 1 int:text | 2 float:f64 | 3 | 4                         3 false, 4 true
 */
import {
  type ByteReader,
  type ByteWriter,
  type DuplicateDetail,
  FormatError,
  type KeyValue,
} from '@althing/engine';

export function writeDetail(out: ByteWriter, { type, index, fields, key, id }: DuplicateDetail): void {
  out.text(type);
  out.text(index);
  out.list(fields, (field) => out.text(field));
  out.varint(id ?? 0);
  out.u8(key === null ? 0 : 1);
  for (const value of key ?? []) writeValue(out, value);
}

/** @throws FormatError */
export function readDetail(input: ByteReader): DuplicateDetail {
  const type = input.text();
  const index = input.text();
  const fields = input.list(() => input.text());
  const id = input.varint();
  const hasKey = input.u8() !== 0;
  return { type, index, fields, key: hasKey ? fields.map(() => readValue(input)) : null, id: id || null };
}

function writeValue(out: ByteWriter, value: KeyValue): void {
  switch (typeof value) {
    case 'string':
      out.u8(0);
      out.text(value);
      return;
    case 'boolean':
      out.u8(value ? 4 : 3);
      return;
    default:
      if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
        out.u8(1);
        out.text(String(value));
      } else {
        out.u8(2);
        out.f64(value);
      }
  }
}

function readValue(input: ByteReader): KeyValue {
  const kind = input.u8();
  switch (kind) {
    case 0:
      return input.text();
    case 1: {
      const int = BigInt(input.text());
      const number = Number(int);
      return Number.isSafeInteger(number) ? number : int;
    }
    case 2:
      return input.f64();
    case 3:
    case 4:
      return kind === 4;
    default:
      throw new FormatError(`a value of the unknown kind ${kind} in the detail of an error`);
  }
}
