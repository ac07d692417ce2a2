/** The driver with an engine, a session that leads, and a clock that stands still until a test lets time pass. */
import { ErrorCode, type ModuleAnswer, type PasswordHash } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GroupSession } from '../groups/group-session.js';
import type { Reply } from '../groups/request.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import type { MiniNode } from '../testing/mini-node.js';
import { Driver } from './driver.js';
import type { FuturesEnd, FuturesOwner, ProposedParts } from './proposed-parts.js';
import { Prerequisites } from './request.js';
import { Scheduler } from './scheduler.js';

const HASH: PasswordHash = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 1, r: 1, p: 1 };

let cluster: MiniCluster;
let node: MiniNode;
let session: GroupSession;
let clock: ManualClock;
let driver: Driver;
let sent: ((answer: ModuleAnswer) => void)[];
let passwords: { resolve: (hash: PasswordHash) => void; reject: () => void }[];

beforeEach(async () => {
  cluster = await MiniCluster.begin(1);
  node = cluster.node(1);
  void node.query('/t', "new_module('X', 'x');");
  void node.query('stuff', '.x = 1;');
  await cluster.pass(50);
  session = node.session(cluster.stuff);
  clock = new ManualClock();
  sent = [];
  passwords = [];
  driver = new Driver({
    engine: node.engine,
    hash: () =>
      new Promise((resolve, reject) => passwords.push({ resolve, reject: () => reject(new Error('full')) })),
    session: (group) => node.sessions.ofGroup(group),
    askModule: (_ask, answer) => sent.push(answer),
    positions: { ask: (done) => done() },
    scheduler: new Scheduler({
      now: clock.now,
      delay: clock.after,
      soon: (work) => clock.after(0, work),
      waitMaxMs: 1000,
      sendReady: () => {},
      owesAnswers: () => false,
    }),
    clock,
  });
});

/** A call whose futures the driver carries on, and how it ended. */
class Futures implements FuturesOwner {
  readonly session = session;
  readonly userId = 1;
  readonly saltKey = null;
  readonly prerequisites = new Prerequisites();
  readonly isRequest = true;
  readonly isNamed = false;
  isAbandoned = false;
  end: FuturesEnd | null = null;
  parts: ProposedParts | null = null;
  readonly replies: Reply[] = [];

  constructor(
    code: string,
    readonly mayChange = true,
  ) {
    const scope = node.engine.scope(cluster.stuff);
    const user = node.engine.root.usersByName.get('admin');
    if (scope === undefined || user === undefined) throw new Error('there is a scope, and a user');
    const body = { kind: 'query', prepared: node.engine.prepare(code), vars: null } as const;
    const outcome = node.engine.run({ scope, user, body, format: 'json' });
    if (outcome.kind !== 'more') throw new Error(`the call has futures, and ended with ${outcome.kind}`);
    driver.start(outcome, this);
  }

  begins(): null {
    return null;
  }

  reporting(_change: unknown, respond: (reply: Reply) => void): (reply: Reply) => void {
    return (reply) => {
      this.replies.push(reply);
      respond(reply);
    };
  }

  acts(): void {}

  ran(): void {}

  finished(end: FuturesEnd, parts: ProposedParts): void {
    if (this.end !== null) throw new Error('a call ends once');
    this.end = end;
    this.parts = parts;
  }
}

