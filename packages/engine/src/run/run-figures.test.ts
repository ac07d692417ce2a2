import { expect, test } from '@jest/globals';
import { Durations } from './run-figures.js';

test('quantiles of times are at most a quarter too large, and never beyond the longest', () => {
  const times = new Durations();
  for (let i = 1; i <= 1000; i++) times.add(i / 10, 1);
  for (const part of [0.1, 0.5, 0.9, 0.99]) {
    const exact = part * 100;
    expect(times.quantileMs(part)).toBeGreaterThanOrEqual(exact);
    expect(times.quantileMs(part)).toBeLessThanOrEqual(Math.min(exact * 1.25 + 0.1, 100));
  }
  expect(times.quantileMs(1)).toBe(100);
  expect(times.meanMs).toBeCloseTo(50.05);
  expect(times.maxMs).toBe(100);
});

test('times from nothing to longer than an hour are counted', () => {
  const times = new Durations();
  expect(times.quantileMs(0.99)).toBe(0);
  for (const ms of [-1, 0, 0.0005, 0.003, 1e9]) times.add(ms, 1);
  expect(times.quantileMs(0.2)).toBeLessThanOrEqual(0.001);
  expect(times.quantileMs(1)).toBeGreaterThan(3_600_000 / 2);
  expect(times.maxMs).toBe(1e9);
});

test('a time counts for as many as it stands for', () => {
  const times = new Durations();
  times.add(1, 98);
  times.add(8, 2);
  expect(times.totalMs).toBe(114);
  expect(times.meanMs).toBeCloseTo(1.14);
  expect(times.quantileMs(0.98)).toBeLessThan(1.3);
  expect(times.quantileMs(0.99)).toBe(8);
});
