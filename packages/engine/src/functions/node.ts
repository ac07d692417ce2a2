import {
  existsError,
  lookupError,
  operationError,
  type QueryError,
  quotaError,
  valueError,
} from '../error.js';
import {
  type ClusterEntry,
  COUNTER_KEYS,
  type GroupEntry,
  NODE_INFO_KEYS,
  type NodeEntry,
  type NodeInfoKey,
} from '../node-view.js';
import { type Info, packInfo } from '../pack/info.js';
import { CHANGES_ROOT, type Entry, func, In, OPERATE } from '../run/builtin.js';
import { PositionsNeeded } from '../run/execution.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import { Float, type MpData } from '../value/scalars.js';
import { commitCount } from './history.js';

/** The node that runs the query, and the nodes of the cluster. */
export const NODES: readonly Entry[] = [
  func('node_info', {
    doc: 'What is known of this node.',
    in: In.NODE,
    run: (rt) => packed(rt, NODE_INFO_KEYS, FLOAT_INFO, nodeInfo(rt)),
  }),
  func('nodes_info', {
    doc: 'What this node knows of every node of the cluster.',
    in: In.NODE,
    run: (rt) => new List(rt.node.nodes().map((entry) => nodeEntry(rt, entry))),
  }),
  func('groups_info', {
    doc: 'What this node knows of the Raft groups: who leads them, who votes, how far its state and its log are, and on a leader how far each member is.',
    in: In.NODE,
    run: (rt) => {
      const groups = rt.node.groups();
      if (groups === null) throw new PositionsNeeded();
      return new List(Array.from(groups, (entry) => groupEntry(rt, entry)));
    },
  }),
  func('level_info', {
    doc: 'The level of the cluster, the highest that this node knows, the nodes that are not known to know that too, and warnings about how this node is set up.',
    in: In.NODE,
    run: (rt) => levelEntry(rt, rt.node.level()),
  }),
  func('counters', {
    doc: 'What this node counted since it started, or since reset_counters().',
    in: In.NODE,
    run: (rt) => packed(rt, COUNTER_KEYS, FLOAT_COUNTERS, rt.node.counters()),
  }),
  func('reset_counters', {
    doc: 'Lets the counters of this node, and the figures of queries and procedures, begin at 0 again.',
    needs: OPERATE,
    run: (rt) => {
      rt.node.resetCounters();
      return null;
    },
  }),
  func('set_log_level', {
    doc: 'Sets what this node logs, from DEBUG to CRITICAL, until it is started again.',
    needs: OPERATE,
    params: [p.int('level')],
    run: (rt, level) => {
      rt.node.setLogLevel(level < 0 ? 0 : level > 4 ? 4 : Number(level));
      return null;
    },
  }),
  func('set_config', {
    doc: 'Sets a setting of this node until it is started again: limits, the level of the log, the cache, intervals. Values are as in the configuration file.',
    needs: OPERATE,
    params: [p.str('name'), p.any('value')],
    run: (rt, name, value) => {
      const isText = typeof value === 'string' || isInt(value);
      if (!isText) throw p.wrongType(value, { function: 'set_config', position: 2 }, 'value', 'a str or int');
      rt.node.setConfig(name, String(value));
      return null;
    },
  }),
  func('shutdown', {
    doc: 'Stops this node in an orderly way.',
    needs: OPERATE,
    run: (rt) => {
      rt.node.shutDown();
      return null;
    },
  }),
  func('transfer_leadership', {
    doc: 'Gives what this node leads to another one, by its number, or to whichever is furthest.',
    needs: OPERATE,
    params: [p.optional(p.int('node'))],
    run: (rt, number) => {
      const member = number === undefined ? null : rt.root.memberByNumber(Number(number));
      if (member === undefined) throw unknownNode(number);
      rt.node.handOver(member);
      return null;
    },
  }),
  func('new_node', {
    doc: 'Takes a node into the cluster that waits for it with the same secret; gives the number that it will have.',
    changes: CHANGES_ROOT,
    params: [secret(), address(), p.optional(p.intBetween('port', 1, 65_535))],
    run: (rt, secretText, host, port = NODE_PORT) => {
      assertUnknown(rt, host, port);
      assertFewAwaited(rt);
      const problem = rt.node.invitationProblem();
      if (problem !== null) throw operationError(problem);
      const number = rt.root.freeNumber();
      if (number === null) throw quotaError('there are 64 nodes, the most that a cluster can have');
      const known = rt.node.isClusterSecret(secretText);
      rt.editor.putInvitation({ number, host, port, ...(known ? {} : { secret: secretText }) });
      return number;
    },
  }),
  func('del_node', {
    doc: 'Removes a node that is not there any more from the cluster for good, or calls off one that was called by new_node().',
    changes: CHANGES_ROOT,
    params: [p.int('node')],
    run: (rt, number) => {
      const invitation = rt.root.invitations.get(Number(number));
      if (invitation !== undefined) {
        rt.editor.deleteInvitation(invitation);
        return null;
      }
      const status = rt.node.nodes().find((each) => each.number === Number(number))?.status;
      if (ACTIVE.has(status)) {
        throw operationError(
          `node ${number} is active (${status}): stop it first, or use remove_node(${number}), which removes it while it runs`,
        );
      }
      remove(rt, number);
      return null;
    },
  }),
  func('remove_node', {
    doc: 'Removes a node from the cluster for good, also one that runs: it gives away what it leads, and ends.',
    changes: CHANGES_ROOT,
    params: [p.int('node')],
    run: (rt, number) => {
      remove(rt, number);
      return null;
    },
  }),
  func('has_node', {
    doc: 'Whether there is a node of this number in the cluster.',
    in: In.ROOT,
    params: [p.intBetween('node', 0, 4_294_967_295)],
    run: (rt, number) => rt.root.memberByNumber(number) !== undefined || rt.root.invitations.has(number),
  }),
];

