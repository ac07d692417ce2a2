/** Runs what is typed, and the parts of scripts: queries and `\` commands, with their results and errors written. */

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { AlthingError } from '@althing/client';
import { UsageError } from '../input.js';
import type { Io } from '../io.js';
import { messageOf } from '../system-error.js';
import { type CommandContext, type RoomWatch, runShellCommand } from './commands.js';
import { runCommand } from './pager.js';
import { scriptParts } from './script.js';
import { type Output, type Session, scopeIn } from './session.js';

const USAGE = 2;

export interface RunnerOptions {
  readonly session: Session;
  readonly output: Output;
  readonly io: Io;
  readonly rooms: RoomWatch;
  /** True if a script goes on behind an error. */
  readonly keepGoing: boolean;
}

/** The abilities of a runner on a terminal. */
export interface TerminalSide {
  /** Earlier inputs, the oldest first. */
  history(): readonly string[];
  /** Has the last query edited, and puts it into the prompt. */
  edit(): Promise<void>;
  /** Gives the terminal to what another program does. */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

export class Runner {
  readonly session: Session;
  readonly output: Output;
  /** Null for scripts. */
  terminal: TerminalSide | null = null;
  private depth = 0;

  constructor(private readonly options: RunnerOptions) {
    this.session = options.session;
    this.output = options.output;
  }

  /** Runs one input of the prompt: a command, a scope to change to, or a query. */
  async runInput(text: string, signal: AbortSignal): Promise<number | 'end'> {
    if (text.trim() === '') return 0;
    if (text.startsWith('\\')) return await this.runCommand(text, signal, '');
    const scope = scopeIn(text);
    if (scope !== null) {
      this.session.scope = scope;
      return 0;
    }
    return await this.runQuery(text, signal, '');
  }

  /**
   * Runs a script: the first error ends it, unless told to go on.
   *
   * @param name shown in front of the place of an error
   */
  async runScript(name: string, source: string, signal: AbortSignal): Promise<number | 'end'> {
    let worst = 0;
    const parts = scriptParts(source);
    for (const [i, { kind, text, line }] of parts.entries()) {
      // It has ended the query before it, which is sent once.
      if (text === '\\g' && parts[i - 1]?.kind === 'query') continue;
      const place = `${name}:${line}`;
      const code =
        kind === 'command'
          ? await this.runCommand(text, signal, place)
          : await this.runQuery(text, signal, name, line);
      if (code === 'end') return worst === 0 ? 'end' : worst;
      if (code !== 0 && !this.options.keepGoing) return code;
      worst = Math.max(worst, code);
    }
    return worst;
  }

  /** @throws {UsageError} for a file that can't be read */
  async runFile(path: string, signal: AbortSignal): Promise<number> {
    if (this.depth >= FILES_DEEP_MAX)
      throw new UsageError(`${path}: files run each other ${FILES_DEEP_MAX} deep`);
    let source: string;
    try {
      source = readFileSync(path, 'utf8');
    } catch (error) {
      throw new UsageError(`can't read ${path}: ${messageOf(error)}`);
    }
    this.depth += 1;
    try {
      const code = await this.runScript(path, source, signal);
      return code === 'end' ? 0 : code;
    } finally {
      this.depth -= 1;
    }
  }

  private async runQuery(code: string, signal: AbortSignal, name: string, line = 1): Promise<number> {
    try {
      const { value, ms } = await this.session.query(code, signal);
      await this.output.result(this.session.shown(value, this.output));
      if (this.session.settings.isTiming) await this.output.note(`${ms.toFixed(1)} ms`);
      return 0;
    } catch (error) {
      return await this.fail(error, code, name, line);
    }
  }

  private async runCommand(text: string, signal: AbortSignal, place: string): Promise<number | 'end'> {
    const { io, rooms } = this.options;
    const { terminal } = this;
    const context: CommandContext = {
      session: this.session,
      output: this.output,
      signal,
      rooms,
      edit: terminal === null ? null : () => terminal.edit(),
      history: terminal?.history() ?? [],
      runOutside: (command, input) => {
        const work = (): Promise<number> => runCommand(command, io, input);
        return terminal === null ? work() : terminal.outside(work);
      },
      runFile: (path) => this.runFile(path, signal),
      runQuery: (code) => this.runQuery(code, signal, ''),
      pause: (ms) => pause(ms, undefined, { signal }).catch(() => {}),
    };
    try {
      return await runShellCommand(text, context);
    } catch (error) {
      if (!(error instanceof UsageError)) return await this.fail(error, text, place, null);
      await this.output.note(`${place === '' ? '' : `${place}: `}${error.message}`);
      return USAGE;
    }
  }

  /**
   * Tells of an error.
   *
   * @param name of the script; empty for none
   * @param line of the script where the code begins; null where it is none of its lines
   */
  private async fail(error: unknown, code: string, name: string, line: number | null): Promise<number> {
    if (!(error instanceof AlthingError)) throw error;
    const failure = this.session.failure(error, code);
    const { place } = failure;
    const from = line === null ? '' : `:${line}`;
    const at = place === null || line === null ? from : `:${line + place.line - 1}:${place.column}`;
    await this.output.note(`${name === '' ? '' : `${name}${at}: `}${failure.text}`);
    if (failure.requestName !== null) {
      await this.output.note(`the name of the request, by which it may be repeated: ${failure.requestName}`);
    }
    return failure.exitCode;
  }
}

/** Files that run each other, one in the other. */
const FILES_DEEP_MAX = 20;
