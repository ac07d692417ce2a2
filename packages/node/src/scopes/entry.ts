/**
 * The payload of a log entry: one change of a scope.
 *
 *   entry := format:u8 (1) flags:u8 time:varint effects
 *
 * `time` is the leader's clock in milliseconds, never before that of an earlier entry. No flags are defined yet.
 * `effects` is described in the engine.
 */
import { ByteReader, ByteWriter, FormatError } from '@althing/engine';

const FORMAT = 1;

export interface ChangeEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly effects: Uint8Array;
}

export function encodeEntry({ time, effects }: ChangeEntry): Uint8Array {
  const out = new ByteWriter(effects.length + 16);
  out.u8(FORMAT);
  out.u8(0);
  out.varint(time);
  out.bytes(effects);
  return out.take();
}

/** @throws FormatError for what is no entry, or one of a newer version */
export function decodeEntry(payload: Uint8Array): ChangeEntry {
  const input = new ByteReader(payload);
  const format = input.u8();
  const flags = input.u8();
  if (format !== FORMAT || flags !== 0) {
    throw new FormatError(
      `log entry of format ${format} with flags ${flags}; this version reads format ${FORMAT}`,
    );
  }
  return { time: input.varint(), effects: input.bytes(input.remaining) };
}
