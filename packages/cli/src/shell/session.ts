/** The state of a shell: scope, variables, settings. It runs queries, and knows no terminal. */
import {
  type CallOptions,
  type Database,
  type DryRun,
  parseJson,
  WireError,
  type WireValue,
} from '@althing/client';
import { tokenize } from '@althing/language';
import { tryOut } from '../dry-run.js';
import { UsageError } from '../input.js';
import { type Failure, failureOf } from './failure.js';
import { formatValue, type OutputFormat } from './output.js';
import type { Paint } from './style.js';

/** Where a shell writes. */
export interface Output {
  /** A result: what a script reads. */
  result(text: string): Promise<void>;
  /** Everything else: errors, notes, times. */
  note(text: string): Promise<void>;
  /** Cells of a row; results are laid out for that. */
  readonly width: number;
  readonly paint: Paint;
}

export interface SessionSettings {
  format: OutputFormat;
  isTiming: boolean;
  isStale: boolean;
  isReadOnly: boolean;
}

export interface Ran {
  readonly value: WireValue;
  readonly ms: number;
}

export class Session {
  readonly settings: SessionSettings;
  readonly variables = new Map<string, WireValue>();
  /** The result of the last query: `_` in the next. */
  last: WireValue = null;
  /** The text of the last query. */
  lastQuery = '';

  constructor(
    readonly db: Database,
    /** As people write it: `//stuff`, `@thingsdb`, `@node`. */
    public scope: string,
    settings: Partial<SessionSettings>,
  ) {
    this.settings = { format: 'auto', isTiming: false, isStale: false, isReadOnly: false, ...settings };
  }

  /**
   * Runs a query in the scope, with the variables that it names.
   *
   * @throws {AlthingError}
   */
  async query(code: string, signal?: AbortSignal): Promise<Ran> {
    const began = performance.now();
    const value = await this.ask(this.scope, code, this.variablesOf(code), signal);
    this.last = value;
    this.lastQuery = code;
    return { value, ms: performance.now() - began };
  }

  /** Runs a query of the shell's own in any scope. @throws {AlthingError} */
  async ask(
    scope: string,
    code: string,
    vars: ReadonlyMap<string, WireValue> = new Map(),
    signal?: AbortSignal,
  ): Promise<WireValue> {
    return await this.db.$scope(scope).with(this.options(signal)).query<WireValue>(code, vars);
  }

  /** Tries a query out in the scope, with the variables that it names: the map of its result and its changes. @throws {AlthingError} */
  async tryOut(code: string, signal?: AbortSignal): Promise<ReadonlyMap<string, WireValue>> {
    return await tryOut(this.db, this.scope, code, this.variablesOf(code), this.options(signal));
  }

  /** Tries a query out in the scope, and tells what each statement takes. @throws {AlthingError} */
  async explain(code: string, signal?: AbortSignal): Promise<DryRun<unknown>> {
    const trials = this.db.$scope(this.scope).with({ ...this.options(signal), dryRun: 'explain' });
    return await trials.query(code, this.variablesOf(code));
  }

  shown(value: WireValue, output: Output): string {
    return formatValue(value, this.settings.format, output);
  }

  /** Gives a variable a value, written as JSON, or as a word that stands for itself. */
  set(name: string, text: string): void {
    if (!VARIABLE.test(name)) throw new UsageError(`${JSON.stringify(name)} is no name of a variable`);
    try {
      this.variables.set(name, parseJson(text));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (!/^[\w .@:/+-]+$/.test(text)) throw new UsageError(`the value is no JSON: ${error.message}`);
      this.variables.set(name, text);
    }
  }

  failure(error: unknown, code: string): Failure {
    return failureOf(error, code);
  }

  private options(signal: AbortSignal | undefined): CallOptions {
    const { isStale, isReadOnly } = this.settings;
    return {
      exact: true,
      signal,
      readOnly: isReadOnly,
      consistency: isStale ? 'stale' : 'linearizable',
    };
  }

  private variablesOf(code: string): Map<string, WireValue> {
    const named = new Set(
      tokenize(code)
        .tokens.filter(({ kind }) => kind === 'name' || kind === 'call')
        .map(({ start, end }) => code.slice(start, end)),
    );
    const vars = new Map([...this.variables].filter(([name]) => named.has(name)));
    if (named.has('_') && !vars.has('_')) vars.set('_', this.last);
    return vars;
  }
}

const VARIABLE = /^[A-Za-z_][A-Za-z_0-9]*$/;

/** A line that is a scope and nothing else changes to it, as in ThingsDB's prompt. */
export function scopeIn(line: string): string | null {
  return /^\s*(@[a-z]\S*|@:\S+|\/\/\S+|\/(?:t|n|thingsdb|node)(?:\/\S*)?)\s*$/.exec(line)?.[1] ?? null;
}
