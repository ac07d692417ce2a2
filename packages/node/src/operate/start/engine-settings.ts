import type { DataFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import type { EngineSettings, StateDisk } from '../../engine-side/ports.js';
import type { State } from '../../groups/state.js';
import { ownHost } from './own-host.js';

const MiB = 1024 * 1024;

/**
 * The settings of the engine side of a node.
 *
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
      limits: {
        durationMs: config.queryDurationLimitMs,
        durationSource: 'query_duration_limit_ms',
        memoryBytes: config.queryMemoryLimitMb * MiB,
        valueBytes: config.valueSizeLimit,
        resultBytes: config.resultSizeLimit,
        codeLength: config.codeSizeLimit,
      },
      quotas: {
        tokensPerUser: config.maxTokensPerUser,
        users: config.maxUsers,
        collections: config.maxCollections,
        procedures: config.maxProcedures,
        tasks: config.maxTasks,
        sessions: { idleMs: config.sessionIdleMs, maxMs: config.sessionMaxMs },
      },
      programCacheBytes: config.programCacheMb * MiB,
    },
    requestTimeoutMs: config.requestTimeoutMs,
    replaceAfterMs: config.replaceAfterMs,
    checkpointIntervalMs: config.checkpointIntervalMs,
    checkpointBytes: config.checkpointSizeMb * MiB,
    cacheBytes: config.cacheSizeMb * MiB,
    garbageIntervalMs: config.garbageIntervalMs,
    stateCheckIntervalMs: config.stateCheckIntervalMs,
  };
}

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
