import { ErrorCode, type ModuleAnswer, QueryError } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Reply, Terms } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome } from '../testing/mini-node.js';

const FIVE: ModuleAnswer = { ok: true, data: Uint8Array.of(5) };

/** Requests that came to the modules of nodes, which nobody answered yet. */
let sent: {
  readonly node: number;
  readonly module: number;
  readonly answer: (answer: ModuleAnswer) => void;
}[];
let cluster: MiniCluster;

beforeEach(async () => {
  sent = [];
  cluster = await MiniCluster.begin(3, {
    asked: (node, { module }, answer) => sent.push({ node, module, answer }),
  });
  for (const code of ["new_module('X', 'x');", "new_module('Y', 'y');"]) {
    await told(cluster.node(1).query('/t', code));
  }
  await value('.x = 0;');
});

async function told(reply: Promise<Reply>): Promise<unknown> {
  await cluster.pass(50);
  return outcome(await reply);
}

function value(code: string, node = 1): Promise<unknown> {
  return told(cluster.node(node).query('stuff', code));
}

/** A request whose answer may come later. */
class Asked {
  reply: Reply | null = null;

  constructor(node: number, code: string, terms: Partial<Terms> = {}, user = 'admin') {
    const asked = cluster.node(node).query('stuff', code, { terms, user });
    asked.then((reply) => {
      this.reply = reply;
    });
  }

  /** The value, or the code of the error with what became of the changes; null while there is no answer. */
  get told(): unknown {
    if (this.reply === null || this.reply.ok) return this.reply === null ? null : outcome(this.reply);
    return `${this.reply.error.code} ${this.reply.outcome ?? 'none'}`;
  }
}

/** Answers all requests that were sent. */
async function answerAll(): Promise<void> {
  for (const { answer } of sent.splice(0)) answer(FIVE);
  await cluster.pass(200);
}

function expectNothingLeft(): void {
  for (const { id, engine } of cluster.nodes) {
    expect([id, engine.runtime.waitingFutures, cluster.node(id).router.busy]).toEqual([id, 0, 0]);
  }
}

describe.each([1, 2])('asked at node %i', (node) => {
  test('a request without closures goes from there, and keeps nobody waiting', async () => {
    const asked = new Asked(node, 'X({});');
    await cluster.settle();
    expect(sent.map((one) => one.node)).toEqual([node]);
    expect(await value('.x;', node)).toBe(0);
    expect(asked.told).toBeNull();
    await answerAll();
    expect(asked.told).toEqual([5]);
    expectNothingLeft();
  });

  test('a user who lets modules wait leaves as many futures to others as are his', async () => {
    await told(cluster.node(1).query('/t', "new_user('other'); grant('//stuff', 'other', QUERY);"));
    const many = new Asked(node, 'range(1000).map(|| X({})); 7;');
    await cluster.settle();
    const more = new Asked(node, 'X({});');
    const others = [1, 500].map((count) => new Asked(node, `range(${count}).map(|| X({})); 8;`, {}, 'other'));
    await cluster.settle();
    const refused = `${ErrorCode.MAX_QUOTA} none`;
    expect([many, more, ...others].map(({ told }) => told)).toEqual([null, refused, null, refused]);
    await answerAll();
    expect([many, ...others].map(({ told }) => told)).toEqual([7, 8, refused]);
    const again = new Asked(node, 'range(1000).map(|| X({})); 9;');
    await cluster.settle();
    await answerAll();
    expect(again.told).toBe(9);
    expectNothingLeft();
  });

  test('requests that come and go arm one timer together, which ends with them', async () => {
    await cluster.pass(20_000);
    const before = cluster.armedTimers;
    for (let i = 0; i < 20; i++) {
      const asked = new Asked(node, 'X({});');
      await cluster.settle();
      for (const { answer } of sent.splice(0)) answer(FIVE);
      await cluster.pass(1);
      expect(asked.told).toEqual([5]);
    }
    const last = new Asked(node, 'X({});');
    await cluster.pass(300);
    // One is that of the request itself, the other that of the look at who waits.
    expect(cluster.armedTimers - before).toBeLessThanOrEqual(2);
    await answerAll();
    expect(last.told).toEqual([5]);
    await cluster.pass(20_000);
    expect(cluster.armedTimers).toBe(before);
  });

  test('a request whose answer may make a change goes from the leader, once', async () => {
    const asked = new Asked(node, 'X({load: true}).then(|r| .x += r);');
    await cluster.settle();
    expect(sent.map((one) => one.node)).toEqual([1]);
    await answerAll();
    expect(asked.told).toBe(5);
    expect(await value('.x;', node)).toBe(5);
    expectNothingLeft();
  });

  test('a request leaves when the change before it is committed, not before', async () => {
    cluster.commits = false;
    const asked = new Asked(node, '.x = 1; X({});');
    await cluster.settle();
    expect(sent).toEqual([]);
    cluster.commits = true;
    await cluster.settle();
    expect(sent).toHaveLength(1);
    await answerAll();
    expect(asked.told).toEqual([5]);
    expectNothingLeft();
  });

  test('a request that is repeated by its name is not sent again', async () => {
    for (const [i, code] of ['X({}).then(|r| 7);', 'X({}).then(|| 1 / 0);'].entries()) {
      const terms = { key: { key: `name ${i}`, body: String(i).repeat(16) } };
      const first = new Asked(node, code, terms);
      await cluster.settle();
      const second = new Asked(3 - node, code, terms);
      await cluster.settle();
      expect(sent).toHaveLength(1);
      await answerAll();
      const third = new Asked(node, code, terms);
      await cluster.pass(200);
      expect(sent).toEqual([]);
      const expected = i === 0 ? 7 : `${ErrorCode.ZERO_DIV} none`;
      expect([first.told, second.told, third.told]).toEqual([expected, expected, expected]);
    }
    expectNothingLeft();
  });

  test('a request that is not answered in time says what is known', async () => {
    const asked = [
      new Asked(node, 'X({});'),
      new Asked(node, 'X({}).then(|r| .x = 1);'),
      new Asked(node, '.x = 2; X({});'),
    ];
    await cluster.settle();
    expect(sent).toHaveLength(3);
    await cluster.pass(3000);
    expect(asked.map((one) => one.told)).toEqual([
      `${ErrorCode.CANCELLED} none`,
      `${ErrorCode.TIMEOUT} unknown`,
      `${ErrorCode.TIMEOUT} unknown`,
    ]);
    // The call that wants the answer goes on all the same.
    await answerAll();
    expect(await value('.x;')).toBe(1);
    expectNothingLeft();
  });

  test('a leader that is lost sends nothing twice', async () => {
    const asked = [
      new Asked(node, 'X({}).then(|r| .x = 1);'),
      new Asked(node, '.y = 2; X({}).then(|r| .x = 3);'),
    ];
    await cluster.settle();
    expect(sent).toHaveLength(2);
    cluster.log(cluster.stuff).lead(3, 0);
    await cluster.pass(2000);
    expect(sent).toHaveLength(2);
    expect(asked.map((one) => one.told)).toEqual([
      `${ErrorCode.CANCELLED} none`,
      `${ErrorCode.CANCELLED} made`,
    ]);
    await answerAll();
    expect(await value('[.x, .y];', 3)).toEqual([0, 2]);
    expectNothingLeft();
  });
});

