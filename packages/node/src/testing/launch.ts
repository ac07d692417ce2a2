/**
 * Starts processes that do not outlive this one: all nodes of tests, chaos, rehearsals and benchmarks, and
 * what plays along with them, start here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Secrets } from './secrets.js';

/** The command that runs a node of this build. */
export const SERVE: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url)),
  'serve',
];

export interface LaunchOptions {
  /**
   * All of its environment but PATH, which it has of this process unless it is here; default: that of this
   * process.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  /**
   * Where what it prints goes: a file descriptor; nowhere; or kept as text, up to so many characters of its
   * end. Default: all of it is kept.
   */
  readonly output?: number | 'ignore' | { readonly keptMax: number };
  /** True if it is no member of this process's group, so that Ctrl-C at a terminal does not reach it. */
  readonly isDetached?: boolean;
}

export interface End {
  /** Null when a signal ended it, or when it could not be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** `code 0`, a signal's name, or why it could not be started. */
  readonly text: string;
}

/** A process that was started, or that could not be: then it has ended with the reason. */
export class Launched {
  /**
   * Settles when it has ended and all that it printed is here.
   *
   * @throws {Error} when it printed a secret, see `secrets`
   */
  readonly ended: Promise<End>;
  /** Secrets that it may not print: those of its environment, and those that are added. */
  readonly secrets: Secrets;
  private readonly child: ChildProcess;
  private readonly keptMax: number;
  private kept = '';
  private how: End | undefined;
  private leak: unknown;

  /** @param command program and arguments */
  constructor(command: readonly string[], options: LaunchOptions = {}) {
    const { environment = process.env, folder, output = { keptMax: Number.MAX_SAFE_INTEGER } } = options;
    const [program = '', ...args] = command;
    const stream = typeof output === 'object' ? 'pipe' : output;
    this.secrets = new Secrets(options.environment);
    this.keptMax = typeof output === 'object' ? output.keptMax : 0;
    this.child = spawn(program, args, {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', stream, stream],
      detached: options.isDetached ?? false,
      ...(folder === undefined ? {} : { cwd: folder }),
    });
    for (const printed of [this.child.stdout, this.child.stderr]) {
      printed?.setEncoding('utf8').on('data', (text: string) => this.keep(text));
    }
    const killWithUs = (): void => void this.child.kill('SIGKILL');
    process.on('exit', killWithUs);
    this.ended = new Promise((resolve, reject) => {
      const end = (how: End): void => {
        process.off('exit', killWithUs);
        this.how ??= how;
        if (this.leak === undefined) resolve(this.how);
        else reject(this.leak);
      };
      this.child.on('error', ({ message }) => {
        // A signal that could not be sent is an error, too.
        if (this.child.pid === undefined) end({ code: null, signal: null, text: message });
      });
      // Not 'exit': its last words may still be on their way then.
      this.child.on('close', (code, signal) => end({ code, signal, text: signal ?? `code ${code}` }));
    });
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.how === undefined;
  }

  /** The way it ended; undefined while it runs. */
  get end(): End | undefined {
    return this.how;
  }

  /** Its output, as far as it is kept. */
  get output(): string {
    return this.kept;
  }

  /** Gives whether the signal was sent. */
  signal(name: NodeJS.Signals): boolean {
    return this.isRunning && this.child.kill(name);
  }

  /** Ends it at once. */
  async kill(): Promise<End> {
    this.signal('SIGKILL');
    return this.ended;
  }

  /** Reads nothing more of its standard output: what it can't get rid of fills up. */
  stopReading(): void {
    this.child.stdout?.pause();
  }

  readAgain(): void {
    this.child.stdout?.resume();
  }

  private keep(text: string): void {
    const all = this.kept + text;
    try {
      this.secrets.search(all, text.length);
    } catch (error) {
      this.leak ??= error;
    }
    this.kept = all.length > this.keptMax ? all.slice(-this.keptMax) : all;
  }
}

/** The environment variables that say the same as settings. */
export function variablesOf(settings: Readonly<Record<string, string | number>>): Record<string, string> {
  const entries = Object.entries(settings);
  return Object.fromEntries(entries.map(([key, value]) => [`SERVICE_${key.toUpperCase()}`, String(value)]));
}

/** True while there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
