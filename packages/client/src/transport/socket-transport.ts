/**
 * Requests over the native protocol, on TCP or WebSocket. A connection carries its requests out one after the other, so several are kept,
 * and a further one is opened while all are busy.
 */
import type { Credentials } from '../api/options.js';
import { Code, QueryError } from '../errors/query-errors.js';
import type { Attempt, AttemptEnd, Program, Reply, Sent, Transport } from '../request/attempt.js';
import type { Clock } from '../request/surroundings.js';
import type { ScopeName } from '../scope.js';
import { type Package, PackageType } from '../socket/package.js';
import { type Dial, Session, socketErrorAnswer } from '../socket/session.js';
import { pack, type Writable } from '../wire/exact.js';

export interface SocketTransportOptions {
  readonly dial: Dial;
  readonly clock: Clock;
  /** Connections to a node at most. */
  readonly connectionsMax: number;
  readonly answerBytesMax: number;
}

/** Codes below are those of queries; the others say what became of a request. */
const LAST_QUERY_CODE = -50;

export class SocketTransport implements Transport {
  readonly #options: SocketTransportOptions;
  /** By the address of the node. */
  readonly #pools = new Map<string, Pool>();

  constructor(options: SocketTransportOptions) {
    this.#options = options;
  }

  /** `[scope, text, values]`; the options of an attempt are put behind. */
  bodyOf({ text: scope }: ScopeName, { kind, text, values }: Program): Uint8Array {
    const body = pack([scope, text, values]);
    body[0] = ARRAY_OF_FOUR;
    const all = new Uint8Array(body.length + 1);
    all[0] = kind === 'query' ? PackageType.QUERY : PackageType.RUN;
    all.set(body, 1);
    return all;
  }

