/** The figures of a cluster as text. */
import { loadavg } from 'node:os';
import { percent, table, timeText } from '../table.js';
import type { ClusterFigures } from './cluster.js';
import { type Kind, type Rate, type System, type Through, titleOf } from './rates.js';

export function clusterText({ etcd, rates, failovers }: ClusterFigures): string {
  const parts: string[] = [];
  if (rates.length > 0) {
    const headings = [
      '',
      'through',
      'connections',
      'per s',
      'p50',
      'p99',
      'CPU of all servers',
      'of the generator',
    ];
    parts.push(table([headings, ...rates.map(cellsOf)]));
  }
  const isAgainst = rates.some(({ system }) => system === 'other build');
  if (isAgainst) {
    const headings = ['compared with the other build', 'rate', 'p50', 'p99', 'CPU'];
    parts.push(table([headings, ...rates.flatMap((rate) => againstRow(rate, rates))]));
  } else if (etcd === undefined) {
    parts.push('etcd is not installed, so there is nothing to compare with: apt-get install etcd-server');
  } else {
    const bare = bareOf(rates);
    const headings = [
      `compared with etcd ${etcd}`,
      'found',
      'target',
      'CPU',
      ...bare.flatMap((name) => [name, 'CPU']),
    ];
    parts.push(table([headings, ...comparisons.flatMap((comparison) => compare(comparison, rates, bare))]));
  }
  const forwarding = forwardingRows(rates);
  if (forwarding.length > 0) parts.push(table([['cost of forwarding', 'rate', 'p50', 'CPU'], ...forwarding]));
  const { killMs, killGapMs, handoverGapMs, calmGapMs, problems, writes } = failovers;
  parts.push(
    table([
      ['', 'times', 'p50', 'p99', 'longest', 'target'],
      timesRow('leader killed: next acknowledged write', killMs, 'p50 < 600 ms, p99 < 1500 ms'),
      timesRow('leader killed: longest gap', killGapMs, ''),
      timesRow('planned handover: longest gap', handoverGapMs, '< 100 ms'),
      timesRow('nothing happens: longest gap', calmGapMs, ''),
    ]),
  );
  parts.push(`failed requests at surviving nodes: ${problems.length} of ${writes} (target 0)`);
  const kinds = new Set(problems.map((problem) => problem.slice(0, 200)));
  if (kinds.size > 0) parts.push([...kinds].slice(0, 10).join('\n'));
  for (const { system, kind, through, connections, errors, lastError } of rates) {
    if (errors > 0)
      parts.push(
        `${system}, ${kind} through ${through}, ${connections}: ${errors} errors, such as: ${lastError}`,
      );
  }
  parts.push(
    `load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  return parts.join('\n\n');
}

/** A figure that has a target. */
interface Comparison {
  readonly kind: Kind;
  readonly connections: number;
  readonly through: Through;
  readonly of: 'rate' | 'p50';
  /** Least share of etcd's rate, or most of its p50. */
  readonly target: number;
}

const comparisons: readonly Comparison[] = [
  { kind: 'write', connections: 64, through: 'all', of: 'rate', target: 3 },
  { kind: 'write', connections: 64, through: 'leader', of: 'rate', target: 3 },
  { kind: 'write', connections: 64, through: 'follower', of: 'rate', target: 3 },
  { kind: 'write', connections: 1, through: 'leader', of: 'p50', target: 0.7 },
  { kind: 'write', connections: 1, through: 'follower', of: 'p50', target: 0.9 },
  { kind: 'read', connections: 64, through: 'all', of: 'rate', target: 6 },
  { kind: 'read', connections: 64, through: 'leader', of: 'rate', target: 6 },
  { kind: 'read', connections: 64, through: 'follower', of: 'rate', target: 6 },
];

/** @param bare what is compared with etcd as well, in columns of its own */
function compare(
  { kind, connections, through, of, target }: Comparison,
  rates: readonly Rate[],
  bare: readonly System[],
): string[][] {
  const find = (system: System) => found(rates, { system, kind, connections, through });
  const ours = find('three nodes');
  const theirs = find('etcd');
  if (ours === undefined || theirs === undefined) return [];
  const shareOf = (rate: Rate): number =>
    of === 'rate' ? rate.ratePerS / theirs.ratePerS : rate.p50Ms / theirs.p50Ms;
  const share = shareOf(ours);
  const isMet = of === 'rate' ? share >= target : share <= target;
  const sign = of === 'rate' ? '≥' : '≤';
  return [
    [
      `${kind}s through ${through}, ${connections} connections: ${of === 'rate' ? 'per s' : 'p50'}`,
      `${share.toFixed(2)} x${isMet ? '' : ' (missed)'}`,
      `${sign} ${target} x`,
      cpuRatio(ours, theirs),
      ...bare.flatMap((system) => {
        const rate = find(system);
        return rate === undefined ? ['', ''] : [`${shareOf(rate).toFixed(2)} x`, cpuRatio(rate, theirs)];
      }),
    ],
  ];
}

/** Shapes of the bare path that were measured. */
function bareOf(rates: readonly Rate[]): System[] {
  const systems = rates.map(({ system }) => system).filter((system) => system.startsWith('bare'));
  return [...new Set(systems)];
}

function againstRow(rate: Rate, rates: readonly Rate[]): string[][] {
  const other = rate.system === 'three nodes' ? found(rates, { ...rate, system: 'other build' }) : undefined;
  if (other === undefined) return [];
  const ratio = (of: (rate: Rate) => number): string => `${(of(rate) / of(other)).toFixed(2)} x`;
  return [
    [
      titleOf(rate),
      ratio(({ ratePerS }) => ratePerS),
      ratio(({ p50Ms }) => p50Ms),
      ratio(({ p99Ms }) => p99Ms),
      cpuRatio(rate, other),
    ],
  ];
}

function forwardingRows(rates: readonly Rate[]): string[][] {
  return rates.flatMap((rate) => {
    if (rate.system !== 'three nodes' || rate.through !== 'follower') return [];
    const direct = found(rates, { ...rate, through: 'leader' });
    if (direct === undefined) return [];
    return [
      [
        `${rate.kind}s through a follower, ${rate.connections} connections`,
        percent(rate.ratePerS / direct.ratePerS),
        percent(rate.p50Ms / direct.p50Ms),
        cpuRatio(rate, direct),
      ],
    ];
  });
}

function found(
  rates: readonly Rate[],
  { system, kind, connections, through }: Pick<Rate, 'system' | 'kind' | 'connections' | 'through'>,
): Rate | undefined {
  return rates.find(
    (rate) =>
      rate.system === system &&
      rate.kind === kind &&
      rate.connections === connections &&
      rate.through === through,
  );
}

function cpuRatio(one: Rate, other: Rate): string {
  if (one.serverUs === undefined || other.serverUs === undefined) return '';
  return `${(one.serverUs / other.serverUs).toFixed(2)} x`;
}

function cellsOf(rate: Rate): string[] {
  return [
    `${rate.system}: ${rate.kind}s`,
    rate.system === 'one node' ? '' : rate.through,
    String(rate.connections),
    rate.ratePerS.toFixed(0),
    timeText(rate.p50Ms),
    timeText(rate.p99Ms),
    rate.serverUs === undefined ? '' : `${rate.serverUs.toFixed(0)} µs`,
    `${rate.generatorUs.toFixed(0)} µs`,
  ];
}

function timesRow(name: string, times: readonly number[], target: string): string[] {
  if (times.length === 0) return [name, '0', '', '', '', target];
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (share: number): string =>
    timeText(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN);
  return [name, String(times.length), quantile(0.5), quantile(0.99), quantile(1), target];
}
