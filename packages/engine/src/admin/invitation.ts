/**
 * A node that `new_node()` called for and that has not joined yet.
 *
 *   invitation := number:varint host:text port:varint [secret:text]
 *
 * A secret follows where 65536 was added to the port. Release 0.1.0 does not know such ones.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';

export interface Invitation {
  /** The number that it will get. */
  readonly number: number;
  readonly host: string;
  readonly port: number;
  /** The one-time secret that the node waits with; missing where it has the secret of the cluster. */
  readonly secret?: string;
}

/** Added to a port: a secret follows. */
const WITH_SECRET = 65_536;

export function writeInvitation(out: ByteWriter, { number, host, port, secret }: Invitation): void {
  out.varint(number);
  out.text(host);
  out.varint(secret === undefined ? port : port + WITH_SECRET);
  if (secret !== undefined) out.text(secret);
}

export function readInvitation(input: ByteReader): Invitation {
  const [number, host, port] = [input.varint(), input.text(), input.varint()];
  if (port < WITH_SECRET) return { number, host, port };
  return { number, host, port: port - WITH_SECRET, secret: input.text() };
}
