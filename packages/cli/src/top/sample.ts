/** One look at all nodes of a cluster, through a node that is asked. */
import { AlthingError, ForbiddenErr, isWireList, isWireMap, type WireValue } from '@althing/client';
import { type Connection, runQuery, wordsOf } from '../connection.js';

/** The counters of a query shape or a procedure on one node, since they began; times in seconds. */
export interface Runs {
  readonly kind: 'query' | 'procedure';
  readonly scope: string;
  /** The shape, or the name. */
  readonly what: string;
  readonly count: number;
  readonly failures: number;
  readonly run: number;
  readonly runP99: number;
  readonly runMax: number;
  readonly wait: number;
  readonly reads: number;
  readonly coldReads: number;
}

/** A connection, or those of HTTP from one address. */
export interface Client {
  readonly transport: string;
  readonly address: string;
  readonly user: string;
  readonly count: number;
}

export interface OpenRequest {
  readonly id: number;
  readonly state: string;
  readonly waitsFor: string;
  /** Unix seconds. */
  readonly since: number;
  readonly user: string;
  readonly scope: string;
  readonly text: string;
}

export interface NodeSample {
  readonly number: number;
  readonly name: string;
  readonly status: string;
  /** Why nothing is known of it, in words; null where all is. */
  readonly problem: string | null;
  readonly runs: readonly Runs[];
  readonly clients: readonly Client[];
  readonly requests: readonly OpenRequest[];
}

export interface Sample {
  /** Wall clock in milliseconds. */
  readonly at: number;
  readonly nodes: readonly NodeSample[];
}

const NODES = 'nodes_info().map(|n| n.load());';

const ACTIVITY = `[queries_info().map(|q| q.load()), procedure_stats().map(|p| p.load()),
  connections_info().map(|c| c.load()), requests_info().map(|r| r.load())];`;

/** The shapes of these queries begin so: they are left out of what is found. */
const OWN_SHAPES = ['[queries_info()', 'nodes_info().map(|n| n.load())'];

/**
 * Looks at all nodes. One that can't be asked has a problem.
 *
 * @param now wall clock in milliseconds
 * @throws {AlthingError} where no node can be asked, or the user may not ask
 */
export async function takeSample(connection: Connection, now: () => number): Promise<Sample> {
  const members = listOf(await runQuery(connection, '@node', NODES));
  const nodes = members.map(async (value): Promise<NodeSample> => {
    const node = {
      number: number(value, 'node_id'),
      name: text(value, 'node_name'),
      status: text(value, 'status'),
    };
    if (node.status !== 'READY') return { ...node, ...NOTHING, problem: `is ${node.status}` };
    try {
      return {
        ...node,
        ...activityOf(await runQuery(connection, `@node:${node.number}`, ACTIVITY)),
        problem: null,
      };
    } catch (error) {
      if (!(error instanceof AlthingError) || error instanceof ForbiddenErr) throw error;
      return { ...node, ...NOTHING, problem: wordsOf(error) };
    }
  });
  return { at: now(), nodes: await Promise.all(nodes) };
}

const NOTHING = { runs: [], clients: [], requests: [] };

function activityOf(answer: WireValue): Pick<NodeSample, 'runs' | 'clients' | 'requests'> {
  const [queries, procedures, connections, requests] = listOf(answer).map(listOf);
  const runs = [
    ...(queries ?? []).map((value) => runsOf(value, 'query')),
    ...(procedures ?? []).map((value) => runsOf(value, 'procedure')),
  ];
  return {
    runs: runs.filter(
      ({ what, scope }) => scope !== '@node' || !OWN_SHAPES.some((own) => what.startsWith(own)),
    ),
    clients: (connections ?? []).map((value) => ({
      transport: text(value, 'transport'),
      address: text(value, 'address'),
      user: text(value, 'user'),
      count: number(value, 'count'),
    })),
    requests: (requests ?? []).map((value) => ({
      id: number(value, 'id'),
      state: text(value, 'state'),
      waitsFor: text(value, 'waits_for'),
      since: number(value, 'since'),
      user: text(value, 'user'),
      scope: text(value, 'scope'),
      text: text(value, 'text'),
    })),
  };
}

function runsOf(value: WireValue, kind: Runs['kind']): Runs {
  return {
    kind,
    scope: text(value, 'scope'),
    what: text(value, kind),
    count: number(value, 'count'),
    failures: number(value, 'failures'),
    run: number(value, 'run_total'),
    runP99: number(value, 'run_p99'),
    runMax: number(value, 'run_max'),
    wait: number(value, 'wait_total'),
    reads: number(value, 'things_read'),
    coldReads: number(value, 'cold_reads'),
  };
}

function listOf(value: WireValue): readonly WireValue[] {
  return isWireList(value) ? value : [];
}

/** Empty for nil. */
function text(value: WireValue, key: string): string {
  return isWireMap(value) ? String(value.get(key) ?? '') : '';
}

function number(value: WireValue, key: string): number {
  return isWireMap(value) ? Number(value.get(key) ?? 0) : 0;
}
