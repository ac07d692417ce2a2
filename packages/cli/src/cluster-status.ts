/**
 * The view that a node has of its cluster, and its tables.
 */

import { isWireList, isWireMap, QueryError, WireError, type WireValue } from '@althing/client';
import { type Connection, runQuery } from './connection.js';

export interface NodeStatus {
  readonly number: number;
  readonly name: string;
  readonly port: number;
  readonly status: string;
  /** Groups that it leads. */
  readonly leads: number;
  /** Log entries that its state holds, of all groups; as far as the node that was asked knows. */
  readonly applied: number;
}

export interface GroupStatus {
  readonly scope: string;
  /** Number of the node; null for none. */
  readonly leader: number | null;
  readonly voters: readonly number[];
  readonly learners: readonly number[];
}

/** The level of the data that the cluster writes: all of its nodes know it. */
export interface LevelStatus {
  readonly level: number;
  /** The highest that the node knows that was asked. */
  readonly known: number;
  /** Names of the nodes that are not known to know that too. */
  readonly waitsFor: readonly string[];
  /** Warnings about the setup of the node that was asked. */
  readonly warnings: readonly string[];
}

export interface ClusterStatus {
  readonly nodes: readonly NodeStatus[];
  readonly groups: readonly GroupStatus[];
  /** Problems, in words. */
  readonly problems: readonly string[];
}

/**
 * Asks a node.
 *
 * @throws {AlthingError} @throws {WireError}
 */
export async function readStatus(connection: Connection): Promise<ClusterStatus> {
  const code = '[nodes_info().map(|n| n.load()), groups_info().map(|g| g.load())];';
  const answer = await runQuery(connection, '@node', code);
  const [nodeValues, groupValues] = isWireList(answer) ? answer : [];
  const groups = listOf(groupValues).map(
    (value): GroupStatus => ({
      scope: text(value, 'scope'),
      leader: field(value, 'leader') === null ? null : int(value, 'leader'),
      voters: listOf(field(value, 'voters')).map(Number),
      learners: listOf(field(value, 'learners')).map(Number),
    }),
  );
  const nodes = listOf(nodeValues).map((value): NodeStatus => {
    const number = int(value, 'node_id');
    return {
      number,
      name: text(value, 'node_name'),
      port: int(value, 'port'),
      status: text(value, 'status'),
      leads: groups.filter(({ leader }) => leader === number).length,
      applied: int(value, 'committed_change_id'),
    };
  });
  return { nodes, groups, problems: problemsOf(nodes, groups) };
}

/**
 * Asks a node for the level; null when it is of a version that knows no levels.
 *
 * @throws {AlthingError} @throws {WireError}
 */
export async function readLevel(connection: Connection): Promise<LevelStatus | null> {
  try {
    const answer = await runQuery(connection, '@node', 'level_info().load();');
    const waitsFor = listOf(field(answer, 'waits_for')).map(String);
    const warnings = listOf(field(answer, 'warnings')).map(String);
    return { level: int(answer, 'level'), known: int(answer, 'known'), waitsFor, warnings };
  } catch (error) {
    if (error instanceof QueryError && error.outcome === 'none') return null;
    throw error;
  }
}

/** The level in a line; empty when it is not known. */
export function levelLine(status: LevelStatus | null): string {
  if (status === null) return '';
  const { level, known, waitsFor } = status;
  if (level >= known) return `level ${level}\n`;
  // All have said that they know it: the leader raises the level within a second.
  const next = waitsFor.length === 0 ? 'is about to come' : `waits for ${waitsFor.join(', ')}`;
  return `level ${level}; level ${known} ${next}\n`;
}

export function nodeTable({ nodes, groups }: ClusterStatus): string {
  const rows = nodes.map(({ number, name, port, status, leads, applied }) => [
    String(number),
    name,
    String(port),
    status,
    `${leads} of ${groups.length}`,
    String(applied),
  ]);
  return table(['NODE', 'NAME', 'PORT', 'STATUS', 'LEADS', 'APPLIED'], rows);
}

export function groupTable({ groups }: ClusterStatus): string {
  const rows = groups.map(({ scope, leader, voters, learners }) => [
    scope,
    leader === null ? '-' : String(leader),
    voters.join(' '),
    learners.join(' '),
  ]);
  return `\n${table(['SCOPE', 'LEADER', 'VOTERS', 'LEARNERS'], rows)}`;
}

function problemsOf(nodes: readonly NodeStatus[], groups: readonly GroupStatus[]): string[] {
  const problems = nodes
    .filter(({ status }) => status !== 'READY')
    .map(({ number, name, status }) => `node ${number} (${name}) is ${status}`);
  const headless = groups.filter(({ leader }) => leader === null);
  if (headless.length > 0) {
    const names = headless.slice(0, 5).map(({ scope }) => scope);
    const more = headless.length > names.length ? ', ...' : '';
    problems.push(`${headless.length} of ${groups.length} groups have no leader: ${names.join(', ')}${more}`);
  }
  return problems;
}

/** Columns as wide as they must be, two blanks apart. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return `${[head, ...rows].map(line).join('\n')}\n`;
}

function field(value: WireValue, key: string): WireValue | undefined {
  return isWireMap(value) ? value.get(key) : undefined;
}

function text(value: WireValue, key: string): string {
  const found = field(value, key);
  if (typeof found === 'string') return found;
  throw unexpected(key);
}

function int(value: WireValue, key: string): number {
  const found = field(value, key);
  if (typeof found === 'bigint') return Number(found);
  throw unexpected(key);
}

function listOf(value: WireValue | undefined): readonly WireValue[] {
  if (isWireList(value)) return value;
  throw unexpected('list');
}

function unexpected(what: string): WireError {
  return new WireError(`the node's answer lacks '${what}': does it run another version of Althing?`);
}
