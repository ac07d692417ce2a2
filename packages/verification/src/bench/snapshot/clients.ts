/**
 * Other clients: writes and reads at several nodes, so many a second whatever becomes of those before. A time counts from when its
 * request was due, so that one that had to wait for another tells it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { wireMap } from '@althing/client';
import { type Credentials, NodeClient } from '../../harness/node-client.js';
import { Histogram } from '../histogram.js';
import { READ, SCOPE, WRITE } from './state.js';

/** What clients of one kind noticed. */
export interface Noticed {
  /** `writes, leader`. */
  readonly name: string;
  readonly latency: Histogram;
  errors: number;
  lastError: string | undefined;
}

/** Clients of each kind, each with two connections. */
const CLIENTS = 4;
/** Time between two looks at what is due, in milliseconds. */
const TICK_MS = 2;
const TIMEOUT_MS = 30_000;

/** Sends writes and reads to each of some nodes until it is stopped. */
export class Clients {
  readonly #kinds: readonly Kind[];
  readonly #stepMs: number;
  readonly #work: Promise<unknown>;
  #isStopped = false;

  /** @param perS requests of each kind a second */
  constructor(
    nodes: readonly { readonly name: string; readonly url: string }[],
    as: Credentials,
    perS: number,
  ) {
    this.#stepMs = 1000 / perS;
    this.#kinds = nodes.flatMap(({ name, url }) => [
      new Kind(`writes, ${name}`, url, WRITE, as),
      new Kind(`reads, ${name}`, url, READ, as),
    ]);
    this.#work = Promise.all(this.#kinds.map((kind, at) => this.#pace(kind, at / this.#kinds.length)));
  }

  /** What was noticed since the last call, once all that was due has its answer. */
  async take(): Promise<readonly Noticed[]> {
    return Promise.all(this.#kinds.map((kind) => kind.take()));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    for (const kind of this.#kinds) kind.close();
  }

  /** @param phase from 0 to 1: kinds take turns */
  async #pace(kind: Kind, phase: number): Promise<void> {
    const step = this.#stepMs;
    let due = performance.now() + phase * step;
    while (!this.#isStopped) {
      for (const now = performance.now(); due <= now; due += step) kind.send(due);
      await pause(TICK_MS);
    }
  }
}

class Kind {
  readonly #name: string;
  readonly #as: Credentials;
  readonly #body: ReturnType<typeof wireMap>;
  readonly #clients: readonly NodeClient[];
  #sent = 0;
  #noticed: Noticed;
  #underWay = new Set<Promise<void>>();

  constructor(name: string, url: string, code: string, as: Credentials) {
    this.#name = name;
    this.#as = as;
    this.#body = wireMap({ type: 'query', code });
    this.#clients = Array.from({ length: CLIENTS }, () => new NodeClient(url, 'msgpack', TIMEOUT_MS));
    this.#noticed = this.#nothing();
  }

  send(due: number): void {
    const noticed = this.#noticed;
    const client = this.#clients[this.#sent++ % CLIENTS]!;
    const done = client.send(SCOPE, this.#as, this.#body).then((outcome) => {
      this.#underWay.delete(done);
      noticed.latency.add(performance.now() - due);
      if (outcome.kind === 'value') return;
      noticed.errors++;
      noticed.lastError = outcome.kind === 'error' ? outcome.message : outcome.why;
    });
    this.#underWay.add(done);
  }

  async take(): Promise<Noticed> {
    const noticed = this.#noticed;
    this.#noticed = this.#nothing();
    await Promise.all(this.#underWay);
    return noticed;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #nothing(): Noticed {
    return { name: this.#name, latency: new Histogram(), errors: 0, lastError: undefined };
  }
}
