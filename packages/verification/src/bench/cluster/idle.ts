/**
 * The cost of a cluster while nobody asks it anything: processor time and wakes of its three nodes, beside those of another build
 * and of etcd. All of them are watched in the same windows, so that whatever else the machine does hits them alike.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster } from '../../harness/start-node.js';
import { type Interval, median, medianInterval, table } from '../../harness/table.js';
import { measuredTimeUs, wakesOf } from '../cpu.js';
import { commandOf } from '../requests.js';
import { EtcdCluster, etcdVersion } from './etcd.js';
import { clusterContender } from './rates.js';

export interface IdleOptions {
  /** Folder of another built checkout; undefined for none. */
  readonly against: string | undefined;
  /** Time that the clusters run before they are watched: code gets its last form, and groups fall silent. */
  readonly settleMs: number;
  readonly windowMs: number;
  readonly rounds: number;
  readonly storage: string;
}

/** Medians of all windows of a cluster. */
export interface IdleRow {
  readonly name: string;
  /** Processor time of all nodes in each second, in ms. */
  readonly cpuMsPerS: number;
  /** Where the median of that lies with a certainty of 95 %. */
  readonly certain: Interval;
  /** The same of each node. */
  readonly nodesMsPerS: readonly number[];
  /** The wakes of threads in each second. */
  readonly wakesPerS: number;
}

/** A cluster that idles. */
interface Idler {
  readonly name: string;
  readonly pids: readonly number[];
  readonly windows: Window[];
  discard(): Promise<void>;
}

interface Window {
  readonly cpuMsPerS: readonly number[];
  readonly wakesPerS: number;
}

/** @throws {Error} where the system does not tell the processor time of others */
export async function benchIdle(options: IdleOptions): Promise<IdleRow[]> {
  const { against, settleMs, windowMs, rounds, storage } = options;
  const idlers: Idler[] = [];
  try {
    idlers.push(await ours('three nodes', storage, undefined));
    if (against !== undefined) idlers.push(await ours('other build', storage, against));
    const version = etcdVersion();
    if (version !== undefined) idlers.push(await etcds(version, storage));
    await pause(settleMs);
    for (let round = 0; round < rounds; round++) await watch(idlers, windowMs);
    return idlers.map(rowOf);
  } finally {
    await Promise.all(idlers.map((idler) => idler.discard()));
  }
}

export function idleText(rows: readonly IdleRow[]): string {
  const headings = ['idle', 'CPU of all nodes', '95 %', 'of each node', 'wakes per s'];
  const lines = rows.map(({ name, cpuMsPerS, certain, nodesMsPerS, wakesPerS }) => [
    name,
    `${cpuMsPerS.toFixed(1)} ms/s`,
    `${certain.low.toFixed(1)} to ${certain.high.toFixed(1)}`,
    nodesMsPerS.map((ms) => ms.toFixed(1)).join(' '),
    wakesPerS.toFixed(0),
  ]);
  return table([headings, ...lines]);
}

async function ours(name: string, storage: string, folder: string | undefined): Promise<Idler> {
  const cluster = await startCluster(3, {
    storage,
    command: folder === undefined ? undefined : commandOf(folder),
  });
  try {
    await clusterContender(name, cluster);
  } catch (error) {
    await cluster.discard();
    throw error;
  }
  const pids = cluster.nodes.map(({ pid }) => pid);
  return { name, pids, windows: [], discard: () => cluster.discard() };
}

async function etcds(version: string, storage: string): Promise<Idler> {
  const etcd = await EtcdCluster.start(storage);
  const pids = etcd.targets.map(({ pid }) => pid);
  return { name: `etcd ${version}`, pids, windows: [], discard: () => etcd.discard() };
}

async function watch(idlers: readonly Idler[], windowMs: number): Promise<void> {
  const before = idlers.map(({ pids }) => ({ ...spentBy(pids), at: performance.now() }));
  await pause(windowMs);
  for (const [i, { pids, windows }] of idlers.entries()) {
    const { cpuUs, wakes, at } = before[i]!;
    const after = spentBy(pids);
    const ms = performance.now() - at;
    windows.push({
      cpuMsPerS: after.cpuUs.map((us, node) => (us - (cpuUs[node] ?? 0)) / ms),
      wakesPerS: ((after.wakes - wakes) * 1000) / ms,
    });
  }
}

function spentBy(pids: readonly number[]): { readonly cpuUs: readonly number[]; readonly wakes: number } {
  return { cpuUs: pids.map((pid) => measuredTimeUs([pid])), wakes: wakesOf(pids) ?? Number.NaN };
}

function rowOf({ name, windows }: Idler): IdleRow {
  const sums = windows.map(({ cpuMsPerS }) => cpuMsPerS.reduce((sum, ms) => sum + ms, 0));
  const nodes = windows[0]?.cpuMsPerS ?? [];
  return {
    name,
    cpuMsPerS: median(sums),
    certain: medianInterval(sums),
    nodesMsPerS: nodes.map((_, node) => median(windows.map(({ cpuMsPerS }) => cpuMsPerS[node] ?? 0))),
    wakesPerS: median(windows.map(({ wakesPerS }) => wakesPerS)),
  };
}
