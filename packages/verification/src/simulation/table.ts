/** The events of a run as a table: the time, the role of each node, and what happened where. */
import type { Machine } from './machine.js';

export interface Happening {
  readonly timeMs: number;
  /** The name of the machine that it is about, if it is one. */
  readonly machine: string | null;
  readonly what: string;
  /** True if it happens all the time. */
  readonly isRoutine: boolean;
  /** Roles by machine; see `rolesOf`. */
  readonly roles: ReadonlyMap<string, string>;
}

export const LEGEND =
  'A node is written as its role in each of its groups, the root group first: L leader, f follower, c candidate, l learner; ' +
  '- is down, + is starting, z is paused. The star marks the node that a line is about.';

const TIME_WIDTH = 10;
const TEXT_MAX = 200;

const LETTERS: Readonly<Record<string, string>> = {
  leader: 'L',
  follower: 'f',
  candidate: 'c',
  preCandidate: 'c',
};

/** The present role of each machine, by its name. */
export function rolesOf(machines: readonly Machine[]): Map<string, string> {
  return new Map(machines.filter(({ isGone }) => !isGone).map((machine) => [machine.name, roleOf(machine)]));
}

/** The happenings as lines, with a head. */
export function tableOf(happenings: readonly Happening[]): string[] {
  const names = [...new Set(happenings.flatMap(({ roles }) => [...roles.keys()]))].sort();
  const widths = names.map((name) =>
    happenings.reduce((most, { roles }) => Math.max(most, 1 + (roles.get(name)?.length ?? 0)), name.length),
  );
  const line = (time: string, cells: readonly string[], what: string): string =>
    [time.padStart(TIME_WIDTH), ...cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)), what].join('  ');
  const rows = happenings.map(({ timeMs, machine, roles, what }) => {
    const cells = names.map((name) => `${roles.get(name) ?? ''}${name === machine ? '*' : ''}`);
    return line(timeMs.toFixed(2), cells, what.slice(0, TEXT_MAX));
  });
  return [line('ms', names, 'what'), ...rows];
}

function roleOf({ process }: Machine): string {
  if (process === null) return '-';
  const { host, consensusThread, engineThread } = process;
  if (host === null) return '+';
  const letters = [...process.groups]
    .sort((left, right) => left - right)
    .map((group) => {
      const status = host.status(group);
      const learns = status?.membership.learners.includes(process.nodeId) ?? false;
      return learns ? 'l' : (LETTERS[status?.role ?? ''] ?? '?');
    });
  const mark = consensusThread.isPaused || engineThread.isPaused ? 'z' : '';
  return `${letters.join('')}${process.isOpen ? '' : '+'}${mark}`;
}
