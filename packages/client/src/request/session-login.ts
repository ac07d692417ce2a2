/**
 * The session that a client holds in the place of a password. It is renewed while the client is used: a node writes a renewal only now and
 * then, so this does not have to know how long sessions last there.
 */
import type { Credentials, LoginOptions, LoginSession } from '../api/options.js';
import { AbortError, ProtocolError } from '../errors/errors.js';
import { AuthErr } from '../errors/query-errors.js';
import type { ScopeName } from '../scope.js';
import { decodeMessagePack } from '../wire/msgpack.js';
import { isWireMap } from '../wire/value.js';
import type { Program } from './attempt.js';
import type { Caller } from './caller.js';
import { checkedCredentials, type Login } from './login.js';
import type { Clock } from './surroundings.js';

/** The path of sessions, in the form of a scope. */
const SESSIONS: ScopeName = { text: '@session', path: '/@session', collection: null, isNode: false };

/** Renewals are this long apart, in milliseconds, or a third of what is left of a session that lasts less. */
const RENEW_MS = 300_000;
const RENEW_MS_MIN = 1000;
const PART_OF_LIFE = 3;

/** Nobody waits longer for the end of a session: it ends by itself. */
const END_MS = 2000;

interface Held {
  /** The same object as long as it is held: connections are known by it. */
  readonly credentials: { readonly token: string };
  readonly endsOnClose: boolean;
}

export interface SessionLoginOptions {
  readonly caller: Pick<Caller, 'call'>;
  /** The login of the client, which the session becomes. */
  readonly login: Login;
  readonly clock: Clock;
  /** Unix milliseconds. */
  readonly wallClock: () => number;
}

export class SessionLogin {
  readonly #options: SessionLoginOptions;
  #held: Held | null = null;
  /** When the next renewal is due. */
  #dueAt = 0;
  #isClosed = false;

  constructor(options: SessionLoginOptions) {
    this.#options = options;
  }

  /**
   * Begins a session, or goes on with the one whose token is given; with it all calls are made from then on. Another one that was held
   * before ends.
   */
  async begin(
    given: Credentials,
    { readOnly = false, endsOnClose = true, ...options }: LoginOptions,
  ): Promise<LoginSession> {
    const { caller, login } = this.#options;
    const credentials = checkedCredentials(given);
    login.hide(credentials);
    // Nothing is said of a session that may be under way: it stays as it was begun.
    const values = new Map(readOnly ? [['read_only', true]] : []);
    const program: Program = { kind: 'session', text: 'POST', values, credentials };
    const session = await caller.call(SESSIONS, program, options, sessionIn);
    const before = this.#held;
    const held = { credentials: { token: session.token }, endsOnClose };
    login.hide(held.credentials);
    if (this.#isClosed) {
      await this.#end(held);
      throw new AbortError('the client was closed', 'not_sent');
    }
    this.#held = held;
    login.become(held.credentials);
    this.#lasts(session);
    if (before !== null && before.credentials.token !== session.token) void this.#end(before);
    return session;
  }

  /** The client is used: the session is renewed when that is due. Nothing waits for it. */
  used(): void {
    const held = this.#held;
    if (held === null || this.#options.clock.now() < this.#dueAt) return;
    this.#dueAt = this.#options.clock.now() + RENEW_MS_MIN;
    this.#renew(held.credentials).catch((error: unknown) => {
      // It has ended, as the calls say. Anything else may be better the next time.
      if (error instanceof AuthErr && this.#held === held) this.#held = null;
    });
  }

  /** Ends the session, as far as a node can be reached. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const held = this.#held;
    this.#held = null;
    if (held?.endsOnClose === true) await this.#end(held);
  }

  async #renew(credentials: Credentials): Promise<void> {
    const program: Program = { kind: 'session', text: 'POST', values: new Map(), credentials };
    this.#lasts(await this.#options.caller.call(SESSIONS, program, {}, sessionIn));
  }

  async #end({ credentials }: Held): Promise<void> {
    const program: Program = { kind: 'session', text: 'DELETE', values: new Map(), credentials };
    try {
      await this.#options.caller.call(SESSIONS, program, { timeoutMs: END_MS }, () => {});
    } catch {
      // Then it ends by itself, later.
    }
  }

  #lasts({ expiresAt }: LoginSession): void {
    const { clock, wallClock } = this.#options;
    const part = (expiresAt.getTime() - wallClock()) / PART_OF_LIFE;
    this.#dueAt = clock.now() + Math.min(RENEW_MS, Math.max(RENEW_MS_MIN, part));
  }
}

function sessionIn(body: Uint8Array): LoginSession {
  const session = decodeMessagePack(body);
  const [token, user, expiresAt] = isWireMap(session)
    ? ['token', 'user', 'expires_at'].map((key) => session.get(key))
    : [];
  if (typeof token !== 'string' || typeof user !== 'string' || typeof expiresAt !== 'bigint') {
    throw new ProtocolError('the answer is no session', 'unknown');
  }
  return { token, user, expiresAt: new Date(Number(expiresAt) * 1000) };
}
