import { Engine, type Environment } from '@althing/engine';
import type { Config } from '../config/index.js';

const MiB = 1024 * 1024;

/** The engine of a node, with the limits of the settings. */
export function makeEngine(
  config: Config,
  environment: Environment,
  onInternalError: (error: unknown) => void,
): Engine {
  return new Engine({
    environment,
    limits: {
      durationMs: config.queryDurationLimitMs,
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
    },
    programCacheBytes: config.programCacheMb * MiB,
    onInternalError,
  });
}
