import { RecordKind, restoreEffects } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { ROOT_GROUP } from '../between/protocol.js';
import { TestBench } from '../testing/session-bench.js';
import { Checkpointer } from './checkpointer.js';

const STUFF = 2;

/** The state that a process finds which starts on it alone, before it knows anything of the log. */
async function valueOnDisk(bench: TestBench, code: string): Promise<string> {
  bench.kill();
  await bench.start();
  return bench.value(STUFF, code);
}

describe('a checkpoint', () => {
  test('stands for the place of what it holds, and the log behind it is applied after a restart', async () => {
    const bench = await new TestBench().start();
    await bench.value(STUFF, '.x = 1;');
    // Given a checkpoint that has begun and waits for the place of its changes,
    const done = bench.checkpointer.flush(bench.session(STUFF));
    await bench.settle();
    // when further changes come meanwhile,
    const change = bench.ask(STUFF, '.x = 2;');
    await bench.travel();
    await done;
    expect(change.reply?.ok).toBe(true);
    // then both are there after a restart, and what was changed since is written by the next one.
    expect(bench.session(STUFF).group.dirty.size).toBeGreaterThan(0);
    expect(await valueOnDisk(bench, '.x;')).toBe('2');
    expect(bench.failures).toEqual([]);
  });

  test('a checkpoint of changes that were taken back before it was durable leaves nothing of them', async () => {
    const bench = await new TestBench().start();
    await bench.value(STUFF, '.x = 1; .list = [1, 2, 3];');
    await bench.checkpoint(STUFF);
    const change = bench.ask(STUFF, '.x = 2; .list.push({a: 4}); .del("nothing", nil);');
    const failed = bench.ask(STUFF, '.x = 3; .list.push({a: 5});');
    expect(change.reply).not.toBeNull();
    const done = bench.checkpointer.flush(bench.session(STUFF));
    bench.session(STUFF).handle({ kind: 'suspended', group: STUFF });
    expect(failed.reply?.ok).toBe(false);
    for (const command of bench.commands.splice(0)) {
      // Messages of an incarnation that is over are of no use any more.
      if (command.kind === 'mark') bench.take({ kind: 'mark_lost', group: STUFF, id: command.id });
    }
    await bench.travel();
    await done;
    expect(bench.failures).toEqual([]);
    expect(await valueOnDisk(bench, '[.x, .list];')).toBe('[1,[1,2,3]]');
  });

  test('a checkpoint for which there is no room is told, and made again later', async () => {
    const bench = await new TestBench().start();
    await bench.value(STUFF, '.x = 1;');
    bench.stateStore.fault = ({ kind }) => (kind === 'write' ? 'ENOSPC' : undefined);
    await bench.checkpoint(STUFF);
    expect([bench.timesFull, bench.failures]).toEqual([1, []]);
    expect(bench.session(STUFF).group.dirty.size).toBeGreaterThan(0);
    // With room again, the state takes writes after it was opened again.
    bench.stateStore.fault = () => undefined;
    bench.freeBytes = 1;
    await bench.consider();
    await bench.checkpoint(STUFF);
    expect(bench.session(STUFF).group.dirty.size).toBe(0);
    expect(await valueOnDisk(bench, '.x;')).toBe('1');
    expect(bench.failures).toEqual([]);
  });

  test('is made of rights and other counters, too, which make no record dirty', async () => {
    const bench = await new TestBench().start();
    await bench.value('thingsdb', "new_user('guest');");
    await bench.checkpoint('thingsdb');
    const stored = bench.session('thingsdb').appliedIndex;
    await bench.value('thingsdb', "grant('@:stuff', 'guest', QUERY);");
    expect(bench.checkpointer.isDirty(bench.session('thingsdb'))).toBe(true);
    await bench.checkpoint('thingsdb');
    expect(bench.checkpointer.isDirty(bench.session('thingsdb'))).toBe(false);
    expect(bench.state.storedIndex(ROOT_GROUP)).toBeGreaterThan(stored);
    await bench.value('thingsdb', "revoke('@:stuff', 'guest', QUERY);");
    bench.stateStore.fault = ({ kind }) => (kind === 'write' ? 'ENOSPC' : undefined);
    await bench.checkpoint('thingsdb');
    expect(bench.checkpointer.isDirty(bench.session('thingsdb'))).toBe(true);
  });

  test('a checkpoint of many records that came from elsewhere leaves others their turns', async () => {
    const bench = await new TestBench().start();
    const records = Array.from({ length: 1000 }, (_, i) => ({
      kind: RecordKind.THING,
      id: 1000 + i,
      part: 0,
      value: new Uint8Array(10),
    }));
    const session = bench.session(STUFF);
    await bench.checkpoint(STUFF);
    session.impose(restoreEffects(records), () => {});
    await bench.travel();
    expect(session.group.dirty.size).toBeGreaterThanOrEqual(1000);
    let work = 0;
    let turns = 0;
    const checkpointer = new Checkpointer({
      state: bench.state,
      consensus: bench,
      settings: { checkpointIntervalMs: 0, checkpointBytes: 1, cacheBytes: Number.MAX_VALUE },
      clock: { now: () => 0 },
      workClock: () => work++,
      thingsPerLook: 10,
      yield: async () => {
        turns += 1;
      },
      evicting: () => false,
      isBehindLongRun: () => false,
      blocked: () => false,
      onFailure: (_, error) => {
        throw error;
      },
      onDone: () => {},
    });
    const done = checkpointer.flush(session);
    await bench.travel();
    await done;
    expect([session.group.dirty.size, turns >= 90]).toEqual([0, true]);
  });

  /**
   * Makes a checkpoint of 4,000 things beside work that never ends: 20 ms in each turn of the thread, or as many as others have. Ten things are
   * encoded in 1 ms.
   *
   * @returns how long it took, and its longest turn, in milliseconds
   */
  async function besideOthers(limits: {
    readonly checkpointIntervalMs: number;
    readonly cacheBytes: number;
    readonly othersMs?: number;
    readonly isBehindLongRun?: boolean;
  }): Promise<{ readonly ms: number; readonly turnMs: number }> {
    const bench = await new TestBench().start();
    await bench.checkpoint(STUFF);
    await bench.value(STUFF, '.l = range(4000).map(|i| {i: i}); nil;');
    let now = 0;
    let turnMs = 0;
    let turnBegan = 0;
    const checkpointer = new Checkpointer({
      state: bench.state,
      consensus: bench,
      settings: { ...limits, checkpointBytes: 1 },
      clock: { now: () => now },
      workClock: () => {
        now += 1;
        return now;
      },
      thingsPerLook: 10,
      yield: async () => {
        turnMs = Math.max(turnMs, now - turnBegan);
        now += limits.othersMs ?? 20;
        turnBegan = now;
      },
      evicting: () => false,
      isBehindLongRun: () => limits.isBehindLongRun ?? false,
      blocked: () => false,
      onFailure: () => {},
      onDone: () => {},
    });
    const done = checkpointer.flush(bench.session(STUFF));
    await bench.travel();
    await done;
    return { ms: now, turnMs };
  }

  test('takes longer turns the longer it takes, beside work that never ends', async () => {
    // 400 ms of work take less than three times the time between two checkpoints, in place of 8 s.
    const { ms, turnMs } = await besideOthers({ checkpointIntervalMs: 1000, cacheBytes: Number.MAX_VALUE });
    expect(ms).toBeGreaterThan(1000);
    expect(ms).toBeLessThan(3000);
    expect(turnMs).toBeLessThan(40);
  });

  test('makes others wait no longer where these have short turns, and comes to its end between them', async () => {
    const { ms, turnMs } = await besideOthers({
      checkpointIntervalMs: 1000,
      cacheBytes: Number.MAX_VALUE,
      othersMs: 1,
    });
    expect(turnMs).toBeLessThanOrEqual(5);
    expect(ms).toBeLessThan(1000);
  });

  test('slows others down, and leaves them some time, where the memory for things is full of what it writes', async () => {
    const { ms, turnMs } = await besideOthers({ checkpointIntervalMs: 1_000_000, cacheBytes: 50_000 });
    expect(ms).toBeLessThan(600);
    expect(turnMs).toBeGreaterThan(50);
    expect(turnMs).toBeLessThan(80);
  });

  test('takes short turns while those wait who came during a long run, however late it is', async () => {
    const { turnMs } = await besideOthers({
      checkpointIntervalMs: 1,
      cacheBytes: 50_000,
      isBehindLongRun: true,
    });
    expect(turnMs).toBeLessThanOrEqual(5);
  });

  test('is begun soon behind one that took longer than the time between two', async () => {
    const bench = await new TestBench().start();
    await bench.checkpoint(STUFF);
    const session = bench.session(STUFF);
    let now = 10_000;
    const begun: number[] = [];
    const checkpointer = new Checkpointer({
      state: bench.state,
      consensus: bench,
      settings: { checkpointIntervalMs: 1000, checkpointBytes: 2 ** 40, cacheBytes: 2 ** 40 },
      clock: { now: () => now },
      yield: async () => {},
      evicting: () => false,
      isBehindLongRun: () => false,
      blocked: () => false,
      onFailure: () => {},
      onDone: () => {},
    });
    await bench.value(STUFF, '.x = 1;');
    checkpointer.consider(session);
    now += 3000;
    await bench.value(STUFF, '.x = 2;');
    await bench.travel();
    expect(checkpointer.active).toBe(false);
    for (const end = now + 1000; now < end; now += 50) {
      checkpointer.consider(session);
      if (checkpointer.active) begun.push(now - end + 1000);
      await bench.travel();
    }
    expect(begun).toEqual([250]);
  });

  test('is begun before its time where what waits for it takes a quarter of the memory for things, once what was written left it', async () => {
    const bench = await new TestBench().start();
    await bench.checkpoint(STUFF);
    const session = bench.session(STUFF);
    let evicting = false;
    const checkpointer = (cacheBytes: number): Checkpointer =>
      new Checkpointer({
        state: bench.state,
        consensus: bench,
        settings: { checkpointIntervalMs: 1_000_000, checkpointBytes: 2 ** 40, cacheBytes },
        clock: { now: () => 1000 },
        yield: async () => {},
        evicting: () => evicting,
        isBehindLongRun: () => false,
        blocked: () => false,
        onFailure: () => {},
        onDone: () => {},
      });
    await bench.value(STUFF, '.l = range(1000).map(|i| {i: i}); nil;');
    const roomy = checkpointer(100 * session.changedBytes);
    roomy.consider(session);
    expect(roomy.active).toBe(false);
    const narrow = checkpointer(10 * session.changedBytes);
    evicting = true;
    narrow.consider(session);
    expect(narrow.active).toBe(false);
    evicting = false;
    narrow.consider(session);
    expect(narrow.active).toBe(true);
    await bench.travel();
    expect(session.group.dirty.size).toBe(0);
  });

  test('is not begun while they are held', async () => {
    const bench = await new TestBench().start();
    await bench.checkpoint('thingsdb');
    await bench.checkpoint(STUFF);
    await bench.checkpointer.hold();
    await bench.value(STUFF, '.x = 1;');
    bench.checkpointer.consider(bench.session(STUFF));
    expect(bench.checkpointer.active).toBe(false);
    bench.checkpointer.release();
    bench.checkpointer.consider(bench.session(STUFF));
    expect(bench.checkpointer.active).toBe(true);
    await bench.travel();
    expect(bench.session(STUFF).group.dirty.size).toBe(0);
  });
});
