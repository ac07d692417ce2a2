/**
 * Clients that work at the same time, each one operation after the other, at whatever node. A collection is used for a
 * while; then they go on to the next one, so that histories stay short enough to be searched.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Action, Operation } from '../simulation/history.js';
import type { Draw } from '../simulation/random.js';
import { codeOf, drawAction, SET_UP } from '../simulation/workload.js';
import type { Fleet } from './fleet.js';
import type { Recorder } from './record.js';
import type { Response } from './requests.js';

/** Operations on one collection. */
const OPERATIONS_MAX = 1500;
/** Attempts of a request with a key of its own. */
const ATTEMPTS_MAX = 4;
const CLIENT_MS = 10;
/** One of so many clients roams. */
const ROAMS = 4;
/** Who was refused takes more time, so that a few seconds without service are not thousands of operations. */
const REFUSED_MS = 50;
/** Time between two attempts to make a collection. */
const AGAIN_MS = 50;

export class Clients {
  /** The collections that were used. */
  readonly collections: string[] = [];
  private readonly fleet: Fleet;
  private readonly recorder: Recorder;
  private readonly draw: Draw;
  private work: Promise<unknown> = Promise.resolve();
  private isStopped = false;
  private count = 0;
  private values = 0;
  /** Operations on the present collection. */
  private used = 0;
  private isPreparing = false;

  constructor(fleet: Fleet, recorder: Recorder, draw: Draw) {
    this.fleet = fleet;
    this.recorder = recorder;
    this.draw = draw;
  }

  /** The collection in use. */
  get collection(): string {
    return this.collections.at(-1) ?? '';
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
      await pause(this.draw.exponential(CLIENT_MS));
      await this.operate(client);
      if (this.used >= OPERATIONS_MAX) await this.prepare();
    }
  }

  private async operate(client: number): Promise<void> {
    const { collection, draw } = this;
    this.used += 1;
    const id = this.count++;
    const action: Action = drawAction(draw, () => `v${this.values++}`);
    const code = codeOf(action, id);
    const headers: Record<string, string> = draw.chance(0.3) ? { 'Idempotency-Key': `${id}` } : {};
    const begin = performance.now();
    for (let attempt = 1; ; attempt++) {
      const at = this.place(client);
      const response = await this.fleet.ask(at, `//${collection}`, code, headers);
      const again = response.outcome === 'unknown' && headers['Idempotency-Key'] !== undefined;
      if (again && attempt < ATTEMPTS_MAX && !this.isStopped) continue;
      const node = this.fleet.node(at).name;
      this.record({ id, client, collection, action, node, begin }, response, attempt);
      if (response.outcome !== 'ok') await pause(draw.exponential(REFUSED_MS));
      return;
    }
  }

  private record(
    known: Pick<Operation, 'id' | 'client' | 'collection' | 'action' | 'node' | 'begin'>,
    { outcome, value, index, error }: Response,
    attempt: number,
  ): void {
    // What an earlier attempt did is not undone by a later one that was refused.
    const certain = outcome === 'failed' && attempt > 1 ? 'unknown' : outcome;
    const end = certain === 'unknown' ? Infinity : performance.now();
    this.recorder.operation({ ...known, end, outcome: certain, answer: value, index, error });
    if (known.action.kind === 'append_and_fail' && outcome === 'ok')
      this.recorder.finding(`operation ${known.id} should have failed`);
  }

  /**
   * Where a client asks: some ask any node, whatever its state; the others one of their own, or, as a balancer would, another
   * one while it does not run. So never do all of them wait at a node that has no majority or sleeps.
   */
  private place(client: number): number {
    const { draw, fleet } = this;
    if (client % ROAMS === ROAMS - 1) return draw.pick(fleet.nodes).at;
    const own = fleet.node((client - Math.floor(client / ROAMS)) % fleet.nodes.length);
    return own.isUp ? own.at : this.anyUp();
  }

  private anyUp(): number {
    const up = this.fleet.nodes.filter(({ isUp }) => isUp);
    return this.draw.pick(up.length > 0 ? up : this.fleet.nodes).at;
  }

  /** Makes the next collection; the others go on with the present one meanwhile. */
  private async prepare(): Promise<void> {
    if (this.isPreparing) return;
    this.isPreparing = true;
    const name = `c${this.collections.length}`;
    const isDone = async (scope: string, code: string): Promise<boolean> =>
      (await this.fleet.ask(this.anyUp(), scope, code)).outcome === 'ok';
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
