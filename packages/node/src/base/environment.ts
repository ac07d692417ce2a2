import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Environment, NodeView } from '@althing/engine';

/** Milliseconds that the two clocks may drift apart before the finer one is set again. */
const DRIFT_MAX_MS = 2;

/** The part of the heap that may be in use while a query takes more. */
const HEAP_FULL = 0.85;

/**
 * Clocks, randomness and memory of this process, for the engine.
 *
 * @param node what functions see of the node
 * @param isCancelled see `Environment`; by default nothing is
 */
export function systemEnvironment(
  log: { readonly warn: (fields: object, message: string) => void },
  node: NodeView | null,
  isCancelled: Environment['isCancelled'] = () => false,
): Omit<Environment, 'voters' | 'isCommittedUser'> {
  let offset = Date.now() - performance.now();
  return {
    now() {
      // The wall clock with the resolution of the monotonic one.
      const fine = offset + performance.now();
      const wall = Date.now();
      if (Math.abs(wall - fine) <= DRIFT_MAX_MS) return fine;
      offset = wall - performance.now();
      return wall;
    },
    monotonic: () => performance.now(),
    randomBytes: (count) => randomBytes(count),
    random: Math.random,
    heapUsed() {
      const { used_heap_size, external_memory } = getHeapStatistics();
      return used_heap_size + external_memory;
    },
    heapFull() {
      const { used_heap_size, heap_size_limit } = getHeapStatistics();
      return used_heap_size > heap_size_limit * HEAP_FULL;
    },
    isCancelled,
    log: (text, origin) => {
      const known = Object.entries(origin).filter(([, value]) => value !== null);
      log.warn({ event: 'query_log', text, ...Object.fromEntries(known) }, 'log() in a query');
    },
    node,
  };
}
