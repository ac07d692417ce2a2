/**
 * What clients notice when a leader is killed, and when it hands over as planned.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterProcess } from '../../harness/cluster-process.js';
import { Writers } from './writers.js';

export interface Failovers {
  /** For each kill: milliseconds until a write was acknowledged that was sent after it, at a surviving node. */
  readonly killMs: readonly number[];
  /** For each kill: the longest time without an acknowledgement. */
  readonly killGapMs: readonly number[];
  /** For each planned handover: the longest time without an acknowledgement, at any node. */
  readonly handoverGapMs: readonly number[];
  /** The longest time without an acknowledgement in as much time while nothing happens. */
  readonly calmGapMs: readonly number[];
  readonly writes: number;
  /** Requests at surviving nodes, and at all nodes during handovers, that failed. */
  readonly problems: readonly string[];
}

const writersPerNode = 3;
/** How long writes must have gone on before and after an event. */
const calmMs = 300;
const afterMs = 500;
const group = '@collection:bench';

export async function measureFailovers(
  cluster: ClusterProcess,
  kills: number,
  handovers: number,
  progress: (text: string) => void,
): Promise<Failovers> {
  const killMs: number[] = [];
  const killGapMs: number[] = [];
  const handoverGapMs: number[] = [];
  const calmGapMs: number[] = [];
  const problems: string[] = [];
  let writes = 0;
  for (let round = 1; round <= kills; round++) {
    await cluster.whenEqual();
    const leader = await cluster.whenLed(group);
    const survivors = cluster.nodes.filter((_, at) => at !== leader);
    const writers = writersAt(cluster, survivors);
    await writers.until(performance.now(), calmMs);
    const moment = performance.now();
    await cluster.kill(leader);
    await writers.until(moment, afterMs);
    await writers.stop();
    killMs.push(writers.firstAfter(moment));
    killGapMs.push(writers.longestGap(moment, moment + afterMs));
    problems.push(...writers.problems);
    writes += writers.count;
    progress(`kill ${round}: ${killMs.at(-1)?.toFixed(0)} ms, ${writers.problems.length} failed`);
    await cluster.restart(leader);
  }
  for (let round = 1; round <= handovers; round++) {
    await cluster.whenEqual();
    const leader = await cluster.whenLed(group);
    const writers = writersAt(cluster, cluster.nodes);
    const start = performance.now();
    await writers.until(start, calmMs + afterMs);
    const moment = performance.now();
    await cluster.query(leader, '@node', 'transfer_leadership();');
    await writers.until(moment, afterMs);
    while ((await cluster.leaderOf(group)) === leader && performance.now() < moment + 10_000) await pause(20);
    const end = performance.now();
    await writers.until(end, 0);
    await writers.stop();
    calmGapMs.push(writers.longestGap(start + calmMs, start + calmMs + afterMs));
    handoverGapMs.push(writers.longestGap(moment, end));
    problems.push(...writers.problems);
    writes += writers.count;
    progress(`handover ${round}: ${handoverGapMs.at(-1)?.toFixed(0)} ms, ${writers.problems.length} failed`);
  }
  return { killMs, killGapMs, handoverGapMs, calmGapMs, writes, problems };
}

function writersAt(cluster: ClusterProcess, nodes: readonly { readonly url: string }[]): Writers {
  const urls = nodes.flatMap(({ url }) => Array.from({ length: writersPerNode }, () => url));
  return new Writers(urls, cluster.credentials);
}
