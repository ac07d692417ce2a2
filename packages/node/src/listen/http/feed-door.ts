/**
 * The feed of changes over the API:
 *
 *   GET /@changes/NAME?since=POSITION&types=A,B&ids=1,2&things=1     needs QUERY on the collection
 *
 *   Accept: application/x-ndjson   a line for each change, for as long as the client takes them
 *           text/event-stream      the same as events, with positions as their ids: `Last-Event-ID` is `since`
 *           application/json       one answer, {"at", "changes"}: at once, or with `wait=SECONDS` when there are some
 *
 * A change is never cut: what was begun comes whole or the connection ends. A feed that ends says why in its last line.
 */
import type { HttpRequest } from 'uWebSockets.js';
import { badDataError, QueryError } from '@althing/engine';
import type { Clock } from '../../base/clock.js';
import { type FeedPosition, parsePosition } from '../../between/feed-position.js';
import { endingOf, LostError } from '../../feed/feeds.js';
import { type FeedFilter, FILTER_MAX, filterOf } from '../../feed/parcel.js';
import type { FeedEnd, FeedLine, FeedSink } from '../../feed/subscriber.js';
import type { Authenticator, Login } from '../auth/authenticator.js';
import { Session, type SessionRoot } from '../auth/session.js';
import type { Inside } from '../shared/door.js';
import { identify, refuseLogin } from './admission.js';
import type { Exchange } from './exchange.js';
import type { Pieces } from './pieces.js';
import { INTERNAL, LEAVING, type Refuse } from './refusals.js';

export interface FeedDoorOptions extends Pick<Inside, 'feeds' | 'gate' | 'onDefect'> {
  readonly authenticator: Pick<Authenticator, 'known' | 'login'>;
  readonly refuse: Refuse;
  readonly clock: Pick<Clock, 'after'>;
  readonly root: SessionRoot;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/** The head of a request to follow a collection. */
export interface FeedCall {
  readonly collection: string;
  readonly query: string;
  readonly accept: string;
  readonly lastEventId: string;
  readonly authorization: string | null;
  /** The client's address, for the limits of logins. */
  readonly address: () => string;
}

/** Reads what a request says; `req` is of no use afterwards. */
export function callOf(
  req: Pick<HttpRequest, 'getQuery' | 'getHeader'>,
  collection: string,
  authorization: string | null,
  address: () => string,
): FeedCall {
  return {
    collection,
    query: req.getQuery() ?? '',
    accept: req.getHeader('accept'),
    lastEventId: req.getHeader('last-event-id'),
    authorization,
    address,
  };
}

type FeedFormat = 'ndjson' | 'sse' | 'json';

interface Asked {
  readonly since: FeedPosition | null;
  readonly filter: FeedFilter;
  readonly format: FeedFormat;
  /** Milliseconds that an answer in JSON may wait for changes. */
  readonly waitMs: number;
}

export class FeedDoor {
  /** Requests that wait for their answer as others do: a feed that has begun is none. */
  private readonly counted = new WeakSet<Exchange>();

  constructor(private readonly options: FeedDoorOptions) {}

  /** Takes a request. The client may go away at any time. */
  receive(exchange: Exchange, call: FeedCall): void {
    const { gate, authenticator, refuse } = this.options;
    gate.begin();
    this.counted.add(exchange);
    const { authorization, address } = call;
    const { stale } = gate;
    if (stale !== null) refuse(exchange, stale);
    else {
      identify(authenticator, authorization, address, {
        failed: () => {},
        done: (login) => this.loggedIn(exchange, login, call),
      });
    }
  }

  finished(exchange: Exchange): void {
    if (this.counted.delete(exchange)) this.options.gate.done();
  }

