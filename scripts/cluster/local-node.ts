import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LocalNodeOptions {
  readonly name: string;
  readonly apiPort: number;
  readonly statusPort: number;
  readonly logFile: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

const PROGRAM = fileURLToPath(new URL('../../../packages/cli/bin/althing.js', import.meta.url));

const LOOK_TIMEOUT_MS = 400;

/** A node on this machine in a process of its own. */
export class LocalNode {
  readonly name: string;
  readonly url: string;
  /** Settles when the process has ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  private readonly statusUrl: string;
  private readonly child: ChildProcess;
  private end: number | NodeJS.Signals | null = null;

  constructor({ name, apiPort, statusPort, logFile, settings }: LocalNodeOptions) {
    this.name = name;
    this.url = `http://127.0.0.1:${apiPort}`;
    this.statusUrl = `http://127.0.0.1:${statusPort}/status`;
    const environment: Record<string, string | undefined> = { ...process.env };
    for (const [key, value] of Object.entries(settings)) {
      environment[`SERVICE_${key.toUpperCase()}`] = String(value);
    }
    const log = openSync(logFile, 'a');
    // A group of its own: Ctrl-C at the terminal reaches this process only, which then stops the nodes.
    this.child = spawn(process.execPath, [PROGRAM, 'serve'], {
      env: environment,
      stdio: ['ignore', log, log],
      detached: true,
    });
    const killWithUs = (): void => this.kill();
    process.on('exit', killWithUs);
    this.ended = new Promise((resolve) => {
      this.child.on('exit', (code, signal) => {
        process.off('exit', killWithUs);
        this.end = code ?? signal ?? 1;
        resolve(this.end);
      });
    });
  }

  stop(): void {
    if (this.end === null) this.child.kill('SIGTERM');
  }

  kill(): void {
    if (this.end === null) this.child.kill('SIGKILL');
  }

  /** One line about how the node is. */
  async look(): Promise<string> {
    const title = `${this.name}  ${this.url}  pid ${this.child.pid}`;
    if (this.end !== null) return `${title}  ended with ${this.end}`;
    try {
      const response = await fetch(this.statusUrl, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
      return `${title}  ${lineOf((await response.json()) as StatusSummary)}`;
    } catch {
      return `${title}  starting`;
    }
  }
}

/** What is used of the answer of `/status`. */
interface StatusSummary {
  readonly status: string;
  readonly groups: number;
  readonly leading?: number;
  readonly root: { readonly role: string; readonly term: number; readonly commit: number } | null;
}

function lineOf({ status, groups, leading, root }: StatusSummary): string {
  const group =
    root === null ? 'no cluster yet' : `root: ${root.role}, term ${root.term}, index ${root.commit}`;
  return `${status}  ${group}  leads ${leading ?? 0} of ${groups} groups`;
}
