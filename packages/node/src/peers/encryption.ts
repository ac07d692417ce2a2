/**
 * Encryption between nodes without certificates: TLS 1.3 with a key that both sides have, and a fresh key
 * exchange for each connection (psk_dhe_ke; OpenSSL takes no other), so that what was recorded stays secret
 * when the cluster's secret comes out later. Who is who is proved afterwards, by the greeting, which is bound
 * to the connection.
 *
 * The dialer decides: TLS beyond loopback, or everywhere, or nowhere. The listener tells TLS from a plain
 * greeting by the first byte: 0x16 begins a handshake of TLS, and 0 the length of the first frame.
 *
 * A listener refuses a plain greeting where it wants TLS, and says so; the dialer then comes back with TLS.
 */
import { hkdfSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { isLoopback } from '../config/address.js';

/** Where connections between nodes are encrypted: beyond loopback, everywhere, or nowhere. */
export type Encryption = 'auto' | 'on' | 'off';

/** The first byte of a connection that speaks TLS. */
const HANDSHAKE = 0x16;

/** Tells who asks which key is meant: there is one. */
const IDENTITY = 'althing';

/** The suite that keys from outside go with, which are bound to SHA-256. */
const OPTIONS = {
  ciphers: 'TLS_AES_128_GCM_SHA256',
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
} as const;

/** @param key of the greeting, which is slow to make of a secret */
export function tlsKeyOf(key: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, new Uint8Array(0), 'althing peers tls 1.3', 32));
}

/** True if a connection with this address, of the other side, is to be encrypted. */
export function isToBeEncrypted(encryption: Encryption, address: string): boolean {
  if (encryption !== 'auto') return encryption === 'on';
  return !isLoopback(address.replace(/^::ffff:(?=\d+\.)/, ''));
}

/** The line for people then. */
export const READABLE = 'what the nodes say to each other can be read on the way: peer_tls = off';

/** True if a node with these settings lets others read what it says. */
export function isReadable(settings: {
  readonly secret: string | null;
  readonly tls: object | string | null;
  readonly encryption: Encryption;
  readonly bind: { readonly address: string };
}): boolean {
  const { secret, tls, encryption, bind } = settings;
  return secret !== null && tls === null && encryption === 'off' && isToBeEncrypted('auto', bind.address);
}

/** Begins TLS on a connection that stands. */
export function secure(socket: Socket, key: Buffer): TLSSocket {
  return connect({
    ...OPTIONS,
    socket,
    // No certificate is asked for, and none would do.
    ca: [],
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
  });
}

/**
 * A server that makes TLS of connections that are handed to it (`emit('connection', socket)`); it listens
 * nowhere itself.
 */
export function securingServer(
  key: Buffer,
  handshakeTimeout: number,
  accept: (socket: TLSSocket) => void,
): Server {
  const pskCallback = (_: unknown, identity: string): Buffer | null => (identity === IDENTITY ? key : null);
  return createServer({ ...OPTIONS, handshakeTimeout, pskCallback }, accept);
}

/**
 * Waits for the first bytes of a connection, which are read once more afterwards, and tells whether they are
 * TLS.
 */
export function sniff(socket: Socket, done: (isTls: boolean) => void): void {
  socket.once('data', (chunk: Buffer) => {
    socket.pause();
    socket.unshift(chunk);
    done(chunk[0] === HANDSHAKE);
  });
}

/** True if TLS failed because the two sides have different keys. */
export function isOtherKey(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && OTHER_KEY.has(error.code);
}

/** At who listens; at who dials, as versions of OpenSSL tell it. */
const OTHER_KEY: ReadonlySet<string> = new Set([
  'ERR_SSL_BINDER_DOES_NOT_VERIFY',
  'ERR_SSL_SSLV3_ALERT_ILLEGAL_PARAMETER',
  'ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR',
  'ERR_SSL_SSL/TLS_ALERT_ILLEGAL_PARAMETER',
]);
