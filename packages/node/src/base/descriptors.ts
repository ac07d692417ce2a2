/**
 * File descriptors: each connection takes one, and a node that has none left can not open its files either,
 * and ends. So everything of which there can be many has its share of what the process may have.
 */
import { readFileSync } from 'node:fs';
import type { Logger } from '../telemetry/logger.js';

/**
 * Kept for everything else: tables of the state, connections to the status port and between nodes, the log, backups. LevelDB maps the first
 * 1000 tables, which take none then, and half as many files as it may open are held open besides.
 */
const KEPT = 2500;

/** With fewer descriptors than this, tables and the status port have to do with less, too. */
const FEW = 2 * KEPT;

const TABLES_MAX = 2000;
/** LevelDB does not go below. */
const TABLES_MIN = 64;

const PROBES_MAX = 256;

/** The number of tables of the state that may be open: a quarter, if there are few. */
export function fittingTables(descriptors: number | null): number {
  if (descriptors === null || descriptors >= FEW) return TABLES_MAX;
  return Math.max(TABLES_MIN, Math.floor(descriptors / 4));
}

/** The number of connections that the status port takes: a few, if there are few. */
export function fittingProbes(descriptors: number | null): number {
  if (descriptors === null || descriptors >= FEW) return PROBES_MAX;
  return Math.max(1, Math.floor(descriptors / 20));
}

/**
 * The number of the most connections that there may be which are kept for clients on the machine itself: health
 * checks, and people.
 */
export function keptFor(connectionsMax: number): number {
  return Math.min(16, Math.floor(connectionsMax / 16));
}

/** The number of connections that fit, of those that are wished for; warns when it is not all of them. */
export function fittingConnections(wanted: number, descriptors: number | null, log: Logger): number {
  if (descriptors === null || wanted + KEPT <= descriptors) return wanted;
  // With very few, half of them.
  const fitting = Math.max(1, descriptors - KEPT, Math.floor(descriptors / 2));
  if (fitting >= wanted) return wanted;
  log.warn(
    { event: 'few_file_descriptors', descriptors, max_connections: wanted, connections: fitting },
    `the process may open ${descriptors} files: ${fitting} connections are taken instead of max_connections = ${wanted}`,
  );
  return fitting;
}

/**
 * The number of descriptors that this process may have; null where the system does not tell (proc(5)), or sets no
 * limit.
 */
export function descriptorLimit(): number | null {
  try {
    return limitIn(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    // No such file: not Linux.
    return null;
  }
}

/** The limit that holds, the "soft" one. */
export function limitIn(limits: string): number | null {
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
