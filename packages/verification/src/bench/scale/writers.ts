import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN } from '../../harness/node-client.js';
import { quantile } from '../../harness/table.js';
import { Clients } from '../clients.js';
import { cpuTimeUs, firstThreadTimeUs, writtenBytesOf } from '../cpu.js';
import { SCOPE } from './orders.js';

/** Times of writes, in milliseconds, and the work that their server did meanwhile, each a second. */
export interface Waits {
  readonly perS: number;
  readonly p99: number;
  readonly longest: number;
  /** Null where the system does not tell. */
  readonly work: Work | null;
}

export interface Work {
  /** Processor time of its first thread, and of all, in milliseconds. */
  readonly firstMs: number;
  readonly allMs: number;
  readonly bytes: number;
}

/** A machine that makes less than what was asked for makes them wait, and what waits does not add up. */
const CLIENTS = 32;
const CALM_MS = 5000;

/** Clients that make small writes at a steady rate. */
export class Writers {
  readonly #clients: Clients;
  #sinceWork: Work | null = null;
  #sinceMs = 0;

  /** @param onProblem told when writes failed */
  constructor(
    url: string,
    perS: number,
    private readonly onProblem: (problem: string) => void,
  ) {
    const writes = { name: 'writes', url, scope: SCOPE, code: '.counter += 1;' };
    this.#clients = new Clients([writes], ADMIN, perS, true, CLIENTS);
  }

  /** The waits of some seconds, behind some in which the server gets warm. */
  async calm(pid: number): Promise<Waits> {
    await pause(CALM_MS / 2);
    await this.since(pid);
    await pause(CALM_MS);
    return this.since(pid);
  }

  /** The waits since the last call. */
  async since(pid: number): Promise<Waits> {
    const asked = await this.#clients.take();
    const wrong = asked.filter(({ problem }) => problem !== null);
    if (wrong.length > 0)
      this.onProblem(`${wrong.length} of ${asked.length} writes failed; the first: ${wrong[0]?.problem}`);
    const waits = asked.map(({ dueAt, endedAt }) => endedAt - dueAt);
    const dues = asked.map(({ dueAt }) => dueAt);
    const lastedMs = quantile(dues, 1) - quantile(dues, 0);
    const perS = Math.round((1000 * (asked.length - 1)) / lastedMs);
    return { perS, p99: quantile(waits, 0.99), longest: quantile(waits, 1), work: this.#workOf(pid) };
  }

  async stop(): Promise<void> {
    await this.#clients.stop();
  }

  #workOf(pid: number): Work | null {
    const [before, beganMs] = [this.#sinceWork, this.#sinceMs];
    const now = workUntilNow(pid);
    this.#sinceWork = now;
    this.#sinceMs = performance.now();
    if (now === null || before === null) return null;
    const s = (this.#sinceMs - beganMs) / 1000;
    return {
      firstMs: (now.firstMs - before.firstMs) / s,
      allMs: (now.allMs - before.allMs) / s,
      bytes: (now.bytes - before.bytes) / s,
    };
  }
}

/** The work of a process so far. */
function workUntilNow(pid: number): Work | null {
  const firstUs = firstThreadTimeUs(pid);
  const allUs = cpuTimeUs([pid]);
  const bytes = writtenBytesOf(pid);
  if (firstUs === undefined || allUs === undefined || bytes === undefined) return null;
  return { firstMs: firstUs / 1000, allMs: allUs / 1000, bytes };
}
