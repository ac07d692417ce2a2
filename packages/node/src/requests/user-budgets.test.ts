import { Privilege, RootGroup, type UserLimit } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome } from '../testing/mini-node.js';
import { UserBudgets } from './user-budgets.js';

describe('the budget of a user', () => {
  let now = 0;
  let root: RootGroup;
  const user = { id: 1, name: 'web', createdAt: 0, password: null, tokens: [] };
  let budgets: UserBudgets;

  beforeEach(() => {
    now = 1000;
    root = new RootGroup();
    budgets = new UserBudgets(root, () => now);
  });

  const limit = (of: Partial<UserLimit>): void => {
    root.userLimits.set(1, { durationMs: null, share: null, rate: null, ...of });
  };
  const request = { user, scope: { kind: 'collection', name: 'stuff' } } as const;
  const refused = (): string | null => {
    const reply = budgets.refusalOf({ request, forwarded: null, doubt: 'none' });
    return reply === null ? null : reply.error.message;
  };

  test('is everything without limits', () => {
    for (let i = 0; i < 1000; i++) expect(refused()).toBe(null);
  });

  test('is a rate of requests, of which a second may come at once', () => {
    limit({ rate: 4 });
    for (let i = 0; i < 4; i++) expect(refused()).toBe(null);
    expect(refused()).toBe("user 'web' sends more than 4 requests a second to this node: try again in 0.3 s");
    now += 250;
    expect([refused(), refused() === null]).toEqual([null, false]);
    now += 60_000;
    for (let i = 0; i < 4; i++) expect(refused()).toBe(null);
    expect(refused()).not.toBe(null);
  });

  test('is one request in a while at a slow rate', () => {
    limit({ rate: 0.1 });
    expect([refused() === null, refused() === null]).toEqual([true, false]);
    now += 10_000;
    expect([refused() === null, refused() === null]).toEqual([true, false]);
  });

  test('is a share of the time: who took more waits until that has passed', () => {
    limit({ share: 0.25 });
    budgets.spend({ request, ranMs: 200 });
    expect(refused()).toBe(null);
    budgets.spend({ request, ranMs: 300 });
    expect(refused()).toBe(
      "user 'web' has used its share of the time of this node (0.25): try again in 1.0 s",
    );
    now += 999;
    expect(refused()).not.toBe(null);
    budgets.spend({ request, ranMs: 600 });
    expect(budgets.refusalOf({ request, forwarded: null, doubt: 'none' })?.retryAfterS).toBe(3);
    now += 2400;
    now += 2;
    expect(refused()).toBe(null);
  });

  test('does not keep from finding out what became of an attempt', () => {
    limit({ rate: 0.001 });
    refused();
    expect(refused()).not.toBe(null);
    expect(budgets.refusalOf({ request, forwarded: null, doubt: 'mine' })).toBe(null);
  });

  test('is everything in the root scope for who can set limits there, and leaves the rest as it is', () => {
    limit({ rate: 0.001, share: 0.001 });
    const there = {
      request: { user, scope: { kind: 'thingsdb' } } as const,
      forwarded: null,
      doubt: 'none' as const,
    };
    root.setAccess('thingsdb', 1, Privilege.GRANT);
    for (let i = 0; i < 10; i++) {
      expect(budgets.refusalOf(there)).toBe(null);
      budgets.spend({ ...there, ranMs: 100 });
    }
    expect([refused(), refused() === null]).toEqual([null, false]);
    root.setAccess('thingsdb', 1, Privilege.CHANGE);
    expect(budgets.refusalOf(there)?.throttled).toBe(true);
  });
});

describe('budgets in a cluster', () => {
  let cluster: MiniCluster;

  beforeEach(async () => {
    cluster = await MiniCluster.begin(2);
    await ask(1, 'admin', "new_user('web'); grant('//stuff', 'web', FULL);", '/t');
  });

  async function ask(node: number, user: string, code: string, scope = 'stuff'): Promise<Reply> {
    const reply = cluster.node(node).query(scope, code, { user });
    await cluster.pass(0);
    return reply;
  }

  test('a request counts where it was asked, and one too many is throttled there alone', async () => {
    await ask(1, 'admin', "set_limit('web', {rate: 2});", '/t');
    expect(outcome(await ask(2, 'web', '.n = 1;'))).toBe(1);
    expect(outcome(await ask(2, 'web', '.n = 2;'))).toBe(2);
    expect(await ask(2, 'web', '.n = 3;')).toMatchObject({ ok: false, throttled: true });
    expect(await ask(2, 'admin', '.n;')).toMatchObject({ ok: true });
    expect(outcome(await ask(1, 'web', '.n;'))).toBe(2);
    await cluster.pass(500);
    expect(outcome(await ask(2, 'web', '.n;'))).toBe(2);
  });

  test('time counts for who asked, at the node that ran it: the leader, for what another node sends on', async () => {
    // Each call of log() takes 30 ms.
    const slow = await MiniCluster.begin(2, { logged: () => (slow.now += 30) });
    cluster = slow;
    await ask(
      1,
      'admin',
      "new_user('web'); grant('//stuff', 'web', FULL); set_limit('web', {share: 0.01});",
      '/t',
    );
    const web = slow.node(1).engine.root.usersByName.get('web')?.id;
    const charged: { node: number; user: number; ms: number }[] = [];
    for (const { id, router } of slow.nodes) {
      const { scheduler } = router;
      const note = scheduler.ran.bind(scheduler);
      scheduler.ran = (program, user, ms, isOverrun) => {
        if (ms > 0) charged.push({ node: id, user, ms });
        note(program, user, ms, isOverrun);
      };
    }
    expect(outcome(await ask(2, 'web', "log('x'); .n = 1;"))).toBe(1);
    expect(charged).toEqual([{ node: 1, user: web, ms: 30 }]);
    expect(await ask(1, 'web', '.n;')).toMatchObject({ ok: false, throttled: true });
    expect(await ask(2, 'web', '.n = 2;')).toMatchObject({ ok: false, throttled: true });
    expect(outcome(await ask(2, 'web', '.n;'))).toBe(1);
    expect(outcome(await ask(2, 'admin', '.n = 3;'))).toBe(3);
  });
});