  private loggedIn(exchange: Exchange, login: Login, call: FeedCall): void {
    const { gate, refuse, onDefect } = this.options;
    if (exchange.finished) return;
    if (login.kind !== 'user') {
      refuseLogin(exchange, login.kind, refuse);
      return;
    }
    exchange.identify(login);
    const asked = askedOf(call);
    const refusal = gate.isLeaving ? LEAVING : gate.refusal;
    if (refusal !== null) refuse(exchange, refusal);
    else if (typeof asked === 'string') refuse(exchange, badDataError(asked));
    else {
      this.follow(exchange, login, call, asked).catch((error: unknown) => {
        if (exchange.finished) return;
        if (error instanceof LostError) exchange.replyGone(lostLine(error.oldest));
        else if (error instanceof QueryError) refuse(exchange, error);
        else {
          onDefect(error);
          refuse(exchange, INTERNAL);
        }
      });
    }
  }

  private async follow(
    exchange: Exchange,
    { user }: Extract<Login, { readonly kind: 'user' }>,
    { collection, authorization }: FeedCall,
    { since, filter, format, waitMs }: Asked,
  ): Promise<void> {
    const sink =
      format === 'json'
        ? new AnswerSink(exchange, waitMs, this.options)
        : new StreamSink(exchange, format, () => this.finished(exchange));
    const { feeds, root, now } = this.options;
    // A feed has no end of its own: it goes with the password, token or session that it was asked for with.
    const session = Session.of(root, user, authorization ?? '');
    const isLoggedIn = (): boolean => !(session.check(now()) instanceof QueryError);
    const stop = await feeds.follow({ user, collection, since, filter, isLoggedIn }, sink);
    // The client may have gone meanwhile.
    if (exchange.gone) stop();
    else sink.onStop(stop);
  }
}

/** A feed that goes on until one side ends it. */
class StreamSink implements FeedSink {
  private pieces: Pieces | null = null;
  private last: Promise<void> = Promise.resolve();
  private stop: (() => void) | null = null;

  constructor(
    private readonly exchange: Exchange,
    private readonly format: Exclude<FeedFormat, 'json'>,
    private readonly begun: () => void,
  ) {}

  onStop(stop: () => void): void {
    this.stop = stop;
  }

  send(lines: readonly FeedLine[]): Promise<void> {
    this.last = this.write(lines.map((line) => this.textOf(line)).join(''));
    return this.last;
  }

  caughtUp(): void {}

  ended(end: FeedEnd): void {
    const [event, json] = endLine(end);
    const text = this.format === 'sse' ? `event: ${event}\ndata: ${json}\n\n` : `${json}\n`;
    this.last
      .then(() => this.write(text))
      .then(
        () => this.pieces?.end(),
        () => {},
      );
  }

  private textOf({ at, json, isAlive }: FeedLine): string {
    if (this.format === 'ndjson') return `${json}\n`;
    return `${isAlive ? 'event: alive\n' : ''}id: ${at}\ndata: ${json}\n\n`;
  }

  private write(text: string): Promise<void> {
    if (this.pieces === null) {
      const pieces = this.exchange.begin(TYPES[this.format]);
      if (pieces === null) return Promise.reject(new Error('the client went away'));
      this.pieces = pieces;
      this.begun();
      this.exchange.onGone = () => {
        pieces.drop();
        this.stop?.();
      };
    }
    return this.pieces.write(Buffer.from(text));
  }
}

/** One answer with what there is. */
class AnswerSink implements FeedSink {
  private readonly changes: string[] = [];
  private at = '';
  private size = 0;
  private isCaughtUp = false;
  private isDue: boolean;
  private stop: (() => void) | null = null;
  private readonly callOff: () => void;

  constructor(
    private readonly exchange: Exchange,
    waitMs: number,
    private readonly options: Pick<FeedDoorOptions, 'refuse' | 'clock'>,
  ) {
    this.isDue = waitMs === 0;
    this.callOff =
      waitMs === 0
        ? () => {}
        : options.clock.after(waitMs, () => {
            this.isDue = true;
            this.consider();
          });
    exchange.onGone = () => {
      this.callOff();
      this.stop?.();
    };
  }

