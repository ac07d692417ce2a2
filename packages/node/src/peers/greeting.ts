/**
 * Two nodes prove to each other that they know the secret of the cluster, without sending it: a challenge
 * and an answer in both directions (HMAC-SHA256 over fresh random numbers of both sides, who they are, and,
 * with TLS, what is unique to the connection, so that nobody can pass the messages on from one connection to
 * another).
 *
 * The dialer proves itself first: who only connects gets a random number, and nothing to try secrets on. Pure
 * state machines; sockets and time are elsewhere.
 */
import { createHash, createHmac, scryptSync, timingSafeEqual } from 'node:crypto';
import { FrameError, FrameKind } from './frame.js';
import {
  decodeChallenge,
  decodeIdentity,
  decodeOpen,
  decodeProveBody,
  decodeRefusedBody,
  encodeChallenge,
  encodeIdentity,
  encodeOpen,
  encodeProveBody,
  encodeRefusedBody,
  GreetingFormatError,
  MAC_BYTES,
  type Open,
  type PeerIdentity,
  type Prove,
  type Purpose,
  Refusal,
  type Refused,
  splitMac,
  type VersionRange,
} from './greeting-format.js';

/** The options of both sides of a greeting. */
export interface GreetingContext {
  readonly key: Buffer;
  readonly versions: VersionRange;
  readonly identity: PeerIdentity;
  /** Unique to the connection, and the same on both sides: the exporter of TLS; empty without TLS. */
  readonly binding: Uint8Array;
  /** 32 fresh random bytes. */
  readonly nonce: Buffer;
}

export interface GreetingFrame {
  readonly kind: number;
  readonly payload: Buffer;
}

/** The step after a message. A frame in it is sent first. */
export type GreetingStep =
  | { readonly kind: 'send'; readonly frame: GreetingFrame }
  | { readonly kind: 'done'; readonly frame: GreetingFrame | null; readonly greeted: Greeted }
  | { readonly kind: 'refused'; readonly frame: GreetingFrame | null; readonly refused: RefusedGreeting };

/** The other side has proved itself. */
export interface Greeted {
  readonly identity: PeerIdentity;
  readonly purpose: Purpose;
  /** The version of the protocol. */
  readonly version: number;
}

export interface RefusedGreeting {
  readonly code: number;
  /** Versions of the listener. */
  readonly versions: VersionRange;
  /**
   * The side that refuses (at the dialer), or is refused (at the listener); null as long as nothing is
   * proved.
   */
  readonly identity: PeerIdentity | null;
}

/**
 * The key that is made of a secret. It is slow (tens of milliseconds) so that guessing is.
 */
export function keyOf(secret: string): Buffer {
  return scryptSync(secret, 'althing peers', 32, { N: 2 ** 14, r: 8, p: 1 });
}

export class DialerGreeting {
  private readonly open: Buffer;
  private transcript: Buffer | null = null;
  private prove: Buffer | null = null;
  private version = 0;

  constructor(
    private readonly context: GreetingContext,
    private readonly purpose: Purpose,
  ) {
    this.open = encodeOpen({ ...context.versions, nonce: context.nonce });
  }

  /** The first message. */
  start(): GreetingFrame {
    return { kind: FrameKind.Open, payload: this.open };
  }

  /** @throws FrameError, GreetingFormatError: the other side is no node, or not one that we can talk to */
  handle(kind: number, payload: Buffer): GreetingStep {
    if (kind === FrameKind.Refused)
      return { kind: 'refused', frame: null, refused: this.readRefused(payload) };
    if (kind === FrameKind.Challenge && this.transcript === null) return this.answer(payload);
    if (kind === FrameKind.Welcome && this.prove !== null) return this.checkWelcome(payload, this.prove);
    throw new FrameError(`a frame of kind ${kind} during the greeting`);
  }

  private answer(challenge: Buffer): GreetingStep {
    const { key, versions, identity, binding } = this.context;
    const { version } = decodeChallenge(challenge);
    if (version < versions.min || version > versions.max) {
      throw new GreetingFormatError(`protocol version ${version} was chosen, which was not offered`);
    }
    this.version = version;
    this.transcript = transcriptOf(this.open, challenge, binding);
    const body = encodeProveBody({ purpose: this.purpose, identity });
    this.prove = Buffer.concat([macOf(key, DIALER, this.transcript, body), body]);
    return { kind: 'send', frame: { kind: FrameKind.Prove, payload: this.prove } };
  }

