/**
 * The memory of a process, and whether the settings fit into it.
 *
 * The size of the heap is Node.js's choice, made before any code of ours runs: half of the container's limit
 * (or of the machine's memory), at most 2 GB, or 4 GB from 16 GB on. `v8.setFlagsFromString` changes it for
 * threads to come only, so all that can be done here is to fit the settings into it, and to tell how a larger
 * one is had.
 */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { ConfigurationProblem } from './problem.js';
import type { Config } from './settings.js';

export interface ProcessMemory {
  /**
   * Memory that the process may take in all, in MB: the limit of its control group, or the memory of the
   * machine.
   */
  readonly totalMb: number;
  /** True if a control group limits it. */
  readonly isLimited: boolean;
  /** Memory that the JavaScript heap of the main thread may take, in MB. */
  readonly heapMb: number;
}

type Caches = Pick<Config, 'cacheSizeMb' | 'programCacheMb'>;

const MiB = 1024 ** 2;

/** The smallest heap that a node starts with, in MB. */
const HEAP_MB_MIN = 128;

/** Memory of an idle node besides its heap, in MB: code, stacks, buffers, caches of the disk. */
const REST_MB = 112;

/** Room that the memory must have at least for a heap of the default size, in MB. */
const TOTAL_MB_MIN = 384;

/** The part of the memory that the heap should have where it is set by hand. */
const HEAP_PART = 0.6;

/** The part of the memory that the heap of the consensus thread may have. */
const CONSENSUS_PART = 0.2;

/**
 * Parts of the heap that may be taken by what stays there: beyond the first it is told, beyond the second
 * refused.
 */
const KEPT_PART = 0.6;
const KEPT_PART_MAX = 0.75;

export function processMemory(): ProcessMemory {
  return memoryOf({
    machine: totalmem(),
    limit: process.constrainedMemory(),
    heap: getHeapStatistics().heap_size_limit,
  });
}

/**
 * @param bytes `limit` as Node.js tells it: 0 or more than the machine has where there is none
 */
export function memoryOf(bytes: {
  readonly machine: number;
  readonly limit: number;
  readonly heap: number;
}): ProcessMemory {
  const { machine, limit, heap } = bytes;
  const isLimited = limit > 0 && limit < machine;
  const mb = (count: number): number => Math.floor(count / MiB);
  return { totalMb: mb(isLimited ? limit : machine), isLimited, heapMb: mb(heap) };
}

/** Problems of settings in a memory: errors, with which a node must not start, and warnings. */
export function checkMemory(
  config: Caches & Pick<Config, 'queryMemoryLimitMb'>,
  { totalMb, isLimited, heapMb }: ProcessMemory,
): { readonly problems: readonly ConfigurationProblem[]; readonly warnings: readonly string[] } {
  const problems: ConfigurationProblem[] = [];
  const warnings: string[] = [];
  const { cacheSizeMb, programCacheMb, queryMemoryLimitMb } = config;
  const memory = `${totalMb} MB of memory${isLimited ? ' (the limit of its container or control group)' : ''}`;
  const heap = heapText(heapMb);
  if (heapMb + REST_MB > totalMb) {
    problems.push({ message: `${heap}, and this process has ${memory}: ${smaller(totalMb)}` });
  } else if (heapMb < HEAP_MB_MIN) {
    problems.push({
      message: `${heap}, and a node needs ${HEAP_MB_MIN} MB: ${larger(HEAP_MB_MIN, totalMb)}`,
    });
  }
  const kept = cacheSizeMb + programCacheMb;
  const settings = cachesText(config);
  if (kept > (isLimited ? heapMb * KEPT_PART_MAX : totalMb)) {
    problems.push({ key: 'cache_size_mb', message: cachesDoNotFit(config, { totalMb, heapMb }) });
  } else if (kept > heapMb * KEPT_PART) {
    warnings.push(
      `${settings} leave little room: ${heap}. Lower them, or ${larger(kept / KEPT_PART, totalMb)}`,
    );
  } else if (kept + queryMemoryLimitMb > heapMb) {
    warnings.push(
      `${settings} and a query of query_memory_limit_mb = ${queryMemoryLimitMb} together can end the node: ${heap}. ` +
        `Lower them, or ${larger(kept + queryMemoryLimitMb, totalMb)}`,
    );
  }
  return { problems, warnings };
}

/** Why a node that runs can't keep caches of such sizes, whose heap stays as it is; null when it can. */
export function cacheProblem(
  config: Caches,
  memory: Pick<ProcessMemory, 'totalMb' | 'heapMb'>,
): string | null {
  const kept = config.cacheSizeMb + config.programCacheMb;
  return kept > memory.heapMb * KEPT_PART_MAX ? cachesDoNotFit(config, memory) : null;
}

/** Heap of the consensus thread at most, in MB; null where Node.js is to choose. */
export function consensusHeapMb({ totalMb, isLimited }: ProcessMemory): number | null {
  return isLimited ? Math.max(HEAP_MB_MIN, Math.floor(totalMb * CONSENSUS_PART)) : null;
}

function cachesDoNotFit(
  caches: Caches,
  { totalMb, heapMb }: Pick<ProcessMemory, 'totalMb' | 'heapMb'>,
): string {
  const way = larger((caches.cacheSizeMb + caches.programCacheMb) / KEPT_PART, totalMb);
  return `${cachesText(caches)} do not fit: ${heapText(heapMb)}. Lower them, or ${way}`;
}

function cachesText({ cacheSizeMb, programCacheMb }: Caches): string {
  return `cache_size_mb = ${cacheSizeMb} and program_cache_mb = ${programCacheMb}`;
}

function heapText(heapMb: number): string {
  return `the JavaScript heap may take ${heapMb} MB`;
}

/** Words for the way to a smaller heap. */
function smaller(totalMb: number): string {
  const size = Math.floor(totalMb * HEAP_PART);
  if (size + YOUNG_MB + REST_MB > totalMb) return `give it at least ${TOTAL_MB_MIN} MB`;
  return `set NODE_OPTIONS=--max-old-space-size=${size}, or give it more memory`;
}

/** Words for the way to a larger heap. */
function larger(heapMb: number, totalMb: number): string {
  const option = `set NODE_OPTIONS=--max-old-space-size=${Math.ceil(heapMb)}`;
  if (heapMb <= totalMb * HEAP_PART) return option;
  return `give the process ${Math.ceil(heapMb / HEAP_PART)} MB of memory and ${option}`;
}

/** Heap for new objects besides the old space, in MB. */
const YOUNG_MB = 48;
