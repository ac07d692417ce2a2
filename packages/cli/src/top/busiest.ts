/** The shapes and procedures that took most of the time of all nodes, between two looks or since their counters began. */
import type { NodeSample, Runs, Sample } from './sample.js';

/** Sums over nodes; times in seconds. */
export interface BusyRow extends Omit<Runs, 'runP99' | 'runMax'> {
  /** Since the counters began, on the node where they are longest. */
  readonly runP99: number;
  readonly runMax: number;
  /** Numbers of the nodes where it ran, that with the most time first. */
  readonly nodes: readonly number[];
  /** Its part of all time that code ran, from 0 to 1. */
  readonly share: number;
}

/**
 * The rows with the most time first.
 *
 * @param before an earlier look; null: since the counters began
 * @param isByNode whether each node has rows of its own
 */
export function busiest(now: Sample, before: Sample | null, isByNode: boolean): readonly BusyRow[] {
  const parts = now.nodes.flatMap((node) => {
    const earlier = before?.nodes.find(({ number }) => number === node.number);
    return sinceThen(node, earlier).map((runs) => ({ node: node.number, runs }));
  });
  const groups = new Map<string, Part[]>();
  for (const part of parts) {
    const key = JSON.stringify([keyOf(part.runs), isByNode ? part.node : null]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [part]);
    else known.push(part);
  }
  const all = sum(parts, ({ run }) => run);
  const rows = [...groups.values()].flatMap((group) => rowOf(group, all));
  return rows.sort((a, b) => b.run - a.run);
}

interface Part {
  readonly node: number;
  readonly runs: Runs;
}

/** The difference between two looks at a node. Where its counters began anew meanwhile, it is all that they hold. */
function sinceThen({ runs }: NodeSample, earlier: NodeSample | undefined): readonly Runs[] {
  if (earlier === undefined || earlier.problem !== null) return earlier === undefined ? runs : [];
  const known = new Map(earlier.runs.map((each) => [keyOf(each), each]));
  return runs.flatMap((each) => {
    const old = known.get(keyOf(each));
    if (old === undefined || old.count > each.count) return [each];
    if (old.count === each.count) return [];
    return [
      {
        ...each,
        count: each.count - old.count,
        failures: each.failures - old.failures,
        run: each.run - old.run,
        wait: each.wait - old.wait,
        reads: each.reads - old.reads,
        coldReads: each.coldReads - old.coldReads,
      },
    ];
  });
}

function keyOf({ kind, scope, what }: Runs): string {
  return JSON.stringify([kind, scope, what]);
}

function rowOf(parts: readonly Part[], all: number): readonly BusyRow[] {
  const sorted = [...parts].sort((a, b) => b.runs.run - a.runs.run);
  const [first] = sorted;
  if (first === undefined) return [];
  const run = sum(parts, (runs) => runs.run);
  return [
    {
      ...first.runs,
      count: sum(parts, (runs) => runs.count),
      failures: sum(parts, (runs) => runs.failures),
      run,
      runP99: Math.max(...parts.map(({ runs }) => runs.runP99)),
      runMax: Math.max(...parts.map(({ runs }) => runs.runMax)),
      wait: sum(parts, (runs) => runs.wait),
      reads: sum(parts, (runs) => runs.reads),
      coldReads: sum(parts, (runs) => runs.coldReads),
      nodes: sorted.map(({ node }) => node),
      share: all === 0 ? 0 : run / all,
    },
  ];
}

function sum(parts: readonly Part[], value: (runs: Runs) => number): number {
  return parts.reduce((total, { runs }) => total + value(runs), 0);
}
