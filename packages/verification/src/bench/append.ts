/**
 * The yardstick for changes: how often a second a record can be appended to a file and synced, one after the other.
 */
import { closeSync, fdatasyncSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { table, timeText } from '../harness/table.js';
import { Histogram } from './histogram.js';

export interface AppendResult {
  readonly name: string;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Bytes of a record: what a small change takes in a log. */
const recordSize = 200;
const preallocatedSize = 64 * 1024 ** 2;

/** Appends to a file that grows, and to one whose blocks were written before, each for a while. It blocks the thread. */
export function measureAppends(folder: string, durationMs: number): AppendResult[] {
  const place = mkdtempSync(join(folder, 'althing-append-'));
  try {
    return [
      append('synced append, growing file', join(place, 'growing'), durationMs, false),
      append('synced append, preallocated file', join(place, 'preallocated'), durationMs, true),
    ];
  } finally {
    rmSync(place, { recursive: true });
  }
}

function append(name: string, path: string, durationMs: number, isPreallocated: boolean): AppendResult {
  const file = openSync(path, 'w');
  try {
    if (isPreallocated) {
      const zeros = Buffer.alloc(1024 ** 2);
      for (let at = 0; at < preallocatedSize; at += zeros.length) writeSync(file, zeros, 0, zeros.length, at);
      fsyncSync(file);
    }
    return appendFor(name, file, durationMs);
  } finally {
    closeSync(file);
  }
}

function appendFor(name: string, file: number, durationMs: number): AppendResult {
  const record = Buffer.alloc(recordSize, 'x');
  const latency = new Histogram();
  const started = performance.now();
  let at = 0;
  let now = started;
  while (now - started < durationMs) {
    writeSync(file, record, 0, recordSize, at % preallocatedSize);
    fdatasyncSync(file);
    at += recordSize;
    const after = performance.now();
    latency.add(after - now);
    now = after;
  }
  const ratePerS = (latency.total * 1000) / (now - started);
  return { name, ratePerS, p50Ms: latency.quantile(0.5), p99Ms: latency.quantile(0.99) };
}

export function appendsText(results: readonly AppendResult[]): string {
  const rows = results.map(({ name, ratePerS, p50Ms, p99Ms }) => [
    name,
    ratePerS.toFixed(0),
    timeText(p50Ms),
    timeText(p99Ms),
  ]);
  return table([['', 'per s', 'p50', 'p99'], ...rows]);
}
