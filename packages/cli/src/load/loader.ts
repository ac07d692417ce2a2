/** Brings rows into a collection, step by step: each step makes its rows and notes how far the load is in one change. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  BadDataErr,
  isWireList,
  isWireMap,
  MaxQuotaErr,
  OperationErr,
  OverflowErr,
  QueryError,
  TypeErr,
  ValueErr,
  type WireValue,
} from '@althing/client';
import type { Connection } from '../connection.js';
import { runQuery } from '../connection.js';
import { CommandError } from '../input.js';
import { messageOf } from '../system-error.js';
import { type Field, fittingJson, fittingText } from './fields.js';
import { codeOf, type LoadPlan } from './plan.js';
import type { RowFormat, RowSource, SourceRow } from './source.js';

/** Rows and characters of one step at most. */
const ROWS_MAX = 2000;
const LENGTH_MAX = 400 * 1024;
const ROWS_FIRST = 100;

/** Milliseconds that the code of a step may run, so that nobody else waits for long. */
const STEP_MS = 7;

export interface LoaderOptions {
  readonly connection: Connection;
  readonly scope: string;
  readonly plan: LoadPlan;
  readonly format: RowFormat;
  readonly fields: ReadonlyMap<string, Field>;
  readonly name: string;
  /** The digest that tells the source and the plan from others. */
  readonly source: string;
  /** Rows that may be refused. */
  readonly errorsMax: number;
  /** Rows in a second at most; null for as many as come. */
  readonly rate: number | null;
  readonly isTrial: boolean;
  /** Called with each row that is refused. The next run calls it with the last ones again, since the one before may have ended in between. */
  readonly refused: (row: SourceRow, why: string, isAgain: boolean) => Promise<void>;
  readonly signal: AbortSignal;
}

/** The result of a load. */
export interface LoadSummary {
  readonly made: number;
  readonly refused: number;
  readonly skipped: number;
  /** Rows that an earlier run did. */
  readonly before: number;
}

/** Some rows in a row. */
interface Step {
  readonly rows: readonly SourceRow[];
  /** As they are sent: nil for one that can't be read. */
  readonly values: readonly WireValue[];
  /** Why those can't be read, by their places. */
  readonly unread: ReadonlyMap<number, string>;
}

interface StepAnswer {
  /** Their places in the step, and why. */
  readonly refused: readonly (readonly [number, string])[];
  readonly skipped: number;
  /** Milliseconds that the code ran: the rest of the answer's time is the disk's, and keeps nobody waiting. */
  readonly ms: number;
}

export class Loader {
  private readonly code: string;
  private made = 0;
  private refusedCount = 0;
  private skipped = 0;
  private rowsOfStep = ROWS_FIRST;
  private begunAt = 0;
  /** Rows that are done, in all. */
  private place = 0;
  private readonly columns: ReadonlyMap<string, readonly string[]>;

  constructor(private readonly options: LoaderOptions) {
    this.code = codeOf(options.plan, options.isTrial);
    this.columns = propertiesByColumn(options.plan);
  }

  /**
   * Brings all rows that are not done yet.
   *
   * @throws CommandError; AlthingError
   */
  async run({ rows }: RowSource): Promise<LoadSummary> {
    const { signal } = this.options;
    const before = await this.begin();
    let left = before.rows;
    let waiting: SourceRow[] = [];
    let length = 0;
    // The next step is made ready while this one is under way.
    let underWay: Promise<void> = Promise.resolve();
    const begin = async (): Promise<void> => {
      const step = this.stepOf(waiting);
      waiting = [];
      length = 0;
      await underWay;
      underWay = this.carryOut(step);
      // Its error comes where it is waited for.
      underWay.catch(() => {});
    };
    this.begunAt = performance.now();
    try {
      for await (const some of rows) {
        for (const row of some) {
          if (left > 0) {
            if (before.lastRefused.has(before.rows - left))
              await this.options.refused(row, 'refused by the run before', true);
            left -= 1;
            continue;
          }
          waiting.push(row);
          length += row.raw.length;
          if (waiting.length < this.rowsOfStep && length < LENGTH_MAX) continue;
          await begin();
          if (!signal.aborted) continue;
          await underWay;
          return this.summary(before.rows);
        }
      }
    } finally {
      await underWay.catch(() => {});
    }
    if (left > 0)
      throw new CommandError(
        `the load '${this.options.name}' is at row ${before.rows}, and the file ends before`,
      );
    if (waiting.length > 0) await begin();
    await underWay;
    return this.summary(before.rows);
  }

  private summary(before: number): LoadSummary {
    const { made, refusedCount: refused, skipped } = this;
    return { made, refused, skipped, before };
  }

  /** The progress of the load. */
  private async begin(): Promise<{ readonly rows: number; readonly lastRefused: ReadonlySet<number> }> {
    const { connection, scope, name, source, isTrial } = this.options;
    const none = { rows: 0, lastRefused: new Set<number>() };
    if (isTrial) return none;
    const info = await runQuery(connection, scope, 'return load_info(name), 2;', { name });
    if (!isWireMap(info)) return none;
    if (info.get('source') !== source)
      throw new CommandError(
        `the load '${name}' is of another file, or another plan: give this one another name (--id)`,
      );
    this.place = Number(info.get('rows'));
    const last = info.get('last_refused');
    return { rows: this.place, lastRefused: new Set(isWireList(last) ? last.map(Number) : []) };
  }

