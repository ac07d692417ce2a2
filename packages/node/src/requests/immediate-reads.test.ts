import { ErrorCode } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import type { Reply, Request } from '../groups/request.js';
import { MiniCluster, type MiniOptions } from '../testing/mini-cluster.js';
import { type MiniNode, outcome } from '../testing/mini-node.js';

/** The answer to a request, if it comes at once, and else null; and the answer when it comes. */
function ask(node: MiniNode, body: Request['body'], more: Partial<Request> = {}) {
  const user = node.engine.root.usersByName.get('admin');
  if (user === undefined) throw new Error('no admin');
  let atOnce: Reply | null = null;
  const later = new Promise<Reply>((resolve) => {
    node.router.handle(
      {
        scope: { kind: 'collection', name: 'stuff' },
        user,
        body,
        format: 'json',
        client: { gone: false },
        ...more,
      },
      (reply) => {
        atOnce = reply;
        resolve(reply);
      },
    );
  });
  return { atOnce: atOnce as Reply | null, later };
}

const query = (code: string): Request['body'] => ({ type: 'query', code, vars: null });

/** A cluster that knows the texts. */
async function knowing(texts: readonly string[], nodes = 1, options: MiniOptions = {}): Promise<MiniCluster> {
  const cluster = await MiniCluster.begin(nodes, options);
  // Texts are kept when they come for the second time.
  for (const text of [...texts, ...texts]) {
    void cluster.node(1).query('stuff', text);
    await cluster.pass(50);
  }
  return cluster;
}

describe('a read with nothing to wait for', () => {
  test('is answered at once on a node that is alone, with the index that it reflects', async () => {
    const cluster = await knowing(['.x = 7;', '.x;', '.y;', '1 + 1;']);
    const { atOnce } = ask(cluster.node(1), query('.x;'));
    expect(atOnce).toMatchObject({
      ok: true,
      result: '7',
      index: cluster.node(1).session(cluster.stuff).appliedIndex,
    });
    expect(ask(cluster.node(1), query('1 + 1;')).atOnce).toMatchObject({ ok: true, result: '2', index: 0 });
    expect(ask(cluster.node(1), query('.y;')).atOnce).toMatchObject({
      ok: false,
      error: { code: ErrorCode.LOOKUP },
    });
  });

  test('waits for what it saw and is not committed', async () => {
    const cluster = await knowing(['.x = 1;', '.x += 1;', '.x;']);
    const write = ask(cluster.node(1), query('.x += 1;'));
    const read = ask(cluster.node(1), query('.x;'));
    expect([write.atOnce, read.atOnce]).toEqual([null, null]);
    await cluster.settle();
    expect([outcome(await write.later), outcome(await read.later)]).toEqual([3, 3]);
    expect(ask(cluster.node(1), query('.x;')).atOnce).toMatchObject({ result: '3' });
  });

  test('is not answered by the leader of three before others have confirmed that it leads', async () => {
    const cluster = await knowing(['.x = 7;', '.x;', '1 + 1;'], 3);
    const read = ask(cluster.node(1), query('.x;'));
    expect(read.atOnce).toBeNull();
    expect(ask(cluster.node(1), query('1 + 1;')).atOnce).toMatchObject({ result: '2' });
    await cluster.pass(50);
    expect(outcome(await read.later)).toBe(7);
  });

  test('is not run for a client that is gone, and not without privileges', async () => {
    const cluster = await knowing(['.x = 7;', '.x;']);
    const node = cluster.node(1);
    const { later } = ask(node, query('.x;'), { client: { gone: true } });
    expect(await later).toMatchObject({ ok: false });
    void node.query('/t', "new_user('iris');");
    await cluster.settle();
    const iris = node.engine.root.usersByName.get('iris');
    if (iris === undefined) throw new Error('no iris');
    const forbidden = ask(node, query('.x;'), { user: iris });
    await cluster.pass(50);
    expect(await forbidden.later).toMatchObject({ ok: false, error: { code: ErrorCode.FORBIDDEN } });
  });

  test('a read of a procedure is answered at once, too, and whitelists are kept', async () => {
    const cluster = await knowing(['.x = 7;']);
    const node = cluster.node(1);
    void node.query('stuff', "new_procedure('get', || .x);");
    await cluster.settle();
    const run = { type: 'run', name: 'get', args: null } as const;
    expect(ask(node, run).atOnce).toMatchObject({ ok: true, result: '7' });
    void node.query('/t', "whitelist_add('admin', 'procedures', 'other');");
    await cluster.settle();
    const refused = ask(node, run);
    await cluster.pass(50);
    expect(await refused.later).toMatchObject({ ok: false, error: { code: ErrorCode.FORBIDDEN } });
  });

  test('a read with futures runs once, and they run behind it', async () => {
    let logged = 0;
    const text = "log('here'); future(|| .x + 1);";
    const options: MiniOptions = {
      logged: () => {
        logged += 1;
      },
    };
    const cluster = await knowing(['.x = 7;', text], 1, options);
    logged = 0;
    for (let i = 1; i < 4; i++) {
      const { later } = ask(cluster.node(1), query(text));
      await cluster.pass(50);
      expect([outcome(await later), logged]).toEqual([8, i]);
    }
  });

  test('a read whose futures make a change runs again as one', async () => {
    const text = 'future(|| .x += 1);';
    const cluster = await knowing(['.x = 7;', text]);
    const { later } = ask(cluster.node(1), query(text));
    await cluster.pass(50);
    expect(outcome(await later)).toBe(9);
  });
});

