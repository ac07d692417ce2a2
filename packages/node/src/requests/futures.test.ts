import { ErrorCode, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import type { Reply, Terms } from '../groups/request.js';
import { statusOfReply } from '../listen/http/reply.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome, type QueryOptions } from '../testing/mini-node.js';

/** The answer of a query when nothing stands in its way. */
async function value(cluster: MiniCluster, node: number, code: string, terms?: Partial<Terms>) {
  const reply = cluster.node(node).query('stuff', code, terms === undefined ? {} : { terms });
  await cluster.pass(50);
  return outcome(await reply);
}

/** A request whose answer may come later. */
class Asked {
  reply: Reply | null = null;

  constructor(
    cluster: MiniCluster,
    node: number,
    code: string,
    terms?: Partial<Terms>,
    { vars, client }: Pick<QueryOptions, 'vars' | 'client'> = {},
  ) {
    const options = {
      ...(terms === undefined ? {} : { terms }),
      ...(vars === undefined ? {} : { vars }),
      ...(client === undefined ? {} : { client }),
    };
    const asked = cluster.node(node).query('stuff', code, options);
    asked.then((reply) => {
      this.reply = reply;
    });
  }

  /** The value, or the code of the error with what became of the changes; null while there is no answer. */
  get told(): unknown {
    if (this.reply === null || this.reply.ok) return this.reply === null ? null : outcome(this.reply);
    return `${this.reply.error.code} ${this.reply.outcome ?? 'none'}`;
  }

  /** The number of the HTTP status with what became of the changes; null while there is no answer, or for a value. */
  get status(): string | null {
    if (this.reply === null || this.reply.ok) return null;
    return `${statusOfReply(this.reply).slice(0, 3)} ${this.reply.outcome ?? 'none'}`;
  }
}

describe.each([
  ['a node that is alone', 1, 1],
  ['the leader of three', 3, 1],
  ['a follower', 3, 2],
])('futures of requests to %s', (_, nodes, node) => {
  test('run behind the query, each as a change of its own, and the answer waits for all', async () => {
    const cluster = await MiniCluster.begin(nodes);
    expect(await value(cluster, node, '.l = []; future(|| .l.push(1)); future(|| .l.push(2)); .l;')).toEqual([
      2, 1,
    ]);
    expect(await value(cluster, node, 'future(|| .x = 5);')).toBe(5);
    expect(await value(cluster, node, 'future(|| future(|| .x + 1));')).toBe(6);
    expect(await value(cluster, node, 'future(nil, 7);')).toEqual([null, 7]);
    expect(await value(cluster, node, '.q = || future(|| .y = 1); nil;')).toBeNull();
    expect(await value(cluster, node, '.q.call();')).toBe(1);
    for (const { id } of cluster.nodes)
      expect(await value(cluster, id, '[.l, .x, .y];')).toEqual([[2, 1], 5, 1]);
    for (const { id, engine } of cluster.nodes) {
      expect([id, engine.runtime.waitingFutures]).toEqual([id, 0]);
      expect(cluster.node(id).router.busy).toBe(0);
    }
  });

  test('futures that fail say what was made', async () => {
    const cluster = await MiniCluster.begin(nodes);
    for (const [code, told] of [
      ['.a = 1; future(|| 1 / 0);', `${ErrorCode.ZERO_DIV} made`],
      ['future(|| 1 / 0); future(|| .b = 1);', `${ErrorCode.ZERO_DIV} made`],
      ['future(|| 1 / 0);', `${ErrorCode.ZERO_DIV} none`],
      ['future(|| { .c = 1; 1 / 0; });', `${ErrorCode.ZERO_DIV} none`],
    ] as const) {
      const asked = new Asked(cluster, node, code);
      await cluster.pass(50);
      expect(asked.told).toBe(told);
    }
    expect(await value(cluster, node, "[.a, .b, .has('c')];")).toEqual([1, 1, false]);
  });

  test('futures that fail have the status of their error, the first time and when they are repeated, everywhere', async () => {
    const cluster = await MiniCluster.begin(nodes);
    const at = [node, 1, nodes];
    for (const [code, status] of [
      ['.a = 1; future(|| 1 / 0);', '422 made'],
      ['future(|| .a = 2); future(|| thing(1234567));', '404 none'],
      ['.a = 3; future(|| thing(1234567));', '404 made'],
      ['.a = 4; future(|| raise(err(-100)));', '422 made'],
      [".a = 5; future(|| raise(err(-64, 'of a user')));", '500 made'],
      ['.a = 6; future(|| raise(node_err()));', '500 made'],
      ['future(|| 1 / 0);', '422 none'],
    ] as const) {
      const terms = { key: { key: code, body: code.padEnd(16).slice(0, 16) } };
      for (const each of at) {
        const asked = new Asked(cluster, each, code, terms);
        await cluster.pass(50);
        expect([code, asked.status]).toEqual([code, status]);
      }
      const unnamed = new Asked(cluster, node, code);
      await cluster.pass(50);
      expect([code, unnamed.status]).toEqual([code, status]);
    }
  });

  test('are carried out once, and the answer is kept, for a request that has a name', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await value(cluster, node, '.x = 0;');
    for (const [name, code, told] of [
      ['a', '.x += 1; future(|| .x += 10); 5;', 5],
      ['b', 'future(|| .x += 100);', 111],
      ['c', '.x += 1000; future(|| 3);', 3],
      ['d', '.x += 10000; future(|| 1 / 0);', `${ErrorCode.ZERO_DIV} made`],
    ] as const) {
      const terms = { key: { key: name, body: name.padEnd(16) } };
      for (let time = 0; time < 3; time++) {
        const asked = new Asked(cluster, node, code, terms);
        await cluster.pass(50);
        expect(asked.told).toBe(told);
      }
    }
    expect(await value(cluster, node, '.x;')).toBe(11111);
  });
});

