/**
 * The bounds of an exploration: how much of everything may happen in one life of the cluster, and which
 * options are on.
 */
import { changeOf } from '../change.js';
import type { RaftOptions } from '../config.js';
import { type ChangeStep, type MembershipChange, membershipOf, NO_MEMBERS } from '../membership.js';
import type { RaftNodeClass } from '../testing/plant.js';
import type { Membership, NodeId, Term } from '../types.js';

export interface Bounds {
  readonly nodes: number;
  /** Terms that elections may lead to. */
  readonly terms: number;
  /** Proposals, in all. */
  readonly entries: number;
  /** Messages under way at the same time; what is more is lost, each in turn. */
  readonly messages: number;
  /** Nodes that die and start again, in all. */
  readonly crashes: number;
  /** Messages that arrive twice, in all. */
  readonly repeats: number;
  /** Heartbeats of leaders, in all. */
  readonly beats: number;
  /** Reads asked for, in all. */
  readonly reads: number;
  /** Leadership transfers asked for, in all. */
  readonly transfers: number;
  /** Times that a group falls silent, with all nodes or without one, in all. */
  readonly sleeps: number;
  /**
   * Membership changes in the order in which they are proposed: `+4` adds a voter, `-3` removes one, `+4-3`
   * does both.
   */
  readonly changes: readonly string[];
  /** Writes in flight at a node; 0: each is durable at once. */
  readonly writes: number;
  /** Entries in one append. */
  readonly batch: number;
  readonly preVote: boolean;
  /** True if the host may wait before it fetches what is ready. */
  readonly lazy: boolean;
}

/** The bounds unless others are asked for: some six million states, complete within a minute or two. */
export const DEFAULT_BOUNDS: Bounds = {
  nodes: 3,
  terms: 2,
  entries: 1,
  messages: 2,
  crashes: 0,
  repeats: 0,
  beats: 0,
  reads: 0,
  transfers: 0,
  sleeps: 0,
  changes: [],
  writes: 2,
  batch: 4,
  preVote: false,
  lazy: false,
};

/** The most of anything that is counted down: each count has four bits in a state. */
export const COUNT_MAX = 15;
export const NODES_MAX = 5;

/** Bounds that make no sense. */
export class BoundsError extends Error {
  override readonly name = 'BoundsError';
}

/** The cluster that is explored, as it follows from the bounds. */
export interface Model {
  readonly bounds: Bounds;
  /** The core that is explored. */
  readonly nodeClass: RaftNodeClass;
  readonly ids: readonly NodeId[];
  readonly termMax: Term;
  /** Room for the entries of any log, by index. */
  readonly indexEnd: number;
  readonly changes: readonly MembershipChange[];
  readonly options: Partial<RaftOptions>;
  /** Renamings of nodes that change nothing else; the first one renames nobody. */
  readonly renamings: readonly Uint8Array[];
  /** The membership that a node starts with. */
  readonly membershipOf: (node: NodeId) => Membership;
  /** The number of disks that an entry must be on to be committed; 0 if members come and go. */
  readonly quorum: number;
}

/** Throws {@link BoundsError} if the bounds make no sense. */
export function modelOf(bounds: Bounds, nodeClass: RaftNodeClass): Model {
  const ids = Array.from({ length: bounds.nodes }, (_, at) => at + 1);
  const steps = bounds.changes.map(stepsOf);
  const named = new Set(steps.flat().map(({ node }) => node));
  for (const node of named) if (!ids.includes(node)) throw new BoundsError(`There is no node ${node}`);
  const joining = new Set(steps.flat().flatMap((step) => (step.action === 'addVoter' ? [step.node] : [])));
  const founders = ids.filter((id) => !joining.has(id));
  if (founders.length === 0) throw new BoundsError('A group begins with voters');
  const first = membershipOf(founders);
  return {
    bounds,
    nodeClass,
    ids,
    termMax: FIRST_TERM + bounds.terms,
    // The beginning, a first entry for each term, proposals, changes, and the entries that leave joint
    // configurations.
    indexEnd: 2 + bounds.terms + bounds.entries + 2 * steps.length,
    changes: steps.map((list) => changeOf(...list)),
    options: {
      // Time plays no part: elections begin when the explorer says so.
      electionTicks: 1000,
      heartbeatTicks: 1,
      checkQuorum: false,
      diskStallTicks: 0,
      preVote: bounds.preVote,
      maxWritesInFlight: Math.max(bounds.writes, 1),
      maxMessageEntries: bounds.batch,
    },
    renamings: renamingsOf(ids, named),
    membershipOf: (node) => (joining.has(node) ? NO_MEMBERS : first),
    quorum: steps.length === 0 ? Math.floor(founders.length / 2) + 1 : 0,
  };
}

/** The term that a group begins with. */
const FIRST_TERM = 1;

function stepsOf(text: string): ChangeStep[] {
  if (!/^([+-]\d)+$/.test(text)) throw new BoundsError(`${text}: a membership change is like +4, -3 or +4-3`);
  return [...text.matchAll(/([+-])(\d)/g)].map(([, sign, digit]) => ({
    action: sign === '+' ? 'addVoter' : 'remove',
    node: Number(digit),
  }));
}

/** All orders of the nodes that leave those alone whose ids stand in entries. */
function renamingsOf(ids: readonly NodeId[], fixed: ReadonlySet<NodeId>): Uint8Array[] {
  const free = ids.filter((id) => !fixed.has(id));
  return ordersOf(free).map((order) => {
    const names = Uint8Array.from({ length: ids.length + 1 }, (_, id) => id);
    for (const [at, id] of free.entries()) names[id] = order[at]!;
    return names;
  });
}

function ordersOf(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) =>
    ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}
