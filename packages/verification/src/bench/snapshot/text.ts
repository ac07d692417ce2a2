/** The figures of a state on its way as text. */

import { quantile, table, timeText } from '../../harness/table.js';
import type { Asked } from '../clients.js';
import { type SnapshotFigures, seconds, type Transfer } from './snapshot.js';
import { shapeOf } from './state.js';

/** @param of folder of the build that was measured; undefined for this one */
export function snapshotText(figures: SnapshotFigures, of: string | undefined): string {
  const { megabytes, fillMs, calm, transfers } = figures;
  const { files, things } = shapeOf(megabytes);
  const title = `${of === undefined ? 'this build' : of}: ${megabytes} MB, of which half is ${files} files of 64 kB, half ${things} things (stored in ${seconds(fillMs)})`;
  const headings = ['', 'ready', 'sent', 'MB', 'MB per s', 'CPU leader', 'other', 'follower', 'peak MB'];
  const parts = [title, table([headings, ...transfers.map(cellsOf)])];
  const loaded = transfers.filter(({ noticed }) => noticed.length > 0);
  const rows = [calm, ...loaded.map(({ noticed }) => noticed)].flatMap((noticed, at) =>
    noticedRows(at === 0 ? 'without a transfer' : `transfer ${at}`, noticed),
  );
  parts.push(table([['clients meanwhile', '', 'requests', 'p50', 'p99', 'longest'], ...rows]));
  const failed = [calm, ...loaded.map(({ noticed }) => noticed)]
    .flat()
    .flatMap(({ problem }) => problem ?? []);
  if (failed.length > 0) parts.push(`${failed.length} errors, such as: ${failed[0]}`);
  return parts.join('\n\n');
}

function cellsOf({ readyMs, transferMs, bytes, cpuMs, peakMb, noticed }: Transfer, at: number): string[] {
  const [leader = 0, ...others] = cpuMs;
  const follower = others.pop() ?? 0;
  return [
    noticed.length === 0 ? 'without clients' : `transfer ${at}`,
    seconds(readyMs),
    seconds(transferMs),
    (bytes / 1e6).toFixed(0),
    (bytes / 1000 / transferMs).toFixed(0),
    seconds(leader),
    others[0] === undefined ? '' : seconds(others[0]),
    seconds(follower),
    peakMb.join(' '),
  ];
}

function noticedRows(when: string, noticed: readonly Asked[]): string[][] {
  return [...new Set(noticed.map(({ name }) => name))].map((name) => {
    const times = noticed.filter((each) => each.name === name).map(({ dueAt, endedAt }) => endedAt - dueAt);
    return [
      when,
      name,
      String(times.length),
      ...[0.5, 0.99, 1].map((share) => timeText(quantile(times, share))),
    ];
  });
}
