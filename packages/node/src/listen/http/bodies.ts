import type { HttpResponse } from 'uWebSockets.js';
// The globals of these names have getters, which take time at each request.
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { QueryError, type RootGroup, type WireValues } from '@althing/engine';
import { backgroundClock } from '../../base/clock.js';
import type { ProgramBody, ProgramRequest } from '../../groups/request.js';
import { decodeBody } from '../../requests/body.js';
import type { ByteBudget } from '../limits/byte-budget.js';
import { Deadlines } from '../limits/deadlines.js';
import type { Inside } from '../shared/door.js';
import { termsOf } from '../shared/terms.js';
import { BodyTurns } from './body-turns.js';
import type { Exchange } from './exchange.js';
import { LinesAnswer } from './lines-answer.js';
import type { HttpOptions } from './options.js';
import {
  BODIES_FULL,
  bodyTooLarge,
  bodyTooLate,
  CLOSING,
  INTERNAL,
  type Refuse,
  TOO_LARGE,
  TOO_LATE,
} from './refusals.js';
import type { SessionDoor } from './session-door.js';

export interface BodiesOptions
  extends Pick<Inside, 'handle' | 'readsLater' | 'onDefect'>,
    Pick<HttpOptions, 'charge' | 'body' | 'bodySizeMax' | 'bodyTimeoutMs'> {
  readonly root: Pick<RootGroup, 'level'>;
  /** Has the memory for bodies of senders who are known. */
  readonly gate: { readonly memory: ByteBudget };
  readonly refuse: Refuse;
  readonly sessions: Pick<SessionDoor, 'carryOut'>;
  /** Called for a request whose answer comes of this thread's waiting. */
  readonly waits: (exchange: Exchange) => void;
}

/**
 * The bodies of requests: bounded in size, memory and time while they come, then read, and the request is
 * taken.
 */
export class Bodies {
  /** Requests whose body is still coming, but for `newest`. */
  private readonly deadlines: Deadlines<Exchange>;
  /**
   * The request that came last, as long as its body has not come: nearly always that comes right behind it. Its time begins when the
   * next request comes, or when it is looked for.
   */
  private newest: Exchange | null = null;
  /** Calls off the look for it; null while none is planned. */
  private callOff: (() => void) | null = null;
  private readonly turns = new BodyTurns(setImmediate);

  constructor(private readonly options: BodiesOptions) {
    this.deadlines = new Deadlines(options.bodyTimeoutMs, (exchange) => this.late(exchange));
  }

  /** Waits for the body no longer than it may take. */
  expect(exchange: Exchange): void {
    this.awaitNewest();
    this.newest = exchange;
    if (this.callOff !== null) return;
    this.callOff = backgroundClock.after(LOOK_MS, () => {
      this.callOff = null;
      this.awaitNewest();
    });
  }

  /** Waits for nothing any more. */
  close(): void {
    this.callOff?.();
    this.callOff = null;
    this.deadlines.close();
  }

  /** The time of the newest request begins. */
  private awaitNewest(): void {
    const { newest } = this;
    this.newest = null;
    if (newest !== null) newest.bodyDeadline = this.deadlines.add(newest);
  }

  /** The body has come, or is not waited for any more. */
  finished(exchange: Exchange): void {
    if (exchange.hasKept) this.turns.over(exchange);
    if (this.newest === exchange) this.newest = null;
    else if (exchange.bodyDeadline !== 0) this.deadlines.delete(exchange.bodyDeadline);
  }

  /** Takes the body of a request, chunk by chunk, from now on. */
  receive(exchange: Exchange, res: HttpResponse): void {
    res.onData((chunk, isLast) => {
      const piece = Buffer.from(chunk);
      exchange.enterBody(piece, isLast);
      if (!exchange.isIndifferent) this.take(exchange, piece, isLast);
      exchange.leaveBody();
    });
  }

  /** @param piece of the body, whose memory is gone after the native callback */
  private take(exchange: Exchange, piece: Buffer, isLast: boolean): void {
    const { refuse, bodySizeMax, gate } = this.options;
    if (exchange.bodySize + piece.length > bodySizeMax) {
      refuse(exchange, bodyTooLarge(bodySizeMax), TOO_LARGE);
      return;
    }
    if (isLast) this.finished(exchange);
    if (isLast && exchange.user !== null && !exchange.hasKept) {
      // The usual case: the body is here as a whole, and is read in place.
      this.read(exchange, piece, true);
      return;
    }
    const begun = piece.length > SMALL_BODY ? performance.now() : 0;
    if (!exchange.keep(piece, exchange.share ?? gate.memory, bodySizeMax)) {
      refuse(exchange, BODIES_FULL, CLOSING);
      return;
    }
    const { user } = exchange;
    if (begun !== 0 && user !== null) this.options.charge(user.id, performance.now() - begun);
    if (!isLast) {
      if (user === null) exchange.pause();
      else this.turns.came(exchange, piece.length);
      return;
    }
    exchange.complete();
    if (exchange.user !== null) this.complete(exchange);
  }

