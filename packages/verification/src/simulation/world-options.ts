import type { Cut } from './cut.js';
import type { Scheduler } from './scheduler.js';
import type { Swarm } from './swarm.js';
import type { Happening } from './table.js';
import type { Thread } from './thread.js';

/** The options that a simulated world begins with. */
export interface WorldOptions {
  readonly seed: number;
  /** Names of planted bugs. */
  readonly mutants?: ReadonlySet<string>;
  /** The parts that are left out. */
  readonly cut?: Cut;
  /** In place of what the seed makes of it. */
  readonly swarm?: Swarm;
  /** Events after which the run is given up, by `TooLong`. */
  readonly turnsMax?: number | undefined;
  /** Makes the threads that run queries; by default they take no time. */
  readonly engineThread?: (scheduler: Scheduler) => Thread;
  /** True if an error that ends a task is none of the node's. */
  readonly tasksMayFail?: boolean;
  /** Called with everything that happens. */
  readonly log?: (happening: Happening) => void;
  /** Called with the name and the kind of each fault and of each operation of a client. */
  readonly onDecision?: (name: string, kind: string) => void;
}
