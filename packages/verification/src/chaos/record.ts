/**
 * The file of a run: a line of JSON for each thing that happened. Times are milliseconds on the one monotonic clock of the
 * process that ran the clients.
 *
 *   {"kind": "run", ...Run}           the first line
 *   {"kind": "operation", ...}        what a client did; "end" is null if it never had an answer
 *   {"kind": "fault", ...Fault}       what was done to the cluster
 *   {"kind": "final", ...Final}       what a node holds of a collection in the end
 *   {"kind": "finding", "text": ...}  what was wrong at once: a process that ended by itself, say
 */
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { UsageError } from '../harness/usage.js';
import type { Operation } from '../simulation/history.js';

export interface Run {
  readonly seed: number;
  readonly nodes: number;
  readonly network: string;
  /** Version of Node.js. */
  readonly version: string;
}

export interface Fault {
  readonly name: string;
  readonly detail: string;
  readonly begin: number;
  readonly end: number;
}

export interface Final {
  readonly collection: string;
  readonly node: string;
  /** Answer to the query for all that the checks look at. */
  readonly data: unknown;
  /** Everything else that the collection holds, as text. */
  readonly rest: string;
}

export interface Record {
  readonly run: Run;
  readonly operations: readonly Operation[];
  readonly faults: readonly Fault[];
  readonly finals: readonly Final[];
  readonly findings: readonly string[];
}

/** A file of a record that can't be read or written. */
export class RecordError extends UsageError {}

export class Recorder {
  readonly operations: Operation[] = [];
  readonly faults: Fault[] = [];
  readonly finals: Final[] = [];
  readonly findings: string[] = [];
  private readonly file: WriteStream;
  /** Settles when all is written, or can't be. */
  private readonly finished: Promise<void>;

  constructor(
    path: string,
    readonly run: Run,
  ) {
    this.file = createWriteStream(path);
    this.finished = finished(this.file).catch((error: Error) => {
      throw new RecordError(`${path}: ${error.message}`);
    });
    // `close` reports it.
    this.finished.catch(() => {});
    this.write({ kind: 'run', ...run });
  }

  operation(operation: Operation): void {
    this.operations.push(operation);
    const end = Number.isFinite(operation.end) ? operation.end : null;
    this.write({ ...operation, ...{ kind: 'operation', end } });
  }

  fault(fault: Fault): void {
    this.faults.push(fault);
    this.write({ kind: 'fault', ...fault });
  }

  final(final: Final): void {
    this.finals.push(final);
    this.write({ kind: 'final', ...final });
  }

  finding(text: string): void {
    this.findings.push(text);
    this.write({ kind: 'finding', text });
  }

  /** @throws {RecordError} when the file could not be written */
  async close(): Promise<void> {
    this.file.end();
    await this.finished;
  }

  private write(line: object): void {
    this.file.write(`${JSON.stringify(line)}\n`);
  }
}

/**
 * Reads the file of a run, also of one that was cut short.
 *
 * @throws {RecordError}
 */
export async function readRecord(path: string): Promise<Record> {
  let run: Run | null = null;
  const operations: Operation[] = [];
  const faults: Fault[] = [];
  const finals: Final[] = [];
  const findings: string[] = [];
  let number = 0;
  for await (const text of linesOf(path)) {
    number += 1;
    // The shapes are those that `Recorder` wrote: a file of our own, which nobody else makes.
    const { kind, ...line } = parsed(text, `${path}:${number}`);
    if (kind === 'run') run = line as unknown as Run;
    else if (kind === 'operation') operations.push(operationOf(line));
    else if (kind === 'fault') faults.push(line as unknown as Fault);
    else if (kind === 'final') finals.push(line as unknown as Final);
    else if (kind === 'finding') findings.push(String(line.text));
    else throw new RecordError(`${path}:${number} is no line of the record of a run`);
  }
  if (run === null) throw new RecordError(`${path} is no record of a run`);
  return { run, operations, faults, finals, findings };
}

interface Line {
  readonly kind: string;
  readonly text?: unknown;
  readonly end?: unknown;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path) });
  } catch (error) {
    throw new RecordError(`${path} can't be read: ${(error as Error).message}`);
  }
}

function operationOf(line: Omit<Line, 'kind'>): Operation {
  return { ...(line as unknown as Operation), end: line.end === null ? Infinity : Number(line.end) };
}

function parsed(text: string, where: string): Line {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null && 'kind' in line) return line as Line;
  } catch {
    // Reported below.
  }
  throw new RecordError(`${where} is no line of the record of a run`);
}