  private checkWelcome(payload: Buffer, prove: Buffer): GreetingStep {
    const { mac, body } = splitMac(payload);
    if (!this.isProved(mac, WELCOME, prove, body)) {
      const refused = { code: Refusal.WrongSecret, versions: this.context.versions, identity: null };
      return { kind: 'refused', frame: null, refused };
    }
    const greeted = { identity: decodeIdentity(body), purpose: this.purpose, version: this.version };
    return { kind: 'done', frame: null, greeted };
  }

  /** The identity in a refusal is believed only if it is proved. */
  private readRefused(payload: Buffer): RefusedGreeting {
    const { mac, body } = splitMac(payload);
    const refused = decodeRefusedBody(body);
    const proved = this.prove !== null && this.isProved(mac, REFUSED, this.prove, body);
    return proved ? refused : { ...refused, identity: null };
  }

  private isProved(mac: Buffer, label: string, prove: Buffer, body: Buffer): boolean {
    if (this.transcript === null) return false;
    return timingSafeEqual(mac, macOf(this.context.key, label, this.transcript, prove, body));
  }
}

/** Says why a node that has proved the secret is refused all the same; null: it is welcome. */
export type Judge = (prove: Prove) => Refusal | null;

export class ListenerGreeting {
  private transcript: Buffer | null = null;
  private version = 0;

  /** @param needsTls whether the connection is in plain, and has to be encrypted */
  constructor(
    private readonly context: GreetingContext,
    private readonly judge: Judge,
    private readonly needsTls: boolean,
  ) {}

  /** @throws FrameError, GreetingFormatError: the other side is no node, or not one that we can talk to */
  handle(kind: number, payload: Buffer): GreetingStep {
    if (kind === FrameKind.Open && this.transcript === null) return this.challenge(payload);
    if (kind === FrameKind.Prove && this.transcript !== null) return this.decide(payload, this.transcript);
    throw new FrameError(`a frame of kind ${kind} during the greeting`);
  }

  private challenge(payload: Buffer): GreetingStep {
    const { versions, nonce, binding } = this.context;
    const open: Open = decodeOpen(payload);
    const version = Math.min(open.max, versions.max);
    if (version < Math.max(open.min, versions.min)) {
      return this.refuse(Refusal.Version, { min: open.min, max: open.max });
    }
    if (this.needsTls) {
      return this.refuse(Refusal.NeedsTls, { min: open.min, max: open.max });
    }
    this.version = version;
    const challenge = encodeChallenge({ version, nonce });
    this.transcript = transcriptOf(payload, challenge, binding);
    return { kind: 'send', frame: { kind: FrameKind.Challenge, payload: challenge } };
  }

  private decide(payload: Buffer, transcript: Buffer): GreetingStep {
    const { key, identity } = this.context;
    const { mac, body } = splitMac(payload);
    if (!timingSafeEqual(mac, macOf(key, DIALER, transcript, body))) {
      return this.refuse(Refusal.WrongSecret, this.context.versions);
    }
    const prove = decodeProveBody(body);
    const refusal = this.judge(prove);
    if (refusal !== null) {
      const refused = encodeRefusedBody({ code: refusal, versions: this.context.versions, identity });
      const proof = macOf(key, REFUSED, transcript, payload, refused);
      return {
        kind: 'refused',
        frame: { kind: FrameKind.Refused, payload: Buffer.concat([proof, refused]) },
        refused: { code: refusal, versions: this.context.versions, identity: prove.identity },
      };
    }
    const welcome = encodeIdentity(identity);
    const proof = macOf(key, WELCOME, transcript, payload, welcome);
    return {
      kind: 'done',
      frame: { kind: FrameKind.Welcome, payload: Buffer.concat([proof, welcome]) },
      greeted: { ...prove, version: this.version },
    };
  }

  /** Refuses who has proved nothing. */
  private refuse(code: Refusal, theirs: VersionRange): GreetingStep {
    const told: Refused = { code, versions: this.context.versions, identity: null };
    const payload = Buffer.concat([Buffer.alloc(MAC_BYTES), encodeRefusedBody(told)]);
    const refused = { code, versions: theirs, identity: null };
    return { kind: 'refused', frame: { kind: FrameKind.Refused, payload }, refused };
  }
}

const DIALER = 'dialer';
const WELCOME = 'welcome';
const REFUSED = 'refused';

function transcriptOf(open: Uint8Array, challenge: Uint8Array, binding: Uint8Array): Buffer {
  return hashOf([open, challenge, binding]);
}

function macOf(key: Buffer, label: string, transcript: Buffer, ...parts: readonly Uint8Array[]): Buffer {
  return createHmac('sha256', key)
    .update(hashOf([Buffer.from(label), transcript, ...parts]))
    .digest();
}

/** The hash of several texts; where one ends and the next begins counts. */
function hashOf(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return hash.digest();
}
