import { describe, expect, test } from '@jest/globals';
import { ForwardedReads, LeaderReads } from './reads.js';

describe('reads at the leader', () => {
  test('a round confirms what came in before it, a later round also what an earlier one missed', () => {
    const reads = new LeaderReads();
    reads.add(5, 1, 0, 'a');
    expect(reads.startRound()).toBe(1);
    reads.add(6, 1, 0, 'b');
    expect(reads.confirm(0)).toEqual([]);
    expect(reads.confirm(1).map((read) => read.context)).toEqual(['a']);
    expect(reads.underWay).toBe(false);
    reads.startRound();
    reads.add(7, 1, 0, 'c');
    reads.startRound();
    expect(reads.confirm(3).map((read) => [read.context, read.index])).toEqual([
      ['b', 6],
      ['c', 7],
    ]);
    expect(reads.confirm(3)).toEqual([]);
  });

  test('an infinite answer (nobody else is needed) confirms only what was asked', () => {
    const reads = new LeaderReads();
    reads.startRound();
    reads.add(5, 1, 0, 'late');
    expect(reads.confirm(Number.POSITIVE_INFINITY)).toEqual([]);
    expect(reads.takeAll().length).toBe(1);
  });

  test('reads without an index wait for one, and for a round after that', () => {
    const reads = new LeaderReads();
    reads.add(0, 1, 0, 'early');
    expect(reads.hasConfirmable).toBe(false);
    reads.startRound();
    expect(reads.confirm(1)).toEqual([]);
    reads.setIndex(9);
    expect(reads.hasConfirmable).toBe(true);
    reads.startRound();
    expect(reads.confirm(2).map((read) => read.index)).toEqual([9]);
  });
});

describe('reads at a follower', () => {
  test('one question at a time, each with a fresh id; only its answer counts', () => {
    const reads = new ForwardedReads(100);
    expect(reads.canAsk).toBe(false);
    reads.add('a', 0);
    const first = reads.ask(0);
    reads.add('b', 1);
    expect(reads.canAsk).toBe(false);
    expect(reads.isOverdue(1, 2)).toBe(false);
    expect(reads.isOverdue(2, 2)).toBe(true);
    const second = reads.ask(2);
    expect(second).not.toBe(first);
    expect(reads.answer(first)).toEqual([]);
    expect(reads.answer(second).map((read) => read.context)).toEqual(['a', 'b']);
    expect(reads.answer(second)).toEqual([]);
    expect(() => reads.ask(3)).toThrow('without a reader');
  });

  test('a read that has waited for too long is taken out, asked for or not', () => {
    const reads = new ForwardedReads(0);
    reads.add('old', 1);
    reads.ask(1);
    reads.add('new', 5);
    expect(reads.takeOlderThan(1)).toEqual([]);
    expect(reads.takeOlderThan(2).map((read) => read.context)).toEqual(['old']);
    expect(reads.takeAll().map((read) => read.context)).toEqual(['new']);
    expect(reads.count).toBe(0);
  });
});
