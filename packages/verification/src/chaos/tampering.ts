/** Libraries that are loaded into the processes of the nodes, to disturb their clocks and disks. */
import { Clocks } from './clock.js';
import { DiskFaults } from './disk-faults.js';
import { PRELOAD_PROBLEM, preloadEnvironment } from './preload.js';

export class Tampering {
  /** @returns why it is not possible, where it is not */
  static build(folder: string, nodes: number): Tampering | string {
    if (PRELOAD_PROBLEM !== null) return PRELOAD_PROBLEM;
    try {
      return new Tampering(new Clocks(folder, nodes), new DiskFaults(folder, nodes));
    } catch (error) {
      return `it takes a C compiler (${(error as Error).message.split('\n')[0]})`;
    }
  }

  private constructor(
    readonly clocks: Clocks,
    readonly disks: DiskFaults,
  ) {}

  /** The environment of the node at a place. */
  environment(place: number): Record<string, string> {
    return preloadEnvironment([this.clocks.preload(place), this.disks.preload(place)]);
  }
}