/** The states in which a node takes part in the work of its cluster. */
const ACTIVE: ReadonlySet<string | undefined> = new Set(['READY', 'SYNCHRONIZING']);

function remove(rt: Runtime, number: number | bigint): void {
  const member = rt.root.memberByNumber(Number(number));
  if (member === undefined) throw unknownNode(number);
  if (member.leaving) return;
  const problem = rt.node.removalProblem(member);
  if (problem !== null) throw operationError(problem);
  rt.editor.putMember({ ...member, leaving: true });
}

/** Port on which nodes listen for each other, when none is given. */
const NODE_PORT = 9220;

/** Longest host name. */
const ADDRESS_LENGTH_MAX = 255;

const FLOAT_INFO: ReadonlySet<string> = new Set(['uptime']);

const FLOAT_COUNTERS: ReadonlySet<string> = new Set([
  'longest_query_duration',
  'average_query_duration',
  'longest_change_duration',
  'average_change_duration',
]);

function secret(): p.Param<string> {
  return {
    ...p.str('secret'),
    accept(value, where) {
      const text = p.str('secret').accept(value, where);
      if (/^[\x21-\x7e]+$/.test(text)) return text;
      throw valueError('a secret has one or more printable ASCII characters and no blanks');
    },
  };
}

function address(): p.Param<string> {
  return {
    ...p.str('address'),
    accept(value, where) {
      const text = p.str('address').accept(value, where);
      if (text.length <= ADDRESS_LENGTH_MAX && /^[\x21-\x7e]+$/.test(text)) return text;
      throw valueError(`an address is a host name or IP address of at most ${ADDRESS_LENGTH_MAX} characters`);
    },
  };
}

function assertUnknown({ root }: Runtime, host: string, port: number): void {
  const known = [...root.members.values(), ...root.invitations.values()];
  const same = known.find((other) => other.host === host && other.port === port);
  if (same === undefined) return;
  throw existsError(`node ${same.number} has the address ${host} and the port ${port} already`);
}

/** Nodes that are called, and never come, are not to be added to others: fewer than half of all may be missing. */
function assertFewAwaited({ root }: Runtime): void {
  const [first] = root.invitations.values();
  const count = root.members.size + root.invitations.size;
  const awaitedMax = count < SMALL_CLUSTER ? 0 : Math.floor(count / 2) - 1;
  if (first === undefined || root.invitations.size <= awaitedMax) return;
  throw operationError(
    `node ${first.number} is still to come: wait until nodes_info() shows that it is there, or call it off with del_node(${first.number})`,
  );
}

/** Nodes from which on one may be called while another one has not come. */
const SMALL_CLUSTER = 4;

function unknownNode(number: unknown): QueryError {
  return lookupError(`there is no node ${number}; nodes_info() in the scope @node lists them`);
}

function nodeInfo(rt: Runtime): Readonly<Record<NodeInfoKey, string | number>> {
  return {
    ...rt.node.info(),
    cached_names: rt.symbols.size,
    next_free_id: rt.root.nextId,
    commit_history: commitCount(rt, 'thingsdb') ?? 'disabled',
  };
}

function packed<K extends string>(
  rt: Runtime,
  keys: readonly K[],
  floats: ReadonlySet<string>,
  values: Readonly<Record<K, string | number>>,
): MpData {
  const field = (key: K): [string, Info] => {
    const value = values[key];
    return [key, typeof value === 'number' && floats.has(key) ? new Float(value) : value];
  };
  return packInfo(rt, new Map(keys.map(field)));
}

function nodeEntry(rt: Runtime, entry: NodeEntry): MpData {
  return packInfo(rt, {
    node_id: entry.number,
    syntax_version: 'v1',
    status: entry.status,
    zone: entry.zone,
    committed_change_id: entry.committed,
    stored_change_id: entry.stored,
    node_name: entry.name,
    port: entry.port,
    stream: entry.stream,
  });
}

function groupEntry(rt: Runtime, entry: GroupEntry): MpData {
  const { scope, role, leader, applied, voters, learners, term, commit, last, members } = entry;
  const told = members?.map(({ node, match, state }) => ({ node, match, state })) ?? null;
  return packInfo(rt, { scope, role, leader, applied, voters, learners, term, commit, last, members: told });
}

function levelEntry(rt: Runtime, { level, known, waitsFor, warnings }: ClusterEntry): MpData {
  return packInfo(rt, { level, known, waits_for: waitsFor, warnings });
}