test('a read on a node that does not lead does not depend on who leads', async () => {
  const asked = [new Asked(2, 'X({});'), new Asked(1, 'X({});')];
  await cluster.settle();
  cluster.log(cluster.stuff).lead(3, 0);
  await cluster.settle();
  await answerAll();
  // The leader's state may have had changes that are gone now.
  expect(asked.map((one) => one.told)).toEqual([[5], `${ErrorCode.CANCELLED} none`]);
  expectNothingLeft();
});

test('nobody repeats what a leader that does not answer any more may have sent', async () => {
  const asked = new Asked(2, 'X({}).then(|r| .x = 1);');
  await cluster.settle();
  expect(sent.map((one) => one.node)).toEqual([1]);
  cluster.fate = ({ from, to }) => (from === 1 || to === 1 ? 'lose' : 'deliver');
  cluster.dropCall(2, 1);
  cluster.log(cluster.stuff).lead(3, 0);
  await cluster.pass(3000);
  expect(sent).toHaveLength(1);
  expect(asked.told).toMatch(/ unknown$/);
});

test('a module that another node was told of is known', async () => {
  cluster.node(2).lagsInRoot = true;
  await told(cluster.node(1).query('/t', "new_module('Z', 'z');"));
  const asked = [new Asked(2, 'Z({});'), new Asked(2, "future({module: 'Z'});"), new Asked(2, 'NONE({});')];
  await cluster.settle();
  expect(asked.map((one) => one.told)).toEqual([null, null, null]);
  cluster.node(2).catchUp();
  await cluster.pass(500);
  expect(sent).toHaveLength(2);
  await answerAll();
  expect(asked.map((one) => one.told)).toEqual([[5], [5], `${ErrorCode.LOOKUP} none`]);
});

