import { closeSync, openSync } from 'node:fs';
import { Launched, SERVE, variablesOf } from '@althing/node/testing';

export interface LocalNodeOptions {
  readonly name: string;
  readonly apiPort: number;
  readonly statusPort: number;
  readonly logFile: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

const LOOK_TIMEOUT_MS = 400;

/** A node on this machine in a process of its own. */
export class LocalNode {
  readonly name: string;
  readonly url: string;
  /** Settles when the process has ended: with how. */
  readonly ended: Promise<string>;
  private readonly statusUrl: string;
  private readonly process: Launched;

  constructor({ name, apiPort, statusPort, logFile, settings }: LocalNodeOptions) {
    this.name = name;
    this.url = `http://127.0.0.1:${apiPort}`;
    this.statusUrl = `http://127.0.0.1:${statusPort}/status`;
    const log = openSync(logFile, 'a');
    // Ctrl-C at the terminal reaches this process only, which then stops the nodes.
    this.process = new Launched(SERVE, {
      environment: { ...process.env, ...variablesOf(settings) },
      output: log,
      isDetached: true,
    });
    closeSync(log);
    this.ended = this.process.ended.then(({ text }) => text);
  }

  stop(): void {
    this.process.signal('SIGTERM');
  }

  kill(): void {
    this.process.signal('SIGKILL');
  }

  /** One line about how the node is. */
  async look(): Promise<string> {
    const title = `${this.name}  ${this.url}  pid ${this.process.pid}`;
    if (!this.process.isRunning) return `${title}  ended with ${this.process.end?.text}`;
    try {
      const response = await fetch(this.statusUrl, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
      return `${title}  ${lineOf((await response.json()) as StatusSummary)}`;
    } catch {
      return `${title}  starting`;
    }
  }
}

/** The parts of the answer of `/status` that are used. */
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
