import type { Engine } from '@althing/engine';
import type { DataFolder } from '@althing/storage';
import type { Config } from '../config/index.js';
import type { HttpListener } from '../http/listener.js';
import type { Router } from '../router.js';
import type { DiskKeeper } from '../scopes/disk-keeper.js';
import type { NodeScopes } from '../scopes/node-scopes.js';
import type { EngineMetrics } from './engine-metrics.js';

export interface PublisherOptions {
  readonly config: Pick<Config, 'cacheSizeMb' | 'diskReserveMb'>;
  readonly figures: Pick<EngineMetrics, 'publish'>;
  readonly engine: Engine;
  readonly router: Router;
  readonly scopes: NodeScopes;
  readonly disk: DiskKeeper;
  readonly folder: DataFolder;
  /** Undefined until the API is open. */
  readonly listener: () => HttpListener | undefined;
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
    const { config, figures, engine, router, scopes, disk, folder } = this.options;
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
