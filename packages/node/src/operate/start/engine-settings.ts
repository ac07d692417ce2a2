import type { QueryLimits, Quotas } from '@althing/engine';
import type { DataFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import type { EngineSettings, StateDisk } from '../../engine-side/ports.js';
import type { State } from '../../groups/state.js';
import type { PoolSettings } from '../../readers/pool.js';
import { ownHost } from './own-host.js';

const MiB = 1024 * 1024;

/**
 * The settings of the engine side of a node.
 *
 * @param config whose values are read at each use, where they may change while the node runs
 * @param node what they do not say
 * @param level the highest level of a cluster that the software knows
 */
export function engineSettings(
  config: Config,
  level: number,
  node: Pick<EngineSettings, 'nodeId' | 'incarnation' | 'cluster'>,
): EngineSettings {
  return {
    ...node,
    name: config.nodeName,
    host: ownHost(config, config.clusterSecret !== undefined),
    port: config.listenNodePort,
    engine: {
      knownLevel: level,
      limits: queryLimits(config),
      quotas: quotas(config),
      programCacheBytes: config.programCacheMb * MiB,
    },
    requestTimeoutMs: config.requestTimeoutMs,
    replaceAfterMs: config.replaceAfterMs,
    get checkpointIntervalMs() {
      return config.checkpointIntervalMs;
    },
    get checkpointBytes() {
      return config.checkpointSizeMb * MiB;
    },
    get cacheBytes() {
      return config.cacheSizeMb * MiB;
    },
    get garbageIntervalMs() {
      return config.garbageIntervalMs;
    },
    get stateCheckIntervalMs() {
      return config.stateCheckIntervalMs;
    },
  };
}

/** Read at each use: settings may change while the node runs. */
function queryLimits(config: Config): QueryLimits {
  return {
    get durationMs() {
      return config.queryDurationLimitMs;
    },
    durationSource: 'query_duration_limit_ms',
    get memoryBytes() {
      return config.queryMemoryLimitMb * MiB;
    },
    memorySource: 'query_memory_limit_mb',
    get valueBytes() {
      return config.valueSizeLimit;
    },
    get resultBytes() {
      return config.resultSizeLimit;
    },
    get codeLength() {
      return config.codeSizeLimit;
    },
  };
}

function quotas(config: Config): Quotas {
  return {
    get tokensPerUser() {
      return config.maxTokensPerUser;
    },
    get users() {
      return config.maxUsers;
    },
    get collections() {
      return config.maxCollections;
    },
    get procedures() {
      return config.maxProcedures;
    },
    get tasks() {
      return config.maxTasks;
    },
    get sessions() {
      return { idleMs: config.sessionIdleMs, maxMs: config.sessionMaxMs };
    },
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
    quotas: { ...quotas(config) },
  };
}

/** The part of the memory of a thread that the values of its query may take: so it ends before the thread does. */
const QUERY_PART = 0.75;

/** The disk of the state in a data folder. */
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