describe('a leader that is lost between a query and its futures', () => {
  test.each([
    ['at the leader', 1],
    ['at another node', 2],
  ])('leaves an answer that says so, once, asked %s', async (_, node) => {
    const cluster = await MiniCluster.begin(3);
    await value(cluster, 1, '.x = 0; .y = 0;');
    cluster.commits = false;
    const asked = new Asked(cluster, node, '.x += 1; future(|| .y += 1);');
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(2);
    cluster.log(cluster.stuff).lead(3, 1);
    cluster.commits = true;
    await cluster.pass(800);
    expect(asked.told).toBe(`${ErrorCode.CANCELLED} made`);
    expect(await value(cluster, 2, '[.x, .y];')).toEqual([1, 0]);
  });

  test('makes nothing double when nothing was committed: all of it runs again', async () => {
    const cluster = await MiniCluster.begin(3);
    await value(cluster, 1, '.x = 0; .y = 0;');
    cluster.commits = false;
    const asked = new Asked(cluster, 2, '.x += 1; future(|| .y += 1);');
    await cluster.settle();
    cluster.log(cluster.stuff).lead(3, 0);
    cluster.commits = true;
    await cluster.pass(800);
    expect(asked.told).toBe(1);
    expect(await value(cluster, 2, '[.x, .y];')).toEqual([1, 1]);
  });

  test('is told as not known where the request has no name', async () => {
    const cluster = await MiniCluster.begin(1);
    await value(cluster, 1, '.x = 0;');
    cluster.commits = false;
    const asked = new Asked(cluster, 1, '.x += 1; future(|| .x += 1);');
    await cluster.settle();
    cluster.log(cluster.stuff).depose();
    await cluster.pass(100);
    expect(asked.told).toMatch(/ unknown$/);
  });
});

