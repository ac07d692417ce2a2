/** A feed of changes, through whatever happens to nodes and connections. */
import { AlthingError, ConnectionError, isWireMap, parseJson, type WireValue } from '@althing/client';
import { type Connection, exitCodeOf } from '../connection.js';
import { Exit } from '../exit-codes.js';
import { GoneError, receive } from '../transfer.js';

/** A line of a feed. */
export interface FeedLine {
  /** The line as the node sent it. */
  readonly text: string;
  /** The position behind it. */
  readonly at: string;
  /** Whether it tells of nothing but the position. */
  readonly isAlive: boolean;
}

/** The feed can't go on, and no retry helps. */
export class FeedError extends Error {}

export interface FeedOptions {
  /** A path with the position in it; without one the feed begins with what comes from now on. */
  readonly pathFrom: (position: string | null) => string;
  readonly since: string | null;
  readonly signal: AbortSignal;
  /** Waits before the next node is asked; ends early when the signal comes. */
  readonly pause: (ms: number) => Promise<void>;
  /** Called once each time that the feed stands still. */
  readonly onInterrupted: (error: AlthingError) => Promise<void>;
}

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5000;

/**
 * Yields all lines behind a position, each at least once and in order: when a node goes, or asks to be left, the next one is asked from the
 * last position on. Ends when the signal comes.
 *
 * @throws {FeedError} when every node has lost the position
 * @throws {AlthingError} when the feed never began, or a node refuses it
 */
export async function* changeFeed(
  connection: Connection,
  options: FeedOptions,
): AsyncGenerator<FeedLine, void, undefined> {
  const { pathFrom, signal, pause, onInterrupted } = options;
  const { urls } = connection;
  let position = options.since;
  let hasBegun = false;
  /** Nodes that were asked in vain since the last line. */
  let failures = 0;
  const losers = new Set<string>();
  for (let turn = 0; !signal.aborted; turn++) {
    const node = urls.slice(turn % urls.length, (turn % urls.length) + 1);
    try {
      const bytes = await receive({ ...connection, urls: node }, pathFrom(position), signal, 'GET');
      for await (const text of linesIn(bytes)) {
        const line = lineOf(text);
        if (line === null) break;
        position = line.at;
        hasBegun = true;
        failures = 0;
        losers.clear();
        yield line;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof GoneError) {
        losers.add(node.join());
        if (losers.size < urls.length) continue;
        throw new FeedError(
          `what follows the position ${position} is not to be had any more (${error.message})`,
        );
      }
      const isPassing = error instanceof AlthingError && exitCodeOf(error) !== Exit.Failed;
      if (!isPassing || (!hasBegun && failures + 1 >= urls.length)) throw error;
      if (failures === 0) await onInterrupted(error);
    }
    failures += 1;
    if (failures >= urls.length)
      await pause(Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (failures - urls.length)));
  }
}

/**
 * Reads a line; null when the node tells no more: who asks again hears why.
 *
 * @throws {GoneError} when the node has lost the position
 */
function lineOf(text: string): FeedLine | null {
  const value = read(text);
  const at = value?.get('at');
  if (value !== null && typeof at === 'string') return { text, at, isAlive: value.get('alive') === true };
  if (value?.get('lost') === true) throw new GoneError(text);
  if (value?.has('ended') === true) return null;
  throw new ConnectionError(`this is no line of a feed: ${text.slice(0, 200)}`);
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
