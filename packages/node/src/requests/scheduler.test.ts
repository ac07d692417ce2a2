import { describe, expect, test } from '@jest/globals';
import { EventLoop } from '../testing/event-loop.js';
import { Scheduler } from './scheduler.js';

const LIMIT_MS = 1000;

/** A request of a test. */
interface Asked {
  readonly name: string;
  readonly program: object | null;
  readonly user: number;
  /** Milliseconds that it takes. */
  readonly ms: number;
  readonly gone?: () => boolean;
  /** Milliseconds after its end when it is asked for again; never by default. */
  readonly againMs?: number;
  /** True if it can't be stopped, as a task. */
  readonly isWhole?: boolean;
  /** Milliseconds until what it changed is committed; without them it changes nothing. */
  readonly commitMs?: number;
  /** True if it came where others may have waited for a long run. */
  readonly hasWaited?: boolean;
}

/** A scheduler on an event loop that a test turns, with requests that take as long as it says. */
class Track {
  readonly loop = new EventLoop();
  readonly scheduler: Scheduler;
  /** Requests that ran to their end or were given up, in order. */
  readonly events: string[] = [];
  /** Milliseconds from when each came to its end. */
  readonly waits = new Map<string, number>();
  /** The number of times the scheduler asked to be called back after some time. */
  delays = 0;
  /** Milliseconds that were run in vain. */
  wastedMs = 0;
  /** Changes that have not left for the log. */
  packed: (() => void)[] = [];
  /** Changes that are not committed, of those who may have waited for a long run. */
  private owed = 0;

  constructor(waitMaxMs = 10_000) {
    const { loop } = this;
    this.scheduler = new Scheduler({
      now: () => loop.now,
      delay: (ms, callback) => {
        this.delays += 1;
        loop.after(ms, callback);
      },
      soon: (callback) => loop.soon(callback),
      waitMaxMs,
      sendReady: () => this.sendPacked(),
      owesAnswers: () => this.owed > 0,
    });
  }

  get now(): number {
    return this.loop.now;
  }

  /** A request comes in after some milliseconds. */
  ask(afterMs: number, wanted: Asked): void {
    let asked = wanted;
    const at = this.now + afterMs;
    this.loop.arrive(at, () => {
      if (asked.commitMs !== undefined) asked = { ...asked, hasWaited: this.scheduler.isCatchingUp };
      const { program, user, isWhole } = asked;
      const run = (): void => this.run(asked, at, Number.POSITIVE_INFINITY);
      if (isWhole) {
        if (!this.scheduler.defersUnstoppable(user, undefined, run)) run();
      } else if (this.scheduler.takes(program, user)) this.enter(asked, at);
      else run();
    });
  }

  /** Somebody asks something quick every 20 ms; returns how long the longest took. */
  async watch(forMs: number, user = 99, program: object | null = QUICK): Promise<number> {
    const names: string[] = [];
    for (let at = 0; at < forMs; at += 20) {
      const name = `watch ${this.now + at}`;
      names.push(name);
      this.ask(at, { name, program, user, ms: 0.1 });
    }
    await this.pass(forMs + 3000);
    return Math.max(...names.map((name) => this.waits.get(name) ?? Number.POSITIVE_INFINITY));
  }

  async pass(ms: number): Promise<void> {
    await this.loop.run(this.now + ms);
  }

  private enter(asked: Asked, at: number, ranMs = 0): void {
    const { name, program, user, gone = () => false } = asked;
    const run = (sliceMs: number): void => this.run(asked, at, sliceMs);
    const expire = (): void => {
      this.events.push(`${name} expired`);
    };
    this.scheduler.enter({ userId: user, program, canStop: true, gone, run, expire }, ranMs);
  }