describe('a read at the leader of three', () => {
  test('runs at once, and is answered when what it saw is committed', async () => {
    const cluster = await knowing(['.x = 7;', '.x += 1;', '.x;'], 3);
    const { engine } = cluster.node(1);
    let runs = 0;
    const run = engine.run.bind(engine);
    engine.run = (call) => {
      runs += 1;
      return run(call);
    };
    cluster.commits = false;
    const write = ask(cluster.node(1), query('.x += 1;'));
    const read = ask(cluster.node(1), query('.x;'));
    expect(runs).toBe(2);
    let isAnswered = false;
    void read.later.then(() => {
      isAnswered = true;
    });
    await cluster.pass(50);
    expect(isAnswered).toBe(false);
    cluster.commits = true;
    await cluster.settle();
    expect([outcome(await write.later), outcome(await read.later), runs]).toEqual([9, 9, 2]);
  });

  test('is not answered with what it saw where another node leads by then', async () => {
    const cluster = await knowing(['.x = 7;', '.x;'], 3);
    const former = cluster.node(1);
    former.lags = true;
    cluster.log(cluster.stuff).lead(2);
    await cluster.settle();
    const write = cluster.node(2).query('stuff', '.x = 8;');
    await cluster.settle();
    expect(outcome(await write)).toBe(8);
    const read = ask(former, query('.x;'));
    expect(former.session(cluster.stuff).leading).toBe(true);
    former.catchUp();
    await cluster.pass(50);
    expect(outcome(await read.later)).toBe(8);
  });

  test('a read with futures is confirmed before they run', async () => {
    const text = 'future(|| .x + 1);';
    const cluster = await knowing(['.x = 7;', text], 3);
    const { later } = ask(cluster.node(1), query(text));
    await cluster.pass(50);
    expect(outcome(await later)).toBe(8);
  });
});

describe('the index of an answer of the leader that might have changed something, and has not', () => {
  test('counts entries without a change that came before it was confirmed, and none behind the next change', async () => {
    // Given a query that ran, and is not confirmed yet,
    const cluster = await knowing(['.x = 7;'], 3);
    const session = cluster.node(1).session(cluster.stuff);
    const { appliedIndex } = session;
    const committed = (count: number, more: number): void =>
      session.handle({
        kind: 'committed',
        group: session.id,
        count,
        last: { index: appliedIndex + more, term: 1, hash: 0 },
      });
    cluster.commits = false;
    const unchanged = ask(cluster.node(1), query('if (.x == 9) .x = 8;'));
    const change = ask(cluster.node(1), query('.x = 9;'));
    expect([unchanged.atOnce, change.atOnce]).toEqual([null, null]);

    // when the membership changes, which has an entry of its own, and then the state,
    committed(0, 1);
    committed(1, 2);
    committed(0, 3);
    await cluster.settle();

    // then each answer stands where the state was last as the query saw it.
    expect((await unchanged.later).index).toBe(appliedIndex + 1);
    expect((await change.later).index).toBe(appliedIndex + 2);
  });
});
