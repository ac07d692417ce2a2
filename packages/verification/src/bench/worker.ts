/**
 * A process that makes load: it takes one order after the other from its parent and reports.
 */
import { Load } from './load.js';

/** Make load: warm up, say `begin`, measure, say `end`. */
export interface Order {
  readonly ports: readonly number[];
  readonly requests: readonly Uint8Array[];
  readonly connections: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

export type Message = { readonly kind: 'begin' } | ({ readonly kind: 'end' } & Measured);

/** Figures that a worker measured. */
export interface Measured {
  readonly answers: number;
  readonly errors: number;
  readonly elapsedMs: number;
  /** Times of the answers, in milliseconds. */
  readonly times: Float64Array;
  readonly lastError: string | undefined;
  /** Processor time of the worker itself, in µs. */
  readonly cpuUs: number;
}

process.on('message', (order: Order) => {
  const load = new Load({
    ports: order.ports,
    requests: order.requests.map((request) => Buffer.from(request)),
    connections: order.connections,
  });
  setTimeout(() => {
    tell({ kind: 'begin' });
    const cpu = process.cpuUsage();
    load.reset();
    setTimeout(() => {
      const { times, ...result } = load.result();
      const { user, system } = process.cpuUsage(cpu);
      load.stop();
      tell({ kind: 'end', ...result, times: Float64Array.from(times), cpuUs: user + system });
    }, order.durationMs);
  }, order.warmupMs);
});

process.on('disconnect', () => process.exit(0));

function tell(message: Message): void {
  process.send?.(message);
}
