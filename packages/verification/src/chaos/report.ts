/** A run and what was found in it, as text. */
import { longestGap, table } from '../harness/table.js';
import type { Operation } from '../simulation/history.js';
import type { CheckResult } from './check.js';
import type { Record } from './record.js';

/** Messages of failed operations that are shown. */
const MESSAGES_MAX = 8;

/** `what` names what was done to the cluster. */
export function report(record: Record, { problems, undecided }: CheckResult, what = 'fault'): string {
  const { operations, run } = record;
  const count = (outcome: string): number => operations.filter((each) => each.outcome === outcome).length;
  const lines = [
    `${run.nodes} nodes, ${run.network}, seed ${run.seed}, Node.js ${run.version}`,
    `${operations.length} operations: ${count('ok')} carried out, ${count('failed')} refused, ` +
      `${count('unknown')} of unknown outcome`,
    '',
    faultTable(record, what),
    '',
    ...messageLines(operations),
  ];
  if (undecided.length > 0) lines.push(`too much to search through: ${undecided.join(', ')}`);
  if (problems.length === 0) {
    lines.push('nothing wrong: linearizable, nothing lost, nothing done twice, all nodes equal');
  } else {
    lines.push(`${problems.length} wrong:`, ...problems.map((problem) => `  ${problem}`));
  }
  return lines.join('\n');
}

/** The number of faults of each kind, and the longest time without an answer to any request meanwhile. */
function faultTable({ faults, operations }: Record, what: string): string {
  const ends = operations.filter(({ outcome }) => outcome === 'ok').map(({ end }) => end);
  const kinds = [...new Set(faults.map(({ name }) => name))];
  const rows = kinds.map((name) => {
    const own = faults.filter((fault) => fault.name === name);
    const gap = Math.max(...own.map(({ begin, end }) => longestGap(ends, begin, end)));
    return [name, String(own.length), `${(gap / 1000).toFixed(2)} s`];
  });
  return table([[what, 'times', 'longest gap'], ...rows]);
}

/** Why operations failed, with how often. */
function messageLines(operations: readonly Operation[]): string[] {
  const counts = new Map<string, number>();
  for (const { outcome, error, action } of operations) {
    if (outcome === 'ok' || action.kind === 'append_and_fail') continue;
    const text = `${outcome === 'failed' ? 'refused' : 'unknown'}: ${error}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  return sorted.slice(0, MESSAGES_MAX).map(([text, times]) => `${String(times).padStart(6)} x ${text}`);
}
