/** Connecting to another node, up to where both sides have proved who they are. */
import { randomBytes } from 'node:crypto';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Channel } from './channel.js';
import { DialerGreeting, type Greeted, type GreetingStep, type RefusedGreeting } from './greeting.js';
import { NONCE_BYTES, type PeerIdentity, type Purpose, type VersionRange } from './greeting-format.js';

/** Certificates for mutual TLS, as PEM texts. */
export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  /** Who signs the certificates of the cluster's nodes. */
  readonly ca: string;
}

/** What a node needs in order to talk to another. */
export interface Credentials {
  readonly key: Buffer;
  readonly tls: PeerTls | null;
  readonly versions: VersionRange;
  readonly identity: PeerIdentity;
}

export interface DialRequest {
  readonly host: string;
  readonly port: number;
  readonly purpose: Purpose;
  readonly credentials: Credentials;
  /** From when the address is known until the connection stands, TLS included, in milliseconds. */
  readonly connectMs: number;
  /** From then until the other side is known. */
  readonly greetingMs: number;
}

export type DialOutcome =
  | { readonly kind: 'open'; readonly channel: Channel; readonly greeted: Greeted }
  | { readonly kind: 'refused'; readonly refused: RefusedGreeting }
  | { readonly kind: 'failed'; readonly stage: 'connect' | 'greeting'; readonly error: Error };

/** How long the address of a name may take to find, in milliseconds: a name server may be down, and the next one asked. */
const LOOKUP_MS = 15_000;

/** It took too long. */
export class DialTimeoutError extends Error {
  override readonly name = 'DialTimeoutError';
}

/**
 * Dials. The name is resolved anew each time.
 *
 * @param done is called once, unless it is called off before
 * @returns calls it off
 */
export function dial(request: DialRequest, done: (outcome: DialOutcome) => void): () => void {
  const { host, port, credentials } = request;
  let isOver = false;
  let timer: NodeJS.Timeout | null = null;
  let stage: 'connect' | 'greeting' = 'connect';
  const socket = open(request);
  const channel = new Channel(socket, addressOf(host, port));
  const finish = (outcome: DialOutcome | null): void => {
    if (isOver) return;
    isOver = true;
    if (timer !== null) clearTimeout(timer);
    if (outcome?.kind !== 'open') channel.destroy();
    if (outcome !== null) done(outcome);
  };
  const fail = (error: Error): void => finish({ kind: 'failed', stage, error });
  const within = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(() => fail(new DialTimeoutError(`no answer within ${ms} ms`)), ms);
  };

  if (isIP(host) === 0) {
    within(LOOKUP_MS);
    socket.once('lookup', () => within(request.connectMs));
  } else within(request.connectMs);
  channel.onEnd = (error) => fail(error ?? new Error('the connection was closed'));
  socket.once(credentials.tls === null ? 'connect' : 'secureConnect', () => {
    if (isOver) return;
    stage = 'greeting';
    within(request.greetingMs);
    const { key, versions, identity } = credentials;
    const context = { key, versions, identity, binding: channel.binding, nonce: randomBytes(NONCE_BYTES) };
    const greeting = new DialerGreeting(context, request.purpose);
    channel.onFrame = (kind, payload) => {
      const step: GreetingStep = greeting.handle(kind, payload);
      if (step.frame !== null) channel.send(step.frame.kind, step.frame.payload);
      if (step.kind === 'refused') finish({ kind: 'refused', refused: step.refused });
      if (step.kind === 'done') {
        channel.trust(step.greeted.version);
        finish({ kind: 'open', channel, greeted: step.greeted });
      }
    };
    const first = greeting.start();
    channel.send(first.kind, first.payload);
  });
  return () => finish(null);
}

/** A host and a port as people write them. */
export function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function open({ host, port, credentials }: DialRequest): Socket {
  const { tls } = credentials;
  if (tls === null) return tcpConnect({ host, port, noDelay: true });
  return tlsConnect({
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    cert: tls.cert,
    key: tls.key,
    ca: tls.ca,
    minVersion: 'TLSv1.3',
  });
}