  /** The body did not come in time. */
  private late(exchange: Exchange): void {
    const { refuse, bodyTimeoutMs } = this.options;
    refuse(exchange, bodyTooLate(bodyTimeoutMs), TOO_LATE);
  }

  /** Takes a request whose body has come and whose sender is known. */
  complete(exchange: Exchange): void {
    if (exchange.body !== null) this.read(exchange, exchange.body, false);
  }

  /**
   * Reads a body, at once or when it is its turn.
   *
   * @param isLent whether the memory of the body is gone after the native callback
   */
  private read(exchange: Exchange, body: Buffer, isLent: boolean): void {
    const { user } = exchange;
    const { gate, readsLater, refuse } = this.options;
    if (user === null) return;
    if (body.length < LARGE_BODY) {
      this.readNow(exchange, body, isLent);
      return;
    }
    let kept = body;
    const isLater = readsLater(user.id, body.length, () => {
      if (!exchange.finished) this.readNow(exchange, kept, false);
    });
    if (!isLater) this.readNow(exchange, body, isLent);
    else if (isLent && !exchange.hold(body.length, gate.memory)) refuse(exchange, BODIES_FULL);
    else if (isLent) kept = Buffer.from(body);
  }

  /** @param isLent whether the memory of the body is gone after the native callback */
  private readNow(exchange: Exchange, body: Buffer, isLent: boolean): void {
    const { user, scope, format, id } = exchange;
    const { refuse, gate, root } = this.options;
    if (user === null) return;
    if (exchange.session !== null) {
      this.options.sessions.carryOut(exchange, exchange.session, user, body);
      return;
    }
    let waits = false;
    let request: ProgramRequest | null = null;
    try {
      const begun = body.length > SMALL_BODY ? performance.now() : 0;
      const decoded = decodeBody(body, format, this.options.body, isLent);
      const terms = exchange.terms === null ? null : termsOf(exchange.terms, body, format, root.level);
      const readMs = begun === 0 ? 0 : performance.now() - begun;
      const values = valuesIn(decoded);
      if (!isLent && (values === null || typeof values.data === 'string')) exchange.releaseBody();
      const memory = begun === 0 ? 0 : memoryOf(decoded, values, isLent);
      if (memory > SMALL_BODY && !exchange.hold(memory, gate.memory)) {
        refuse(exchange, BODIES_FULL);
        return;
      }
      const asked = { scope, user, body: decoded, readMs, format, client: exchange, terms, id };
      const lines = terms?.snapshot?.wantsLines ? new LinesAnswer(exchange) : null;
      request = lines === null ? asked : { ...asked, format: 'json', lines };
      waits = this.options.handle(request, (reply) =>
        lines === null ? exchange.reply(reply) : lines.finish(reply),
      );
    } catch (error) {
      if (error instanceof QueryError) {
        refuse(exchange, error);
        return;
      }
      this.options.onDefect(error);
      // Nobody knows how far it came.
      refuse(exchange, INTERNAL, { outcome: request === null ? 'none' : 'unknown' });
      return;
    }
    if (waits && !exchange.finished) this.options.waits(exchange);
  }
}

/** After which time it is looked for a request whose body has not come, in milliseconds. */
const LOOK_MS = 50;

/** Bodies up to this size take no time worth measuring, and no memory worth counting while they wait. */
const SMALL_BODY = 16_384;

/** Bodies from this size on wait for their turn to be read. */
const LARGE_BODY = 65_536;

/** Bytes that a body takes while it waits, besides those that were taken for it when it came. */
function memoryOf(body: ProgramBody, values: WireValues | null, isLent: boolean): number {
  const code = body.type === 'query' ? body.code : body.name;
  const isOwn = isLent || typeof values?.data === 'string';
  return code.length * 2 + (isOwn ? (values?.data.length ?? 0) : 0);
}

function valuesIn(body: ProgramBody): WireValues | null {
  return body.type === 'query' ? body.vars : body.args;
}