test('calls go to the module that has the name when their statements run, whatever is renamed, deleted or configured meanwhile', async () => {
  await value("new_procedure('ask', || X({})); nil;");
  const CODES = [
    'X({});',
    "run('ask');",
    "future({module: 'X'});",
    'future(nil).then(|| X({}));',
    "future(nil).then(|| run('ask'));",
  ];
  const ask = async (): Promise<readonly Asked[]> => {
    const asked = [1, 2].flatMap((node) => CODES.map((code) => new Asked(node, code)));
    await cluster.pass(5);
    return asked;
  };
  const modules = (from: number): Set<number> => new Set(sent.slice(from).map(({ module }) => module));
  const first = await ask();
  const [x] = modules(0);
  await told(
    cluster.node(1).query('/t', "rename_module('X', 'Z'); rename_module('Y', 'X'); rename_module('Z', 'Y');"),
  );
  await told(
    cluster
      .node(1)
      .query('/t', "set_module_conf('X', {a: 1}); set_module_conf('Y', {a: 1}); restart_module('Y');"),
  );
  const second = await ask();
  const [y] = modules(first.length);
  await told(cluster.node(1).query('/t', "del_module('X');"));
  const third = await ask();
  expect([sent.length, modules(0).size, modules(first.length).size, x === y]).toEqual([20, 2, 1, false]);
  await answerAll();
  expect(
    [...first, ...second].map(({ told }) => JSON.stringify(told)).every((one) => one.includes('5')),
  ).toBe(true);
  expect(third.map(({ told }) => told)).toEqual(third.map(() => `${ErrorCode.LOOKUP} none`));
  expectNothingLeft();
});

test('a task asks a module, and its run is over when that has answered', async () => {
  await value('.t = task(datetime(), |t, y| { .y = y; X({load: true}).then(|r| .x = r); }, [7]); nil;');
  await cluster.pass(3000);
  expect(sent.map((one) => one.node)).toEqual([1]);
  await answerAll();
  expect(await value('[.x, .y, .t.err()];')).toEqual([5, 7, null]);
  expect(sent).toEqual([]);
  expectNothingLeft();
});

describe('a task that waits for a module', () => {
  beforeEach(async () => {
    await value('.n = 0; .t = task(datetime(), || { .n += 1; X({load: true}).then(|r| .x += r); }); nil;');
    await cluster.pass(3000);
    expect(sent.map((one) => one.node)).toEqual([1]);
  });

  /** The runs that began, the sum of what the module answered, and what became of the task, at a node. */
  const seen = (node: number): Promise<unknown> =>
    value('[.n, .x, tasks().map(|t| [t.at(), t.err().code(), t.err().msg()])];', node);

  test('runs again as a whole at the next leader when its own is lost, and the first answer is nobody’s', async () => {
    cluster.log(cluster.stuff).lead(3, 0);
    await cluster.pass(2000);
    expect(sent.map((one) => one.node)).toEqual([1, 3]);
    await answerAll();
    expect(await seen(2)).toEqual([2, 5, []]);
    await cluster.pass(5000);
    expect(sent).toEqual([]);
    expectNothingLeft();
  });

  test('fails with the error of its module, and stays', async () => {
    const error = new QueryError(ErrorCode.CANCELLED, "the module 'X' ended before it answered");
    for (const { answer } of sent.splice(0)) answer({ ok: false, error });
    await cluster.pass(3000);
    expect(await seen(2)).toEqual([1, 0, [[null, error.code, error.message]]]);
    expect(sent).toEqual([]);
    expectNothingLeft();
  });

  test('is run to its end by a node that stops, before that gives its leadership away', async () => {
    cluster.node(1).tasks.halt();
    const log = cluster.log(cluster.stuff);
    log.announceTransfer();
    await cluster.settle();
    expect(log.isReleased).toBe(false);
    await answerAll();
    expect(log.isReleased).toBe(true);
    // Whoever asks the leader meanwhile is told nothing that others don't know.
    expect([await seen(1), await seen(2)]).toEqual([
      [1, 5, []],
      [1, 5, []],
    ]);
    log.lead(3);
    await cluster.pass(5000);
    expect(await seen(3)).toEqual([1, 5, []]);
    expect(sent).toEqual([]);
    expectNothingLeft();
  });

  test('has not failed where its node stops before the module answers: it runs at the next leader', async () => {
    cluster.node(1).tasks.halt();
    const error = new QueryError(ErrorCode.CANCELLED, 'the node is about to stop');
    for (const { answer } of sent.splice(0)) answer({ ok: false, error });
    await cluster.pass(3000);
    expect(sent).toEqual([]);
    cluster.log(cluster.stuff).lead(3);
    await cluster.pass(3000);
    expect(sent.map((one) => one.node)).toEqual([3]);
    await answerAll();
    expect(await seen(2)).toEqual([2, 5, []]);
    expectNothingLeft();
  });
});

test('a collection that is deleted ends those that wait in it', async () => {
  const asked = [new Asked(1, 'X({});'), new Asked(1, '.x = 1; X({}).then(|| .x = 2);')];
  await cluster.settle();
  await told(cluster.node(1).query('/t', "del_collection('stuff');"));
  await cluster.pass(500);
  expect(asked.map((one) => one.told)).toEqual([
    `${ErrorCode.CANCELLED} none`,
    `${ErrorCode.CANCELLED} made`,
  ]);
  await answerAll();
  expectNothingLeft();
});
