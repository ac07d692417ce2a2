/** Libraries that are loaded into the processes of the nodes, to disturb their clocks and disks. */
import { CLOCK } from './clock.js';
import { DISK, type DiskFault } from './disk-faults.js';
import { PRELOAD_PROBLEM, PreloadedLibrary } from './preload.js';

export class Tampering {
  private readonly clocks: PreloadedLibrary;
  private readonly disks: PreloadedLibrary;

  /** @returns why it is not possible, where it is not */
  static build(folder: string, nodes: number): Tampering | string {
    if (PRELOAD_PROBLEM !== null) return PRELOAD_PROBLEM;
    try {
      return new Tampering(folder, nodes);
    } catch (error) {
      return `it takes a C compiler (${(error as Error).message.split('\n')[0]})`;
    }
  }

  private constructor(folder: string, nodes: number) {
    this.clocks = new PreloadedLibrary(folder, CLOCK, nodes);
    this.disks = new PreloadedLibrary(folder, DISK, nodes);
  }

  /** The environment of the node at a place. */
  environment(place: number): Record<string, string> {
    return PreloadedLibrary.environment([this.clocks, this.disks], place);
  }

  /** Sets how many seconds a node's clock is ahead. */
  setClock(place: number, seconds: number): void {
    this.clocks.set(place, [seconds]);
  }

  /** Sets the faults of a node's disk. */
  setDisk(place: number, fault: DiskFault): void {
    const { writeFails, syncFails, syncTakesMs, stateFull, logFull } = fault;
    this.disks.set(
      place,
      [writeFails, syncFails, syncTakesMs, stateFull, logFull].map((each) => Number(each ?? 0)),
    );
  }
}
