/** A steady load: so many writes and reads a second through the balancer, also while answers are on their way. */
import type { Response } from '../chaos/requests.js';
import { paced } from '../harness/paced.js';

/** The clients' way to the cluster; it never throws. */
export type Ask = (
  scope: string,
  code: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

export interface Rates {
  readonly writesPerS: number;
  readonly readsPerS: number;
}

/** Most writes, and most reads, that wait for an answer: as many clients as there may be. What is due beyond is not sent. */
const WAITING_MAX = 500;

/**
 * Every write adds one to a counter, and carries an idempotency key of its own, so that the counter tells in the end whether
 * something was lost or done twice.
 */
export class SteadyLoad {
  /** Errors of requests that failed. */
  readonly failures: string[] = [];
  reads = 0;
  /** Requests that were due and not sent, since too many waited for their answers. */
  skipped = 0;
  /** When writes were sent and answered, in the order of the answers. */
  private readonly answered: { readonly sent: number; readonly end: number }[] = [];
  private unknown = 0;
  private isStopped = false;
  private work: Promise<void> = Promise.resolve();
  private keys = 0;

  constructor(
    private readonly ask: Ask,
    private readonly scope: string,
  ) {}

  /** Makes the counter. */
  async prepare(): Promise<void> {
    const { outcome, error } = await this.ask(this.scope, '.n = 0;');
    if (outcome !== 'ok') throw new Error(`the counter can not be made: ${error}`);
  }

  /** Begins; what was counted before stays. */
  start(rates: Rates): void {
    this.isStopped = false;
    this.work = Promise.all([
      this.pace(rates.writesPerS, () => this.write()),
      this.pace(rates.readsPerS, () => this.read()),
    ]).then(() => {});
  }

  /** Sends nothing more, and waits for the answers. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.work;
  }

  get writes(): number {
    return this.answered.length;
  }

  /** True if a write was answered that was sent after a moment. */
  hasWritten(since: number): boolean {
    const last = this.answered.at(-1);
    return last !== undefined && (last.sent > since || this.answered.some(({ sent }) => sent > since));
  }

  /** The longest time without the answer to a write, between two moments, in milliseconds. */
  longestGap(from: number, to: number): number {
    const ends = this.answered.map(({ end }) => end).filter((end) => end > from && end < to);
    const all = [from, ...ends, to];
    return Math.max(...all.slice(1).map((end, at) => end - (all[at] as number)));
  }

  /** The error of the counter: changes that were lost, or done twice; null when there is none. */
  async problem(): Promise<string | null> {
    const { outcome, value, error } = await this.ask(this.scope, '.n;');
    if (outcome !== 'ok') return `the counter can not be read: ${error}`;
    const count = Number(value);
    if (count < this.writes) return `${this.writes - count} writes lost`;
    const most = this.writes + this.unknown;
    return count > most ? `${count - most} writes done twice` : null;
  }

  private async pace(perS: number, send: () => Promise<void>): Promise<void> {
    if (perS === 0) return;
    const begin = async (_dueAt: number, underWay: number): Promise<void> => {
      if (underWay >= WAITING_MAX) this.skipped += 1;
      else await send();
    };
    await paced(perS, () => this.isStopped, begin);
  }

  private async write(): Promise<void> {
    const sent = performance.now();
    const response = await this.send('.n += 1;', { 'Idempotency-Key': `load-${this.keys++}` });
    if (response.outcome === 'ok') this.answered.push({ sent, end: performance.now() });
    if (response.outcome === 'unknown') this.unknown += 1;
  }

  private async read(): Promise<void> {
    const { outcome } = await this.send('.n;', {});
    if (outcome === 'ok') this.reads += 1;
  }

  private async send(code: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    const response = await this.ask(this.scope, code, headers);
    if (response.outcome !== 'ok') this.failures.push(`${code} ${response.error}`);
    return response;
  }
}
