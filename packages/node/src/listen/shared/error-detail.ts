/**
 * The subject of an error, for programs, as answers tell it: `detail`, of a duplicate_err `{type, index, fields, key, id}`. Most errors
 * have none.
 */
import {
  type DuplicateDetail,
  type KeyValue,
  type MsgpackWriter,
  type QueryError,
  quote,
} from '@althing/engine';

/** The keys that `writeDetail` writes. */
export function detailKeys({ detail }: QueryError): number {
  return detail === null ? 0 : 1;
}

/** Writes the key with its value into a map that was begun. */
export function writeDetail(out: MsgpackWriter, { detail }: QueryError): void {
  if (detail === null) return;
  const { type, index, fields, key, id } = detail;
  out.key('detail');
  out.beginMap(5);
  out.key('type');
  out.str(type);
  out.key('index');
  out.str(index);
  out.key('fields');
  out.beginArray(fields.length);
  for (const field of fields) out.str(field);
  out.key('key');
  if (key === null) out.nil();
  else {
    out.beginArray(key.length);
    for (const value of key) writeKeyValue(out, value);
  }
  out.key('id');
  if (id === null) out.nil();
  else out.int(id);
}

function writeKeyValue(out: MsgpackWriter, value: KeyValue): void {
  if (typeof value === 'string') out.str(value);
  else if (typeof value === 'boolean') out.bool(value);
  else if (typeof value === 'bigint' || Number.isSafeInteger(value)) out.int(value);
  else out.float(value);
}

/** The same for JSON, with a comma in front. */
export function detailJson({ detail }: QueryError): string {
  return detail === null ? '' : `,"detail":${jsonOf(detail)}`;
}

function jsonOf({ type, index, fields, key, id }: DuplicateDetail): string {
  const values = key === null ? 'null' : `[${key.map(keyValueJson).join(',')}]`;
  const names = fields.map(quote).join(',');
  return `{"type":${quote(type)},"index":${quote(index)},"fields":[${names}],"key":${values},"id":${id}}`;
}

/** JSON has no nan and no infinities. */
function keyValueJson(value: KeyValue): string {
  const isPlain = typeof value !== 'string' && (typeof value !== 'number' || Number.isFinite(value));
  return isPlain ? String(value) : quote(String(value));
}
