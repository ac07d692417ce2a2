import { describe, expect, test } from '@jest/globals';
import { SlowLane } from './slow-lane.js';

/** A lane with a clock and timers that a test turns by hand. */
class Track {
  now = 1000;
  readonly lane: SlowLane;
  /** What ran or was given up, in order. */
  readonly events: string[] = [];
  private timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(waitMaxMs = 10_000) {
    this.lane = new SlowLane({
      now: () => this.now,
      delay: (ms, callback) => this.timers.push({ at: this.now + ms, callback }),
      waitMaxMs,
    });
  }

  /** Runs a program if the lane lets it, else it stands there. Each run takes `ms`. */
  ask(name: string, program: object | null, user: number, ms: number, gone = () => false): void {
    const run = (): void => {
      this.events.push(name);
      this.now += ms;
      this.lane.ran(program, user, ms);
    };
    if (this.lane.takes(program, user)) {
      this.lane.enter(user, { gone, run, expire: () => this.events.push(`${name} expired`) });
    } else run();
  }

  /** Lets time go by, with something else to do for the node in every few milliseconds or not. */
  pass(ms: number, busy: boolean): void {
    const end = this.now + ms;
    while (this.now < end) {
      this.now += 4;
      if (busy) this.lane.takes(QUICK, OTHER);
      const due = this.timers.filter(({ at }) => at <= this.now);
      this.timers = this.timers.filter(({ at }) => at > this.now);
      for (const { callback } of due) callback();
    }
  }
}

const QUICK = {};
const OTHER = 99;

describe('the lane for slow programs', () => {
  test('nobody stands in it as long as nothing is slow', () => {
    const track = new Track();
    const program = {};
    for (let i = 0; i < 100; i++) track.ask(`run ${i}`, program, 1, 5);
    expect(track.events).toHaveLength(100);
    expect(track.lane.takes(null, 1)).toBe(false);
  });

  test('a program that was slow stands there, and what is known to be quick does not', () => {
    const track = new Track();
    const slow = {};
    const quick = {};
    track.ask('slow', slow, 1, 500);
    track.ask('quick', quick, 2, 1);
    expect(track.lane.takes(slow, 1)).toBe(true);
    expect(track.lane.takes(slow, 2)).toBe(true);
    expect(track.lane.takes(quick, 1)).toBe(false);
    expect(track.lane.takes({}, 2)).toBe(false);
  });

  test('other programs of a user who was slow just now stand there too, for a while', () => {
    const track = new Track();
    track.ask('slow', {}, 1, 500);
    expect(track.lane.takes({}, 1)).toBe(true);
    expect(track.lane.takes(null, 1)).toBe(true);
    track.now += 5001;
    expect(track.lane.takes({}, 1)).toBe(false);
  });

  test('what stands there runs soon when the others have nothing to do', () => {
    const track = new Track();
    const slow = {};
    track.ask('first', slow, 1, 500);
    track.ask('second', slow, 1, 500);
    expect(track.events).toEqual(['first']);
    track.pass(100, false);
    expect(track.events).toEqual(['first', 'second']);
  });

  test('and after three times its duration when they have', () => {
    const track = new Track();
    const slow = {};
    track.ask('first', slow, 1, 500);
    track.ask('second', slow, 1, 500);
    track.pass(1400, true);
    expect(track.events).toEqual(['first']);
    track.pass(200, true);
    expect(track.events).toEqual(['first', 'second']);
  });

  test('one that is quick the next time leaves the lane for good', () => {
    const track = new Track();
    const program = {};
    track.ask('slow', program, 1, 500);
    track.ask('quick', program, 1, 5);
    track.pass(2000, true);
    expect(track.events).toEqual(['slow', 'quick']);
    expect(track.lane.takes(program, 1)).toBe(false);
  });

  test('users take turns, whoever sends most', () => {
    const track = new Track();
    const slow = {};
    track.ask('first', slow, 1, 100);
    for (let i = 1; i <= 3; i++) track.ask(`a${i}`, slow, 1, 100);
    for (let i = 1; i <= 2; i++) track.ask(`b${i}`, slow, 2, 100);
    track.pass(5000, true);
    expect(track.events).toEqual(['first', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('who went away is passed over, and who stood there too long is told', () => {
    const track = new Track(1400);
    const slow = {};
    track.ask('first', slow, 1, 400);
    track.ask('gone', slow, 1, 400, () => true);
    track.ask('second', slow, 1, 400);
    track.ask('third', slow, 1, 400);
    track.pass(6000, true);
    expect(track.events).toEqual(['first', 'second', 'third expired']);
  });

  test('after a minute without a slow run everything is forgotten', () => {
    const track = new Track();
    const slow = {};
    track.ask('slow', slow, 1, 500);
    track.now += 60_001;
    expect(track.lane.takes(slow, 1)).toBe(false);
  });
});
