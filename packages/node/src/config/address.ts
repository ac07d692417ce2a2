/**
 * Network addresses as settings use them.
 */
import { BlockList, isIP } from 'node:net';

/**
 * True if an address reaches this machine only: all of 127.0.0.0/8, `::1`, their IPv4-mapped forms, and the
 * name `localhost`. Anything else, `0.0.0.0` and `::` included, is open to a network.
 */
export function isLoopback(address: string): boolean {
  if (address.toLowerCase() === 'localhost') return true;
  const family = isIP(address);
  if (family === 0) return false;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** True if a text can be a host name: labels of letters, digits, `-` and `_`, 253 characters at most. */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$/.test(text)
  );
}
