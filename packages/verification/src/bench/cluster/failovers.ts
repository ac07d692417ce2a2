/** Waits of clients when a leader is killed, and when it hands over as planned. */
import { setTimeout as pause } from 'node:timers/promises';
import { type RealCluster, type RealNode, until } from '@althing/node/testing';
import { INFO, type Info, infoOf } from '../../harness/cluster-info.js';
import { longestGap, quantile, table, timeText } from '../../harness/table.js';
import { type Asked, Clients } from '../clients.js';
import { SCOPE } from './rates.js';

export interface Failovers {
  /** Milliseconds from each kill until a write was acknowledged that was sent after it, at a surviving node. */
  readonly killMs: number[];
  /** The longest time without an acknowledgement at each kill. */
  readonly killGapMs: number[];
  /** The longest time without an acknowledgement at each planned handover, at any node. */
  readonly handoverGapMs: number[];
  /** The longest time without an acknowledgement in as much time while nothing happens. */
  readonly calmGapMs: number[];
  writes: number;
  /** Requests at surviving nodes, and at all nodes during handovers, that failed. */
  readonly problems: string[];
}

/** Writes a second at each node, at most. */
const PER_S = 250;
/** Time that writes must have gone on before and after an event, in milliseconds. */
const CALM_MS = 300;
const AFTER_MS = 500;
/** Time that a handover may take. */
const HANDOVER_MS = 10_000;
const GROUP = '@collection:bench';

export async function measureFailovers(
  cluster: RealCluster,
  times: number,
  progress: (text: string) => void,
): Promise<Failovers> {
  const found: Failovers = {
    killMs: [],
    killGapMs: [],
    handoverGapMs: [],
    calmGapMs: [],
    writes: 0,
    problems: [],
  };
  for (let round = 1; round <= 2 * times; round++) {
    const kills = round <= times;
    await untilEqual(cluster.nodes);
    const leader = await cluster.whenLed(GROUP);
    const nodes = cluster.nodes.filter((_, at) => !kills || at + 1 !== leader);
    const questions = nodes.map(({ url }) => ({ name: url, url, scope: SCOPE, code: '.counter += 1;' }));
    const writers = new Clients(questions, { token: cluster.node(1).token }, PER_S, true);
    const start = performance.now();
    await writers.until(start, CALM_MS + AFTER_MS);
    const moment = performance.now();
    if (kills) await cluster.killNode(leader);
    else await cluster.node(leader).value('/n', 'transfer_leadership();');
    const last = moment + HANDOVER_MS;
    while (!kills && (await cluster.leaderOf(GROUP)) === leader && performance.now() < last) await pause(20);
    const end = performance.now();
    await writers.until(end, AFTER_MS);
    await writers.stop();
    const writes = await writers.take();
    const ends = writes.filter(({ problem }) => problem === null).map(({ endedAt }) => endedAt);
    if (kills) {
      found.killMs.push(firstAfter(writes, moment));
      found.killGapMs.push(longestGap(ends, moment, moment + AFTER_MS));
      await cluster.restartNode(leader);
    } else {
      found.handoverGapMs.push(longestGap(ends, moment, end));
      found.calmGapMs.push(longestGap(ends, start + CALM_MS, start + CALM_MS + AFTER_MS));
    }
    found.writes += writes.length;
    const problems = writes.flatMap(({ problem }) => problem ?? []);
    found.problems.push(...problems);
    const ms = kills ? found.killMs.at(-1) : found.handoverGapMs.at(-1);
    progress(`${kills ? 'kill' : 'handover'}: ${ms?.toFixed(0)} ms, ${problems.length} failed`);
  }
  return found;
}

/** Waits until every node is ready and has all that the others have. */
async function untilEqual(nodes: readonly RealNode[]): Promise<void> {
  const infoAt = async (node: RealNode): Promise<Info> => infoOf(await node.value('/n', INFO));
  const areEqual = async (): Promise<boolean> => {
    const infos = await Promise.all(nodes.map(infoAt));
    const applied = infos.flatMap((info) =>
      info.nodes.map(({ status, committed_change_id }) => `${status} ${committed_change_id}`),
    );
    return applied.every((each) => each === applied[0] && each.startsWith('READY'));
  };
  await until(() => areEqual().catch(() => false), 'the nodes are equal');
}

/** Milliseconds from a moment until a write was acknowledged that was sent after it. */
function firstAfter(writes: readonly Asked[], moment: number): number {
  const later = writes.filter(({ dueAt, problem }) => problem === null && dueAt >= moment);
  return Math.min(...later.map(({ endedAt }) => endedAt)) - moment;
}

export function failoversText(found: Failovers): string {
  const { killMs, killGapMs, handoverGapMs, calmGapMs, problems, writes } = found;
  const rows = [
    ['', 'times', 'p50', 'p99', 'longest', 'target'],
    timesRow('leader killed: next acknowledged write', killMs, 'p50 < 600 ms, p99 < 1500 ms'),
    timesRow('leader killed: longest gap', killGapMs, ''),
    timesRow('planned handover: longest gap', handoverGapMs, '< 100 ms'),
    timesRow('nothing happens: longest gap', calmGapMs, ''),
  ];
  const kinds = [...new Set(problems.map((problem) => problem.slice(0, 200)))].slice(0, 10);
  const count = `failed requests at surviving nodes: ${problems.length} of ${writes} (target 0)`;
  return [table(rows), [count, ...kinds].join('\n')].join('\n\n');
}

function timesRow(name: string, times: readonly number[], target: string): string[] {
  const cells = [0.5, 0.99, 1].map((share) => (times.length === 0 ? '' : timeText(quantile(times, share))));
  return [name, String(times.length), ...cells, target];
}