describe('a leader that is about to give its leadership away', () => {
  /** Three nodes of which a call has its first future behind it, and many before it. */
  async function begun(node: number) {
    // Each future takes longer than a slice.
    const cluster: MiniCluster = await MiniCluster.begin(3, {
      logged: () => {
        cluster.now += 3;
      },
    });
    await value(
      cluster,
      1,
      '.x = 0; .y = 0; .walk = |n| { log(n); .x += 1; n == 0 ? .x : future(|n| wse(.walk.call(n - 1)), [n]); };',
    );
    const first = new Asked(cluster, node, 'wse(.walk.call(20));');
    await cluster.settle();
    const log = cluster.log(cluster.stuff);
    log.announceTransfer();
    await cluster.settle();
    return { cluster, log, first };
  }

  test.each([
    ['at the leader', 1],
    ['at another node', 2],
  ])('ends what is done in part; what comes later is done by the next one, asked %s', async (_, node) => {
    const { cluster, log, first } = await begun(node);
    const second = new Asked(cluster, node, '.y += 1; future(|| .y += 10);');
    const plain = new Asked(cluster, node, '.z = 5;');
    expect([first.told, log.isReleased]).toEqual([null, false]);
    await cluster.pass(800);
    expect([first.told, second.told, plain.told, log.isReleased]).toEqual([21, null, 5, true]);
    log.lead(3);
    await cluster.pass(800);
    expect(second.told).toBe(11);
    expect(await value(cluster, 2, '[.x, .y];')).toEqual([21, 11]);
    for (const { engine, router } of cluster.nodes)
      expect([engine.runtime.waitingFutures, router.busy]).toEqual([0, 0]);
  });

  test('goes on when nobody else can have it', async () => {
    const { cluster, log } = await begun(1);
    const second = new Asked(cluster, 1, '.y += 1; future(|| .y += 10);');
    await cluster.pass(200);
    expect([second.told, log.isReleased]).toEqual([null, true]);
    log.keep();
    await cluster.pass(800);
    expect(second.told).toBe(11);
    expect(await value(cluster, 2, '[.x, .y];')).toEqual([21, 11]);
  });
});

test('futures leave nothing behind of a change that is too large for the log, not even its name', async () => {
  const cluster = await MiniCluster.begin(3);
  const body = 'body'.repeat(4);
  const terms = { key: { key: 'large', body } };
  const text = 'x'.repeat(1024 * 1024);
  const code = '.l = range(count).map(|i| text + str(i)); future(|| .l.len());';
  for (const [count, told] of [
    [65, `${ErrorCode.MAX_QUOTA} none`],
    [65, `${ErrorCode.MAX_QUOTA} none`],
    [1, 1],
  ] as const) {
    const vars = new Map<string, number | string>([
      ['text', text],
      ['count', count],
    ]);
    const asked = new Asked(cluster, 2, code, terms, { vars });
    await cluster.pass(50);
    expect(asked.told).toBe(told);
    expect(cluster.node(1).router.busy).toBe(0);
  }
});

test('a request that comes again while its futures are under way waits for the first', async () => {
  const cluster = await MiniCluster.begin(3);
  await value(cluster, 1, '.x = 0;');
  const terms = { key: { key: 'once', body: '\0'.repeat(16) } };
  cluster.commits = false;
  const asked = [1, 2, 1].map((node) => new Asked(cluster, node, '.x += 1; future(|| .x += 10);', terms));
  await cluster.settle();
  expect(asked.map(({ told }) => told)).toEqual([null, null, null]);
  cluster.commits = true;
  await cluster.pass(800);
  expect(asked.map(({ told }) => told)).toEqual([11, 11, 11]);
  expect(await value(cluster, 1, '.x;')).toBe(11);
});

describe('futures that wait for their turn are ended, and the request says what is made,', () => {
  test.each<[string, unknown, (cluster: MiniCluster) => unknown]>([
    [
      'when their collection is deleted',
      `${ErrorCode.LOOKUP} none`,
      (cluster) => cluster.node(1).query('/t', "del_collection('stuff');"),
    ],
    [
      'when their node loses the leadership; what only reads begins anew',
      'done',
      (cluster) => cluster.log(cluster.stuff).lead(2),
    ],
    [
      'when their node stops',
      `${ErrorCode.NODE} none`,
      (cluster) => cluster.node(1).session(cluster.stuff).abandon(new QueryError(ErrorCode.NODE, 'it stops')),
    ],
  ])('%s', async (_, readTold, happens) => {
    // Each future takes longer than a slice, so that the others wait.
    const cluster: MiniCluster = await MiniCluster.begin(3, {
      logged: () => {
        cluster.now += 3;
      },
    });
    await value(
      cluster,
      1,
      "new_procedure('chain', |n| { log(n); n == 0 ? 'done' : future(|n| chain(n - 1), [n]); });",
    );
    const write = new Asked(cluster, 1, '.x = 1; chain(20);');
    const read = new Asked(cluster, 1, 'chain(20);');
    await cluster.settle();
    expect([write.told, read.told]).toEqual([null, null]);
    expect(cluster.node(1).engine.runtime.waitingFutures).toBe(2);
    happens(cluster);
    await cluster.pass(3000);
    expect([write.told, write.status, read.told]).toEqual([
      `${ErrorCode.CANCELLED} made`,
      '500 made',
      readTold,
    ]);
    for (const { engine, router } of cluster.nodes)
      expect([engine.runtime.waitingFutures, router.busy]).toEqual([0, 0]);
  });
});

