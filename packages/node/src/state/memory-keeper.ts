import type { Engine } from '@althing/engine';

/** Milliseconds of one slice of work: at first, and when things take half as much memory again as they may. */
const SLICE_MS = 2;
const SLICE_MAX_MS = 32;

/** The limit of memory for things. */
interface MemorySettings {
  readonly cacheBytes: number;
}

/** Keeps what things take in memory under its budget, in slices, while nothing else is to be done. */
export class MemoryKeeper {
  private working = false;

  /**
   * @param settings read at each use
   * @param later calls back after other work had its turn
   */
  constructor(
    private readonly engine: Engine,
    private readonly settings: MemorySettings,
    private readonly monotonic: () => number,
    private readonly later: (work: () => void) => void,
  ) {}

  /** True if room is being made. */
  get isWorking(): boolean {
    return this.working;
  }

  /** Starts to make room when that is needed. To be called now and then. */
  consider(): void {
    if (this.working || this.engine.thingBytes <= this.settings.cacheBytes) return;
    this.working = true;
    this.later(() => this.work());
  }

  private work(): void {
    const excess = Math.min(2 * (this.engine.thingBytes / this.settings.cacheBytes - 1), 1);
    const sliceMs = SLICE_MS + Math.max(excess, 0) * (SLICE_MAX_MS - SLICE_MS);
    if (this.engine.evict(this.settings.cacheBytes, this.monotonic() + sliceMs))
      this.later(() => this.work());
    else this.working = false;
  }
}
