/** The output of `althing top`, as lines and as JSON. */
import { textWidth, visible } from '../shell/text-width.js';
import { type BusyRow, busiest } from './busiest.js';
import type { OpenRequest, Sample } from './sample.js';

export interface View {
  readonly now: Sample;
  /** The look that figures are told since; null: since the counters of the nodes began. */
  readonly before: Sample | null;
  readonly isByNode: boolean;
}

/** Lines for clients, and for requests that are not answered. */
const CLIENTS_MAX = 5;
const REQUESTS_MAX = 5;

/** The whole view in at most so many lines of so many cells. */
export function linesOf(view: View, width: number, height: number): readonly string[] {
  const { now, before } = view;
  const rows = busiest(now, before, view.isByNode);
  const seconds = before === null ? null : (now.at - before.at) / 1000;
  const head = [titleOf(now, seconds), ...nodeLines(now)];
  const tail = [...clientLines(now), ...requestLines(now)];
  const left = Math.max(3, height - head.length - tail.length - 2);
  const table = busyLines(rows, seconds).slice(0, left);
  return [...head, '', ...table, ...(tail.length === 0 ? [] : ['', ...tail])].map((line) => cut(line, width));
}

/** The same as a value for programs: times in seconds. */
export function jsonOf({ now, before, isByNode }: View): object {
  return {
    at: now.at / 1000,
    since: before === null ? null : before.at / 1000,
    nodes: now.nodes.map(({ number, name, status, problem, clients, requests, runs }) => ({
      node: number,
      name,
      status,
      problem,
      connections: clients.reduce((sum, { count }) => sum + count, 0),
      clients,
      requests,
      queries: runs.filter(({ kind }) => kind === 'query').length,
      procedures: runs.filter(({ kind }) => kind === 'procedure').length,
    })),
    busiest: busiest(now, before, isByNode),
  };
}

function titleOf({ at, nodes }: Sample, seconds: number | null): string {
  const span = seconds === null ? 'since the counters began' : `in ${seconds.toFixed(0)} s`;
  return `${new Date(at).toISOString().slice(11, 19)}  ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}, ${span}`;
}

function nodeLines({ nodes }: Sample): readonly string[] {
  return table(
    nodes.map(({ number, name, status, problem, clients, requests }) => {
      const open = clients.reduce((sum, { count }) => sum + count, 0);
      const work = `${open} connections  ${requests.length} requests open`;
      return [`node ${number}`, name, problem === null ? status : '!', problem ?? work];
    }),
  );
}

const TITLES = [
  'TIME',
  'CALLS',
  'MEAN',
  'P99',
  'MAX',
  'WAIT',
  'READS',
  'COLD',
  'ERRORS',
  'NODES',
  'SCOPE',
  'WHAT',
];

/** @param seconds that the figures are about; null: calls are numbers, and no rates */
function busyLines(rows: readonly BusyRow[], seconds: number | null): readonly string[] {
  const titles = TITLES.map((title) => (title === 'CALLS' && seconds !== null ? 'CALLS/S' : title));
  const cells = rows.map((row) => [
    `${(row.share * 100).toFixed(0)}%`,
    seconds === null || seconds === 0 ? String(row.count) : (row.count / seconds).toFixed(1),
    timeText(row.run / row.count),
    timeText(row.runP99),
    timeText(row.runMax),
    timeText(row.wait / row.count),
    (row.reads / row.count).toFixed(0),
    (row.coldReads / row.count).toFixed(0),
    String(row.failures),
    row.nodes.join(' '),
    row.scope,
    row.kind === 'procedure' ? `${row.what}()  [procedure]` : row.what,
  ]);
  return table([titles, ...cells]);
}

function clientLines({ nodes }: Sample): readonly string[] {
  const counts = new Map<string, { readonly cells: readonly string[]; count: number }>();
  for (const { clients } of nodes) {
    for (const { transport, address, user, count } of clients) {
      const cells = [user === '' ? '-' : user, transport, address === '' ? '-' : address];
      const key = JSON.stringify(cells);
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { cells, count });
      else known.count += count;
    }
  }
  const all = [...counts.values()].sort((a, b) => b.count - a.count);
  if (all.length === 0) return [];
  const rows = all.slice(0, CLIENTS_MAX).map(({ cells, count }) => [...cells, String(count)]);
  const more = all.length > CLIENTS_MAX ? [`... and ${all.length - CLIENTS_MAX} more`] : [];
  return [...table([['USER', 'BY', 'FROM', 'CONNECTIONS'], ...rows]), ...more];
}

function requestLines({ at, nodes }: Sample): readonly string[] {
  const all = nodes
    .flatMap(({ number, requests }) => requests.map((request) => ({ number, request })))
    .sort((a, b) => a.request.since - b.request.since);
  if (all.length === 0) return [];
  const rows = all
    .slice(0, REQUESTS_MAX)
    .map(({ number, request }) => [
      String(number),
      String(request.id),
      timeText(Math.max(0, at / 1000 - request.since)),
      stateText(request),
      request.user,
      request.scope,
      request.text,
    ]);
  return ['', ...table([['NODE', 'ID', 'AGE', 'STATE', 'USER', 'SCOPE', 'REQUEST'], ...rows])];
}

function stateText({ state, waitsFor }: OpenRequest): string {
  return waitsFor === '' ? state : `${state}: ${waitsFor}`;
}

/** Seconds with three digits that count. */
function timeText(seconds: number): string {
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  if (seconds >= 0.001) return `${(seconds * 1000).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toFixed(0)} us`;
}

/** Columns as wide as they must be, two blanks apart. Control characters of what is shown never reach the terminal. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => visible(cell).replaceAll(/\s/g, ' ')));
  const widths: number[] = [];
  for (const row of shown) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, textWidth(cell));
    });
  }
  return shown.map((row) =>
    row
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - textWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
}

/** The beginning of a line that fits in so many cells. */
function cut(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  let fits = line.slice(0, width - 1);
  while (textWidth(fits) > width - 1) fits = fits.slice(0, -1);
  return `${fits}~`;
}
