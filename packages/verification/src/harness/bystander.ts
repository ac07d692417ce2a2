/** Somebody who asks a real node something small again and again, while others ask for much. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RealNode } from '@althing/node/testing';

/** Outcome of that; times in milliseconds. */
export interface Waits {
  /** The number of requests that got what they asked for. */
  readonly answers: number;
  readonly longestMs: number;
  /** The longest without the time in which the engine's thread was ready, and the machine had other things to do. */
  readonly heldMs: number;
  /** Longest time that the engine's thread ran within a wait. */
  readonly ranMs: number;
}

/** The question, and the node's process. */
export interface Asked {
  readonly url: string;
  readonly authorization: string;
  readonly pid: number;
  readonly body: string;
  /** Statuses behind which it asks again; 0 is a connection that ended. */
  readonly again: readonly number[];
}

export class Bystander {
  private readonly worker: Worker;
  /** Resolves with its waits once it has ended; rejects when it got another answer than it asked for. */
  readonly waits: Promise<Waits>;

  /** @param body of the request, in JSON */
  static begin(
    { url, authorization, pid }: RealNode,
    body: string,
    options: Partial<Pick<Asked, 'authorization' | 'again'>> = {},
  ): Bystander {
    return new Bystander({ url: `${url}//stuff`, authorization, pid, body, again: [], ...options });
  }

  private constructor(workerData: Asked) {
    this.worker = new Worker(new URL('./bystander-thread.js', import.meta.url), { workerData });
    const told: Promise<Waits[]> = once(this.worker, 'message');
    this.waits = told.then(([waits]) => {
      if (waits === undefined) throw new Error('the bystander told nothing');
      return waits;
    });
    // Whoever waits for it hears of that.
    this.waits.catch(() => {});
  }

  /** Asks no more, behind the answer that is to come. */
  end(): Promise<Waits> {
    this.worker.postMessage('end');
    return this.waits;
  }

  /** Ends at once. */
  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

/** The status of a request that has a connection for itself while it lasts; 0 where the node ended that. */
export async function postTo(url: string, body: string, authorization: string): Promise<number> {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  try {
    const answer = await fetch(url, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