describe('futures', () => {
  test('futures that only read end with the value, and propose nothing', () => {
    const futures = new Futures('future(|| .x + 1);', false);
    expect(futures.end).toMatchObject({ kind: 'value', change: null });
    expect([futures.parts?.count, driver.busy, clock.pending]).toEqual([0, 0, 0]);
  });

  test('futures that make a change where they may not end with that, and have changed nothing', async () => {
    const futures = new Futures('future(|| .x += 1);', false);
    expect(futures.end).toEqual({ kind: 'needs_change' });
    expect([futures.parts?.count, session.hasUncommitted]).toEqual([0, false]);
  });

  test('make a change each, proposed behind that of the query, and the last one comes with the answer', () => {
    const futures = new Futures('.x = 2; future(|| { .x += 1; future(|| .x += 1); });');
    expect(futures.end).toMatchObject({ kind: 'value', change: { undo: expect.anything() } });
    // The query and the first future; the second one comes with the value.
    expect(futures.parts?.count).toBe(2);
    expect(session.uncommitted).toBe(2);
  });

  test('are reported on when their parts are committed', async () => {
    const futures = new Futures('.x = 2; future(|| { .x += 1; future(|| .x + 1); });');
    expect([futures.end?.kind, futures.replies.length]).toEqual(['value', 0]);
    await cluster.pass(50);
    expect(futures.replies.map((reply) => reply.outcome)).toEqual(['made', 'made']);
  });

  test('futures that nobody waits for are given up before they have changed anything', () => {
    session.pause();
    const futures = new Futures('future(|| .x += 1);');
    expect(futures.end).toBeNull();
    futures.isAbandoned = true;
    session.resume();
    clock.pass(20);
    expect([futures.end, futures.parts?.count, clock.pending]).toEqual([{ kind: 'lost' }, 0, 0]);
  });

  test('wait for a module without a timer of their own, and go on with its answer', () => {
    const [one, other] = [new Futures('X({});'), new Futures('X({});')];
    expect([sent.length, one.end, other.end, clock.pending]).toEqual([2, null, null, 1]);
    clock.pass(1000);
    expect([one.end, other.end, clock.pending]).toEqual([null, null, 1]);
    for (const answer of sent) answer({ ok: true, data: Uint8Array.of(5) });
    clock.pass(200);
    expect([one.end, other.end]).toMatchObject([
      { kind: 'value', result: '[5]' },
      { kind: 'value', result: '[5]' },
    ]);
    expect([driver.busy, clock.pending]).toEqual([0, 0]);
  });

  test('ask a module only when all that was done before is committed', async () => {
    const futures = new Futures('.x = 2; X({});');
    expect([sent.length, futures.parts]).toEqual([0, null]);
    await cluster.pass(50);
    expect(sent).toHaveLength(1);
  });

  test('end where the leadership is lost, and the parts tell that nobody knows what became of them', () => {
    const futures = new Futures('.x = 2; X({});');
    session.handle({ kind: 'following', group: session.id, term: 9, leader: 2 });
    clock.pass(200);
    expect(futures.end).toEqual({ kind: 'lost' });
    expect(futures.parts?.interrupted).toMatchObject({ outcome: 'unknown', lost: true });
    expect([sent.length, driver.busy, clock.pending]).toEqual([0, 0, 0]);
  });
});

describe('a call that lacks something', () => {
  const provided: string[] = [];
  beforeEach(() => {
    provided.length = 0;
  });
  const goOn = (): void => {
    provided.push('goes on');
  };
  const failed = ({ code }: { readonly code: number }): void => {
    provided.push(`fails with ${code}`);
  };

  test('gets the hash of a password', async () => {
    const to = new Prerequisites();
    driver.provide({ kind: 'hash', password: 'secret' }, to, null, goOn, failed);
    expect(provided).toEqual([]);
    passwords[0]?.resolve(HASH);
    await cluster.settle();
    expect([provided, to.hashes?.get('secret')]).toEqual([['goes on'], HASH]);
  });

  test('fails where too many passwords wait for theirs', async () => {
    driver.provide({ kind: 'hash', password: 'secret' }, new Prerequisites(), null, goOn, failed);
    passwords[0]?.reject();
    await cluster.settle();
    expect(provided).toEqual([`fails with ${ErrorCode.NODE}`]);
  });

  test('has a group up to date once a majority confirmed that, or where the group is gone', () => {
    const to = new Prerequisites();
    driver.provide({ kind: 'behind', collection: cluster.stuff }, to, null, goOn, failed);
    driver.provide({ kind: 'behind', collection: 4711 }, to, null, goOn, failed);
    expect(provided).toEqual(['goes on', 'goes on']);
    expect([to.isFresh(cluster.stuff), to.isFresh(4711), to.isFresh(4712)]).toEqual([true, true, false]);
  });
});
