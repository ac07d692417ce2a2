/**
 * A large state on its way to a follower that has nothing: three real nodes. The first is alone when it is filled, and is started
 * again, so that it holds nothing of the state in memory. The second joins while nobody asks anything; the third while
 * clients write and read at the other two, and again with an empty folder in its place, as often as is wanted.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RealNode, SERVE, until } from '@althing/node/testing';
import { clientOf } from '../../harness/client-of.js';
import { ADMIN } from '../../harness/node-client.js';
import { probe } from '../../harness/probe.js';
import { type MemberPlace, type NodeOptions, newPlace, startNode } from '../../harness/start-node.js';
import { type Asked, Clients } from '../clients.js';
import { measuredTimeUs } from '../cpu.js';
import { commandOf } from '../requests.js';
import { cutLog, fill, queryAt, READ, SCOPE, WRITE } from './state.js';

export interface SnapshotBenchOptions {
  /** Folder of another built checkout whose nodes are measured in place of this one's; undefined for this one. */
  readonly of: string | undefined;
  readonly megabytes: number;
  /** Transfers while clients write and read. */
  readonly rounds: number;
  /** Writes, and reads, at each of two nodes a second. */
  readonly perS: number;
  /** Time that the clients are watched before the first of them. */
  readonly calmMs: number;
  readonly storage: string;
  /** Folder for profiles of all threads of the nodes, from their last start on; undefined for none. */
  readonly profile: string | undefined;
  readonly progress: (text: string) => void;
}

export interface SnapshotFigures {
  readonly megabytes: number;
  readonly fillMs: number;
  /** Waits of the clients while no state was sent. */
  readonly calm: readonly Asked[];
  /** The first one while there were no clients. */
  readonly transfers: readonly Transfer[];
}

/** A state that was sent. */
export interface Transfer {
  /** Time from the start of the process until it was ready. */
  readonly readyMs: number;
  /** Time from the first to the last chunk that came, as the follower's metrics tell, to about 300 ms. */
  readonly transferMs: number;
  /** Bytes of chunks. */
  readonly bytes: number;
  /** Processor time of all threads in that time: of the leader, of the other follower if there is one, and of this follower. */
  readonly cpuMs: readonly number[];
  /** Most memory of leader and follower so far. */
  readonly peakMb: readonly [leader: number, follower: number];
  /** Waits of the clients meanwhile; empty when there were none. */
  readonly noticed: readonly Asked[];
}

