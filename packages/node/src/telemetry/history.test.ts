import type { MetricsHistory } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { OUTCOMES } from './families.js';
import { History } from './history.js';
import { Metrics } from './metrics.js';
import { watchThread } from './thread-watch.js';

const GAUGES = { connections: 3, inFlight: 1, residentBytes: 5e8, diskFreeBytes: 1e9 };

let metrics: Metrics;
let history: History;

beforeEach(() => {
  metrics = new Metrics();
  history = new History(metrics, 1000);
});

function valuesOf({ series }: MetricsHistory, name: string, part: string | null = null) {
  return series.find((each) => each.name === name && each.part === part)?.values;
}

describe('the history of figures', () => {
  test('has what was counted in each step, of all kinds and scopes together', () => {
    metrics.add('requests', OUTCOMES.indexOf('ok'), 5);
    history.step(1005, GAUGES);
    metrics.add('requests', OUTCOMES.indexOf('ok'), 2);
    metrics.add('requests', OUTCOMES.length + OUTCOMES.indexOf('ok'), 1);
    metrics.add('requests', OUTCOMES.indexOf('timeout'));
    metrics.set('cacheMisses', 7);
    history.step(1010, { ...GAUGES, connections: 4 });

    const all = history.since(0);
    expect([all.stepSeconds, all.times]).toEqual([5, [1005, 1010]]);
    expect(valuesOf(all, 'requests', 'ok')).toEqual([5, 3]);
    expect(valuesOf(all, 'requests', 'timeout')).toEqual([0, 1]);
    expect(valuesOf(all, 'cold_reads')).toEqual([0, 7]);
    expect(valuesOf(all, 'connections')).toEqual([3, 4]);
  });

  test('has quantiles of what came in the step, and nothing where nothing came', () => {
    for (let i = 0; i < 100; i++) metrics.observe('syncSeconds', i < 90 ? 0.0002 : 0.04);
    history.step(1005, GAUGES);
    history.step(1010, GAUGES);

    const all = history.since(0);
    const [p50 = 0] = valuesOf(all, 'sync_latency', 'p50') ?? [];
    expect(p50).toBeGreaterThan(0.0001);
    expect(p50).toBeLessThan(0.00025);
    const [p99 = 0, nothing] = valuesOf(all, 'sync_latency', 'p99') ?? [];
    expect(p99).toBeGreaterThan(0.025);
    expect(p99).toBeLessThanOrEqual(0.05);
    expect(nothing).toBeNull();
  });

  test('has the longest delay of each thread in the step, once', () => {
    metrics.notePeak(0, 12);
    metrics.notePeak(0, 250);
    metrics.notePeak(0, 3);
    history.step(1005, { ...GAUGES, diskFreeBytes: null });
    history.step(1010, GAUGES);

    const all = history.since(0);
    expect(valuesOf(all, 'event_loop_delay', 'engine')).toEqual([0.25, 0]);
    expect(valuesOf(all, 'event_loop_delay', 'consensus')).toEqual([0, 0]);
    expect(valuesOf(all, 'disk_free_bytes')).toEqual([null, 1e9]);
  });

  test('keeps an hour, and tells what came later than asked', () => {
    for (let i = 1; i <= 1000; i++) history.step(1000 + 5 * i, { ...GAUGES, connections: i });

    const all = history.since(0);
    expect([all.times.length, all.times[0], all.times.at(-1)]).toEqual([720, 1000 + 5 * 281, 6000]);
    expect(valuesOf(all, 'connections')?.[0]).toBe(281);
    const late = history.since(5990);
    expect(late.times).toEqual([5995, 6000]);
    expect(valuesOf(late, 'connections')).toEqual([999, 1000]);
    expect(history.since(6000).times).toEqual([]);
  });

  test('marks the start, backups, and what it is told, as many as fit', () => {
    metrics.add('backups', 0);
    history.step(1005, GAUGES);
    history.step(1010, GAUGES);
    history.mark(1012, 'election', '@thingsdb: node-2 leads');

    expect(history.since(0).marks).toEqual([
      { at: 1000, kind: 'start', text: 'the node was started' },
      { at: 1005, kind: 'backup', text: 'a backup: ok' },
      { at: 1012, kind: 'election', text: '@thingsdb: node-2 leads' },
    ]);
    expect(history.since(1005).marks.map(({ at }) => at)).toEqual([1012]);
    for (let i = 0; i < 200; i++) history.mark(2000 + i, 'election', 'x');
    expect(history.since(0).marks.map(({ at }) => at)).toEqual(
      Array.from({ length: 100 }, (_, i) => 2100 + i),
    );
  });
});

test('a long delay of the event loop is told when it is over, and until a window has passed without', () => {
  const work = new Map<number, (lateMs: number) => void>();
  const stop = watchThread(metrics, 'engine', {
    every: (ms, run) => {
      work.set(ms, run);
      return () => {};
    },
  });
  const longest = (): number => metrics.get('loopDelay', 2);
  work.get(100)?.(5);
  work.get(100)?.(700);
  expect(longest()).toBe(0.7);
  work.get(100)?.(1);
  expect(longest()).toBe(0.7);
  work.get(15_000)?.(0);
  expect(longest()).toBeCloseTo(0.7, 2);
  work.get(100)?.(2);
  work.get(15_000)?.(0);
  expect(longest()).toBeCloseTo(0.002, 3);
  expect(metrics.takePeak(0)).toBe(700);
  stop();
});
