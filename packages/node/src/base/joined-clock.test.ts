import { describe, expect, test } from '@jest/globals';
import type { Clock } from './clock.js';
import { type JoinedClock, joinedClock } from './joined-clock.js';

/** A clock that is turned by hand, and counts how often it woke its thread. */
class ManualClock implements Clock {
  time = 0;
  wakes = 0;
  private timers: { readonly at: number; readonly work: () => void }[] = [];

  readonly now = (): number => this.time;

  readonly after = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.time + ms, work };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  };

  readonly every = (): never => {
    throw new Error('not joined');
  };

  get waiting(): number {
    return this.timers.length;
  }

  turnTo(time: number): void {
    for (;;) {
      const [next] = [...this.timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > time) break;
      this.timers = this.timers.filter((other) => other !== next);
      this.time = Math.max(this.time, next.at);
      this.wakes += 1;
      next.work();
    }
    this.time = time;
  }
}

describe('work that comes back', () => {
  test('is done together, whenever it began, and as often as it should', () => {
    const manual = new ManualClock();
    const clock = joinedClock(manual);
    const counts = { tick: 0, beat: 0, third: 0, second: 0 };
    clock.every(100, () => {
      counts.tick += 1;
    });
    manual.turnTo(7);
    clock.every(100, () => {
      counts.beat += 1;
    });
    manual.turnTo(31);
    clock.every(300, () => {
      counts.third += 1;
    });
    clock.every(1000, () => {
      counts.second += 1;
    });
    manual.turnTo(10_050);
    expect(counts.tick).toBe(100);
    expect(counts.beat).toBe(100);
    expect(counts.third).toBe(32);
    expect(counts.second).toBe(10);
    // All of it together takes no more wakes than the most frequent of it alone.
    expect(manual.wakes).toBe(100);
  });

  test('never comes more than a tenth of its time early, be it hindered or not', () => {
    const manual = new ManualClock();
    const clock = joinedClock(manual);
    const ran: number[] = [];
    clock.every(100, () => ran.push(manual.time));
    clock.every(37, () => {
      // Something holds the thread up now and then.
      if (ran.length % 5 === 4) manual.time += 63;
    });
    manual.turnTo(5000);
    const gaps = ran.slice(1).map((at, i) => at - (ran[i] ?? 0));
    expect(gaps.length).toBeGreaterThan(30);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(90);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(200);
  });

  test('ends when it is called off, and leaves no timer behind; a failure ends nothing else', () => {
    const manual = new ManualClock();
    const clock = joinedClock(manual);
    let ran = 0;
    const stopFailing = clock.every(10, () => {
      throw new Error('planned');
    });
    const stop = clock.every(10, () => {
      ran += 1;
      if (ran === 3) stop();
    });
    expect(() => manual.turnTo(10)).toThrow('planned');
    stopFailing();
    manual.turnTo(200);
    expect(ran).toBe(3);
    expect(manual.waiting).toBe(0);
  });
});

describe('clocks in a calm time', () => {
  const calmClock = (): { manual: ManualClock; ran: number[]; clock: JoinedClock; calm: { is: boolean } } => {
    const manual = new ManualClock();
    const calm = { is: false };
    const clock = joinedClock(manual, { isCalm: () => calm.is, ms: 300 });
    const ran: number[] = [];
    clock.every(100, () => ran.push(manual.time));
    return { manual, ran, clock, calm };
  };

  test('work waits for a rarer wake, and comes in time again when it is not', () => {
    const { manual, ran, calm } = calmClock();
    manual.turnTo(150);
    calm.is = true;
    manual.turnTo(950);
    calm.is = false;
    manual.turnTo(1350);
    expect(ran).toEqual([100, 200, 500, 800, 1100, 1200, 1300]);
  });

  test('a clock that rests does what is due as soon as it is woken', () => {
    const { manual, ran, clock, calm } = calmClock();
    calm.is = true;
    manual.turnTo(130);
    clock.wake();
    manual.turnTo(210);
    // It is long due.
    manual.turnTo(420);
    calm.is = false;
    clock.wake();
    manual.turnTo(640);
    expect(ran).toEqual([100, 200, 421, 521, 621]);
    expect(manual.waiting).toBe(1);
  });

  test('nobody is told that work was late which waited on purpose', () => {
    const manual = new ManualClock();
    const clock = joinedClock(manual, { isCalm: () => true, ms: 300 });
    const late: number[] = [];
    clock.every(100, (lateMs) => {
      late.push(lateMs);
      // Something holds the thread up, once.
      if (late.length === 3) manual.time += 350;
    });
    manual.turnTo(1800);
    // Late by the time on top of the rest, and a millisecond until the timer.
    expect(late).toEqual([0, 0, 0, 51, 0, 0]);
  });
});