test('futures of a client who left end before their next step where nothing of them is proposed, and who repeats the request gets its answer', async () => {
  let steps = 0;
  const cluster: MiniCluster = await MiniCluster.begin(1, {
    logged: () => {
      cluster.now += 3;
      steps += 1;
    },
  });
  const node = cluster.node(1);
  await value(
    cluster,
    1,
    "new_procedure('chain', |n, z| { log(n); n == 0 ? (z ? .z = 1 : 'done') : future(|n, z| wse(chain(n - 1, z)), [n, z]); });",
  );
  const client = { gone: false };
  const terms = { key: { key: 'k', body: '\0'.repeat(16) } };
  const [read, change] = ['wse(chain(50, false));', 'wse(chain(50, true));'];
  const asked = [
    new Asked(cluster, 1, read, undefined, { client }),
    new Asked(cluster, 1, change, undefined, { client }),
    new Asked(cluster, 1, change, terms, { client }),
  ];
  await cluster.settle();
  expect(asked.map(({ told }) => told)).toEqual([null, null, null]);
  expect(node.engine.runtime.waitingFutures).toBe(3);
  const again = new Asked(cluster, 1, change, terms);
  await cluster.settle();
  client.gone = true;
  steps = 0;
  await cluster.pass(300);
  expect(asked.every(({ reply }) => reply !== null)).toBe(true);
  await cluster.pass(3000);
  expect([again.told, await value(cluster, 1, '.z;'), steps]).toEqual([1, 1, 51]);

  // One that has proposed a part goes on to its end.
  steps = 0;
  client.gone = false;
  const begun = new Asked(cluster, 1, '.y = 1; wse(chain(50, true));', undefined, { client });
  await cluster.settle();
  client.gone = true;
  await cluster.pass(3000);
  expect([begun.reply?.ok, steps]).toEqual([true, 51]);
});

test('futures that take long let others have their turn, and take turns among themselves', async () => {
  // Each future takes longer than a slice.
  const cluster: MiniCluster = await MiniCluster.begin(1, {
    logged: () => {
      cluster.now += 3;
    },
  });
  await value(
    cluster,
    1,
    "new_procedure('chain', |n| { log(n); n == 0 ? 'done' : future(|n| chain(n - 1), [n]); });",
  );
  const chains = [new Asked(cluster, 1, 'chain(20);'), new Asked(cluster, 1, 'chain(20);')];
  const other = new Asked(cluster, 1, '.x = 1;');
  await cluster.settle();
  expect([other.told, ...chains.map(({ told }) => told)]).toEqual([1, null, null]);
  expect(cluster.node(1).router.busy).toBeGreaterThan(0);

  let turns = 0;
  for (; chains.some(({ told }) => told === null) && turns < 200; turns++) await cluster.pass(3);
  expect(chains.map(({ told }) => told)).toEqual(['done', 'done']);
  expect(turns).toBeGreaterThan(1);
  expect(cluster.node(1).router.busy).toBe(0);
});

test('a request that is late for a reason of its node is not told that there is no majority', async () => {
  // Given three nodes that reach each other, and requests for a state that does not come
  const cluster = await MiniCluster.begin(3);
  const ask = (node: number, terms?: Partial<Terms>): Asked => new Asked(cluster, node, '.len();', terms);
  const waiting = [ask(1, { minIndex: 1e9 }), ask(2, { minIndex: 1e9 })];
  await cluster.pass(30_000);
  // When another comes while nobody leads
  cluster.log(cluster.stuff).depose();
  const cutOff = ask(2);
  await cluster.pass(30_000);
  // Then only that one hears of it
  const texts = [...waiting, cutOff].map(({ reply }) => (reply?.ok === false ? reply.error.message : ''));
  expect(texts).toEqual([
    expect.stringContaining('took longer than it may'),
    expect.stringContaining('took longer than it may'),
    expect.stringContaining('no majority'),
  ]);
});