  onStop(stop: () => void): void {
    this.stop = stop;
    this.consider();
  }

  send(lines: readonly FeedLine[]): Promise<void> {
    for (const { at, json, isAlive } of lines) {
      this.at = at;
      if (isAlive) continue;
      this.changes.push(json);
      this.size += json.length;
    }
    this.consider();
    return Promise.resolve();
  }

  caughtUp(): void {
    this.isCaughtUp = true;
    this.consider();
  }

  ended(end: FeedEnd): void {
    this.callOff();
    if (this.changes.length > 0) this.answer();
    else if (end.kind === 'lost') this.exchange.replyGone(lostLine(end.oldest));
    else this.options.refuse(this.exchange, end.kind === 'leaving' ? LEAVING : NOT_ANY_MORE);
  }

  private consider(): void {
    if (this.stop === null || this.exchange.finished || this.at === '') return;
    const isEnough = this.size > ANSWER_MAX || (this.isCaughtUp && this.changes.length > 0);
    if (!isEnough && !(this.isDue && this.isCaughtUp)) return;
    this.callOff();
    this.answer();
    this.stop();
  }

  private answer(): void {
    const result = `{"at":"${this.at}","changes":[${this.changes.join(',')}]}`;
    this.exchange.reply({ ok: true, result });
  }
}

/** Characters of lines that are enough for an answer. */
const ANSWER_MAX = 1024 * 1024;

const WAIT_MAX_S = 60;

const TYPES = { ndjson: 'application/x-ndjson', sse: 'text/event-stream' } as const;

const NOT_ANY_MORE = badDataError('the collection may not be read any more, or is gone');

function lostLine(oldest: FeedPosition): string {
  return JSON.stringify(endingOf({ kind: 'lost', oldest }));
}

function endLine(end: FeedEnd): readonly [event: string, json: string] {
  return [end.kind === 'lost' ? 'lost' : 'ended', JSON.stringify(endingOf(end))];
}

/** The request, or the mistake in it. */
function askedOf({ query, accept, lastEventId }: FeedCall): Asked | string {
  const params = new URLSearchParams(query);
  for (const name of params.keys())
    if (!PARAMETERS.includes(name)) return `'${name}' is none of ${PARAMETERS.join(', ')}`;
  const sinceText = lastEventId === '' ? params.get('since') : lastEventId;
  const since = sinceText === null ? null : parsePosition(sinceText);
  if (sinceText !== null && since === null) return 'since must be a position, as in 4711-9f3a01c2';
  const types = listOf(params.get('types'));
  const ids = listOf(params.get('ids'))?.map(Number) ?? null;
  if (ids?.some((id) => !Number.isSafeInteger(id) || id < 1)) return 'ids must be ids of things, as in 7,12';
  if ((types?.length ?? 0) > FILTER_MAX || (ids?.length ?? 0) > FILTER_MAX)
    return `there may be ${FILTER_MAX} types, and as many ids`;
  const wait = Number(params.get('wait') ?? 0);
  if (!(wait >= 0 && wait <= WAIT_MAX_S)) return `wait must be a number of seconds up to ${WAIT_MAX_S}`;
  const things = params.get('things');
  if (things !== null && things !== '1') return 'things must be 1, for things as they are, or be left out';
  return {
    since,
    filter: filterOf(types, ids, things !== null),
    format: formatOf(accept),
    waitMs: wait * 1000,
  };
}

const PARAMETERS: readonly string[] = ['since', 'types', 'ids', 'things', 'wait'];

function listOf(text: string | null): readonly string[] | null {
  return text === null ? null : text.split(',').filter((item) => item !== '');
}

function formatOf(accept: string): FeedFormat {
  if (accept.includes('text/event-stream')) return 'sse';
  return accept.includes('application/json') ? 'json' : 'ndjson';
}
