/**
 * The way of the client library to simulated nodes: the headers and bodies that it makes are read as a listener of a node reads them, and
 * answered as one answers. Connections break before a request, behind it, or while it is still on its way.
 */
import { decodeMessagePack, isWireMap } from '@althing/client';
import {
  type Attempt,
  type AttemptEnd,
  httpBody,
  httpHeaders,
  httpReply,
  type Sent,
  type Transport,
} from '@althing/client/parts';
import {
  errorBody,
  noTerms,
  numberedOf,
  problemOf,
  type Reply,
  statusOfReply,
  type Terms,
  termsOf,
} from '@althing/node/parts';
import type { Process } from '../process.js';
import type { Draw } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import { ADMIN } from '../workload.js';
import { AnotherName, type ClientMutant, withoutDoubt } from './planted.js';

export interface SimulatedHttpOptions {
  readonly scheduler: Scheduler;
  readonly draw: Draw;
  readonly planted: ReadonlySet<ClientMutant>;
  /** The node of a name; null while it is down. */
  readonly processOf: (name: string) => Process | null;
  readonly onReached: (place: string) => void;
}

/** Time that a request may be on its way behind the end of its connection, in milliseconds: the mean. */
const LATE_MS = 300;

export class SimulatedHttp implements Transport {
  readonly #open = new Set<Exchange>();
  /** Nodes to which there is a connection that was used before. */
  readonly #used = new WeakSet<Process>();
  readonly #anotherName = new AnotherName();
  #onTheWay = 0;

  constructor(private readonly options: SimulatedHttpOptions) {}

  /** True if a request may yet come to a node. */
  get isBusy(): boolean {
    return this.#onTheWay > 0;
  }

  bodyOf: Transport['bodyOf'] = (_scope, program) => httpBody(program);

  send(attempt: Attempt): Sent {
    const { planted, scheduler, draw, processOf, onReached } = this.options;
    const process = processOf(attempt.node.url.hostname);
    const wasReused = process !== null && this.#used.has(process) && !attempt.isFresh;
    const exchange = new Exchange(process, wasReused, () => this.#open.delete(exchange));
    this.#open.add(exchange);
    const sent = planted.has('named_anew') ? this.#anotherName.of(attempt) : attempt;
    const fate = draw.weighted(FATES) ?? 'answered';
    const callOff = scheduler.after(attempt.timeoutMs, () => exchange.lose('no answer in time', false));
    if (fate !== 'answered') {
      onReached(`a request of the library: ${fate}`);
      if (fate !== 'answer lost')
        scheduler.after(draw.exponential(1), () => exchange.lose('connection lost'));
    }
    if (fate !== 'lost') {
      this.#onTheWay += 1;
      scheduler.after(draw.exponential(fate === 'late' ? LATE_MS : 1), () => {
        this.#onTheWay -= 1;
        this.#arrive(sent, exchange, fate === 'answer lost');
      });
    }
    return {
      end: exchange.end.then((end) => {
        callOff();
        return planted.has('doubt_forgotten') ? withoutDoubt(end) : end;
      }),
      cancel: () => exchange.lose('given up', false),
    };
  }

  /** A process is gone, and its connections with it. */
  processEnded(process: Process): void {
    for (const each of [...this.#open]) if (each.process === process) each.lose('connection lost');
  }

  close(): void {
    for (const each of [...this.#open]) each.lose('closed');
  }

  #arrive(attempt: Attempt, exchange: Exchange, losesAnswer: boolean): void {
    const { scheduler, draw } = this.options;
    const { process } = exchange;
    if (process === null || !process.alive || !process.isOpen)
      return exchange.settle({ kind: 'unsent', error: new Error('connection refused') });
    this.#used.add(process);
    process.engineThread.after(0, () => {
      answer(process, attempt, exchange.client, (end) => {
        scheduler.after(draw.exponential(1), () =>
          losesAnswer ? exchange.lose('connection lost') : exchange.settle(end),
        );
      });
    });
  }
}

/** The fate of a request and its connection. */
const FATES = [
  ['answered', 100],
  ['lost', 2],
  ['late', 3],
  ['answer lost', 3],
] as const;

/** A request and its answer, on a connection. */
class Exchange {
  readonly end: Promise<AttemptEnd>;
  /** As a node sees it. */
  readonly client = { gone: false };
  readonly #onEnd: () => void;
  #settle: (end: AttemptEnd) => void = () => {};

  constructor(
    readonly process: Process | null,
    private readonly wasReused: boolean,
    onEnd: () => void,
  ) {
    this.#onEnd = onEnd;
    this.end = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  settle(end: AttemptEnd): void {
    this.#onEnd();
    this.#settle(end);
  }

  lose(message: string, wasReused = this.wasReused): void {
    this.client.gone = true;
    this.settle({ kind: 'lost', error: new Error(message), wasReused });
  }
}

/** Answers a request as the HTTP API of a node does. */
function answer(
  process: Process,
  attempt: Attempt,
  client: { gone: boolean },
  respond: (end: AttemptEnd) => void,
): void {
  const { root, side } = process;
  const user = root?.usersByName.get(ADMIN);
  if (root == null || user === undefined || side === null)
    return respond({ kind: 'unsent', error: new Error('connection refused') });
  const { collection } = attempt.scope;
  const body = decodeMessagePack(attempt.body);
  const code = isWireMap(body) ? body.get('code') : undefined;
  if (typeof code !== 'string') throw new TypeError('a request of the library without code');
  side.router.handle(
    {
      scope: collection === null ? { kind: 'thingsdb' } : { kind: 'collection', name: collection },
      user,
      body: { type: 'query', code, vars: null },
      format: 'msgpack',
      client,
      terms: termsIn(attempt, root.level),
    },
    (reply) => respond(endOf(reply)),
  );
}

/** The headers as a node reads them. */
function termsIn(attempt: Attempt, level: number): Terms {
  const headers = new Map(Object.entries(httpHeaders(attempt)));
  const name = headers.get('Althing-Request');
  const terms = {
    ...noTerms(),
    key: headers.get('Idempotency-Key') ?? null,
    request: name === undefined ? null : numberedOf(name),
    dryRun: headers.get('Althing-Dry-Run') ?? null,
  };
  const problem = problemOf(terms);
  if (problem !== null) throw new TypeError(`the library sent a bad header: ${problem}`);
  return termsOf(terms, attempt.body, 'msgpack', level);
}

function endOf(reply: Reply): AttemptEnd {
  const status = reply.ok ? 200 : Number.parseInt(statusOfReply(reply), 10);
  const headers = new Map([['althing-index', String(reply.index ?? 0)]]);
  if (status === 503 || status === 429) headers.set('retry-after', '1');
  const body = reply.ok ? reply.result : errorBody(reply.error, 'msgpack', reply.outcome);
  if (typeof body === 'string') throw new TypeError('an answer in another format than its request');
  return { kind: 'answered', reply: httpReply(status, (name) => headers.get(name) ?? null, body) };
}
