import { type ChildProcess, fork } from 'node:child_process';
import { WHOLE } from './cut.js';
import { type Assignment, type Result, resultOf } from './work.js';

export interface Job {
  /** The seed with a number, from 0 on; null when there are no more. */
  readonly next: (number: number) => number | null;
  /** Names of planted bugs. */
  readonly mutants: readonly string[];
  readonly onResult: (result: Result) => void;
}

/** Real time after which a run that does not end is given up, in milliseconds. */
const TIMEOUT_MS = 120_000;

/** Child processes that make runs. */
export class Pool {
  private readonly size: number;
  private readonly idle: ChildProcess[] = [];

  constructor(size: number) {
    this.size = size;
  }

  /** Resolves when there are no more seeds, and all that were begun have ended. */
  async run(job: Job): Promise<void> {
    let number = 0;
    const worker = async (): Promise<void> => {
      for (;;) {
        const seed = job.next(number);
        if (seed === null) return;
        number += 1;
        job.onResult(await this.live({ seed, mutants: job.mutants, cut: WHOLE }));
      }
    };
    await Promise.all(Array.from({ length: this.size }, worker));
  }

  close(): void {
    for (const child of this.idle.splice(0)) child.disconnect();
  }

  /**
   * Makes one run. What goes wrong is told by the result.
   *
   * @param timeoutMs real time after which a run that does not end is given up
   */
  live(assignment: Assignment, timeoutMs = TIMEOUT_MS): Promise<Result> {
    const child = this.idle.pop() ?? fork(new URL('main.js', import.meta.url), { serialization: 'advanced' });
    return new Promise((resolve) => {
      const end = (result: Result, isUsable: boolean): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (isUsable) this.idle.push(child);
        else child.kill('SIGKILL');
        resolve(result);
      };
      const lost = (what: string): void => end(failed(assignment.seed, what), false);
      const timer = setTimeout(() => lost(`does not end within ${timeoutMs.toFixed(0)} ms`), timeoutMs);
      child.once('message', (result) => end(result as Result, true));
      child.once('exit', (code, signal) => lost(`the process ended with ${signal ?? code}`));
      child.send(assignment);
    });
  }
}

function failed(seed: number, error: string): Result {
  return { ...resultOf(seed), error, ended: false };
}
