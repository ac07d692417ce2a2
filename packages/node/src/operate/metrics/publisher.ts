import type { DataFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import type { EngineSide } from '../../engine-side/engine-side.js';
import type { HttpListener } from '../../listen/http/listener.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';

export interface PublisherOptions {
  readonly config: Pick<Config, 'cacheSizeMb' | 'diskReserveMb'>;
  readonly figures: Pick<EngineMetrics, 'publish'>;
  readonly side: EngineSide;
  readonly folder: DataFolder;
  /** Null until the API is open. */
  readonly listener: () => HttpListener | null;
}

const MiB = 1024 * 1024;

/** Time between two looks at figures, in milliseconds. */
const PUBLISH_MS = 500;

/** Tells the figures that are not counted where something happens. */
export class Publisher {
  private readonly options: PublisherOptions;
  private publishedAt = 0;

  constructor(options: PublisherOptions) {
    this.options = options;
  }

  /** Tells them when it is time to. To be called several times a second. */
  consider(): void {
    if (performance.now() - this.publishedAt < PUBLISH_MS) return;
    this.publishedAt = performance.now();
    const { config, figures, side, folder } = this.options;
    const { engine, router, scopes, disk } = side;
    const listener = this.options.listener();
    figures.publish({
      engine: engine.figures,
      inFlight: listener?.inFlight ?? 0,
      connections: listener?.connections ?? 0,
      bodyBytes: listener?.bodyBytes ?? 0,
      waiting: { ...scopes.sessions.queues, ...router.queues },
      repeated: router.repeated,
      cacheLimitBytes: config.cacheSizeMb * MiB,
      checkpointAgeMs: scopes.checkpointer.ageMs,
      reserveBytes: folder.hasReserve ? config.diskReserveMb * MiB : 0,
      isDiskFull: disk.level !== 'ok',
    });
  }
}
