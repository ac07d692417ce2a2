/**
 * The header of the PROXY protocol, by which a balancer that passes bytes on says where a connection comes from:
 *
 *   v1 := "PROXY " ("TCP4" / "TCP6") " " source " " destination " " port " " port CRLF
 *       / "PROXY UNKNOWN" text CRLF                            ; 107 bytes at most
 *   v2 := signature[12] command:u8 family:u8 length:u16 data[length]      ; numbers big endian
 *   command := 0x20 (a connection of the balancer itself) / 0x21
 *   family  := 0x11 (IPv4: source[4] destination[4] port port) / 0x21 (IPv6: source[16] destination[16] port port) / others
 *   data    := what the family says, and behind it what is passed over
 */
import { isIPv4, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '../limits/client-addresses.js';

/** A header, and how many bytes it has; the address is null where the connection is one of the balancer itself. */
export interface ProxyHeader {
  readonly bytes: number;
  readonly address: string | null;
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const FIRST_WORD = Buffer.from('PROXY ');
const LINE_BYTES_MAX = 107;

/** Bytes in front of the data of version 2, and of all of it at most: addresses, and some of what is passed over. */
const HEAD_BYTES = 16;
const DATA_BYTES_MAX = 4096;

const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;

/** Reads what a connection begins with. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'bad' {
  if (beginsWith(bytes, SIGNATURE)) return bytes.length < HEAD_BYTES ? 'more' : readBinary(bytes);
  if (!beginsWith(bytes, FIRST_WORD)) return 'bad';
  const end = bytes.indexOf('\r\n');
  if (end < 0) return bytes.length < LINE_BYTES_MAX ? 'more' : 'bad';
  if (end + 2 > LINE_BYTES_MAX) return 'bad';
  const address = addressIn(bytes.toString('latin1', FIRST_WORD.length, end));
  return address === undefined ? 'bad' : { bytes: end + 2, address };
}

/** True if bytes are the beginning of others, or begin with them. */
function beginsWith(bytes: Buffer, others: Buffer): boolean {
  const length = Math.min(bytes.length, others.length);
  return bytes.subarray(0, length).equals(others.subarray(0, length));
}

/** Undefined for what is no line of version 1. */
function addressIn(line: string): string | null | undefined {
  if (line === 'UNKNOWN' || line.startsWith('UNKNOWN ')) return null;
  const [, family, source = '', destination = ''] =
    /^TCP([46]) ([0-9A-Fa-f:.]+) ([0-9A-Fa-f:.]+) \d{1,5} \d{1,5}$/.exec(line) ?? [];
  const isOfFamily = family === '4' ? isIPv4 : isIPv6;
  if (family === undefined || !isOfFamily(source) || !isOfFamily(destination)) return undefined;
  return plainAddress(source) ?? undefined;
}

function readBinary(bytes: Buffer): ProxyHeader | 'more' | 'bad' {
  const command = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const length = bytes.readUInt16BE(14);
  if ((command !== LOCAL && command !== PROXY) || length > DATA_BYTES_MAX) return 'bad';
  const end = HEAD_BYTES + length;
  if (bytes.length < end) return 'more';
  const address = command === PROXY ? addressOf(family, bytes.subarray(HEAD_BYTES, end)) : null;
  return address === undefined ? 'bad' : { bytes: end, address };
}

/** Null for a family without addresses of ours, undefined where they are cut. */
function addressOf(family: number, data: Buffer): string | null | undefined {
  if (family === TCP4) return data.length < 12 ? undefined : [...data.subarray(0, 4)].join('.');
  if (family !== TCP6) return null;
  if (data.length < 36) return undefined;
  const groups = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => data.readUInt16BE(at).toString(16));
  return plainAddress(groups.join(':')) ?? undefined;
}

/**
 * Takes the header off a connection, which is closed where there is none in time.
 *
 * @param done gets the address, null for that of the other end, and what came behind the header
 */
export function takeProxyHeader(
  socket: Socket,
  timeoutMs: number,
  done: (address: string | null, rest: Buffer) => void,
): void {
  let came: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs).unref();
  const take = (chunk: Buffer): void => {
    came = came.length === 0 ? chunk : Buffer.concat([came, chunk]);
    const header = readProxyHeader(came);
    if (header === 'more') return;
    clearTimeout(timer);
    socket.off('data', take);
    if (header === 'bad') socket.destroy();
    else done(header.address, came.subarray(header.bytes));
  };
  socket.on('data', take);
  socket.once('close', () => clearTimeout(timer));
}
