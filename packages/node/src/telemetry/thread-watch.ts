/**
 * How a thread of the process does: the delay of its event loop, its heap, its pauses for garbage collection.
 */
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { COLLECTIONS_OF_GARBAGE, QUANTILES, THREADS } from './families.js';
import type { Metrics } from './metrics.js';

/** Time that quantiles are about, in milliseconds. */
const WINDOW_MS = 15_000;

/** Time between two looks at the heap, in milliseconds. */
const LOOK_MS = 1000;

/** Time between two looks at the event loop, in milliseconds: a delay is what comes on top. */
const RESOLUTION_MS = 20;

const SECONDS_PER_NS = 1e-9;

/** Watches the thread that calls this, until the function that it returns is called. */
export function watchThread(metrics: Metrics, thread: (typeof THREADS)[number]): () => void {
  const number = THREADS.indexOf(thread);
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const looks = setInterval(() => {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    metrics.set('heapUsed', used_heap_size, number);
    metrics.set('heapLimit', heap_size_limit, number);
  }, LOOK_MS).unref();
  const windows = setInterval(() => {
    QUANTILES.forEach((quantile, i) => {
      const ns = delays.count === 0 ? 0 : delays.percentile(Number(quantile) * 100);
      const late = Math.max(0, ns * SECONDS_PER_NS - RESOLUTION_MS / 1000);
      metrics.set('loopDelay', late, number * QUANTILES.length + i);
    });
    delays.reset();
  }, WINDOW_MS).unref();
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      metrics.observe(
        'gcSeconds',
        entry.duration / 1000,
        number * COLLECTIONS_OF_GARBAGE.length + kindOf(entry),
      );
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    clearInterval(looks);
    clearInterval(windows);
    delays.disable();
    observer.disconnect();
  };
}

/** Place in `COLLECTIONS_OF_GARBAGE`. */
function kindOf(entry: object): number {
  const detail = 'detail' in entry ? entry.detail : null;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : null;
  if (kind === constants.NODE_PERFORMANCE_GC_MINOR) return 0;
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR ? 1 : 2;
}
