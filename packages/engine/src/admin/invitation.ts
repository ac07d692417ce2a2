/**
 * A node that `new_node()` called for and that has not joined yet.
 *
 *   invitation := number:varint host:text port:varint
 */
import type { ByteReader, ByteWriter } from '../bytes.js';

export interface Invitation {
  /** The number that it will get. */
  readonly number: number;
  readonly host: string;
  readonly port: number;
}

export function writeInvitation(out: ByteWriter, { number, host, port }: Invitation): void {
  out.varint(number);
  out.text(host);
  out.varint(port);
}

export function readInvitation(input: ByteReader): Invitation {
  return { number: input.varint(), host: input.text(), port: input.varint() };
}
