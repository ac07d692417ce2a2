import { MsgpackWriter } from '@althing/engine';

/** A map in MessagePack, in the order of its fields; numbers are integers. */
export function packedMap(fields: Readonly<Record<string, string | number | boolean>>): Uint8Array {
  const entries = Object.entries(fields);
  const writer = new MsgpackWriter();
  writer.beginMap(entries.length);
  for (const [key, value] of entries) {
    writer.key(key);
    if (typeof value === 'number') writer.int(value);
    else if (typeof value === 'boolean') writer.bool(value);
    else writer.str(value);
  }
  return writer.out.take();
}
