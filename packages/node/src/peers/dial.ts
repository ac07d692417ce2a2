/** Connecting to another node, up to where both sides have proved who they are. */
import { randomBytes } from 'node:crypto';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Channel } from './channel.js';
import { type Encryption, isOtherKey, isToBeEncrypted, secure, tlsKeyOf } from './encryption.js';
import { DialerGreeting, type Greeted, type GreetingStep, type RefusedGreeting } from './greeting.js';
import {
  NONCE_BYTES,
  type PeerIdentity,
  type Purpose,
  Refusal,
  type VersionRange,
} from './greeting-format.js';

/** Certificates for mutual TLS, as PEM texts. */
export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  /** The authority that signs the certificates of the cluster's nodes. */
  readonly ca: string;
}

/** The credentials of a node towards others. */
export interface Credentials {
  readonly key: Buffer;
  /** Null: encryption rests on the secret. */
  readonly tls: PeerTls | null;
  readonly encryption: Encryption;
  readonly versions: VersionRange;
  readonly identity: PeerIdentity;
}

export interface DialRequest {
  readonly host: string;
  readonly port: number;
  readonly purpose: Purpose;
  readonly credentials: Credentials;
  /** Longest time from the known address to the connection, TLS included, in milliseconds. */
  readonly connectMs: number;
  /** Longest time from then until the other side is known. */
  readonly greetingMs: number;
}

export type DialOutcome =
  | { readonly kind: 'open'; readonly channel: Channel; readonly greeted: Greeted }
  | { readonly kind: 'refused'; readonly refused: RefusedGreeting }
  | { readonly kind: 'failed'; readonly stage: 'connect' | 'greeting'; readonly error: Error };

/**
 * Time to find the address of a name, in milliseconds: a name server may be down, and the next
 * one asked.
 */
const LOOKUP_MS = 15_000;

/** A connection took too long. */
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
  const { tls, encryption } = request.credentials;
  if (tls !== null) return attempt(request, 'certificates', done);
  let cancel: () => void = () => {};
  const first = encryption === 'off' ? 'plain' : 'secret';
  cancel = attempt(request, first, (outcome) => {
    if (wantsTls(outcome)) cancel = attempt(request, 'encrypted', done);
    else done(outcome);
  });
  return () => cancel();
}

/** Ways to make a connection: with certificates; encrypted with the secret where that has to be; encrypted with it; in plain. */
type Way = 'certificates' | 'secret' | 'encrypted' | 'plain';

function attempt(request: DialRequest, way: Way, done: (outcome: DialOutcome) => void): () => void {
  const { host, port, credentials } = request;
  let isOver = false;
  let timer: NodeJS.Timeout | null = null;
  let stage: 'connect' | 'greeting' = 'connect';
  let channel: Channel | null = null;
  let isSecuring = false;
  const socket = open(request, way);
  const finish = (outcome: DialOutcome | null): void => {
    if (isOver) return;
    isOver = true;
    if (timer !== null) clearTimeout(timer);
    if (outcome?.kind !== 'open') {
      channel?.destroy();
      socket.destroy();
    }
    if (outcome !== null) done(outcome);
  };
  const fail = (error: Error): void => {
    const isRefusal = isSecuring && stage === 'connect' && isOtherKey(error);
    finish(
      isRefusal ? { kind: 'refused', refused: otherKey(credentials) } : { kind: 'failed', stage, error },
    );
  };
  const within = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(() => fail(new DialTimeoutError(`no answer within ${ms} ms`)), ms);
  };
  const ended = (error: Error | null): void => fail(error ?? new Error('the connection was closed'));
  const greet = (connection: Socket): void => {
    if (isOver) return;
    stage = 'greeting';
    within(request.greetingMs);
    channel = new Channel(connection, addressOf(host, port));
    channel.onEnd = ended;
    greetOver(channel, request, finish);
  };

  if (isIP(host) === 0) {
    within(LOOKUP_MS);
    socket.once('lookup', () => within(request.connectMs));
  } else within(request.connectMs);
  socket.on('error', ended);
  socket.on('close', () => ended(null));
  socket.once(way === 'certificates' ? 'secureConnect' : 'connect', () => {
    if (isOver) return;
    const { key, encryption } = credentials;
    const isFar = way === 'secret' && isToBeEncrypted(encryption, socket.remoteAddress ?? '');
    if (!isFar && way !== 'encrypted') {
      greet(socket);
      return;
    }
    isSecuring = true;
    const secured = secure(socket, tlsKeyOf(key));
    secured.on('error', ended);
    secured.once('secureConnect', () => greet(secured));
  });
  return () => finish(null);
}

/** Gets to know who is at the other end. */
function greetOver(
  channel: Channel,
  { credentials, purpose }: DialRequest,
  finish: (outcome: DialOutcome) => void,
): void {
  const { key, versions, identity } = credentials;
  const nonce = randomBytes(NONCE_BYTES);
  const greeting = new DialerGreeting({ key, versions, identity, binding: channel.binding, nonce }, purpose);
  channel.onFrame = (kind, payload) => {
    const step: GreetingStep = greeting.handle(kind, payload);
    if (step.frame !== null) channel.send(step.frame.kind, step.frame.payload);
    if (step.kind === 'refused') finish({ kind: 'refused', refused: step.refused });
    if (step.kind === 'done') {
      channel.trust();
      finish({ kind: 'open', channel, greeted: step.greeted });
    }
  };
  const first = greeting.start();
  channel.send(first.kind, first.payload);
}

function wantsTls(outcome: DialOutcome): boolean {
  return outcome.kind === 'refused' && outcome.refused.code === Refusal.NeedsTls;
}

function otherKey({ versions }: Credentials): RefusedGreeting {
  return { code: Refusal.WrongSecret, versions, identity: null };
}

/** A host and a port as people write them. */
export function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function open({ host, port, credentials }: DialRequest, way: Way): Socket {
  const { tls } = credentials;
  if (tls === null || way !== 'certificates') return tcpConnect({ host, port, noDelay: true });
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
