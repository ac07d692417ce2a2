/** Faults, one after the other and some at the same time, until the time is over. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Draw } from '../simulation/random.js';
import type { Clients } from './clients.js';
import type { Begun, FaultKind } from './fault-kind.js';
import type { Fleet } from './fleet.js';
import type { Recorder } from './record.js';
import type { Tampering } from './tampering.js';

export interface FaultScheduleOptions {
  readonly fleet: Fleet;
  readonly clients: Clients;
  readonly tampering: Tampering | null;
  readonly recorder: Recorder;
  readonly draw: Draw;
  readonly kinds: readonly FaultKind[];
  /** When it ends, on the clock of `performance.now()`. */
  readonly until: number;
  /** True if it shall end early. */
  readonly isInterrupted: () => boolean;
  readonly tell: (text: string) => void;
}

/** Mean time without faults between two. */
const CALM_MS = 700;
/** The probability that a second fault begins while one lasts. */
const SECOND = 0.35;

/** @throws {Error} when the cluster does not get well in between */
export async function runFaults(options: FaultScheduleOptions): Promise<void> {
  const { draw, kinds, fleet } = options;
  let bag: FaultKind[] = [];
  const next = (): FaultKind => {
    // Each kind has its turn before one comes again.
    if (bag.length === 0) bag = draw.shuffled(kinds);
    return bag.pop() as FaultKind;
  };
  const isOver = (): boolean => performance.now() > options.until || options.isInterrupted();
  while (!isOver()) {
    const kind = next();
    if (kind.alone) {
      await fleet.settle(true);
      await inject(options, [kind]);
      await fleet.settle(true);
    } else {
      const second = bag.at(-1);
      const both = second !== undefined && !second.alone && draw.chance(SECOND);
      await inject(options, both ? [kind, next()] : [kind]);
    }
    await pause(draw.exponential(CALM_MS));
  }
}

/** Begins faults shortly one after the other, lets them last, and ends them. */
async function inject(options: FaultScheduleOptions, kinds: readonly FaultKind[]): Promise<void> {
  const { draw, fleet, clients, tampering, recorder, tell } = options;
  await Promise.all(
    kinds.map(async (kind, at) => {
      await pause(at * draw.int(0, 1000));
      const begin = performance.now();
      const { collection } = clients;
      const finding = (text: string): void => recorder.finding(text);
      let begun: Begun;
      try {
        begun = await kind.begin({ fleet, tampering, draw, collection, finding });
      } catch (error) {
        // One fault may leave nothing to another: a node that is to hand over may be cut off.
        begun = { detail: `did not begin: ${(error as Error).message}`, undo: async () => {} };
      }
      await pause(draw.int(...kind.lastsMs));
      await begun.undo();
      const end = performance.now();
      recorder.fault({ name: kind.name, detail: begun.detail, begin, end });
      tell(`${kind.name}: ${begun.detail} (${((end - begin) / 1000).toFixed(1)} s)`);
    }),
  );
}
