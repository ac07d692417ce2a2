/** Kinds of faults, and the parts that most of them need. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Draw } from '../simulation/random.js';
import type { ChaosNode } from './chaos-node.js';
import type { Fleet } from './fleet.js';
import type { Tampering } from './tampering.js';

export interface Target {
  readonly fleet: Fleet;
  readonly tampering: Tampering | null;
  readonly draw: Draw;
  /** The collection that clients use. */
  readonly collection: string;
  readonly finding: (text: string) => void;
}

export interface Begun {
  readonly detail: string;
  /** Ends it. */
  readonly undo: () => Promise<void>;
}

export type Problem = (target: Pick<Target, 'fleet' | 'tampering'>) => string | null;

export interface FaultKind {
  readonly name: string;
  readonly doc: string;
  /** True if it must be the only one, on a cluster that is well. */
  readonly alone?: true;
  /** Milliseconds that it lasts: least and most. */
  readonly lastsMs: readonly [number, number];
  /** Why it is not possible here; null when it is. It always is where this is not there. */
  readonly problem?: Problem;
  readonly begin: (target: Target) => Promise<Begun>;
}

/** The reason why a node alone can't have a fault. */
export const ALONE = 'it takes other nodes';

/** The problem that a node alone is for faults between nodes, and for those that others must outlive. */
export const amongOthers: Problem = ({ fleet }) => (fleet.nodes.length === 1 ? ALONE : null);

export const nothing = (): Promise<void> => Promise.resolve();

/** A node that is up, if one is. */
export function anyNode({ fleet, draw }: Target): ChaosNode {
  const up = fleet.nodes.filter(({ isUp }) => isUp);
  return draw.pick(up.length === 0 ? fleet.nodes : up);
}

/** The node that leads the collection of the clients, as far as that is known. */
export async function leader(target: Target): Promise<ChaosNode> {
  return (await target.fleet.leaderOf(target.collection)) ?? anyNode(target);
}

export async function leaderOrAny(target: Target): Promise<ChaosNode> {
  return target.draw.chance(0.5) ? leader(target) : anyNode(target);
}

export async function startAll(nodes: readonly ChaosNode[]): Promise<void> {
  for (const node of nodes) node.start();
}

const POLL_MS = 50;

/** Milliseconds until something is so, or until the limit is exceeded. */
export async function msUntil(isSo: () => boolean | Promise<boolean>, limitMs: number): Promise<number> {
  const begin = performance.now();
  for (;;) {
    const is = await isSo();
    const tookMs = Math.round(performance.now() - begin);
    if (is || tookMs > limitMs) return tookMs;
    await pause(POLL_MS);
  }
}
