/**
 * Hellos: each member tells the others every now and then where it is reached, and how it is.
 *
 *   hello := format:u8 (1) status:u8 port:u16 committed:varint stored:varint name:text host:text level:varint zone:varint ...
 *
 * `status` is an index of `STATUSES`; `level` is the highest level of a cluster that its software knows. What a newer version
 * appends, an older one does not read.
 */
import { ByteReader, ByteWriter, FormatError } from '@althing/engine';

/** The state of a member, in the words that clients know. What is new goes to the end. */
const STATUSES = ['SYNCHRONIZING', 'READY', 'SHUTTING_DOWN'] as const;

export type MemberStatus = (typeof STATUSES)[number];

export interface Hello {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly status: MemberStatus;
  /** Log entries that its state holds, and that are durable in it, of all groups together. */
  readonly committed: number;
  readonly stored: number;
  /** The highest level of a cluster that its software knows. */
  readonly level: number;
  /** The number of the place where it stands; 0 to 255. */
  readonly zone: number;
}

/** The highest number of a zone. */
const ZONE_MAX = 255;

/** Longest name or host: what DNS allows. */
export const HOST_LENGTH_MAX = 255;

export function encodeHello({ name, host, port, status, committed, stored, level, zone }: Hello): Uint8Array {
  const out = new ByteWriter(64);
  out.u8(FORMAT);
  out.u8(STATUSES.indexOf(status));
  out.u16(port);
  out.varint(committed);
  out.varint(stored);
  out.text(name);
  out.text(host);
  out.varint(level);
  out.varint(zone);
  return out.take();
}

/** @throws FormatError */
export function decodeHello(payload: Uint8Array): Hello {
  const input = new ByteReader(payload);
  const format = input.u8();
  if (format !== FORMAT) throw new FormatError(`a hello of format ${format}`);
  const status = STATUSES[input.u8()];
  const port = input.u16();
  const committed = input.varint();
  const stored = input.varint();
  const name = input.text();
  const host = input.text();
  const level = input.varint();
  const zone = input.varint();
  if (status === undefined || !isPlace(name, host, port) || zone > ZONE_MAX)
    throw new FormatError('a hello that makes no sense');
  return { name, host, port, status, committed, stored, level, zone };
}

/** True if a node can have this name and address. */
export function isPlace(name: string, host: string, port: number): boolean {
  return isHost(name) && isHost(host) && Number.isInteger(port) && port > 0 && port < 65_536;
}

function isHost(text: string): boolean {
  return text.length <= HOST_LENGTH_MAX && /^[\x21-\x7e]+$/.test(text);
}

const FORMAT = 1;