/** Time between two looks at the metrics of a node. */
const LOOK_MS = 300;
/** Time that a node may take to write what it was filled with to its state. */
const STORED_MS = 60_000;
/** A follower that was sent less than this share of the state was sent the log. */
const SHARE_MIN = 0.8;
/** Time that a member must be away before an empty node takes its place, in milliseconds. */
const REPLACE_AFTER_MS = '1000';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @throws {Error} when the follower was not sent the state, or the system does not tell processor time */
export async function benchSnapshot(options: SnapshotBenchOptions): Promise<SnapshotFigures> {
  const { of, storage, profile } = options;
  const [program, ...args] = of === undefined ? [process.execPath, ...SERVE.slice(1)] : commandOf(of);
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`];
  const places = [await newPlace(storage), await newPlace(storage), await newPlace(storage)] as const;
  const cluster = new Members(places, [program, ...flags, ...args]);
  const interrupted = (signal: NodeJS.Signals): void => {
    // A second signal is not waited for either.
    void cluster.discard().finally(() => process.exit(signal === 'SIGINT' ? 130 : 1));
  };
  for (const signal of SIGNALS) process.once(signal, interrupted);
  try {
    const figures = await measure(cluster, options);
    if (profile !== undefined) await cluster.stop();
    return figures;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    await cluster.discard();
  }
}

/** Nodes that are started one by one: the first founds a cluster, and the others join it. */
class Members {
  readonly nodes: RealNode[] = [];
  readonly #secret = randomBytes(16).toString('hex');
  #isDiscarded = false;

  constructor(
    readonly places: readonly [MemberPlace, ...MemberPlace[]],
    private readonly command: NodeOptions['command'],
  ) {}

  /** Starts a node with the data that it has, and waits until it is ready. */
  async start(at: number): Promise<RealNode> {
    const place = this.places[at] ?? this.places[0];
    const settings = {
      node_name: '127.0.0.1',
      cluster: at === 0 ? '' : `127.0.0.1:${this.places[0].nodePort}`,
      cluster_secret: this.#secret,
      replace_after_ms: REPLACE_AFTER_MS,
      drain_delay_ms: '0',
    };
    const node = await startNode({ settings, place, command: this.command });
    this.nodes[at] = node;
    if (this.#isDiscarded) await this.discard();
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  /** Ends all nodes, also one that is about to start, and removes their data. */
  async discard(): Promise<void> {
    this.#isDiscarded = true;
    await Promise.all(this.nodes.map((node) => node.kill()));
    for (const { folder } of this.places) rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(cluster: Members, options: SnapshotBenchOptions): Promise<SnapshotFigures> {
  const { megabytes, rounds, perS, calmMs, progress } = options;
  const alone = await cluster.start(0);
  const db = clientOf(alone.url, ADMIN, STORED_MS);
  const token = String(await queryAt(db)("new_token('admin');", {}, '@thingsdb'));
  await db.$close();
  const as = { token };
  const begin = performance.now();
  await fill(alone.url, as, megabytes);
  const fillMs = performance.now() - begin;
  progress(`${megabytes} MB stored in ${seconds(fillMs)}`);
  await cutLog(alone.port, as);
  await stored(alone);
  await alone.kill();
  const leader = await cluster.start(0);
  progress('log cut, and the node started again');
  const transfers = [await send(cluster, 1, megabytes)];
  progress(transferText(transfers[0]!));
  const nodes = { leader: leader.url, follower: cluster.nodes[1]!.url };
  const questions = Object.entries(nodes).flatMap(([name, url]) => [
    { name: `writes, ${name}`, url, scope: SCOPE, code: WRITE },
    { name: `reads, ${name}`, url, scope: SCOPE, code: READ },
  ]);
  const clients = new Clients(questions, as, perS);
  try {
    await pause(calmMs / 2);
    await clients.take();
    await pause(calmMs);
    const calm = await clients.take();
    progress('clients watched without a transfer');
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await wipe(cluster.nodes[2]!);
      await clients.take();
      const transfer = await send(cluster, 2, megabytes);
      transfers.push({ ...transfer, noticed: await clients.take() });
      progress(transferText(transfer));
    }
    return { megabytes, fillMs, calm, transfers };
  } finally {
    await clients.stop();
  }
}

/** Requests of clients that failed. */
export function errorsOf({ calm, transfers }: SnapshotFigures): number {
  const noticed = [...calm, ...transfers.flatMap((transfer) => transfer.noticed)];
  return noticed.filter(({ problem }) => problem !== null).length;
}

export function transferText({ readyMs, transferMs, bytes }: Transfer): string {
  return `${(bytes / 1e6).toFixed(0)} MB sent in ${seconds(transferMs)}, the follower ready after ${seconds(readyMs)}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Ends a node and removes its data: not at once, which would hold up the clients that are watched. */
async function wipe(node: RealNode): Promise<void> {
  await node.kill();
  await rm(node.folder, { recursive: true });
}

/** Starts a node that has nothing, and watches until it is ready. */
async function send(cluster: Members, at: number, megabytes: number): Promise<Transfer> {
  const others = cluster.nodes.filter(({ running }) => running);
  const before = others.map(({ pid }) => cpuMsOf(pid));
  const begin = performance.now();
  const watch = new Watch();
  const looking = watch.look(cluster.places[at]!.statusPort);
  let node: RealNode;
  try {
    node = await cluster.start(at);
  } finally {
    watch.stop();
    await looking;
  }
  const readyMs = performance.now() - begin;
  const spent = others.map(({ pid }, i) => cpuMsOf(pid) - (before[i] ?? 0));
  const page = await pageOf(node.statusPort);
  const bytes = numberOf(page, RECEIVED) ?? 0;
  if (bytes < SHARE_MIN * megabytes * 1e6)
    throw new Error(`the follower was sent ${bytes} bytes of snapshots: it got the log instead`);
  return {
    readyMs,
    transferMs: watch.transferMs,
    bytes,
    cpuMs: [...spent, cpuMsOf(node.pid)],
    peakMb: [others[0]!.memory.peakMb, node.memory.peakMb],
    noticed: [],
  };
}

/** When the bytes of a snapshot came. */
class Watch {
  #first: number | undefined;
  #last = 0;
  #bytes = 0;
  #isStopped = false;

  get transferMs(): number {
    return this.#last - (this.#first ?? this.#last);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async look(statusPort: number): Promise<void> {
    while (!this.#isStopped) {
      await pause(LOOK_MS);
      const bytes = numberOf(await pageOf(statusPort), RECEIVED) ?? 0;
      if (bytes === this.#bytes) continue;
      this.#bytes = bytes;
      this.#last = performance.now();
      this.#first ??= this.#last;
    }
  }
}

const RECEIVED = 'althing_raft_snapshot_bytes_total{direction="received"}';
const CHECKPOINT_AGE = 'althing_checkpoint_age_seconds';

/** Waits until everything that a node was told is in its state. */
function stored({ statusPort }: RealNode): Promise<void> {
  const isStored = async (): Promise<boolean> => numberOf(await pageOf(statusPort), CHECKPOINT_AGE) === 0;
  return until(isStored, 'the state is written', STORED_MS);
}

/** The metrics of a node; nothing while it can't be asked. */
async function pageOf(statusPort: number): Promise<string> {
  return (await probe('127.0.0.1', statusPort, '/metrics')).text;
}

function numberOf(page: string, name: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

function cpuMsOf(pid: number): number {
  return measuredTimeUs([pid]) / 1000;
}
