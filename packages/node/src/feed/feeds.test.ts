/** Feeds over a real log and a real state, in one thread. */
import { ErrorCode } from '@althing/engine';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parsePosition } from '../between/feed-position.js';
import { ROOT_GROUP } from '../between/protocol.js';
import { TestBench } from '../testing/session-bench.js';
import { Feeds, FOLLOWERS_MAX, LostError } from './feeds.js';
import { ALL_CHANGES, filterOf } from './parcel.js';
import type { FeedEnd, FeedLine, FeedSink } from './subscriber.js';

const ALL = ALL_CHANGES;

type FeedReads = ConstructorParameters<typeof Feeds>[0]['reads'];

let bench: TestBench;
let stuff: number;

beforeEach(async () => {
  bench = await new TestBench().start();
  bench.pauseMaxMs = 10;
  stuff = bench.engine.root.collectionsByName.get('stuff')?.id ?? 0;
});

afterEach(() => {
  expect(bench.failures).toEqual([]);
});

/** A follower that keeps what it is told, and takes it when it is allowed to. */
class Follower implements FeedSink {
  readonly lines: FeedLine[] = [];
  end: FeedEnd | null = null;
  timesCaughtUp = 0;
  isSlow = false;
  /** Characters that were sent at once at most. */
  largest = 0;
  private release: (() => void) | null = null;
  stop: () => void = () => {};

  get changes(): { changes: { op: string }[] }[] {
    return this.lines.filter(({ isAlive }) => !isAlive).map(({ json }) => JSON.parse(json));
  }

  get ops(): string[] {
    return this.changes.flatMap(({ changes }) => changes.map(({ op }) => op));
  }

  get position(): string {
    return this.lines.at(-1)?.at ?? '';
  }

