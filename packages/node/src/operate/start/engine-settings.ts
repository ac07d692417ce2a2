import type { QueryLimits, Quotas } from '@althing/engine';
import type { DataFolder } from '@althing/storage';
import type { Config, LiveSettings } from '../../config/index.js';
import type { EngineSettings, StateDisk } from '../../engine-side/ports.js';
import type { State } from '../../groups/state.js';
import type { PoolSettings } from '../../readers/pool.js';
import { ownHost } from './own-host.js';

const MiB = 1024 * 1024;

/**
 * The settings of the engine side of a node.
 *
 * @param live the settings, some of which may change while the node runs
 * @param node what they do not say
 * @param level the highest level of a cluster that the software knows
 */
export function engineSettings(
  live: LiveSettings,
  level: number,
  node: Pick<EngineSettings, 'nodeId' | 'incarnation' | 'cluster'>,
): EngineSettings {
  const limits = live.follow(queryLimits);
  const quotas = live.follow(quotasOf);
  return live.follow((config) => ({
    ...node,
    name: config.nodeName,
    host: ownHost(config, config.clusterSecret !== undefined),
    port: config.listenNodePort,
    engine: { knownLevel: level, limits, quotas, programCacheBytes: config.programCacheMb * MiB },
    requestTimeoutMs: config.requestTimeoutMs,
    replaceAfterMs: config.replaceAfterMs,
    checkpointIntervalMs: config.checkpointIntervalMs,
    checkpointBytes: config.checkpointSizeMb * MiB,
    cacheBytes: config.cacheSizeMb * MiB,
    garbageIntervalMs: config.garbageIntervalMs,
    stateCheckIntervalMs: config.stateCheckIntervalMs,
  }));
}

function queryLimits(config: Config): QueryLimits {
  return {
    durationMs: config.queryDurationLimitMs,
    durationSource: 'query_duration_limit_ms',
    memoryBytes: config.queryMemoryLimitMb * MiB,
    memorySource: 'query_memory_limit_mb',
    valueBytes: config.valueSizeLimit,
    resultBytes: config.resultSizeLimit,
    codeLength: config.codeSizeLimit,
  };
}

function quotasOf(config: Config): Quotas {
  return {
    tokensPerUser: config.maxTokensPerUser,
    users: config.maxUsers,
    collections: config.maxCollections,
    procedures: config.maxProcedures,
    tasks: config.maxTasks,
    sessions: { idleMs: config.sessionIdleMs, maxMs: config.sessionMaxMs },
  };
}

/** The settings of the threads that read snapshots. */
export function poolSettings(config: Config): PoolSettings {
  const memoryBytes = config.snapshotMemoryLimitMb * MiB;
  return {
    threads: config.snapshotThreads,
    durationMs: config.snapshotDurationLimitMs,
    memoryMb: config.snapshotMemoryLimitMb,
    keptBytes: config.snapshotKeptMb * MiB,
    limits: {
      durationMs: config.snapshotDurationLimitMs,
      durationSource: 'snapshot_duration_limit_ms',
      memoryBytes: memoryBytes * QUERY_PART,
      memorySource: 'snapshot_memory_limit_mb',
      valueBytes: config.valueSizeLimit,
      resultBytes: config.resultSizeLimit,
      codeLength: config.codeSizeLimit,
    },
    quotas: quotasOf(config),
  };
}

/** The part of the memory of a thread that the values of its query may take: so it ends before the thread does. */
const QUERY_PART = 0.75;

export function stateDisk(
  config: Pick<Config, 'diskReserveMb'>,
  folder: DataFolder,
  state: State,
): StateDisk {
  return {
    state,
    reserve: folder,
    freeBytes: () => folder.stateDisk.freeBytes(),
    bytesToReopen: () => folder.bytesToReopen(),
    reserveBytes: config.diskReserveMb * MiB,
  };
}
