/**
 * The processor time that followers of changes cost a node: of one change with none, one and ten of them, in turns on one node; and how fast one
 * that was away is told what it missed.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@althing/client';
import { type RealNode, until } from '@althing/node/testing';
import { clientOf } from '../harness/client-of.js';
import { ADMIN, authorization } from '../harness/node-client.js';
import { startNode } from '../harness/start-node.js';
import { median, table } from '../harness/table.js';
import { inTurns } from './contest.js';
import { cpuTimeUs } from './cpu.js';
import { Load } from './load.js';
import { queryRequest } from './scenarios.js';

export interface FeedOptions {
  readonly rounds: number;
  /** The length of one measurement, in milliseconds. */
  readonly durationMs: number;
  readonly storage: string;
}

export interface FeedFigures {
  readonly rows: readonly {
    readonly followers: number;
    /** Processor time of the node for one change, in µs; undefined where the system does not tell. */
    readonly cpuUs: number | undefined;
  }[];
  /** Lines that one follower which comes back is told a second, and the processor time of the node for one. */
  readonly back: { readonly lines: number; readonly perS: number; readonly cpuUs: number | undefined };
  /** Changes that a follower was not told of. */
  readonly missing: number;
}

const FOLLOWERS = [0, 1, 10];
const CONNECTIONS = 16;
const CHANGES_MIN = 500;
const HEAT_MS = 2000;
const PATIENCE_MS = 30_000;
const LOGIN = authorization(ADMIN);
const SCOPE = '//stuff';

export async function benchFeed({ rounds, durationMs, storage }: FeedOptions): Promise<FeedFigures> {
  const node = await startNode({ storage });
  const db = clientOf(node.url, ADMIN, PATIENCE_MS);
  try {
    await db.$root.query("set_feed('stuff', {keep_mb: 4000});");
    await db.$scope(SCOPE).query("set_type('Order', {nr: 'int', status: 'str'}); .order = Order{}; nil;");
    const answer = await fetch(`${node.url}/@changes/stuff`, {
      headers: { accept: 'application/json', authorization: LOGIN },
    });
    const { at: start } = (await answer.json()) as { readonly at: string };
    await measured(node, 1, HEAT_MS);
    const found = FOLLOWERS.map((followers) => ({ followers, times: [] as number[] }));
    let missing = 0;
    await inTurns(found, rounds, async ({ followers, times }) => {
      const one = await measured(node, followers, durationMs);
      times.push(one.cpuUs);
      missing += one.missing;
    });
    const rows = found.map(({ followers, times }) => ({ followers, cpuUs: known(median(times)) }));
    return { rows, back: await cameBack(node, db, start), missing };
  } finally {
    await db.$close();
    await node.discard();
  }
}

export function feedText({ rows, back, missing }: FeedFigures): string {
  const none = rows[0]?.cpuUs;
  const us = (time: number | undefined): string => (time === undefined ? '-' : `${time.toFixed(1)} µs`);
  const ratio = (time: number | undefined): string =>
    time === undefined || none === undefined ? '-' : `${(time / none).toFixed(2)}`;
  return [
    table([
      ['followers', 'processor time of a change', 'of that with none'],
      ...rows.map(({ followers, cpuUs }) => [String(followers), us(cpuUs), ratio(cpuUs)]),
    ]),
    `one that was away for ${back.lines} changes is told ${Math.round(back.perS)} lines a second, ${us(back.cpuUs)} of processor time each`,
    `not told: ${missing}`,
  ].join('\n');
}

/** The processor time of one change with so many followers, all of them told, and what they were not told of. */
async function measured(
  node: RealNode,
  count: number,
  durationMs: number,
): Promise<{ readonly cpuUs: number; readonly missing: number }> {
  const followers = Array.from({ length: count }, () => new Follower(node.port, ''));
  await until(() => followers.every(({ hasBegun }) => hasBegun), 'all follow');
  const begun = cpuTimeUs([node.pid]) ?? Number.NaN;
  const load = new Load({ ports: [node.port], requests: REQUESTS, connections: CONNECTIONS });
  load.reset();
  await pause(durationMs);
  // On a busy machine there may be few by then.
  await until(() => load.result().answers >= CHANGES_MIN, 'there are enough changes');
  const { answers, lastError } = load.result();
  if (lastError !== undefined) throw new Error(lastError);
  load.stop();
  // Lines that are missing then are counted and told.
  await until(() => followers.every(({ lines }) => lines >= answers), 'all are told', PATIENCE_MS).catch(
    () => {},
  );
  const cpuUs = ((cpuTimeUs([node.pid]) ?? Number.NaN) - begun) / answers;
  const missing = followers.reduce((sum, { lines }) => sum + Math.max(0, answers - lines), 0);
  for (const follower of followers) follower.stop();
  return { cpuUs, missing };
}

/** The time until one that was away is told all changes behind a position. */
async function cameBack(node: RealNode, db: Database, since: string): Promise<FeedFigures['back']> {
  const [begun, time] = [cpuTimeUs([node.pid]) ?? Number.NaN, performance.now()];
  const follower = new Follower(node.port, `?since=${since}`);
  await db.$scope(SCOPE).query(".order.status = 'the last one';");
  await until(() => follower.isAtEnd, 'the follower has all');
  const elapsedMs = performance.now() - time;
  const cpuUs = known(((cpuTimeUs([node.pid]) ?? Number.NaN) - begun) / follower.lines);
  follower.stop();
  return { lines: follower.lines, perS: (1000 * follower.lines) / elapsedMs, cpuUs };
}

/** Takes lines as fast as they come, and counts those that tell of a change. */
class Follower {
  lines = 0;
  hasBegun = false;
  isAtEnd = false;
  private readonly socket: Socket;
  private open = '';

  constructor(port: number, query: string) {
    this.socket = connect({ host: '127.0.0.1', port });
    this.socket.write(
      `GET /@changes/stuff${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${LOGIN}\r\n\r\n`,
    );
    this.socket.setEncoding('latin1').on('data', (text: string) => this.take(text));
    this.socket.on('error', () => {});
  }

  stop(): void {
    this.socket.destroy();
  }

  private take(text: string): void {
    const lines = (this.open + text).split('\n');
    this.open = lines.pop() ?? '';
    for (const line of lines) {
      if (line.includes('"alive"')) this.hasBegun = true;
      else if (line.includes('"changes"')) this.lines += 1;
      if (line.includes('the last one')) this.isAtEnd = true;
    }
  }
}

const REQUESTS = Array.from({ length: 100 }, (_, nr) =>
  queryRequest(SCOPE, `.order.assign({nr: ${nr}, status: 'paid'});`, ADMIN),
);

function known(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : time;
}
