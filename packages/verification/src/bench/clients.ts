/**
 * Clients that ask so many times a second and remember when: to see what they notice of what happens in a cluster. A time counts from when
 * its request was due, so that one that had to wait for another tells it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type Database } from '@althing/client';
import { loginOf } from '../harness/client-of.js';
import type { Credentials } from '../harness/node-client.js';
import { paced } from '../harness/paced.js';

/** A question, and the place where it is asked. */
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

/** Clients of each question. */
const CLIENTS = 4;
/** Requests that wait for one of these: more than come. */
const WAITING_MAX = 1_000_000;
/** Time between two looks at what is due, in milliseconds. */
const TICK_MS = 2;
const TIMEOUT_MS = 30_000;

export class Clients {
  #asked: Asked[] = [];
  readonly #isPatient: boolean;
  readonly #clients: number;
  readonly #perS: number;
  readonly #work: Promise<unknown>;
  readonly #underWay = new Set<Promise<void>>();
  #isStopped = false;

  /**
   * @param perS requests for each question a second
   * @param isPatient whether nothing is asked while all clients of a question wait for an answer
   * @param clients of each question; they have two connections each
   */
  constructor(
    questions: readonly Question[],
    private readonly as: Credentials,
    perS: number,
    isPatient = false,
    clients = CLIENTS,
  ) {
    this.#clients = clients;
    this.#isPatient = isPatient;
    this.#perS = perS;
    this.#work = Promise.all(questions.map((question, at) => this.#pace(question, at / questions.length)));
  }

  /** The questions since the last call, once all that was due has its answer. */
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
    // One attempt each: what a node does not do is to be seen, and not what another one does in its place.
    const db = connect(question.url, {
      ...loginOf(this.as),
      timeoutMs: TIMEOUT_MS,
      attemptTimeoutMs: TIMEOUT_MS,
      attemptsMax: 1,
      limits: { requests: 2 * this.#clients, waiting: WAITING_MAX },
    });
    const begin = async (dueAt: number, underWay: number): Promise<void> => {
      if (!this.#isPatient || underWay < this.#clients) await this.#ask(db, question, dueAt);
    };
    await paced(this.#perS, () => this.#isStopped, begin, phase);
    await db.$close();
  }

  #ask(db: Database, { name, scope, code }: Question, dueAt: number): Promise<void> {
    const end = (problem: string | null): void => {
      this.#underWay.delete(asked);
      this.#asked.push({ name, dueAt, endedAt: performance.now(), problem });
    };
    const asked = db
      .$scope(scope)
      .query(code)
      .then(
        () => end(null),
        (error: unknown) => end(String(error)),
      );
    this.#underWay.add(asked);
    return asked;
  }
}
