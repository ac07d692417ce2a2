/** Nodes that are stopped in order: their clients are told to go elsewhere, get their answers, and are gone before the node ends. */
import type { Machine } from './machine.js';
import { Violation } from './watcher.js';
import type { World } from './world.js';

/** Time that clients have to go elsewhere by themselves, in milliseconds. */
const DELAY_MS = 100;

/** Time that a node may take until its clients are gone: ticks of its engine thread, and the time of one in milliseconds. */
const TICKS_MAX = 100;
const TICK_MS = 100;

export class Drains {
  private readonly machines = new Set<Machine>();

  constructor(private readonly world: World) {}

  /** Begins to stop a node that is open; `stopped` is called when it has ended. */
  begin(machine: Machine, stopped: () => void): void {
    const { world, machines } = this;
    const { process } = machine;
    if (!process?.isOpen || machines.has(machine)) return;
    world.note(() => 'drain', machine);
    machines.add(machine);
    const stop = (): void => {
      if (machine.process !== process || !machines.delete(machine)) return;
      world.reached.add('a node lets its clients go, and stops');
      world.stop(machine, stopped);
    };
    process.doors.leave();
    process.engineThread.after(DELAY_MS, () => process.doors.drain().then(stop));
    let ticks = 0;
    process.engineThread.every(TICK_MS, () => {
      ticks += 1;
      if (ticks === TICKS_MAX && machines.has(machine))
        world.violate(new Violation('I16', `${machine.name} does not get rid of its clients`));
    });
  }

  /** A node has ended, however. */
  ended(machine: Machine): void {
    this.machines.delete(machine);
  }

  /** Nodes that are not stopped yet end at once. */
  endAll(): void {
    for (const machine of [...this.machines]) this.world.crash(machine, false);
  }
}
