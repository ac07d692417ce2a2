/** Clients that come through the balancer, and which of their requests failed. */
import type { Access, Place } from '../chaos/clients.js';
import type { Recorder } from '../chaos/record.js';
import type { Response } from '../chaos/requests.js';
import type { Allowance } from './scenes.js';
import type { Stack } from './stack.js';

/** Failures of a scene that are told one by one. */
const TOLD_MAX = 5;
/** One of so many clients sends no idempotency keys. */
const CARELESS = 4;
/** The error that the workload raises by itself. */
const ON_PURPOSE = 'on purpose';

/**
 * When a node is killed that has not read all of what it was sent, the balancer closes the client's connection without an
 * answer, as the node did: HAProxy before version 2.8 repeats nothing then (its issue 2061), so that the client has to.
 */
const CUT = 'ECONNRESET';

export interface Count {
  /** Requests that failed and may not. */
  readonly failures: number;
  /** Requests that failed, as they may. */
  readonly forgiven: number;
  /** Requests with a key that a client repeated, since its connection was closed. */
  readonly repeated: number;
}

const NOTHING: Count = { failures: 0, forgiven: 0, repeated: 0 };

export class BalancedClients implements Access {
  /** Names of the nodes that answered. */
  readonly answered = new Set<string>();
  private readonly front: Place;
  private scene = '';
  private allows: Allowance = 'none';
  private count: Count = NOTHING;

  constructor(
    private readonly stack: Pick<Stack, 'ask'>,
    private readonly recorder: Recorder,
  ) {
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

  /** Turns to another scene; tells what became of the requests of the last one. */
  turn(scene: string, allows: Allowance): Count {
    const { count } = this;
    this.scene = scene;
    this.allows = allows;
    this.count = NOTHING;
    return count;
  }

  private async ask(
    scope: string,
    code: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const isKeyed = headers['Idempotency-Key'] !== undefined;
    const { scene, allows } = this;
    let response = await this.stack.ask(scope, code, headers);
    if (isKeyed && allows !== 'none' && response.error === CUT) {
      this.counted('repeated');
      response = await this.stack.ask(scope, code, headers);
    }
    if (response.node !== '') this.answered.add(response.node);
    if (response.outcome === 'ok' || response.error.includes(ON_PURPOSE)) return response;
    // Futures are in the memory of a leader alone: those of a change that is made end with it, with a key as without.
    const isEnded = response.isMade === true && code.includes('future(');
    const isLost = response.outcome === 'unknown' && (!isKeyed || isEnded);
    // It may have begun in one scene and ended in another.
    const isFine = [allows, this.allows].some((each) => each === 'any' || (each === 'lost' && isLost));
    if (isFine) this.counted('forgiven');
    else this.failed(scene, `${isKeyed ? 'a key' : 'no key'}, ${response.error}; ${code}`);
    // The balancer may have sent it to a node before, which carried it out and died.
    return isKeyed ? { ...response, outcome: 'unknown' } : response;
  }

  private failed(scene: string, what: string): void {
    this.counted('failures');
    if (this.count.failures <= TOLD_MAX)
      this.recorder.finding(`a request failed (${scene}, ${this.scene}; ${what})`);
  }

  private counted(what: keyof Count): void {
    this.count = { ...this.count, [what]: this.count[what] + 1 };
  }
}