  private run(asked: Asked, at: number, sliceMs: number): void {
    const { name, program, user, ms } = asked;
    const ranMs = Math.min(ms, sliceMs, LIMIT_MS);
    this.loop.now += ranMs;
    if (sliceMs < Math.min(ms, LIMIT_MS)) {
      this.wastedMs += ranMs;
      this.scheduler.stopped(program, user, ranMs);
      this.enter(asked, at, ranMs);
      return;
    }
    this.scheduler.ran(program, user, ranMs, ms > LIMIT_MS);
    const answer = (): void => {
      this.events.push(name);
      this.waits.set(name, Math.max(this.now - at, this.waits.get(name) ?? 0));
    };
    if (asked.commitMs === undefined) answer();
    else this.commit(asked, asked.commitMs, answer);
    if (asked.againMs !== undefined) this.ask(asked.againMs, asked);
  }

  commit({ hasWaited }: Pick<Asked, 'hasWaited'>, commitMs: number, answer: () => void): void {
    if (hasWaited === true) this.owed += 1;
    const committed = (): void => {
      if (hasWaited === true) this.owed -= 1;
      answer();
    };
    this.packed.push(() => this.loop.arrive(this.now + commitMs, committed));
    this.loop.soon(() => this.sendPacked());
  }

  private sendPacked(): void {
    for (const send of this.packed.splice(0)) send();
  }
}

const QUICK = {};
const ENDLESS = 1e9;

