import { describe, expect, test } from '@jest/globals';
import { Lease } from './lease.js';

describe('lease', () => {
  const begin = (): { lease: Lease; wait: (ms: number) => void } => {
    let now_ms = 0;
    const lease = new Lease(() => now_ms, 100);
    lease.begin();
    return {
      lease,
      wait: (ms) => {
        now_ms += ms;
      },
    };
  };

  test('counts from the sending of the heartbeats, not from their answers', () => {
    const { lease, wait } = begin();
    lease.sent(1);
    wait(60);
    lease.confirmed(1);
    expect(lease.holds()).toBe(true);
    wait(39);
    expect(lease.holds()).toBe(true);
    wait(1);
    expect(lease.holds()).toBe(false);
  });

  test('an answer to a later round covers the earlier ones; one to an unknown round tells nothing', () => {
    const { lease, wait } = begin();
    lease.confirmed(7);
    expect(lease.holds()).toBe(false);
    lease.sent(1);
    wait(10);
    lease.sent(2);
    lease.confirmed(2);
    wait(95);
    expect(lease.holds()).toBe(true);
    lease.confirmed(1);
    wait(5);
    expect(lease.holds()).toBe(false);
  });

  test('after its end it does not come back before the next term; after an interruption it does', () => {
    const { lease } = begin();
    lease.sent(1);
    lease.interrupt();
    lease.confirmed(1);
    expect(lease.holds()).toBe(false);
    lease.sent(2);
    lease.confirmed(2);
    expect(lease.holds()).toBe(true);
    lease.end();
    lease.interrupt();
    lease.sent(3);
    lease.confirmed(3);
    expect(lease.holds()).toBe(false);
    lease.begin();
    lease.sent(4);
    lease.confirmed(4);
    expect(lease.holds()).toBe(true);
  });

  test('rounds without an answer do not pile up: the oldest are forgotten', () => {
    const { lease, wait } = begin();
    for (let round = 1; round <= 200; round += 1) {
      lease.sent(round);
      wait(1);
    }
    lease.confirmed(100);
    expect(lease.holds()).toBe(false);
    lease.confirmed(200);
    expect(lease.holds()).toBe(true);
  });
});
