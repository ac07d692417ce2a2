/**
 * The feed of changes of a collection, for Node.js and browsers: an entry of its own, which the client itself does not load.
 *
 * @example
 * import { changes } from '@althing/client/changes';
 *
 * for await (const { at, steps } of changes('http://127.0.0.1:9210', '//stuff', { token, since: position })) apply(steps, at);
 */
import type { Credentials } from '../api/options.js';
import { ConnectionError, ProtocolError } from '../errors/errors.js';
import { queryErrorOf } from '../errors/query-errors.js';
import { authorizationOf } from '../request/login.js';
import { scopeOf } from '../scope.js';
import { httpPath } from '../transport/http-message.js';
import { plainMap, plainValue, type Value } from '../values/from-wire.js';
import { parseJson } from '../wire/json.js';
import { isWireList, isWireMap } from '../wire/value.js';
import { changeLines, LostError, lostIn } from './change-lines.js';

export { type ChangeLine, changeLines, type LinesOptions, LostError, lostIn } from './change-lines.js';

export type ChangesOptions = Credentials & {
  /** The position behind which the feed begins; without one it begins with what comes from now on. */
  readonly since?: string | null | undefined;
  /** Only things of these types. */
  readonly types?: readonly string[] | undefined;
  /** Only these things. */
  readonly ids?: readonly number[] | undefined;
  /** Things whole, as they are, in place of what was done to them. */
  readonly things?: boolean | undefined;
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a node goes, or can not tell now; the feed goes on by itself. */
  readonly onInterrupted?: ((error: Error) => void) | undefined;
};

/** A committed change, or where the feed stands while nothing happens: `steps` is empty then. */
export interface CommittedChange {
  /** The position behind it: keep it with what you made of the change, in one transaction. */
  readonly at: string;
  /** Milliseconds since 1970; null where nothing happened. */
  readonly time: number | null;
  readonly user: string | null;
  /** The steps, as `docs/feed.md` lists them. Ints beyond 2^53 are bigints. */
  readonly steps: readonly ChangeStep[];
}

export interface ChangeStep {
  readonly op: string;
  readonly [name: string]: Value;
}

/**
 * Follows a collection through kills of nodes and broken connections: yields each committed change behind a position at least once, and
 * in order. Ends when the signal comes, or when nobody asks for the next one.
 *
 * @throws {LostError} where what follows the position is not to be had any more
 * @throws {QueryError} where the collection may not be read, or is not there
 */
export async function* changes(
  urls: string | URL | readonly (string | URL)[],
  scope: string,
  options: ChangesOptions,
): AsyncGenerator<CommittedChange, void, undefined> {
  const { collection } = scopeOf(scope);
  if (collection === null) throw new RangeError(`${scope} is no collection`);
  const nodes = (Array.isArray(urls) ? urls : [urls]).map((url: string | URL) => new URL(url));
  const stop = new AbortController();
  const given = options.signal ?? stop.signal;
  const signal = AbortSignal.any([given, stop.signal]);
  const lines = changeLines({
    urls: nodes,
    open: (node, since) => received(node, pathOf(collection, since, options), options, signal),
    since: options.since ?? null,
    signal,
    onFailure: (error, failures) => {
      if (failures === 1) options.onInterrupted?.(error);
    },
  });
  try {
    for await (const { at, value } of lines) {
      const [time, user, steps] = [value.get('time'), value.get('user'), value.get('changes')];
      yield {
        at,
        time: typeof time === 'bigint' ? Number(time) : null,
        user: typeof user === 'string' ? user : null,
        steps: isWireList(steps) ? steps.filter(isWireMap).map(stepOf) : [],
      };
    }
  } finally {
    stop.abort();
  }
}

function stepOf(step: Parameters<typeof plainMap>[0]): ChangeStep {
  return { ...plainMap(step, 'auto'), op: String(plainValue(step.get('op') ?? null, 'auto')) };
}

function pathOf(collection: string, since: string | null, { types, ids, things }: ChangesOptions): string {
  const query = new URLSearchParams();
  if (since !== null) query.set('since', since);
  if (types !== undefined) query.set('types', types.join());
  if (ids !== undefined) query.set('ids', ids.join());
  if (things === true) query.set('things', '1');
  return `/@changes/${encodeURIComponent(collection)}?${query}`;
}

/** Longest time without a byte: nodes say each 5 seconds where a feed stands. */
const SILENCE_MS = 20_000;

/** The bytes of an answer. */
async function* received(
  node: URL,
  path: string,
  credentials: Credentials,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), SILENCE_MS);
  try {
    const request = {
      headers: { Accept: 'application/x-ndjson', Authorization: authorizationOf(credentials) },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.any([signal, stop.signal]),
    } as const;
    const response = await fetch(node.origin + httpPath(node, path), request);
    if (response.status !== 200) throw refusalOf(response.status, await response.text());
    const reader = response.body?.getReader();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), SILENCE_MS);
      yield piece.value;
    }
  } catch (error) {
    if (error instanceof LostError || (error instanceof Error && 'outcome' in error)) throw error;
    throw new ConnectionError(`${node.origin} can't be reached, or said nothing for too long`, error);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function refusalOf(status: number, text: string): Error {
  if (status === 410) return lostIn(text);
  try {
    const answer = parseJson(text);
    const error = isWireMap(answer) ? answer.get('error') : null;
    if (isWireMap(error)) {
      const { code, message } = plainMap(error, 'auto');
      const unknown = { at: null, procedure: null, calls: [], detail: null, requestId: null, node: null };
      return queryErrorOf({ code: Number(code), message: String(message), outcome: 'none', ...unknown });
    }
  } catch {
    // A proxy in front answered: its status says what there is to say.
  }
  return new ProtocolError(`HTTP status ${status}, and no error of a node: ${text.slice(0, 200)}`);
}
