import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const harness = new Harness();

test('tells what a function takes', () => {
  expect(harness.run("help('pow')")).toBe(
    'pow(base, exponent)\nA base raised to a power, as a float.\n  base: an int or float\n  exponent: an int or float',
  );
});

test('tells it for every type that has a method of the name', () => {
  const text = String(harness.run("help('replace')"));
  expect(text).toMatch(/^str\.replace\(old, new, number\?\)$/m);
  expect(text).toMatch(/^datetime\/timeval\.replace\(fields\)$/m);
  expect(text).toContain('\n\n');
});

test('shows further arguments', () => {
  expect(harness.run("help('datetime')")).toMatch(/^datetime\(\.\.\.argument\)\n/);
});

test('knows its limits', () => {
  expect(harness.error("help('nothing')")).toBe('lookup_err');
  expect(harness.error('help(1)')).toBe('type_err');
});

test('knows methods and the functions that make them up', () => {
  expect(harness.run("help('push')")).toBe(
    'list.push(...value)\nAppends values; returns the new length.\n  value: anything',
  );
});
