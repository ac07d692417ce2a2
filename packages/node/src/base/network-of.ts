import { isIP } from 'node:net';

/**
 * The part of an address that one sender has for sure: an IPv4 address, or the 64 bits of an IPv6 address
 * that name its network.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const gap =
    right === undefined ? [] : new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...gap, ...tail].slice(0, 4).join(':');
}
