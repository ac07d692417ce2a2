import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { type Assignment, type Result, resultOf } from './work.js';

export interface Job {
  readonly assignment: Assignment;
  readonly onResult: (result: Result) => void;
}

/** Real time after which a run that does not end is given up, in milliseconds. */
const TIMEOUT_MS = 120_000;

/** The flag of V8 for it is another one in each of its generations, and an unknown one ends the process. */
const LATE_OPTIMISATION = process.version.startsWith('v20.')
  ? '--interrupt-budget=1000000'
  : '--invocation-count-for-turbofan=45000';

/**
 * A process that makes runs. A run goes through most of the code once or twice: V8 spends a third of the time on optimising parts of it that are
 * hardly used again, so it begins later with that, and its young generation is larger.
 */
const PROCESS: ForkOptions = {
  serialization: 'advanced',
  execArgv: [...process.execArgv, '--max-semi-space-size=64', LATE_OPTIMISATION],
};

/** Child processes that make runs. */
export class Pool {
  private readonly idle: ChildProcess[] = [];

  constructor(private readonly size: number) {}

  /**
   * Makes runs, as many at once as there are processes. Resolves when all that were begun have ended.
   *
   * @param next the next run; null when there are no more
   */
  async run(next: () => Job | null): Promise<void> {
    const worker = async (): Promise<void> => {
      for (;;) {
        const job = next();
        if (job === null) return;
        job.onResult(await this.live(job.assignment));
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
    const child = this.idle.pop() ?? fork(new URL('main.js', import.meta.url), PROCESS);
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
