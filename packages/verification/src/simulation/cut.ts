/**
 * Parts that are left out of a run, so that it is smaller than its seed makes it. All else stays as the seed has it. Its text is
 * part of the command that replays the run.
 */
import type { Swarm } from './swarm.js';

/** Parts of a run that can be left out besides kinds of faults. */
export const EXTRAS = [
  'loss',
  'doubles',
  'disorder',
  'slow_operations',
  'guests',
  'sockets',
  'leader_faults',
] as const;

export interface Cut {
  readonly nodes: number | null;
  readonly clients: number | null;
  /** Length of the time of faults, in milliseconds. */
  readonly faultsMs: number | null;
  /** Kinds of faults, and extras, that do not come up. */
  readonly without: readonly string[];
  /**
   * The decisions that are left: `f12` is the fault that comes at the 12th time for one, `c3.7` what client 3 does at its
   * 7th. Null: all.
   */
  readonly keep: readonly string[] | null;
}

export const WHOLE: Cut = { nodes: null, clients: null, faultsMs: null, without: [], keep: null };

export function extrasOf({ network, disk, guests, sockets }: Swarm): string[] {
  const has: Readonly<Record<(typeof EXTRAS)[number], boolean>> = {
    loss: network.lostPerMille > 0,
    doubles: network.doubledPerMille > 0,
    disorder: network.reorders,
    slow_operations: disk.slowPerMille > 0,
    guests,
    sockets: sockets > 0,
    leader_faults: true,
  };
  return EXTRAS.filter((extra) => has[extra]);
}

/** The command that makes a run. */
export function commandOf(seed: number, mutants: readonly string[], cut: Cut): string {
  const { nodes, clients, faultsMs, without, keep } = cut;
  const words = [`npm run simulate -- --seed ${seed}`];
  if (mutants.length > 0) words.push(`--only ${mutants.join()}`);
  if (nodes !== null) words.push(`--nodes ${nodes}`);
  if (clients !== null) words.push(`--clients ${clients}`);
  if (faultsMs !== null) words.push(`--faults ${faultsMs}`);
  if (without.length > 0) words.push(`--without ${without.join()}`);
  if (keep !== null) words.push(`--keep ${keep.length === 0 ? 'none' : keep.join()}`);
  return words.join(' ');
}

/** A swarm without what is left out. Which kinds of faults there are stays, so that each decision stays the same fault. */
export function cutSwarm(swarm: Swarm, cut: Cut): Swarm {
  const { network, disk } = swarm;
  const has = (extra: (typeof EXTRAS)[number]): boolean => !cut.without.includes(extra);
  return {
    ...swarm,
    nodes: cut.nodes ?? swarm.nodes,
    clients: cut.clients ?? swarm.clients,
    faultsMs: cut.faultsMs ?? swarm.faultsMs,
    guests: swarm.guests && has('guests'),
    sockets: has('sockets') ? swarm.sockets : 0,
    network: {
      ...network,
      lostPerMille: has('loss') ? network.lostPerMille : 0,
      doubledPerMille: has('doubles') ? network.doubledPerMille : 0,
      reorders: network.reorders && has('disorder'),
    },
    disk: { ...disk, slowPerMille: has('slow_operations') ? disk.slowPerMille : 0 },
  };
}

/** Decides which of the things that could be done are done. */
export class Decisions {
  private readonly without: ReadonlySet<string>;
  private readonly keep: ReadonlySet<string> | null;

  /** @param onTaken told of each that is taken */
  constructor(
    { without, keep }: Cut,
    private readonly onTaken: (name: string, kind: string) => void,
  ) {
    this.without = new Set(without);
    this.keep = keep === null ? null : new Set(keep);
  }

  /** True if a kind of fault, or an extra, comes up at all. */
  allows(kind: string): boolean {
    return !this.without.has(kind);
  }

  /** True if something is done; then it counts. */
  take(name: string, kind: string): boolean {
    if (this.keep !== null && !this.keep.has(name)) return false;
    this.onTaken(name, kind);
    return true;
  }
}