  private stepOf(rows: readonly SourceRow[]): Step {
    const unread = new Map<number, string>();
    const values = rows.map((row, place): WireValue => {
      try {
        if (row.values === null) throw new Error(row.why);
        return this.valuesOf(row.values);
      } catch (error) {
        unread.set(place, messageOf(error));
        return null;
      }
    });
    return { rows, values, unread };
  }

  private async carryOut(step: Step): Promise<void> {
    const { errorsMax, rate, signal } = this.options;
    const { rows, unread } = step;
    const allowed = errorsMax - this.refusedCount;
    let answer: StepAnswer;
    try {
      answer = await this.send(step.values, allowed);
    } catch (error) {
      if (!isOfUnknownRow(error, step)) throw this.explained(error, rows, unread);
      for (const part of partsOf(step, error.message)) await this.carryOut(part);
      return;
    }
    for (const [place, why] of answer.refused) {
      const row = rows[place];
      if (row !== undefined) await this.options.refused(row, unread.get(place) ?? why, false);
    }
    this.refusedCount += answer.refused.length;
    this.skipped += answer.skipped;
    this.made += rows.length - answer.refused.length - answer.skipped;
    this.place += rows.length;
    const fitting = Math.round((rows.length * STEP_MS) / Math.max(answer.ms, 1));
    this.rowsOfStep = Math.max(20, Math.min(ROWS_MAX, fitting, 2 * this.rowsOfStep));
    if (rate === null) return;
    this.rowsOfStep = Math.min(this.rowsOfStep, Math.max(1, Math.ceil(rate / 10)));
    const done = this.made + this.refusedCount + this.skipped;
    const ahead = (done / rate) * 1000 - (performance.now() - this.begunAt);
    if (ahead > 0) await pause(ahead, undefined, { signal }).catch(() => {});
  }

  private async send(rows: readonly WireValue[], allowed: number): Promise<StepAnswer> {
    const { connection, scope, name, source, isTrial } = this.options;
    const vars = { rows, from: BigInt(this.place), allowed: BigInt(allowed), name, source };
    const where = connection.db.$scope(scope);
    const answer = isTrial
      ? (await where.with({ dryRun: true }).query<WireValue>(this.code, vars)).result
      : await where.query<WireValue>(this.code, vars);
    const [refused, skipped, seconds] = isWireList(answer) ? answer : [];
    return {
      refused: (isWireList(refused) ? refused : []).map((pair) => {
        const [place, why] = isWireList(pair) ? pair : [];
        return [Number(place), String(why)] as const;
      }),
      skipped: Number(skipped ?? 0),
      ms: Number(seconds ?? 0) * 1000,
    };
  }

  /** The error of a step that made nothing, with the line in the file. */
  private explained(
    error: unknown,
    rows: readonly SourceRow[],
    unread: ReadonlyMap<number, string>,
  ): unknown {
    const [, number, why = ''] = error instanceof QueryError ? (ROW_ERROR.exec(error.message) ?? []) : [];
    if (number === undefined) return error;
    const place = Number(number) - this.place;
    const line = rows[place]?.line ?? 0;
    return new CommandError(
      `line ${line}: ${unread.get(place) ?? why}; ${this.place} rows are done, and this step made none (--errors allows some to be refused)`,
    );
  }

  private valuesOf(columns: ReadonlyMap<string, WireValue>): ReadonlyMap<string, WireValue> {
    const { fields, format } = this.options;
    const values = new Map<string, WireValue>();
    for (const [column, given] of columns) {
      // The id that the thing had where it comes from.
      if (column === '#') continue;
      for (const property of this.columns.get(column) ?? [column]) {
        const field = fields.get(property);
        if (format === 'jsonl') values.set(property, fittingJson(given, field));
        else if (typeof given === 'string') values.set(property, fittingText(given, field));
        else if (field?.isNillable === true) values.set(property, null);
      }
    }
    return values;
  }
}

/** An error of the code of a step, which knows the row. */
const ROW_ERROR = /^row (\d+): (.*)$/s;

/**
 * True if an error is likely that of a row, without saying which: the node could not take the values in, as an integer beyond 64 bits, or
 * could not keep what was made of them.
 */
function isOfUnknownRow(error: unknown, { values }: Step): error is QueryError {
  const isOfValues = VALUE_ERRORS.some((kind) => error instanceof kind);
  return isOfValues && !ROW_ERROR.test(messageOf(error)) && values.some((value) => value !== null);
}

const VALUE_ERRORS = [BadDataErr, MaxQuotaErr, OperationErr, OverflowErr, TypeErr, ValueErr];

/** The halves of a step in which some row can't be taken in; a row that is alone can't be read. */
function partsOf({ rows, values, unread }: Step, why: string): readonly Step[] {
  if (rows.length === 1) return [{ rows, values: [null], unread: new Map([[0, why]]) }];
  const part = (from: number, to: number): Step => ({
    rows: rows.slice(from, to),
    values: values.slice(from, to),
    unread: new Map([...unread].map(([place, reason]) => [place - from, reason])),
  });
  const middle = rows.length >> 1;
  return [part(0, middle), part(middle, rows.length)];
}

/** The properties that each column becomes, where that is not one of the same name; none for one that is left out. */
function propertiesByColumn({ mappings }: LoadPlan): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  for (const mapping of mappings) {
    if (mapping.kind === 'none') columns.set(mapping.property, []);
    else columns.set(mapping.column, [...(columns.get(mapping.column) ?? []), mapping.property]);
  }
  return columns;
}