describe('the scheduler', () => {
  test('lets everything run at once as long as nothing takes long', async () => {
    const track = new Track();
    const program = {};
    for (let i = 0; i < 100; i++) track.ask(i * 10, { name: `run ${i}`, program, user: 1, ms: 5 });
    await track.pass(2000);
    expect(track.events).toHaveLength(100);
    expect(Math.max(...track.waits.values())).toBe(5);
    expect(track.scheduler.isActive).toBe(false);
  });

  test.each([2, 8, 20])('lets nobody wait for %d endless queries of as many users', async (count) => {
    const track = new Track();
    for (let i = 0; i < count; i++) track.ask(50, { name: `e${i}`, program: null, user: i, ms: ENDLESS });
    expect(await track.watch(8000)).toBeLessThan(1100);
    expect(track.events.filter((name) => name.startsWith('e')).length).toBeGreaterThan(0);
  });

  test.each([2, 8, 20])('lets nobody wait for %d programs that were quick before', async (count) => {
    const track = new Track();
    track.ask(0, { name: 'first', program: {}, user: 1, ms: 500 });
    const programs = Array.from({ length: count }, () => ({}));
    for (const program of programs)
      for (const at of [600, 620, 640]) track.ask(at, { name: 'small', program, user: 1, ms: 0.1 });
    for (const program of programs) track.ask(3000, { name: 'large', program, user: 1, ms: ENDLESS });
    expect(await track.watch(12_000)).toBeLessThan(1100);
  });

  test('lets nobody wait for two slow runs of whom one came during the other, whoever comes first', async () => {
    const track = new Track();
    for (let i = 0; i < 5; i++) track.ask(i * 200, { name: `e${i}`, program: {}, user: i, ms: ENDLESS });
    expect(await track.watch(8000)).toBeLessThan(1100);
  });

  test('lets nobody wait for a crowd of runs none of which is slow', async () => {
    const track = new Track();
    for (let i = 0; i < 100; i++) track.ask(50, { name: `m${i}`, program: {}, user: i, ms: 30 });
    expect(await track.watch(4000)).toBeLessThan(300);
    await track.pass(5000);
    expect(track.events.filter((name) => name.startsWith('m'))).toHaveLength(100);
  });

  test('serves who opens a connection and asks between two slow runs', async () => {
    const track = new Track();
    const slow = {};
    for (let i = 0; i < 5; i++) track.ask(0, { name: `e${i}`, program: slow, user: 1, ms: ENDLESS });
    // A connection is accepted in one turn, and read in the next.
    track.loop.arrive(track.now + 10, () => track.ask(0, { name: 'new', program: null, user: 2, ms: 0.1 }));
    await track.pass(5000);
    expect(track.events.slice(0, 2)).toEqual(['e0', 'new']);
  });

  test('runs what is slow soon when nobody else has anything to do', async () => {
    const track = new Track();
    const slow = {};
    for (const name of ['first', 'second']) track.ask(0, { name, program: slow, user: 1, ms: 500 });
    await track.pass(1200);
    expect(track.events).toEqual(['first', 'second']);
    expect(track.wastedMs).toBe(0);
  });

  test('gives others three times the duration of a slow run when they have', async () => {
    const track = new Track();
    const slow = {};
    for (const name of ['first', 'second']) track.ask(0, { name, program: slow, user: 1, ms: 500 });
    await track.watch(3000);
    expect(track.waits.get('second')).toBeGreaterThan(2400);
    expect(track.waits.get('second')).toBeLessThan(2700);
  });

  test('does not hold back a program that was slow, and is quick now', async () => {
    const track = new Track();
    const program = {};
    track.ask(0, { name: 'slow', program, user: 1, ms: 500 });
    track.ask(10, { name: 'quick', program, user: 1, ms: 5 });
    await track.watch(2500);
    track.ask(0, { name: 'quick again', program, user: 1, ms: 5 });
    await track.watch(200);
    expect(track.waits.get('quick again')).toBeLessThan(10);
  });

  test('does not take a program for slow since it is for another user, who brings more', async () => {
    const track = new Track();
    for (let i = 0; i < 6; i++) track.ask(0, { name: `slow ${i}`, program: QUICK, user: 1, ms: 500 });
    await track.watch(10_000);
    const waits = [...track.waits].filter(([name]) => name.startsWith('watch')).map(([, ms]) => ms);
    // Each slow run keeps those waiting who come meanwhile, of whom 20 for so long.
    expect([track.waits.size - waits.length, waits.filter((ms) => ms > 100).length <= 120]).toEqual([
      6,
      true,
    ]);
  });

  test('sends what others wait for before it runs what takes long in the same turn', async () => {
    const track = new Track();
    const left: number[] = [];
    track.scheduler.ran({}, 1, 500);
    const run = (): number => left.push(track.packed.length);
    track.scheduler.enter({ userId: 2, program: {}, canStop: true, gone: () => false, run, expire: null });
    // Its own turn to leave comes behind that of the scheduler.
    track.commit({}, 1, () => {});
    await track.pass(100);
    expect(left).toEqual([0]);
  });

  test('lets users take turns, whoever sends most', async () => {
    const track = new Track();
    const slow = {};
    track.ask(0, { name: 'first', program: slow, user: 1, ms: 100 });
    for (let i = 1; i <= 3; i++) track.ask(1, { name: `a${i}`, program: slow, user: 1, ms: 100 });
    for (let i = 1; i <= 3; i++) track.ask(1, { name: `b${i}`, program: slow, user: 2, ms: 100 });
    await track.pass(5000);
    expect(track.events).toEqual(['first', 'b1', 'a1', 'b2', 'a2', 'b3', 'a3']);
  });

  test('lets a program that ends by its time limit wait longer each time, and others not', async () => {
    const track = new Track();
    const endless = {};
    track.ask(0, { name: 'endless', program: endless, user: 1, ms: ENDLESS, againMs: 1 });
    track.ask(5, { name: 'report', program: {}, user: 1, ms: 60, againMs: 300 });
    await track.watch(60_000);
    const count = (name: string): number => track.events.filter((event) => event === name).length;
    expect(count('endless')).toBeLessThanOrEqual(6);
    expect(count('report')).toBeGreaterThan(100);
    expect(track.waits.get('report')).toBeLessThan(1500);
  });

  test('gives who loads in steady batches a share beside endless queries', async () => {
    const track = new Track(15_000);
    const batch = {};
    for (let user = 1; user <= 4; user++)
      for (let i = 0; i < 20; i++) track.ask(i, { name: `e${user}.${i}`, program: {}, user, ms: ENDLESS });
    track.ask(30, { name: 'batch', program: batch, user: 9, ms: 60, againMs: 5 });
    await track.watch(20_000);
    expect(track.events.filter((name) => name === 'batch').length).toBeGreaterThan(30);
    expect(track.waits.get('batch')).toBeLessThan(2500);
  });

  test('passes over who went away, and tells who waited too long', async () => {
    const track = new Track(1400);
    const slow = {};
    const gone = (): boolean => true;
    track.ask(0, { name: 'first', program: slow, user: 1, ms: 400 });
    track.ask(1, { name: 'gone', program: slow, user: 1, ms: 400, gone });
    track.ask(2, { name: 'second', program: slow, user: 1, ms: 400 });
    track.ask(3, { name: 'third', program: slow, user: 1, ms: 400 });
    await track.watch(4000);
    expect(track.events.filter((name) => !name.startsWith('watch'))).toEqual([
      'first',
      'second',
      'third expired',
    ]);
  });

  test('begins no task before those are answered who came during the last one', async () => {
    const track = new Track();
    for (let i = 0; i < 3; i++)
      track.ask(0, { name: `task ${i}`, program: null, user: i, ms: 600, isWhole: true });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 50 });
    await track.pass(4000);
    expect(track.events).toEqual(['task 0', 'change', 'task 1', 'task 2']);
  });

  test('begins no slow query either before they are', async () => {
    const track = new Track();
    for (let i = 0; i < 3; i++) track.ask(i, { name: `slow ${i}`, program: {}, user: i, ms: 600 });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 200 });
    await track.pass(6000);
    expect(track.events.slice(0, 3)).toEqual(['slow 0', 'change', 'slow 1']);
  });

  test('begins no future in a turn that has taken long before those are served who came meanwhile', async () => {
    const track = new Track();
    track.ask(0, { name: 'short', program: {}, user: 1, ms: 20 });
    track.ask(1, { name: 'future', program: null, user: 2, ms: 600, isWhole: true });
    track.ask(2, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 5 });
    await track.pass(4000);
    expect(track.events).toEqual(['short', 'change', 'future']);
  });

  test.each([
    ['a read', {}],
    ['a change', { commitMs: 5 }],
  ])('begins no slow query in such a turn either, nor before they are answered: %s', async (name, kind) => {
    const track = new Track();
    const slow = {};
    track.ask(0, { name: 'slow', program: slow, user: 1, ms: 600 });
    await track.pass(4000);
    for (let user = 2; user < 6; user++) {
      const program = {};
      track.scheduler.ran(program, user, 38);
      track.ask(user, { name: 'short', program, user, ms: 38, againMs: 1 });
    }
    track.ask(10, { name: 'slow', program: slow, user: 1, ms: 600, againMs: 50 });
    for (let at = 0; at < 8000; at += 7) track.ask(at, { name, program: QUICK, user: 99, ms: 0.1, ...kind });
    await track.pass(12_000);
    expect(track.waits.get(name)).toBeLessThan(600 + 20);
    expect(track.events.filter((event) => event === 'slow').length).toBeGreaterThan(3);
  });

  test('runs no more in a turn of those who wait at the door because another one stands in the lane', async () => {
    const track = new Track();
    const slow = {};
    for (const name of ['slow', 'slow again']) track.ask(0, { name, program: slow, user: 1, ms: 600 });
    await track.pass(601);
    for (let user = 2; user < 6; user++) {
      const program = {};
      track.scheduler.ran(program, user, 38);
      track.ask(user, { name: 'short', program, user, ms: 38, againMs: 1 });
    }
    for (let at = 0; at < 1000; at += 7) track.ask(at, { name: 'read', program: QUICK, user: 99, ms: 0.1 });
    await track.pass(1000);
    expect(track.waits.get('read')).toBeLessThan(38 + 5);
    expect(track.events).not.toContain('slow again');
  });

  test('lets no work of some milliseconds go before these answers behind a long run', async () => {
    const track = new Track();
    track.ask(0, { name: 'slow', program: {}, user: 1, ms: 600 });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 20 });
    for (let user = 2; user < 6; user++) {
      const program = {};
      track.scheduler.ran(program, user, 30);
      track.ask(310, { name: 'short', program, user, ms: 30 });
    }
    await track.pass(4000);
    expect(track.events).toEqual(['slow', 'change', 'short', 'short', 'short', 'short']);
  });

  test('tells others that those wait who came during a long run, until they have their answers, and not for long', async () => {
    const track = new Track();
    const isCatchingUp = async (ms: number): Promise<boolean> => {
      await track.pass(ms);
      return track.scheduler.isCatchingUpLong;
    };
    track.ask(10, { name: 'slow', program: {}, user: 1, ms: 600 });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 50 });
    expect(await isCatchingUp(5)).toBe(false);
    expect(await isCatchingUp(635)).toBe(true);
    expect(await isCatchingUp(40)).toBe(false);
    track.ask(1000, { name: 'slow', program: {}, user: 2, ms: 600 });
    track.ask(1300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 1e6 });
    await track.pass(3000);
    expect(track.events).toContain('slow');
    expect(track.scheduler.isCatchingUpLong).toBe(false);
  });

  test('waits for such answers for little more than a query may run', async () => {
    const track = new Track();
    for (let i = 0; i < 2; i++)
      track.ask(0, { name: `task ${i}`, program: null, user: i, ms: 600, isWhole: true });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 1e6 });
    await track.pass(4000);
    expect(track.waits.get('task 1')).toBeGreaterThan(600 + 1000 + 600);
    expect(track.waits.get('task 1')).toBeLessThan(600 + 1150 + 600);
  });

  test('does not wait for the answers of those who came later', async () => {
    const track = new Track();
    for (let i = 0; i < 2; i++)
      track.ask(0, { name: `task ${i}`, program: null, user: i, ms: 600, isWhole: true });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 100 });
    track.ask(650, { name: 'later', program: QUICK, user: 99, ms: 0.1, commitMs: 1e6 });
    await track.pass(4000);
    expect(track.waits.get('task 1')).toBeLessThan(600 + 150 + 600);
  });

  test('begins a task within a second even if others have something to do in every turn', async () => {
    const track = new Track();
    track.ask(0, { name: 'slow', program: {}, user: 1, ms: 600 });
    track.ask(10, { name: 'task', program: null, user: 2, ms: 50, isWhole: true });
    for (let at = 10; at < 3000; at += 0.1)
      track.ask(at, { name: 'quick', program: QUICK, user: 99, ms: 0.1 });
    await track.pass(4000);
    expect(track.waits.get('task')).toBeLessThan(600 + 600);
  });

  test('serves all others while a task that was passed over for long waits for the answers of those who came before', async () => {
    const track = new Track();
    for (const user of [1, 2])
      track.ask(0, { name: `task ${user}`, program: null, user, ms: 900, isWhole: true });
    track.ask(300, { name: 'change', program: QUICK, user: 99, ms: 0.1, commitMs: 1e6 });
    expect(await track.watch(4000)).toBeLessThan(1000);
    expect(track.events.filter((name) => name.startsWith('task'))).toHaveLength(2);
    // It was looked every 10 ms whether they have their answers, for a second, however many were served meanwhile.
    expect(track.delays).toBeLessThan(150);
  });

  test('serves all others between two tasks that were passed over for long', async () => {
    const track = new Track();
    track.ask(0, { name: 'slow', program: {}, user: 1, ms: 600 });
    for (let i = 0; i < 30; i++)
      track.ask(10, { name: 'task', program: null, user: 2, ms: 60, isWhole: true });
    for (let at = 610; at < 4000; at += 0.5)
      track.ask(at, { name: 'quick', program: QUICK, user: 98, ms: 0.1 });
    await track.pass(610);
    expect(await track.watch(4000)).toBeLessThan(100);
    expect(track.waits.get('quick')).toBeLessThan(300);
    expect(track.events.filter((name) => name === 'task')).toHaveLength(30);
  });

  test('lets nobody run for long at once behind a body that took long to be read', async () => {
    const track = new Track();
    track.loop.arrive(track.now + 50, () => {
      track.loop.now += 115;
      track.scheduler.read(1, 115);
    });
    track.ask(60, { name: 'endless', program: {}, user: 2, ms: ENDLESS });
    track.ask(61, { name: 'quick', program: QUICK, user: 99, ms: 0.1 });
    await track.pass(4000);
    expect(track.events[0]).toBe('quick');
  });

  test.each([
    { loops: [1, 1], ms: [5, 5] },
    { loops: [16, 2], ms: [5, 5] },
    { loops: [64, 1], ms: [5, 5] },
    { loops: [16, 4], ms: [1, 1] },
    { loops: [8, 8], ms: [30, 3] },
    { loops: [4, 1], ms: [150, 150] },
    { loops: [32, 16], ms: [0.2, 0.2] },
  ])('gives two users in loops the same time: $loops at once, of $ms ms', async ({ loops, ms }) => {
    const track = new Track();
    const programs = [{}, {}];
    for (const [user, count] of loops.entries())
      for (let i = 0; i < count; i++)
        track.ask(0, {
          name: `${user}`,
          program: programs[user] ?? null,
          user,
          ms: ms[user] ?? 0,
          againMs: 0.3,
        });
    // Behind the first crowd, in which nobody knows how long any of it takes.
    await track.pass(1000);
    track.events.length = 0;
    await track.pass(3000);
    const [first = 0, second = 0] = ms.map(
      (each, user) => each * track.events.filter((name) => name === `${user}`).length,
    );
    expect(first / (first + second)).toBeGreaterThan(0.45);
    expect(first / (first + second)).toBeLessThan(0.55);
    expect(track.wastedMs).toBeLessThan(100);
  });

  test('lets who comes to users in loops wait for little more than a run, and who can not be stopped not at all', async () => {
    const track = new Track();
    for (const user of [1, 2])
      for (let i = 0; i < 16; i++) track.ask(0, { name: 'loop', program: {}, user, ms: 5, againMs: 0.3 });
    await track.pass(500);
    track.ask(10, { name: 'future', program: null, user: 1, ms: 1, isWhole: true });
    expect(await track.watch(1000)).toBeLessThan(20);
    expect(track.waits.get('future')).toBeLessThan(10);
  });

  test('lets short requests of a user go before longer ones, and the longer ones not wait for ever', async () => {
    const track = new Track();
    for (const user of [1, 2])
      for (let i = 0; i < 16; i++) track.ask(0, { name: 'loop', program: QUICK, user, ms: 1, againMs: 0.3 });
    track.ask(0, { name: 'report', program: {}, user: 1, ms: 20, againMs: 5 });
    await track.pass(5000);
    const reports = track.events.filter((name) => name === 'report').length;
    expect(reports).toBeGreaterThan(3);
    expect(reports).toBeLessThan(10);
  });

  test('makes no difference between users where the thread has time for all', async () => {
    const track = new Track();
    for (let i = 0; i < 100; i++)
      for (const user of [1, 2]) track.ask(i * 25, { name: 'run', program: {}, user, ms: 5 });
    await track.pass(3000);
    expect(track.scheduler.isActive).toBe(false);
    expect(track.waits.get('run')).toBe(10);
  });

  test('forgets everything after a minute without a slow run', async () => {
    const track = new Track();
    const slow = {};
    track.ask(0, { name: 'slow', program: slow, user: 1, ms: 500 });
    await track.pass(61_000);
    expect(track.scheduler.takes(slow, 1)).toBe(false);
    expect(track.scheduler.isActive).toBe(false);
  });
});
