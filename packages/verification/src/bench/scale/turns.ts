/** The turns of a node's first thread, without their waits for a processor, where the system tells (Linux). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERVE } from '@althing/node/testing';
import type { NodeOptions } from '../../harness/start-node.js';

export class Turns {
  readonly #folder: string;
  readonly #file: string;

  constructor(storage: string) {
    this.#folder = mkdtempSync(join(storage, 'althing-turns-'));
    this.#file = join(this.#folder, 'turns');
  }

  /** The command to run as a node that is watched. */
  get command(): NodeOptions['command'] {
    if (!existsSync('/proc/self/schedstat')) return undefined;
    const [program = '', ...args] = SERVE;
    const watch = new URL('turn-watch.js', import.meta.url);
    watch.searchParams.set('to', this.#file);
    return [program, '--import', watch.href, ...args];
  }

  /** The longest turn between two moments of `Date.now()`, in milliseconds; null where nobody tells. */
  longest(from: number, to: number): number | null {
    if (!existsSync(this.#file)) return null;
    const lines = readFileSync(this.#file, 'latin1').trim().split('\n');
    const turns = lines.map((line) => line.split(' ').map(Number));
    const within = turns.filter(([at = 0]) => at >= from && at <= to).map(([, ms = 0]) => ms);
    return within.length === 0 ? null : Math.max(...within);
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