  send(attempt: Attempt): Sent {
    const controller = new AbortController();
    return { end: this.#exchange(attempt, controller), cancel: () => controller.abort() };
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  async #exchange(attempt: Attempt, controller: AbortController): Promise<AttemptEnd> {
    const callOff = this.#options.clock.after(attempt.timeoutMs, () => controller.abort());
    try {
      return await this.#carryOut(attempt, controller.signal);
    } finally {
      callOff();
    }
  }

  async #carryOut(attempt: Attempt, signal: AbortSignal): Promise<AttemptEnd> {
    let session: Session;
    try {
      session = await this.#poolOf(attempt).session(attempt.credentials, attempt.isFresh, signal);
    } catch (error) {
      return error instanceof QueryError
        ? { kind: 'answered', reply: refusal(error) }
        : { kind: 'unsent', error };
    }
    if (signal.aborted) return { kind: 'unsent', error: new Error('given up') };
    const wasReused = session.answers > 0;
    // Later requests would wait for one that is given up: the connection ends.
    const giveUp = (): void => session.close();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const [type = 0] = attempt.body;
      const data = withOptions(attempt.body.subarray(1), attempt);
      return { kind: 'answered', reply: replyOf(await session.send(type, data), session) };
    } catch (error) {
      const why = session.warning === null ? error : new Error(session.warning, { cause: error });
      return { kind: 'lost', error: why, wasReused: wasReused && !signal.aborted };
    } finally {
      signal.removeEventListener('abort', giveUp);
      if (session.isLeaving && session.connection.open === 0) session.close();
    }
  }

  #poolOf({ node }: Attempt): Pool {
    const key = `${node.url.href} ${node.address}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      const { dial, connectionsMax, answerBytesMax } = this.#options;
      const open = (credentials: Credentials | null, signal: AbortSignal): Promise<Session> =>
        Session.open(dial, node, credentials, answerBytesMax, signal);
      pool = new Pool(open, connectionsMax);
      this.#pools.set(key, pool);
    }
    return pool;
  }
}

/** The connections to one node. */
class Pool {
  readonly #open: (credentials: Credentials | null, signal: AbortSignal) => Promise<Session>;
  readonly #max: number;
  readonly #sessions = new Map<Session, Credentials | null>();
  /** Settle when connections that are being opened are there, or failed. */
  readonly #opening = new Set<Promise<unknown>>();

  constructor(open: (credentials: Credentials | null, signal: AbortSignal) => Promise<Session>, max: number) {
    this.#open = open;
    this.#max = max;
  }

  /** A session for a request: a free one, a new one, or the one with fewest requests. */
  async session(credentials: Credentials | null, isFresh: boolean, signal: AbortSignal): Promise<Session> {
    for (;;) {
      const usable = isFresh ? [] : this.#usable(credentials);
      const [best] = usable.sort((a, b) => a.connection.open - b.connection.open);
      if (best?.connection.open === 0) return best;
      const isFull = this.#sessions.size + this.#opening.size >= this.#max;
      if (!isFull || isFresh) return this.#opened(credentials, signal);
      if (best !== undefined) return best;
      if (this.#opening.size === 0) return this.#opened(credentials, signal);
      // All are being opened: the first one that is there, or fails, decides.
      await Promise.race(this.#opening);
      if (signal.aborted) throw new Error('given up');
    }
  }

  async #opened(credentials: Credentials | null, signal: AbortSignal): Promise<Session> {
    const opened = this.#open(credentials, signal);
    const ended: Promise<boolean> = opened.then(
      () => this.#opening.delete(ended),
      () => this.#opening.delete(ended),
    );
    this.#opening.add(ended);
    const session = await opened;
    this.#sessions.set(session, credentials);
    session.connection.ended.then(() => this.#sessions.delete(session));
    return session;
  }

  close(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  #usable(credentials: Credentials | null): Session[] {
    const found: Session[] = [];
    for (const [session, known] of this.#sessions) {
      if (known === credentials && !session.isLeaving && !session.connection.hasEnded) found.push(session);
    }
    return found;
  }
}

const ARRAY_OF_FOUR = 0x94;

function withOptions(body: Uint8Array, attempt: Attempt): Uint8Array {
  const { request, idempotencyKey, consistency, minIndex, readOnly, dryRun, timeoutMs } = attempt;
  const options = new Map<string, Writable>([['timeout_ms', Math.max(1, Math.floor(timeoutMs))]]);
  if (request !== null) options.set('request', request);
  if (idempotencyKey !== null) options.set('key', idempotencyKey);
  if (readOnly) options.set('read_only', true);
  if (dryRun) options.set('dry_run', dryRun);
  if (consistency) options.set('consistency', consistency);
  if (minIndex > 0) options.set('min_index', minIndex);
  const packed = pack(options);
  const all = new Uint8Array(body.length + packed.length);
  all.set(body);
  all.set(packed, body.length);
  return all;
}

function replyOf(answer: Package, session: Session): Reply {
  const common = { index: 0, retryAfterMs: null, closes: session.isLeaving, node: null, requestId: null };
  if (answer.type === PackageType.DATA) return { ...common, status: 200, body: answer.data, failure: null };
  if (answer.type !== PackageType.ERROR)
    return { ...common, status: 500, body: answer.data, failure: 'malformed' };
  const told = socketErrorAnswer(answer);
  if (told === null) return { ...common, status: 500, body: answer.data, failure: 'malformed' };
  return { ...common, status: statusOf(told.code, told.outcome), body: answer.data, failure: told };
}

/** A session was refused before the request was sent. */
function refusal(error: QueryError): Reply {
  const { code, message, at, procedure, calls, detail } = error;
  return {
    status: statusOf(code, 'none'),
    body: new Uint8Array(),
    failure: { code, message, outcome: 'none', at, procedure, calls, detail },
    index: 0,
    retryAfterMs: null,
    closes: false,
    node: null,
    requestId: null,
  };
}

/** The status that HTTP has for the same. */
function statusOf(code: number, outcome: string): number {
  if (outcome === 'unknown') return 504;
  if (code === Code.AUTH) return 401;
  if (code === Code.NODE && outcome === 'none') return 503;
  return code > LAST_QUERY_CODE ? 500 : 422;
}
