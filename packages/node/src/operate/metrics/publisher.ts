import type { DataFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import type { EngineSide } from '../../engine-side/engine-side.js';
import type { Doors } from '../../listen/doors/doors.js';
import type { ModuleManager } from '../../modules/manager.js';
import type { Pool } from '../../readers/pool.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';

export interface PublisherOptions {
  readonly config: Pick<Config, 'cacheSizeMb' | 'diskReserveMb'>;
  readonly figures: Pick<EngineMetrics, 'publish'>;
  readonly side: EngineSide;
  readonly folder: DataFolder;
  readonly modules: Pick<ModuleManager, 'conditions'>;
  readonly readers: Pick<Pool, 'queue' | 'ends'>;
  /** Null until they are open. */
  readonly doors: () => Doors | null;
}

const MiB = 1024 * 1024;

/** Time between two looks at figures, in milliseconds. */
const PUBLISH_MS = 500;

/** Tells the figures that are not counted where something happens. */
export class Publisher {
  private publishedAt = 0;

  constructor(private readonly options: PublisherOptions) {}

  /** Tells them when it is time to. To be called several times a second. */
  consider(): void {
    if (performance.now() - this.publishedAt < PUBLISH_MS) return;
    this.publishedAt = performance.now();
    const { config, figures, side, folder, modules, readers } = this.options;
    const { engine, router, scopes, disk } = side;
    const doors = this.options.doors();
    figures.publish({
      engine: engine.figures,
      inFlight: doors?.inFlight ?? 0,
      connections: doors?.connections ?? 0,
      bodyBytes: doors?.bytes ?? 0,
      native: doors?.nativeFigures ?? null,
      waiting: { ...scopes.sessions.queues, ...router.queues, snapshot: readers.queue.waiting },
      snapshots: { running: readers.queue.running, ended: readers.ends },
      repeated: router.repeated,
      tasks: side.tasks.figures,
      rooms: side.rooms.figures,
      feeds: side.feeds.figures,
      cacheLimitBytes: config.cacheSizeMb * MiB,
      checkpointAgeMs: scopes.checkpointer.ageMs,
      reserveBytes: folder.hasReserve ? config.diskReserveMb * MiB : 0,
      isDiskFull: disk.level !== 'ok',
      modules: modules.conditions,
    });
  }
}
