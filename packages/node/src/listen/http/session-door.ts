/**
 * Sessions over the API:
 *
 *   POST /@session     with a password or a token: begins a session, read-only for the body {"read_only": true};
 *                      with the token of a session: renews it;
 *                      answer: {"token": ..., "user": ..., "expires_at": Unix seconds}
 *   DELETE /@session   with the token of a session: ends it; answer: nil
 *
 * The key of a session is made here, and told to the client alone: other nodes and the log get its hash.
 */
import {
  badDataError,
  ErrorCode,
  type Format,
  keyHash,
  keyText,
  MsgpackReader,
  QueryError,
  quotaError,
  SESSION_KEY_PREFIX,
  type SessionAsk,
  ShapeTree,
  TOKEN_LENGTH,
  type User,
} from '@althing/engine';
import type { FailedReply, Reply, Request, Respond, SessionBody } from '../../groups/request.js';
import { parseAuthorization } from '../auth/credentials.js';
import { packedMap } from '../shared/packed-map.js';
import { isDry } from '../shared/terms.js';
import { BeginRate } from './begin-rate.js';
import type { Exchange } from './exchange.js';
import {
  AUTHENTICATE,
  INTERNAL,
  NO_DRY_RUN,
  type Refuse,
  TOO_MANY_REQUESTS,
  UNAUTHORIZED,
} from './refusals.js';

export interface SessionCall {
  readonly method: SessionMethod;
  /** The credentials that its user was found by. */
  readonly authorization: string;
}

export type SessionMethod = 'POST' | 'DELETE';

export interface SessionDoorOptions {
  readonly handle: (request: Request<SessionBody>, respond: Respond) => void;
  readonly refuse: Refuse;
  readonly randomBytes: (bytes: number) => Uint8Array;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Reports a defect of the node itself. */
  readonly onDefect: (error: unknown) => void;
}

export function isSessionMethod(method: string): method is SessionMethod {
  return method === 'POST' || method === 'DELETE';
}

export class SessionDoor {
  private readonly rate: BeginRate;

  constructor(private readonly options: SessionDoorOptions) {
    this.rate = new BeginRate(options.now);
  }

  /** Carries out a request whose body has come and whose sender is known. */
  carryOut(exchange: Exchange, call: SessionCall, user: User, body: Buffer): void {
    const { handle, refuse, onDefect } = this.options;
    try {
      if (isDry(exchange.terms?.dryRun ?? null)) throw NO_DRY_RUN;
      const { key, ask } = this.askOf(call, user, readOnlyIn(body, exchange.format));
      if (ask.act === 'begin' && !this.rate.takes(user.id)) {
        refuse(exchange, TOO_MANY, TOO_MANY_REQUESTS);
        return;
      }
      const request: Request<SessionBody> = {
        scope: exchange.scope,
        user,
        body: { type: 'session', ask },
        format: 'json',
        client: exchange,
        id: exchange.id,
      };
      handle(request, (reply) => {
        if (!reply.ok) this.fail(exchange, reply);
        else if (ask.act === 'end') exchange.reply({ ...reply, result: nilIn(exchange.format) });
        else exchange.reply({ ...reply, result: sessionIn(exchange.format, key, user.name, reply) });
      });
    } catch (error) {
      if (!(error instanceof QueryError)) onDefect(error);
      refuse(exchange, error instanceof QueryError ? error : INTERNAL);
    }
  }

  /** @throws QueryError bad_data_err for what can't be ended */
  private askOf(
    { method, authorization }: SessionCall,
    user: User,
    readOnly: boolean | null,
  ): { key: string; ask: SessionAsk } {
    const credentials = parseAuthorization(authorization);
    if (credentials?.kind === 'token' && credentials.key.startsWith(SESSION_KEY_PREFIX)) {
      const { key } = credentials;
      // It stays as it was begun.
      if (readOnly !== null) throw BAD_BODY;
      return { key, ask: { act: method === 'POST' ? 'renew' : 'end', hash: keyHash(key) } };
    }
    if (method === 'DELETE') throw NO_SESSION;
    const proof = credentials?.kind === 'token' ? keyHash(credentials.key) : user.password?.salt;
    // The password was removed a moment ago.
    if (proof === undefined) throw UNAUTHORIZED;
    const key = SESSION_KEY_PREFIX + keyText(this.options.randomBytes(TOKEN_LENGTH));
    return { key, ask: { act: 'begin', hash: keyHash(key), proof, readOnly: readOnly === true } };
  }

  private fail(exchange: Exchange, reply: FailedReply): void {
    const { refuse } = this.options;
    const { error, outcome = 'none' } = reply;
    if (error.code === ErrorCode.AUTH) refuse(exchange, error, { headers: AUTHENTICATE });
    else if (error.code === ErrorCode.MAX_QUOTA) refuse(exchange, error, TOO_MANY_REQUESTS);
    else refuse(exchange, error, { outcome });
  }
}

/**
 * The body of a request for a new session. It may be left out; a key that is not known is refused, so that nobody relies on it.
 *
 * @returns null where it says nothing
 * @throws QueryError bad_data_err
 */
function readOnlyIn(body: Buffer, format: Format): boolean | null {
  if (body.length > BODY_BYTES_MAX) throw BAD_BODY;
  if (body.length === 0) return null;
  const fields = format === 'json' ? jsonFields(body) : msgpackFields(body);
  let readOnly: boolean | null = null;
  for (const [key, value] of fields) {
    if (key !== 'read_only' || typeof value !== 'boolean') throw BAD_BODY;
    readOnly = value;
  }
  return readOnly;
}

function jsonFields(body: Buffer): readonly (readonly [unknown, unknown])[] {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw BAD_BODY;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw BAD_BODY;
  return Object.entries(value);
}

/** @throws QueryError */
function msgpackFields(body: Buffer): readonly (readonly [unknown, unknown])[] {
  const reader = new MsgpackReader(body, new ShapeTree(), 1);
  const count = reader.mapSize();
  if (count === null) throw BAD_BODY;
  const fields: [unknown, unknown][] = [];
  for (let i = 0; i < count; i++) fields.push([reader.str(), reader.value()]);
  reader.end();
  return fields;
}

const BODY_BYTES_MAX = 1024;

const BAD_BODY = badDataError(
  'the body of a request to /@session has to be {"read_only": true} or false, where a session begins, or an empty map, or none',
);

function nilIn(format: Format): string | Uint8Array {
  return format === 'json' ? 'null' : Uint8Array.of(0xc0);
}

function sessionIn(
  format: Format,
  token: string,
  user: string,
  { result }: Extract<Reply, { readonly ok: true }>,
): string | Uint8Array {
  const session = { token, user, expires_at: Number(result) };
  return format === 'json' ? JSON.stringify(session) : packedMap(session);
}

const TOO_MANY = quotaError('too many sessions begin here: keep one for many requests, or wait a moment');

const NO_SESSION = badDataError('only a session can be ended: send its token as Authorization: Bearer KEY');
