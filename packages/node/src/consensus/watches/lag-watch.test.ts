import { describe, expect, test } from '@jest/globals';
import { type GroupSight, LagQuestion, LagWatch } from './lag-watch.js';

const IDLE: GroupSight = {
  isLeader: false,
  leader: 2,
  term: 3,
  commitIndex: 10,
  appliedIndex: 10,
  quiesced: false,
};

/** A watch that was asked about at 0 and got its answer: it knows that the state holds everything. */
function current(): LagWatch {
  const watch = new LagWatch();
  const question = watch.look(IDLE, 0);
  watch.answered(question as LagQuestion, 10);
  watch.look(IDLE, 1);
  return watch;
}

describe('the watch for lag', () => {
  test('asks about a group that it does not know, and then no more while nothing happens', () => {
    const watch = new LagWatch();
    const question = watch.look(IDLE, 100);
    expect(question).toEqual(new LagQuestion(100));
    expect(watch.look(IDLE, 200)).toBeNull();
    expect(watch.lagMs(200)).toBe(100);
    watch.answered(question as LagQuestion, 10);
    expect(watch.look(IDLE, 300)).toBeNull();
    expect(watch.lagMs(300)).toBe(0);
    expect(watch.look(IDLE, 9000)).toBeNull();
    expect(watch.lagMs(9000)).toBe(0);
  });

  test('a state that does not get there lags since the question, and no more once it is there', () => {
    const watch = current();
    const busy = { ...IDLE, commitIndex: 20 };
    const question = watch.look(busy, 1000) as LagQuestion;
    watch.answered(question, 20);
    for (const now of [2000, 3000]) expect(watch.look({ ...busy, appliedIndex: 19 }, now)).toBeNull();
    expect(watch.lagMs(3000)).toBe(2000);
    watch.look({ ...busy, appliedIndex: 20 }, 3100);
    expect(watch.lagMs(3100)).toBe(0);
  });

  test('a group in which much happens is as old as the last question that its state has an answer to', () => {
    const watch = current();
    let lag = 0;
    for (let now = 250; now <= 10_000; now += 250) {
      const sight = { ...IDLE, commitIndex: now, appliedIndex: Math.max(10, now - 3000) };
      const question = watch.look(sight, now);
      lag = watch.lagMs(now);
      if (question !== null) watch.answered(question, now);
    }
    expect(lag).toBe(3000);
  });

  test('a follower that was away and hears of nothing new finds out what the leader does not tell by itself', () => {
    const watch = current();
    watch.look({ ...IDLE, leader: 0 }, 1000);
    expect(watch.lagMs(5000)).toBe(0);
    const question = watch.look(IDLE, 6000) as LagQuestion;
    watch.answered(question, 90_000);
    watch.look(IDLE, 8000);
    expect(watch.lagMs(8000)).toBe(2000);
  });

  test('a leader lags behind nobody, nor does a group that fell silent', () => {
    const watch = current();
    const behind = { ...IDLE, commitIndex: 20 };
    watch.look(behind, 1000);
    expect(watch.lagMs(2000)).toBe(1000);
    watch.look({ ...behind, isLeader: true }, 2000);
    expect(watch.lagMs(3000)).toBe(0);
    expect(watch.look({ ...IDLE, quiesced: true }, 4000)).toBeNull();
    expect(watch.lagMs(5000)).toBe(0);
    watch.look({ ...behind, quiesced: true }, 6000);
    expect(watch.lagMs(7000)).toBe(1000);
  });

  test('a question without an answer is asked again, and an answer to an earlier one does not count', () => {
    const watch = new LagWatch();
    const first = watch.look(IDLE, 0) as LagQuestion;
    watch.answered(first, null);
    const second = watch.look(IDLE, 100);
    expect(second).toEqual(new LagQuestion(100));
    watch.answered(first, 10);
    watch.look(IDLE, 200);
    expect(watch.lagMs(200)).toBe(200);
    watch.answered(second as LagQuestion, 10);
    watch.look(IDLE, 300);
    expect(watch.lagMs(300)).toBe(0);
  });
});
