/**
 * Figures of a thread of the process: the delay of its event loop, its heap, its pauses for garbage collection.
 */
import { constants, createHistogram, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { FAMILIES, type LabelOf, QUANTILES, type SeriesOf, seriesNumber, THREADS } from './families.js';
import type { Metrics } from './metrics.js';

/** Time that quantiles are about, in milliseconds. */
const WINDOW_MS = 15_000;

/** Time between two looks at the heap, in milliseconds. */
const LOOK_MS = 1000;

/**
 * Time between two looks at the event loop, in milliseconds, or more while the thread is calm. Node.js has a
 * monitor of its own, whose timer wakes an idle thread for nothing else; this one looks when the thread is awake
 * anyway.
 */
const SAMPLE_MS = 100;

const NS_PER_MS = 1e6;
const SECONDS_PER_NS = 1e-9;

/** The clock that the regular work of a thread goes by. */
export interface ThreadClock {
  /**
   * Calls back again and again, with how much later the thread came to it than it should; the function that it
   * returns ends that.
   */
  readonly every: (ms: number, work: (lateMs: number) => void) => () => void;
}

/**
 * Watches the thread that calls this, until the function that it returns is called.
 */
export function watchThread(
  metrics: Metrics,
  thread: LabelOf<'heapUsed'>,
  { every }: ThreadClock,
): () => void {
  const number = THREADS.indexOf(thread);
  const delays = createHistogram();
  const longest = seriesNumber(FAMILIES.loopDelay, { thread, quantile: '1' });
  const sample = (lateMs: number): void => {
    // A histogram takes nothing below 1.
    delays.record(Math.max(1, Math.round(lateMs * NS_PER_MS)));
    metrics.notePeak(number, lateMs);
    // The longest of all is told at once, and not only when the window is over.
    const seconds = lateMs / 1000;
    if (seconds > metrics.get('loopDelay', longest)) metrics.set('loopDelay', seconds, longest);
  };
  const look = (): void => {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    metrics.set('heapUsed', used_heap_size, number);
    metrics.set('heapLimit', heap_size_limit, number);
  };
  const tell = (): void => {
    for (const quantile of QUANTILES) {
      const ns = delays.count === 0 ? 0 : delays.percentile(Number(quantile) * 100);
      metrics.tell('loopDelay', { thread, quantile }, ns * SECONDS_PER_NS);
    }
    delays.reset();
  };
  const stops = [every(SAMPLE_MS, sample), every(LOOK_MS, look), every(WINDOW_MS, tell)];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const series = seriesNumber(FAMILIES.gcSeconds, { thread, kind: kindOf(entry) });
      metrics.observe('gcSeconds', entry.duration / 1000, series);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    for (const stop of stops) stop();
    observer.disconnect();
  };
}

function kindOf(entry: object): SeriesOf<'gcSeconds'>['kind'] {
  const detail = 'detail' in entry ? entry.detail : null;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : null;
  if (kind === constants.NODE_PERFORMANCE_GC_MINOR) return 'minor';
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR ? 'major' : 'other';
}
