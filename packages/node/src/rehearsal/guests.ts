/** Clients that come through the balancer, and which of their requests failed. */
import type { Access, Place } from '../chaos/clients.js';
import type { Recorder } from '../chaos/record.js';
import type { Response } from '../chaos/requests.js';
import type { Allowance } from './scenes.js';
import type { Stack } from './stack.js';

/** Failures of a scene that are told one by one. */
const TOLD_MAX = 5;
/** Of the clients, one of so many sends no idempotency keys. */
const CARELESS = 4;
/** What the workload fails with by itself. */
const ON_PURPOSE = 'on purpose';

export class Guests implements Access {
  /** Names of the nodes that answered. */
  readonly answered = new Set<string>();
  private readonly stack: Pick<Stack, 'ask'>;
  private readonly recorder: Recorder;
  private readonly front: Place;
  private scene = '';
  private allows: Allowance = 'none';
  private failures = 0;
  private forgiven = 0;

  constructor(stack: Pick<Stack, 'ask'>, recorder: Recorder) {
    this.stack = stack;
    this.recorder = recorder;
    this.front = { name: 'lb', ask: (scope, code, headers = {}) => this.ask(scope, code, headers) };
  }

  isKeyed(client: number): boolean {
    return client % CARELESS !== CARELESS - 1;
  }

  place(): Place {
    return this.front;
  }

  any(): Place {
    return this.front;
  }

  /** From now on another scene is played; gives how many requests failed in the last one, as they may and as they may not. */
  turn(scene: string, allows: Allowance): { readonly failures: number; readonly forgiven: number } {
    const { failures, forgiven } = this;
    this.scene = scene;
    this.allows = allows;
    this.failures = 0;
    this.forgiven = 0;
    return { failures, forgiven };
  }

  private async ask(
    scope: string,
    code: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const isKeyed = headers['Idempotency-Key'] !== undefined;
    const { scene, allows } = this;
    const response = await this.stack.ask(scope, code, headers);
    if (response.node !== '') this.answered.add(response.node);
    if (response.outcome === 'ok' || response.error.includes(ON_PURPOSE)) return response;
    const isLost = !isKeyed && response.outcome === 'unknown';
    // It may have begun in one scene and ended in another.
    const isFine = [allows, this.allows].some((each) => each === 'any' || (each === 'lost' && isLost));
    if (isFine) this.forgiven += 1;
    else this.failed(scene, `${isKeyed ? 'a key' : 'no key'}, ${response.error}`);
    // The balancer may have sent it to a node before, which carried it out and died.
    return isKeyed ? { ...response, outcome: 'unknown' } : response;
  }

  private failed(scene: string, what: string): void {
    this.failures += 1;
    if (this.failures <= TOLD_MAX)
      this.recorder.finding(`a request failed (${scene}, ${this.scene}; ${what})`);
  }
}