  send(lines: readonly FeedLine[]): Promise<void> {
    this.lines.push(...lines);
    this.largest = Math.max(
      this.largest,
      lines.reduce((sum, { json }) => sum + json.length, 0),
    );
    if (!this.isSlow) return Promise.resolve();
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  caughtUp(): void {
    this.timesCaughtUp += 1;
  }

  ended(end: FeedEnd): void {
    this.end = end;
  }

  takeAll(): void {
    this.isSlow = false;
    this.release?.();
  }
}

async function follow(since: string | null = null, filter = ALL, user = 'admin'): Promise<Follower> {
  const follower = new Follower();
  const asking = bench.engine.root.usersByName.get(user);
  if (asking === undefined) throw new Error(`no user ${user}`);
  const position = since === null ? null : parsePosition(since);
  const following = bench.feeds.follow(
    { user: asking, collection: 'stuff', since: position, filter },
    follower,
  );
  following.catch(() => {});
  await bench.travel();
  follower.stop = await following;
  await bench.travel();
  return follower;
}

type Session = ReturnType<TestBench['session']>;

function feedsOptions(session: Session): ConstructorParameters<typeof Feeds>[0] {
  return {
    engine: bench.engine,
    session: () => session,
    reads: { read: () => Promise.resolve(null) },
    clock: { after: () => () => {}, every: () => () => {} },
    onDefect: (error) => bench.failures.push(error as Error),
  };
}

/** A request to follow from now on. */
function present(): Parameters<Feeds['follow']>[0] {
  const user = bench.engine.root.usersByName.get('admin');
  if (user === undefined) throw new Error('no user admin');
  return { user, collection: 'stuff', since: null, filter: ALL };
}

describe('a node that lags behind what was acknowledged', () => {
  test.each([
    ['the collection', true, { collectionsByName: new Map() }, 1],
    ['the privilege', true, { allows: () => false }, 1],
    ['a collection that was never made', false, { collectionsByName: new Map() }, ErrorCode.LOOKUP],
    ['a privilege that was never given', false, { allows: () => false }, ErrorCode.FORBIDDEN],
  ])('looks again for %s before it refuses a follower', async (_title, comes, lacks, outcome) => {
    const { root } = bench.engine;
    const behind: typeof root = Object.create(
      root,
      Object.fromEntries(Object.entries(lacks).map(([name, value]) => [name, { value }])),
    );
    let known = behind;
    const asked: number[] = [];
    const session = (group: number): Session => {
      const real = bench.session(group);
      const readIndex = (done: (isKnown: boolean) => void): void => {
        asked.push(group);
        if (comes) known = root;
        real.readIndex(done);
      };
      return Object.create(real, { readIndex: { value: readIndex } });
    };
    const engine = {
      get root() {
        return known;
      },
    };
    const feeds = new Feeds({ ...feedsOptions(session(stuff)), session, engine });
    const end = feeds.follow(present(), new Follower()).then(
      () => feeds.counts.all,
      (error) => error.code,
    );
    await bench.travel();
    expect([await end, asked]).toEqual([outcome, comes ? [ROOT_GROUP, stuff] : [ROOT_GROUP]]);
  });
});

describe('a follower', () => {
  test.each([
    [3, 'the place behind what was acknowledged'],
    [Number.POSITIVE_INFINITY, 'node_err after some seconds'],
  ])('a follower of a group that has no leader for %s looks gets %s', async (looks) => {
    const real = bench.session(stuff);
    let asked = 0;
    const session: typeof real = Object.create(real, {
      readIndex: { value: (done: (isKnown: boolean) => void) => done(++asked > looks) },
    });
    let waitedMs = 0;
    const feeds = new Feeds({
      ...feedsOptions(session),
      clock: {
        after: (ms, work) => {
          waitedMs += ms;
          queueMicrotask(work);
          return () => {};
        },
        every: () => () => {},
      },
    });
    const end = feeds.follow(present(), new Follower()).then(
      () => feeds.counts.all,
      (error) => error.code,
    );
    await bench.travel();
    if (looks < 10) expect([await end, waitedMs]).toEqual([1, 300]);
    else expect([await end, waitedMs]).toEqual([ErrorCode.NODE, 5000]);
  });

  test('is told of each change once it is committed, and by whom it is wanted', async () => {
    await bench.value(stuff, "set_type('A', {n: 'int'}); set_type('B', {n: 'int'});");
    const all = await follow();
    const some = await follow(null, filterOf(['A'], null, false));
    bench.ask(stuff, '.a = A{n: 1};');
    await bench.settle();
    expect(all.ops).toEqual([]);
    await bench.travel();
    await bench.value(stuff, '.b = B{n: 2}; .a.n = 3;');
    expect(all.ops).toEqual(['new', 'set', 'new', 'set', 'set']);
    expect(some.changes).toMatchObject([
      { changes: [{ op: 'new', type: 'A', values: { n: 1 } }] },
      { changes: [{ op: 'set', type: 'A', key: 'n', value: 3 }] },
    ]);
    await bench.value(stuff, '.del("b");');
    expect(some.ops.at(-1)).toBe('gone');
    // It is no A any more: who follows those has to know.
    await bench.value(stuff, "t = .a; del_type('A');");
    await bench.value(stuff, "set_type('C', {n: 'int'}); .c = {n: 1}; .c.to_type('C');");
    expect(some.ops.at(-1)).toBe('type');
  });

  test('a follower that asks for things is told them whole, once and when they are committed', async () => {
    await bench.value(stuff, "set_type('A', {n: 'int', l: '[int]'}); .a = A{n: 1}; .b = A{};");
    const whole = await follow(null, filterOf(null, null, true));
    bench.ask(stuff, '.a.n = 2; .a.l.push(3, 4); .c = {x: .a};');
    await bench.travel();
    expect(whole.changes).toMatchObject([
      {
        changes: [
          { op: 'thing', type: 'A', values: { n: 2, l: [3, 4] } },
          { op: 'thing', values: { x: { '#': 2 } } },
          { op: 'thing', id: 1 },
        ],
      },
    ]);
    // The state is ahead of what is committed: the line waits for it.
    bench.ask(stuff, '.a.n = 5;');
    await bench.settle();
    bench.ask(stuff, '.a.n = 6; .b.n = 7;');
    await bench.travel();
    expect(whole.changes.slice(1)).toMatchObject([
      { changes: [{ op: 'thing', values: { n: 6 } }] },
      { changes: [{ values: { n: 6 } }, { values: { n: 7 } }] },
    ]);
    expect(
      await bench.value(stuff, '.l = range(100000).map(|| "0123456789012345678901234567890123456789"); nil;'),
    ).toBe('null');
    expect(whole.ops.at(-1)).toBe('set');
    await bench.value(stuff, '.b = nil;');
    expect(whole.ops.slice(-2)).toEqual(['set', 'gone']);
  });

  test('a follower that comes back is told what it missed, also by a process that began anew', async () => {
    const first = await follow();
    await bench.value(stuff, '.x = 1;');
    const { position } = first;
    await bench.value(stuff, '.x = 2;');
    first.stop();
    bench.kill();
    await bench.start();
    await bench.value(stuff, '.x = 3;');
    const again = await follow(position);
    expect(again.changes).toMatchObject([
      { changes: [{ op: 'set', key: 'x', value: 2 }] },
      { changes: [{ op: 'set', key: 'x', value: 3 }] },
    ]);
    await bench.value(stuff, '.x = 4;');
    expect(again.changes.length).toBe(3);
  });

  test('reads names as they were at its position', async () => {
    await bench.value(stuff, "set_type('A', {n: 'int', m: 'int'});");
    const { position } = await follow();
    await bench.value(stuff, '.a = A{n: 1, m: 2};');
    await bench.value(stuff, "mod_type('A', 'ren', 'n', 'k'); mod_type('A', 'ren', 'm', 'n');");
    const again = await follow(position);
    expect(again.changes[0]).toMatchObject({
      changes: [{ op: 'new', values: { n: 1, m: 2 } }, { op: 'set' }],
    });
    expect(again.changes[1]).toMatchObject({
      changes: [{ op: 'schema', fields: [{ name: 'k', was: 'n' }, { name: 'm' }] }, { op: 'schema' }],
    });
  });

  test('a follower that is slow reads the log when it can, and is told all once and in order', async () => {
    const slow = await follow();
    const quick = await follow();
    slow.isSlow = true;
    for (let i = 0; i < 30; i++) await bench.value(stuff, `.x = ${i}; .t = range(9000).map(|j| j + ${i});`);
    expect(bench.feeds.counts).toEqual({ all: 2, behind: 1 });
    slow.takeAll();
    await bench.travel();
    expect(bench.feeds.counts).toEqual({ all: 2, behind: 0 });
    const values = (follower: Follower): unknown[] => follower.changes.map(({ changes }) => changes[0]);
    expect(values(slow)).toEqual(values(quick));
    expect(slow.changes.length).toBe(30);
    // The characters that wait for it are bounded, however much happens meanwhile.
    expect(slow.largest).toBeLessThan(1024 * 1024 + 100_000);
    expect(bench.feeds.figures).toMatchObject({ all: 2, lines: 62, lag: 0, ended: { left: 0 } });
  });

  test('followers of one user leave as many to all others, also when they come at once', async () => {
    await bench.value('thingsdb', "new_user('ann'); grant('//stuff', 'ann', QUERY);");
    const asked = Array.from({ length: FOLLOWERS_MAX }, () => bench.feeds.follow(present(), new Follower()));
    const told = Promise.allSettled(asked);
    await bench.travel();
    const refusals = (await told).filter((one) => one.status === 'rejected');
    expect(new Set(refusals.map(({ reason }) => reason.code))).toEqual(new Set([ErrorCode.MAX_QUOTA]));
    expect([refusals.length, bench.feeds.counts.all]).toEqual([FOLLOWERS_MAX / 2, FOLLOWERS_MAX / 2]);
    await follow(null, ALL, 'ann');
    expect(bench.feeds.counts.all).toBe(FOLLOWERS_MAX / 2 + 1);
  });

  test('reads the log once for all that is committed within some milliseconds', async () => {
    const session = bench.session(stuff);
    const pauses: (() => void)[] = [];
    const upTo: number[] = [];
    const follower = new Follower();
    const feeds = new Feeds({
      ...feedsOptions(session),
      clock: {
        after: (_ms, work) => {
          pauses.push(work);
          return () => {};
        },
        every: () => () => {},
      },
      reads: {
        read: (_group, _after, end) => {
          upTo.push(end);
          const at = parsePosition(follower.position) ?? { index: 0, hash: 0 };
          const [before, last] = [
            { ...at, term: 1 },
            { ...at, term: 1, index: end },
          ];
          return Promise.resolve({ before, oldest: before, entries: [], last });
        },
      },
    });
    const following = feeds.follow(present(), follower);
    await bench.travel();
    await following;
    const begun = session.appliedIndex;
    for (let i = 0; i < 10; i++) {
      await bench.value(stuff, `.x = ${i};`);
      feeds.sessionChanged(session);
      await bench.travel();
    }
    expect([upTo, pauses.length]).toEqual([[begun + 1], 1]);
    pauses[0]?.();
    expect(upTo).toEqual([begun + 1, begun + 10]);
  });

  test('has caught up once, when it took all that was there as it began', async () => {
    const { position } = await follow();
    await bench.value(stuff, '.x = 1;');
    await bench.value(stuff, '.x = 2;');
    const slow = new Follower();
    slow.isSlow = true;
    const following = bench.feeds.follow({ ...present(), since: parsePosition(position) }, slow);
    await bench.value(stuff, '.x = 3;');
    await following;
    expect(slow.timesCaughtUp).toBe(0);
    slow.takeAll();
    await bench.travel();
    expect([slow.changes.length, slow.timesCaughtUp]).toEqual([3, 1]);
    await bench.value(stuff, '.x = 4;');
    expect([slow.changes.length, slow.timesCaughtUp]).toEqual([4, 1]);
  });

  test('is told that it is lost where the log was cut, which holds what lies behind the checkpoint before, and from where it may go on', async () => {
    const { position } = await follow();
    await bench.value(stuff, '.x = 1;');
    await bench.value(stuff, '.x = 2;');
    await bench.checkpoint(stuff);
    expect((await follow(position)).ops).toEqual(['set', 'set']);
    await bench.value(stuff, '.x = 3;');
    await bench.checkpoint(stuff);
    const error = await follow(position).catch((thrown: unknown) => thrown);
    if (!(error instanceof LostError)) throw new Error('it was not lost');
    const { index, hash } = error.oldest;
    expect((await follow(`${index}-${hash.toString(16).padStart(8, '0')}`)).end).toBe(null);
  });

  test('is told more of what it missed where more of the log is kept', async () => {
    await bench.value('thingsdb', "set_feed('stuff', {keep_mb: 1});");
    const { position } = await follow();
    await bench.value(stuff, '.x = 1;');
    await bench.checkpoint(stuff);
    await bench.value(stuff, '.x = 2;');
    await bench.checkpoint(stuff);
    bench.kill();
    await bench.start();
    await bench.value(stuff, '.x = 3;');
    await bench.checkpoint(stuff);
    expect((await follow(position)).ops).toEqual(['set', 'set', 'set']);
  });

  test('goes on where the log was cut behind a slower one', async () => {
    const session = bench.session(stuff);
    let cutAt: Parameters<Feeds['follow']>[0]['since'] = null;
    const read: FeedReads['read'] = (_group, after) => {
      if (cutAt === null) return Promise.resolve(null);
      const at = { ...cutAt, term: 1 };
      return Promise.resolve({ before: after < at.index ? null : at, oldest: at, last: at, entries: [] });
    };
    const feeds = new Feeds({ ...feedsOptions(session), reads: { read } });
    const join = async (): Promise<Follower> => {
      const follower = new Follower();
      const following = feeds.follow(present(), follower);
      await bench.travel();
      await following;
      return follower;
    };
    const slower = await join();
    await bench.value(stuff, '.x = 1;');
    const beyond = await join();
    cutAt = parsePosition(beyond.position);
    feeds.sessionChanged(session);
    await bench.travel();
    expect([slower.end?.kind, beyond.end, beyond.timesCaughtUp]).toEqual(['lost', null, 1]);
  });

  test.each([
    ['at the end', 1, false],
    ['behind it', 2, true],
  ])(
    '%s is told nothing of what was read while the state is shut, and all of it behind that',
    async (_, pauseAt, isBehind) => {
      const { position } = await follow();
      const session = bench.session(stuff);
      const real = bench.feeds['options'].reads;
      let reads = 0;
      const read: FeedReads['read'] = async (...asked) => {
        const part = await real.read(...asked);
        reads += 1;
        if (reads === pauseAt) session.pause();
        return part;
      };
      const feeds = new Feeds({ ...feedsOptions(session), reads: { read } });
      const follower = new Follower();
      if (isBehind) await bench.value(stuff, '.x = 1;');
      const since = isBehind ? parsePosition(position) : null;
      const following = feeds.follow({ ...present(), since }, follower);
      await bench.travel();
      await following;
      if (!isBehind) await bench.value(stuff, '.x = 1;');
      feeds.sessionChanged(session);
      await bench.travel();
      expect([reads >= pauseAt, session.readable, follower.ops]).toEqual([true, false, []]);
      session.resume();
      feeds.sessionChanged(session);
      await bench.travel();
      expect(follower.ops).toEqual(['set']);
    },
  );

  test.each([
    ['of another history', (index: number) => `${index}-00000001`],
    ['that is nowhere', (index: number) => `${index + 1000}-00000001`],
  ])('a follower with a position %s is lost', async (_, positionFrom) => {
    const { position } = await follow();
    const index = Number(position.split('-')[0]);
    await expect(follow(positionFrom(index))).rejects.toThrow(LostError);
  });

  test('is lost where the contents were replaced as a whole', async () => {
    const dump = await bench.value(stuff, 'base64_encode(export({dump: true}));');
    const follower = await follow();
    const answer = await bench.value(stuff, `import(base64_decode(${dump}));`);
    expect([answer, follower.end?.kind]).toEqual(['null', 'lost']);
  });

  test('hears nothing more without the privilege, or the collection', async () => {
    await bench.value('thingsdb', "new_user('kim'); grant('//stuff', 'kim', QUERY);");
    const kim = await follow(null, ALL, 'kim');
    const admin = await follow();
    await bench.value('thingsdb', "revoke('//stuff', 'kim', QUERY);");
    await bench.value(stuff, '.x = 1;');
    expect([kim.end?.kind, kim.ops, admin.ops]).toEqual(['forbidden', [], ['set']]);
    await expect(follow(null, ALL, 'kim')).rejects.toMatchObject({ code: ErrorCode.FORBIDDEN });
    await bench.value('thingsdb', "del_collection('stuff');");
    expect(admin.end?.kind).toBe('forbidden');
    expect(bench.feeds.counts).toEqual({ all: 0, behind: 0 });
  });
});
