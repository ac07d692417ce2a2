/**
 * Clients that write all the time, each one request after the other, and remember when: to see what an event in the
 * cluster does to them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { wireMap } from '@althing/client';
import { type Credentials, NodeClient } from '../../harness/node-client.js';
import { scope } from './rates.js';

interface Write {
  readonly sentAt: number;
  readonly endedAt: number;
  /** Why it failed; undefined if it did not. */
  readonly problem: string | undefined;
}

/** Longer than a node lets a request wait. */
const timeoutMs = 15_000;
const body = wireMap({ type: 'query', code: '.counter += 1;' });

export class Writers {
  readonly #writes: Write[] = [];
  readonly #work: Promise<unknown>;
  #isStopped = false;

  /** @param urls of the nodes, one for each client */
  constructor(urls: readonly string[], as: Credentials) {
    this.#work = Promise.all(urls.map((url) => this.#write(url, as)));
  }

  /** Waits until there were writes for a while after a moment. */
  async until(moment: number, ms: number): Promise<void> {
    while (!this.#writes.some(({ sentAt, problem }) => problem === undefined && sentAt > moment + ms)) {
      if (performance.now() > moment + 4 * timeoutMs) throw new Error('writes do not go on');
      await pause(5);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Milliseconds from a moment until a write was acknowledged that was sent after it. */
  firstAfter(moment: number): number {
    const ends = this.#done.filter(({ sentAt }) => sentAt >= moment).map(({ endedAt }) => endedAt);
    return Math.min(...ends) - moment;
  }

  /** The longest time without an acknowledgement, in milliseconds, of which some is between two moments. */
  longestGap(from: number, to: number): number {
    const ends = this.#done.map(({ endedAt }) => endedAt).sort((a, b) => a - b);
    let longest = 0;
    for (const [at, end] of ends.entries()) {
      const before = ends[at - 1];
      if (before !== undefined && end >= from && before <= to) longest = Math.max(longest, end - before);
    }
    return longest;
  }

  /** What failed, and why. */
  get problems(): string[] {
    return this.#writes.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  }

  get count(): number {
    return this.#writes.length;
  }

  get #done(): Write[] {
    return this.#writes.filter(({ problem }) => problem === undefined);
  }

  async #write(url: string, as: Credentials): Promise<void> {
    const client = new NodeClient(url, 'msgpack', timeoutMs);
    while (!this.#isStopped) {
      const sentAt = performance.now();
      const outcome = await client.send(scope, as, body);
      const endedAt = performance.now();
      let problem: string | undefined;
      if (outcome.kind === 'error') problem = `${outcome.code}: ${outcome.message}`;
      if (outcome.kind === 'broken') problem = outcome.why;
      this.#writes.push({ sentAt, endedAt, problem });
      // A writer that is refused at once must not turn one failure into thousands.
      if (problem !== undefined) await pause(100);
    }
    client.close();
  }
}
