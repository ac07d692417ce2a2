/**
 * Clients that work at the same time, each one operation after the other. A collection is used for a
 * while; then they go on to the next one, so that histories stay short enough to be searched.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Action, Operation } from '../simulation/history.js';
import type { Draw } from '../simulation/random.js';
import { codeOf, drawAction, SET_UP } from '../simulation/workload.js';
import type { Recorder } from './record.js';
import type { Response } from './requests.js';

/** Operations on one collection. */
const OPERATIONS_MAX = 1500;
const CLIENT_MS = 10;
/** A client that was refused waits longer, so that a few seconds without service are not thousands of operations. */
const REFUSED_MS = 50;
/** Time between two attempts to make a collection. */
const AGAIN_MS = 50;

/** Something that answers: a node, or what stands before nodes. */
export interface Place {
  readonly name: string;
  ask(scope: string, code: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** The ways of clients to a cluster. */
export interface Access {
  /** Where a client asks now. */
  place(client: number): Place;
  /** Some place that may well answer. */
  any(): Place;
}

export interface ClientsOptions {
  readonly access: Access;
  readonly recorder: Recorder;
  readonly draw: Draw;
  /** True if a client's next operation has an idempotency key. */
  readonly keyed: (client: number) => boolean;
  /** Attempts of an operation with a key. */
  readonly attempts: number;
}

function headersOf(action: Action, key: string | null): Record<string, string> {
  if (action.kind === 'dry_run') return { 'Althing-Dry-Run': action.explains ? 'explain' : 'true' };
  return key === null ? {} : { 'Idempotency-Key': key };
}

export class Clients {
  /** The collections that were used. */
  readonly collections: string[] = [];
  private work: Promise<unknown> = Promise.resolve();
  private isStopped = false;
  private count = 0;
  private values = 0;
  /** Operations on the present collection. */
  private used = 0;
  private isPreparing = false;

  constructor(private readonly options: ClientsOptions) {}

  /** The collection in use. */
  get collection(): string {
    return this.collections.at(-1) ?? '';
  }

  /** The number of the next operation. */
  nextId(): number {
    return this.count++;
  }

  async start(clients: number): Promise<void> {
    await this.prepare();
    this.work = Promise.all(Array.from({ length: clients }, (_, client) => this.run(client)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.work;
  }

  private async run(client: number): Promise<void> {
    while (!this.isStopped) {
      await pause(this.options.draw.exponential(CLIENT_MS));
      await this.operate(client);
      if (this.used >= OPERATIONS_MAX) await this.prepare();
    }
  }

  private async operate(client: number): Promise<void> {
    const { collection } = this;
    const { access, attempts, draw, keyed } = this.options;
    this.used += 1;
    const id = this.nextId();
    const action = this.drawAction();
    const code = codeOf(action, id);
    const headers = headersOf(action, keyed(client) ? `${id}` : null);
    const begin = performance.now();
    for (let attempt = 1; ; attempt++) {
      const place = access.place(client);
      const response = await place.ask(`//${collection}`, code, headers);
      const again = response.outcome === 'unknown' && headers['Idempotency-Key'] !== undefined;
      if (again && attempt < attempts && !this.isStopped) continue;
      this.record({ id, client, collection, action, node: place.name, begin }, response, attempt);
      if (response.outcome !== 'ok') await pause(draw.exponential(REFUSED_MS));
      return;
    }
  }

  private drawAction(): Action {
    const { draw } = this.options;
    return drawAction(draw, () => `v${this.values++}`, Math.floor(Date.now() / 1000), false);
  }

  private record(
    known: Pick<Operation, 'id' | 'client' | 'collection' | 'action' | 'node' | 'begin'>,
    { outcome, isMade, value, index, error, flaw }: Response,
    attempt: number,
  ): void {
    // A change that an earlier attempt made is not undone by a later one that was refused.
    const certain = outcome === 'failed' && attempt > 1 ? 'unknown' : outcome;
    const end = certain === 'unknown' ? Infinity : performance.now();
    const { recorder } = this.options;
    if (flaw !== undefined) recorder.finding(flaw);
    const made = isMade === true ? { isMade } : {};
    recorder.operation({ ...known, end, outcome: certain, answer: value, index, error, ...made });
    if (known.action.kind === 'append_and_fail' && outcome === 'ok')
      recorder.finding(`operation ${known.id} should have failed`);
  }

  /** Makes the next collection; the others go on with the present one meanwhile. */
  private async prepare(): Promise<void> {
    if (this.isPreparing) return;
    this.isPreparing = true;
    const name = `c${this.collections.length}`;
    const isDone = async (scope: string, code: string): Promise<boolean> =>
      (await this.options.access.any().ask(scope, code)).outcome === 'ok';
    const make = `if (!has_collection('${name}')) new_collection('${name}'); nil;`;
    for (const [scope, code] of [
      ['/t', make],
      [`//${name}`, SET_UP],
    ] as const) {
      while (!(await isDone(scope, code))) {
        if (this.isStopped) return;
        await pause(AGAIN_MS);
      }
    }
    this.collections.push(name);
    this.used = 0;
    this.isPreparing = false;
  }
}
