/**
 * One measurement: workers make load on a server, and the server's processor time is taken meanwhile.
 */
import { quantile } from '../harness/table.js';
import { Child } from './child.js';
import { cpuTimeUs } from './cpu.js';
import type { Measured, Message, Order } from './worker.js';

/** A server under load. */
export interface Target {
  readonly port: number;
  readonly pid: number;
  /** More processes whose processor time counts. */
  readonly otherPids?: readonly number[];
}

export interface Measurement {
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
  readonly errors: number;
  readonly lastError: string | undefined;
  /** Processor time of the server per answer. */
  readonly serverUs: number | undefined;
  /** Processor time of the generator per answer. */
  readonly generatorUs: number;
}

export interface MeasureOptions {
  /** Whole requests, which are sent in turns. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

/** Processes that make load. */
export class Generator {
  readonly #workers: readonly Child[];

  constructor(count: number) {
    this.#workers = Array.from({ length: count }, () => new Child(import.meta.url, 'worker.js'));
  }

  close(): void {
    for (const worker of this.#workers) void worker.close();
  }

  /** Makes load on servers for a while. The connections are shared out among the workers, and among the servers. */
  async measure(targets: readonly Target[], options: MeasureOptions): Promise<Measurement> {
    const pids = targets.flatMap(({ pid, otherPids }) => [pid, ...(otherPids ?? [])]);
    const count = Math.min(this.#workers.length, options.connections);
    let begun = 0;
    let cpuBefore: number | undefined;
    const orders = this.#workers.slice(0, count).map((worker, index) => {
      const share = Math.floor(options.connections / count) + (index < options.connections % count ? 1 : 0);
      // Each worker begins with another server.
      const ports = targets.map((_, at) => targets[(at + index) % targets.length]!.port);
      const order: Order = { ...options, ports, connections: share };
      return worker.ask(order, (message: Message) => {
        if (message.kind === 'end') return message;
        if (++begun === count) cpuBefore = cpuTimeUs(pids);
        return undefined;
      });
    });
    const parts = await Promise.all(orders);
    const cpuAfter = cpuTimeUs(pids);
    return summary(
      parts,
      cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
    );
  }
}

function summary(parts: readonly Measured[], serverCpuUs: number | undefined): Measurement {
  const times = parts.flatMap((part) => [...part.times]);
  const sum = (of: (part: Measured) => number): number => parts.reduce((total, part) => total + of(part), 0);
  const answers = sum((part) => part.answers);
  return {
    ratePerS: sum((part) => (part.answers * 1000) / part.elapsedMs),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    answers,
    errors: sum((part) => part.errors),
    lastError: parts.find((part) => part.lastError !== undefined)?.lastError,
    serverUs: serverCpuUs === undefined || answers === 0 ? undefined : serverCpuUs / answers,
    generatorUs: answers === 0 ? 0 : sum((part) => part.cpuUs) / answers,
  };
}
