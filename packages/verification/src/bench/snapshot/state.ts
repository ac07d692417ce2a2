/**
 * The state that is sent: half of its bytes are files of 64 kB, the other half things of some 500 bytes, as data has both large
 * and small records. The files are random bytes.
 */
import { randomBytes } from 'node:crypto';
import type { Database, WireValue } from '@althing/client';
import { until } from '@althing/node/testing';
import { clientOf } from '../../harness/client-of.js';
import type { Credentials } from '../../harness/node-client.js';
import { Load } from '../load.js';
import { queryRequest } from '../scenarios.js';

export const SCOPE = '//state';
export const READ = '.counter;';
export const WRITE = '.counter += 1;';

const MEGABYTE = 1_000_000;
const FILE_BYTES = 64_000;
const FILES_PER_QUERY = 32;
/** About what a small thing takes as a record: its text, its other properties, and what the store adds. */
const THING_BYTES = 500;
const TEXT_LENGTH = 440;
const THINGS_PER_QUERY = 4000;
/** More than the entries that a leader keeps behind a checkpoint. */
const SMALL_WRITES = 12_000;
const CUT_MS = 600_000;
const CONNECTIONS = 64;
/** Longest wait for a query, in milliseconds. */
const TIMEOUT_MS = 60_000;

const TEXTS = Array.from('abcdefghij', (letter) => letter.repeat(TEXT_LENGTH));
const THINGS = 'range(from, to).each(|i| .things.push({n: i, name: `thing {i}`, text: texts[i % 10]})); nil;';
const FILES = 'files.each(|data| .files.push({data: data})); nil;';

/** The number of records of each kind in a state of so many bytes. */
export function shapeOf(megabytes: number): { readonly files: number; readonly things: number } {
  const half = (megabytes * MEGABYTE) / 2;
  return { files: Math.ceil(half / FILE_BYTES), things: Math.ceil(half / THING_BYTES) };
}

export type Query = (
  code: string,
  vars?: Readonly<Record<string, WireValue>>,
  scope?: string,
) => Promise<WireValue>;

/** Runs queries at a node. */
export function queryAt(db: Database): Query {
  return (code, vars = {}, scope = SCOPE) => db.$scope(scope).query<WireValue>(code, vars);
}

/** Makes the state at a node. */
export async function fill(url: string, as: Credentials, megabytes: number): Promise<void> {
  const db = clientOf(url, as, TIMEOUT_MS);
  const query = queryAt(db);
  const { files, things } = shapeOf(megabytes);
  try {
    await query("new_collection('state');", {}, '@thingsdb');
    await query('.counter = 0; .files = []; .things = [];');
    const work: (() => Promise<unknown>)[] = [];
    for (let from = 0; from < things; from += THINGS_PER_QUERY) {
      const to = Math.min(things, from + THINGS_PER_QUERY);
      work.push(() => query(THINGS, { from: BigInt(from), to: BigInt(to), texts: TEXTS }));
    }
    for (let from = 0; from < files; from += FILES_PER_QUERY) {
      const count = Math.min(files - from, FILES_PER_QUERY);
      work.push(() => query(FILES, { files: Array.from({ length: count }, () => randomBytes(FILE_BYTES)) }));
    }
    // Two at a time: the engine has the next one while the log is written.
    await Promise.all([0, 1].map(() => eachOf(work)));
  } finally {
    await db.$close();
  }
}

/** Makes so many small changes that the leader has cut off its log all that the state was filled with. */
export async function cutLog(port: number, as: Credentials): Promise<void> {
  const requests = [queryRequest(SCOPE, WRITE, as)];
  const load = new Load({ ports: [port], requests, connections: CONNECTIONS });
  load.reset();
  try {
    const isOver = (): boolean => load.result().errors > 0 || load.result().answers >= SMALL_WRITES;
    await until(isOver, 'the log is cut', CUT_MS);
    const { errors, lastError } = load.result();
    if (errors > 0) throw new Error(`small writes failed: ${lastError}`);
  } finally {
    load.stop();
  }
}

async function eachOf(work: (() => Promise<unknown>)[]): Promise<void> {
  for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
}
