/**
 * Many short-lived nodes in one process: a node that is started among others costs less than one with a process of its own,
 * which has to load and warm up all modules first.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RealNode, variablesOf } from '@althing/node/testing';
import { type NodeOptions, newPlace, settingsOf } from './start-node.js';

/** An order to the process. */
export type Order =
  | { readonly start: number; readonly environment: Readonly<Record<string, string>> }
  | { readonly discard: number };

/** The answer of the process to an order. */
export type Answer =
  | { readonly ready: number }
  | { readonly failed: number; readonly message: string }
  | { readonly gone: number };

/** A node that is thrown away after use. */
export type ThrowawayNode = Pick<RealNode, 'url' | 'log' | 'running' | 'discard'>;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The length of the output that is kept, in characters. */
const outputMax = 20_000;

const program = fileURLToPath(new URL('./hosted-nodes.js', import.meta.url));

/** A process for nodes. */
export class NodeHost {
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #output = '';
  #isRunning = true;

  constructor() {
    const child = fork(program, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
    this.#child = child;
    const keep = (part: Buffer): void => {
      this.#output = (this.#output + part.toString('utf8')).slice(-outputMax);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('message', (answer: Answer) => this.#take(answer));
    this.ended = new Promise((resolve) => {
      child.on('exit', () => {
        this.#isRunning = false;
        for (const { reject } of this.#waiting.values()) reject(new Error('the process of the nodes ended'));
        this.#waiting.clear();
        resolve();
      });
    });
  }

  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Starts a node and waits until it serves.
   *
   * @throws {Error} with the reason when it does not start
   */
  async start(options: NodeOptions): Promise<ThrowawayNode> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#startOnce(options);
      } catch (error) {
        // A port that was free a moment ago may be taken by now.
        const isTaken = error instanceof Error && error.message.includes('the port is in use');
        if (!isTaken || attempt === 3 || options.place !== undefined) throw error;
      }
    }
  }

  async #startOnce(options: NodeOptions): Promise<ThrowawayNode> {
    const place = options.place ?? (await newPlace(options.storage));
    const environment = variablesOf(settingsOf(place, options.settings));
    const id = this.#nextId++;
    try {
      await this.#ask(id, { start: id, environment });
    } catch (error) {
      rmSync(place.folder, { recursive: true, force: true });
      throw error;
    }
    const discard = async (): Promise<void> => {
      if (this.#isRunning) await this.#ask(id, { discard: id });
      rmSync(place.folder, { recursive: true, force: true });
    };
    return new HostedNode(this, `http://127.0.0.1:${place.apiPort}`, discard);
  }

  /** Ends the process, with whatever runs in it. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #ask(id: number, order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send(order, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  #take(answer: Answer): void {
    const id = 'ready' in answer ? answer.ready : 'gone' in answer ? answer.gone : answer.failed;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if ('failed' in answer) waiting?.reject(new Error(answer.message));
    else waiting?.resolve();
  }
}

class HostedNode implements ThrowawayNode {
  constructor(
    private readonly host: NodeHost,
    readonly url: string,
    readonly discard: () => Promise<void>,
  ) {}

  get log(): string {
    return this.host.output;
  }

  get running(): boolean {
    return this.host.isRunning;
  }
}
