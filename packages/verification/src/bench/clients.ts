/**
 * Clients that ask so many times a second and remember when: to see what they notice of what happens in a cluster. A time counts from when
 * its request was due, so that one that had to wait for another tells it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { wireMap } from '@althing/client';
import { type Credentials, NodeClient } from '../harness/node-client.js';

/** What is asked, and where. */
export interface Question {
  /** As figures name it. */
  readonly name: string;
  readonly url: string;
  readonly scope: string;
  readonly code: string;
}

export interface Asked {
  readonly name: string;
  readonly dueAt: number;
  readonly endedAt: number;
  /** Why it failed; null if it did not. */
  readonly problem: string | null;
}

/** Connections for each question: two for each client. */
const CLIENTS = 4;
/** Time between two looks at what is due, in milliseconds. */
const TICK_MS = 2;
const TIMEOUT_MS = 30_000;

export class Clients {
  #asked: Asked[] = [];
  readonly #as: Credentials;
  readonly #isPatient: boolean;
  readonly #stepMs: number;
  readonly #work: Promise<unknown>;
  readonly #underWay = new Set<Promise<void>>();
  #isStopped = false;

  /**
   * @param perS requests for each question a second
   * @param isPatient whether nothing is asked while all clients of a question wait for an answer
   */
  constructor(questions: readonly Question[], as: Credentials, perS: number, isPatient = false) {
    this.#as = as;
    this.#isPatient = isPatient;
    this.#stepMs = 1000 / perS;
    this.#work = Promise.all(questions.map((question, at) => this.#pace(question, at / questions.length)));
  }

  /** What was asked since the last call, once all that was due has its answer. */
  async take(): Promise<readonly Asked[]> {
    await Promise.all(this.#underWay);
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  /** Waits until something was answered with a value that was due some time after a moment. */
  async until(moment: number, ms: number): Promise<void> {
    while (!this.#asked.some(({ dueAt, problem }) => problem === null && dueAt > moment + ms)) {
      if (performance.now() > moment + ms + 2 * TIMEOUT_MS) throw new Error('nothing is answered any more');
      await pause(TICK_MS);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** @param phase from 0 to 1: questions take turns */
  async #pace(question: Question, phase: number): Promise<void> {
    const clients = Array.from(
      { length: CLIENTS },
      () => new NodeClient(question.url, 'msgpack', TIMEOUT_MS),
    );
    let sent = 0;
    let busy = 0;
    const answered = (): void => {
      busy -= 1;
    };
    let due = performance.now() + phase * this.#stepMs;
    while (!this.#isStopped) {
      for (const now = performance.now(); due <= now; due += this.#stepMs) {
        const client = this.#isPatient && busy >= CLIENTS ? undefined : clients[sent++ % CLIENTS];
        if (client === undefined) continue;
        busy += 1;
        void this.#ask(client, question, due).then(answered);
      }
      await pause(TICK_MS);
    }
    await Promise.all(this.#underWay);
    for (const client of clients) client.close();
  }

  #ask(client: NodeClient, { name, scope, code }: Question, dueAt: number): Promise<void> {
    const asked = client.send(scope, this.#as, wireMap({ type: 'query', code })).then((outcome) => {
      this.#underWay.delete(asked);
      const why = outcome.kind === 'error' ? `${outcome.code}: ${outcome.message}` : 'broken';
      const problem = outcome.kind === 'value' ? null : outcome.kind === 'broken' ? outcome.why : why;
      this.#asked.push({ name, dueAt, endedAt: performance.now(), problem });
    });
    this.#underWay.add(asked);
    return asked;
  }
}

/** The times of some requests for which a share of them is long enough, in milliseconds. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
