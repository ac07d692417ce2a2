import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { Pacer } from './pacer.js';

let clock: ManualClock;
let released: number[];
let pacer: Pacer;

beforeEach(() => {
  clock = new ManualClock();
  released = [];
  pacer = new Pacer(clock, 4, () => released.push(clock.now()));
});

describe('a pause', () => {
  test('holds what is ready, and releases it once when it is over', () => {
    expect(pacer.holds(1)).toBe(false);
    pacer.expect(4, 0);
    clock.pass(1);
    expect([pacer.holds(1), pacer.holds(2)]).toEqual([true, true]);
    clock.pass(10);
    expect(released).toEqual([4]);
    expect(pacer.holds(2)).toBe(false);
  });

  test('releases nothing where nothing was held', () => {
    pacer.expect(4, 0);
    clock.pass(10);
    expect(released).toEqual([]);
  });

  test('a pause that another one follows lasts as long as that', () => {
    pacer.expect(4, 0);
    pacer.holds(1);
    clock.pass(3);
    pacer.expect(4, 1);
    clock.pass(3);
    expect(released).toEqual([]);
    clock.pass(1);
    expect(released).toEqual([7]);
  });

  test('releases nothing any more after close()', () => {
    pacer.expect(4, 0);
    pacer.holds(1);
    pacer.close();
    expect(clock.pending).toBe(0);
  });
});

describe('answered clients', () => {
  /** Times that they are answered until they are waited for again. */
  function roundsUntilExpected(): number {
    for (let rounds = 0; rounds < 1000; rounds++) if (pacer.expect(32, 0)) return rounds;
    throw new Error('nobody is waited for any more');
  }

  test('are waited for until all of them have asked again', () => {
    expect(pacer.expect(32, 10)).toBe(true);
    expect(pacer.holds(41)).toBe(true);
    expect(pacer.holds(42)).toBe(false);
    expect(pacer.holds(1)).toBe(false);
  });

  test('are not waited for where they are few, or where enough is there', () => {
    expect(pacer.expect(3, 10)).toBe(false);
    expect(pacer.expect(1000, 200)).toBe(false);
    expect(pacer.expect(1000, 100)).toBe(true);
    expect(pacer.holds(127)).toBe(true);
    expect(pacer.holds(128)).toBe(false);
  });

  test('are waited for as far as they came before', () => {
    pacer.expect(32, 8);
    pacer.holds(24);
    clock.pass(4);
    pacer.holds(24);
    expect(pacer.expect(32, 8)).toBe(true);
    expect(pacer.holds(23)).toBe(true);
    expect(pacer.holds(24)).toBe(false);
    // More than that are waited for only bit by bit.
    pacer.expect(32, 8);
    expect(pacer.holds(24)).toBe(true);
    expect(pacer.holds(25)).toBe(false);
  });

  test('are waited for now and then only, where they do not ask again', () => {
    expect(pacer.expect(32, 0)).toBe(true);
    clock.pass(4);
    expect(roundsUntilExpected()).toBeGreaterThan(20);
    clock.pass(4);
    expect(roundsUntilExpected()).toBeGreaterThan(20);
    expect(pacer.holds(8)).toBe(false);
    expect(roundsUntilExpected()).toBe(0);
  });

  test('are expected as before, after what waited left for another reason', () => {
    pacer.expect(32, 0);
    pacer.end();
    clock.pass(4);
    expect(pacer.expect(32, 0)).toBe(true);
    expect(pacer.holds(31)).toBe(true);
  });
});
