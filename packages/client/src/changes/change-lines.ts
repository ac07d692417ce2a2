/** The lines of a feed of changes, through whatever happens to nodes and connections. */
import { type AlthingError, ConnectionError } from '../errors/errors.js';
import { QueryError } from '../errors/query-errors.js';
import { parseJson } from '../wire/json.js';
import { isWireMap, type WireValue } from '../wire/value.js';

/** A line of a feed. */
export interface ChangeLine {
  /** The line as the node sent it. */
  readonly text: string;
  readonly value: ReadonlyMap<string, WireValue>;
  /** The position behind it. */
  readonly at: string;
  /** True if it tells of nothing but the position. */
  readonly isAlive: boolean;
}

/** The changes behind a position are not to be had any more, and no retry helps: begin anew with the present state. */
export class LostError extends Error {
  constructor(
    /** The position from which the log can be followed; null where it is not known. */
    readonly oldest: string | null,
  ) {
    super(`what follows that position is not to be had any more: begin anew (the log begins at ${oldest})`);
    this.name = 'LostError';
  }
}

export interface LinesOptions {
  readonly urls: readonly URL[];
  /** Asks a node for what follows a position; null: for what comes from now on. Throws `LostError`, `AlthingError`. */
  readonly open: (node: URL, since: string | null) => AsyncIterable<Uint8Array>;
  readonly since: string | null;
  readonly signal: AbortSignal;
  /** Called each time that a feed ends in vain, with how often that was since the last line; it may end all by throwing. */
  readonly onFailure: (error: AlthingError, failures: number) => void | Promise<void>;
}

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5000;

/**
 * Yields all lines behind a position, each at least once and in order: when a node goes, or asks to be left, the next one is asked from the
 * last position on. Ends when the signal comes.
 *
 * @throws {LostError}
 * @throws {AlthingError} when a node refuses the feed
 */
export async function* changeLines(options: LinesOptions): AsyncGenerator<ChangeLine, void, undefined> {
  const { urls, signal } = options;
  let position = options.since;
  let failures = 0;
  for (let turn = 0; !signal.aborted; turn++) {
    const node = urls[turn % urls.length];
    if (node === undefined) throw new RangeError('a feed needs the URL of a node');
    try {
      for await (const text of linesIn(options.open(node, position))) {
        const line = lineOf(text);
        if (line === null) break;
        position = line.at;
        failures = 0;
        yield line;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      await options.onFailure(error, failures + 1);
    }
    failures += 1;
    if (failures >= urls.length)
      await pause(Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (failures - urls.length)), signal);
  }
}

/** True if another node may do what one could not: it is gone, or can not do it now. */
function isPassing(error: unknown): error is AlthingError {
  if (error instanceof QueryError) return error.code === NODE_ERR || error.outcome === 'unknown';
  return error instanceof Error && 'outcome' in error;
}

/** The code of `node_err`: no node could do it now. */
const NODE_ERR = -51;

/**
 * Reads a line; null when the node tells no more: who asks again hears why.
 *
 * @throws {LostError}
 */
function lineOf(text: string): ChangeLine | null {
  const value = read(text);
  const at = value?.get('at');
  if (value !== null && typeof at === 'string')
    return { text, value, at, isAlive: value.get('alive') === true };
  if (value?.get('lost') === true) throw lostIn(text);
  if (value?.has('ended') === true) return null;
  throw new ConnectionError(`this is no line of a feed: ${text.slice(0, 200)}`);
}

/** The error in the body of an answer 410, or in a line. */
export function lostIn(text: string): LostError {
  const oldest = read(text)?.get('oldest');
  return new LostError(typeof oldest === 'string' ? oldest : null);
}

function read(text: string): ReadonlyMap<string, WireValue> | null {
  try {
    const value = parseJson(text);
    return isWireMap(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whole lines: what the end of a connection cut comes again with the next one. */
async function* linesIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for await (const piece of bytes) {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n');
    parts.push(first);
    for (const next of others) {
      const line = parts.join('');
      parts = [next];
      if (line !== '') yield line;
    }
  }
}

/** Ends early when the signal comes. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
