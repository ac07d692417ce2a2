/**
 * Counts the connections from each address, or from each network of 64 bits in IPv6. uWebSockets.js tells of which address a connection comes,
 * but not of which it was when it ends; so ends are not counted one by one. When an address seems to have too
 * many, the system is asked how many there really are.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { networkOf } from '../../base/network-of.js';

export interface AddressCountsOptions {
  /** Connections of one address at most. */
  readonly max: number;
  /** The real counts by address; null when the system does not tell: then nothing is limited. */
  readonly recount: () => Map<string, number> | null;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/**
 * The system is asked no more often, in milliseconds: asking takes some when there are very many connections.
 */
const RECOUNT_PAUSE_MS = 200;

/** Addresses that are remembered until the system is asked. */
const ADDRESSES_MAX = 10_000;

export class AddressCounts {
  /** Connections since the last count, and those that were there then. */
  private counts = new Map<string, number>();
  private countedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: AddressCountsOptions) {}

  /**
   * Notes a new connection.
   *
   * @param address as `networkKey` gives it
   * @param limit connections that it may have at the moment, if fewer than ever
   * @returns whether the address may have it
   */
  connected(address: string, limit = Number.POSITIVE_INFINITY): boolean {
    const max = Math.min(this.options.max, limit);
    const count = (this.counts.get(address) ?? 0) + 1;
    this.counts.set(address, count);
    if (this.counts.size > ADDRESSES_MAX) this.recount();
    return count <= max || (this.recount() && (this.counts.get(address) ?? 0) <= max);
  }

  /** To be called when there is no connection at all. */
  clear(): void {
    this.counts.clear();
  }

  /** True if the counts are right now. */
  private recount(): boolean {
    const now = this.options.now();
    if (now - this.countedAt < RECOUNT_PAUSE_MS) return false;
    this.countedAt = now;
    this.counts = this.options.recount() ?? new Map();
    return true;
  }
}

/** An address in hexadecimal digits; an IPv4 address within IPv6 is the IPv4 address. */
export function addressKey(address: Uint8Array): string {
  const key = Buffer.from(address.buffer, address.byteOffset, address.byteLength).toString('hex');
  return key.startsWith(V4_IN_V6) ? key.slice(V4_IN_V6.length) : key;
}

/** The part of an address, as `addressKey` gives it, that one sender has for sure: all of IPv4, 64 bits of IPv6. */
export function networkKey(address: string): string {
  return address.slice(0, NETWORK_V6_DIGITS);
}

const NETWORK_V6_DIGITS = 16;

/** A network as people write it: `192.0.2.1`, `2001:db8:0:1::/64`. */
export function networkText(key: string): string {
  if (key.length === 8) return [...Buffer.from(key, 'hex')].join('.');
  const groups = key.match(/.{4}/g) ?? [];
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The network of an address, in the same words. */
export function networkTextOf(address: string): string {
  const network = networkOf(address);
  return isIP(address) === 6 ? `${network}::/64` : network;
}

/** True if an address, as `addressKey` gives it, is one of this machine itself. */
export function isLoopbackKey(key: string): boolean {
  return key.length === 8 ? key.startsWith('7f') : key === LOOPBACK_V6;
}

const LOOPBACK_V6 = '1'.padStart(32, '0');

const V4_IN_V6 = '00000000000000000000ffff';

/**
 * The connections to a port of this machine by the network that they come from (`networkKey`), as Linux tells it (proc(5),
 * /proc/net/tcp). Null elsewhere.
 */
export function systemCounts(port: number): Map<string, number> | null {
  try {
    const counts = new Map<string, number>();
    for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
      countLines(readFileSync(file, 'latin1'), port, counts);
    }
    return counts;
  } catch {
    // No such file: not Linux, or no IPv6.
    return null;
  }
}

/** Counts the lines of /proc/net/tcp that are connections which were not ended here. */
export function countLines(text: string, port: number, counts: Map<string, number>): void {
  const portText = port.toString(16).toUpperCase().padStart(4, '0');
  for (const match of text.matchAll(CONNECTION)) {
    const [, local, remote = ''] = match;
    if (local !== portText) continue;
    const network = networkKey(addressKey(fromHostOrder(Buffer.from(remote, 'hex'))));
    counts.set(network, (counts.get(network) ?? 0) + 1);
  }
}

/** Local port and remote address of a line in one of the states ESTABLISHED and CLOSE_WAIT. */
const CONNECTION = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):[0-9A-F]{4} 0[18] /gm;

/** Addresses are shown as numbers of 32 bits each. */
function fromHostOrder(address: Buffer): Buffer {
  return endianness() === 'LE' ? address.swap32() : address;
}
