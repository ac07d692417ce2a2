/**
 * Where requests come from when there are proxies in between. What a proxy says of a client's address counts
 * only if the proxy is trusted: anybody can write a header. Two ways to say it are known: `X-Forwarded-For`,
 * and the PROXY protocol, version 2, in front of the first request of a connection, which uWebSockets.js
 * takes from connections without TLS.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** Entries of `X-Forwarded-For` that are looked at, from the last one on. */
const HOPS_MAX = 32;

export class ClientAddresses {
  private readonly trusted: BlockList | null;

  /** @param proxies addresses, and networks as `10.0.0.0/8` */
  constructor(proxies: readonly string[]) {
    this.trusted = proxies.length === 0 ? null : blockListOf(proxies);
  }

  isTrusted(address: string): boolean {
    return this.trusted?.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') === true;
  }

  /** True if the other end of the connection is one of the proxies. */
  isProxy(res: HttpResponse): boolean {
    return this.trusted !== null && this.isTrusted(peerOf(res));
  }

  /**
   * True if the connection is to end with this answer: uWebSockets.js takes what the PROXY protocol says in
   * front of later requests, too, and there it would come from the client itself.
   */
  endsConnection(res: HttpResponse): boolean {
    return this.trusted !== null && res.getProxiedRemoteAddress().byteLength > 0;
  }

  /**
   * The address of the client that sent a request.
   *
   * @param forwardedFor the headers of that name, joined by commas
   */
  of(res: HttpResponse, forwardedFor: string): string {
    const peer = peerOf(res);
    if (!this.isTrusted(peer)) return peer;
    return this.behind(peer, textOf(res.getProxiedRemoteAddressAsText()), forwardedFor);
  }

  /**
   * The first address on the way back to the client that is not a trusted proxy.
   *
   * @param peer the other end of the connection
   * @param proxied what the PROXY protocol said; empty for nothing
   */
  behind(peer: string, proxied: string, forwardedFor: string): string {
    const hops = forwardedFor.split(',').slice(-HOPS_MAX).map(withoutPort);
    if (proxied !== '') hops.push(proxied);
    let address = peer;
    while (this.isTrusted(address)) {
      const next = plainAddress(hops.pop() ?? '');
      if (next === null) break;
      address = next;
    }
    return address;
  }
}

/**
 * One way to write each address; an IPv4 address within IPv6 is the IPv4 address. Null for what is none, or
 * means something on one machine only (`fe80::1%eth0`).
 */
export function plainAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return null;
  if (family === 4) return text;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const inside = /^::ffff:([0-9.]+)$/.exec(address)?.[1];
  return inside ?? address;
}

function peerOf(res: HttpResponse): string {
  const text = textOf(res.getRemoteAddressAsText());
  return plainAddress(text) ?? text;
}

function textOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Some proxies add the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function withoutPort(hop: string): string {
  const text = hop.trim();
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([0-9.]+):\d+$/.exec(text)?.[1] ?? text;
}

function blockListOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
