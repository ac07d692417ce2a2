import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { statusOfReply } from '../listen/http/reply.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome, type QueryOptions } from '../testing/mini-node.js';

let cluster: MiniCluster;
beforeEach(async () => {
  cluster = await MiniCluster.begin(3);
  expect(await value(1, '.x = 0;')).toBe(0);
});

const INCREMENT = '.x += 1;';

/** The answer of a query when nothing stands in its way. */
async function value(node: number, code: string, scope = 'stuff'): Promise<unknown> {
  const reply = cluster.node(node).query(scope, code);
  await cluster.pass(0);
  return outcome(await reply);
}

/** A request whose answer may come later; who asks by default is `admin`. */
class Asked {
  reply: Reply | null = null;

  /** @param code a query, or the name of a procedure */
  constructor(node: number, code: string, options: QueryOptions & { isProcedure?: boolean } = {}) {
    const { isProcedure = false, ...rest } = options;
    const asked = cluster.node(node);
    const reply = isProcedure ? asked.run('stuff', code) : asked.query('stuff', code, rest);
    reply.then((told) => {
      this.reply = told;
    });
  }

  /** The answer as a client reads it: its value, or the status with what became of the changes. */
  get told(): unknown {
    if (this.reply === null || this.reply.ok) return this.reply === null ? null : outcome(this.reply);
    return `${statusOfReply(this.reply).slice(0, 3)} ${this.reply.outcome ?? 'none'}`;
  }
}

/** Lets a change be proposed by the leader, which then has to take it back: it may be committed, or not. */
async function proposeAndSuspend(node: number, level: 'full' | 'ok' = 'full'): Promise<Asked> {
  cluster.commits = false;
  const asked = new Asked(node, INCREMENT);
  await cluster.settle();
  expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
  cluster.node(1).session(cluster.stuff).setDisk(level);
  cluster.log(cluster.stuff).suspend();
  await cluster.pass(200);
  return asked;
}

async function resume(): Promise<void> {
  cluster.node(1).session(cluster.stuff).setDisk('ok');
  cluster.log(cluster.stuff).resume();
  cluster.commits = true;
  await cluster.pass(400);
}

describe('a change that the leader proposed, and then had to take back', () => {
  test.each([
    ['at the leader', 1],
    ['at another node', 2],
  ])(
    'is not told as refused because its disk is full, asked %s: it is answered once it is committed',
    async (_, node) => {
      const asked = await proposeAndSuspend(node);
      expect(asked.told).toBeNull();
      await resume();
      expect(asked.told).toBe(1);
      expect(await value(3, '.x;')).toBe(1);
    },
  );

  test.each([1, 2])('is unknown when the disk stays full, asked at node %i', async (node) => {
    const asked = await proposeAndSuspend(node);
    await cluster.pass(1000);
    expect(asked.told).toBe('504 unknown');
    await resume();
    expect(await value(3, '.x;')).toBe(1);
  });

  test.each([1, 2])(
    'is carried out by the next leader if it did not survive, asked at node %i',
    async (node) => {
      const asked = await proposeAndSuspend(node);
      cluster.log(cluster.stuff).lead(3, 0);
      cluster.commits = true;
      await cluster.pass(400);
      expect(asked.told).toBe(1);
      expect(await value(2, '.x;')).toBe(1);
    },
  );

  test('a change that is asked for anew while the disk is full is refused: nothing was changed', async () => {
    await proposeAndSuspend(2);
    const asked = new Asked(2, INCREMENT);
    await cluster.settle();
    expect(asked.told).toBe('503 none');
  });
});

describe('a change at a leader whose state is shut', () => {
  function allSessions() {
    return [0, cluster.stuff].map((group) => cluster.node(1).session(group));
  }

  /** The state can't be opened, and is told to be shut; then it is opened. */
  async function shut(node: number): Promise<Asked> {
    cluster.commits = false;
    const asked = new Asked(node, INCREMENT);
    await cluster.settle();
    for (const session of allSessions()) session.pause();
    for (const session of allSessions()) session.shut();
    await cluster.pass(200);
    return asked;
  }

  test.each([1, 2])('is not told as refused, asked at node %i', async (node) => {
    const asked = await shut(node);
    expect(asked.told).toBeNull();
    await cluster.pass(1000);
    expect(asked.told).toBe('504 unknown');
  });

  test.each([1, 2])(
    'is made once if it is open again before the change is committed, asked at node %i',
    async (node) => {
      const asked = await shut(node);
      for (const session of allSessions()) session.resume();
      await cluster.pass(300);
      expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
      cluster.commits = true;
      await cluster.pass(400);
      expect(asked.told).toBe(1);
      expect(await value(2, '.x;')).toBe(1);
    },
  );
});

describe('obstacles to a second attempt', () => {
  /**
   * The first attempt is lost with its leader, which survives or does not; the second will be made at node 3.
   */
  async function loseFirst(
    node: number,
    kept: 0 | 1,
    between: () => Promise<void>,
    code = INCREMENT,
    user = 'ann',
  ): Promise<Asked> {
    cluster.commits = false;
    const asked = new Asked(node, code, { user });
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.log(cluster.stuff).depose();
    cluster.commits = true;
    await cluster.settle();
    await between();
    cluster.log(cluster.stuff).lead(3, kept);
    await cluster.pass(500);
    return asked;
  }

  beforeEach(async () => {
    expect(await value(1, "new_user('ann'); grant('@:stuff', 'ann', 31);", '/t')).toBeNull();
  });

  async function revoke(): Promise<void> {
    expect(await value(1, "revoke('@:stuff', 'ann', 31);", '/t')).toBeNull();
  }

  test.each([1, 2, 3])(
    'a privilege is gone: the first is answered if it took effect, asked at node %i',
    async (node) => {
      const asked = await loseFirst(node, 1, revoke);
      expect(asked.told).toBe(1);
    },
  );

  test.each([1, 2, 3])(
    'a privilege is gone: the request is refused if the first did not, asked at node %i',
    async (node) => {
      const asked = await loseFirst(node, 0, revoke);
      expect(asked.told).toBe('403 none');
      expect(await value(2, '.x;')).toBe(0);
    },
  );

  test.each([1, 2])('the collection is gone: nobody will know, asked at node %i', async (node) => {
    const asked = await loseFirst(node, 1, async () => {
      expect(await value(1, "del_collection('stuff');", '/t')).toBeNull();
    });
    expect(asked.told).toBe('504 unknown');
  });

  test('the user is gone, which its own node does not know yet', async () => {
    const asked = await loseFirst(2, 1, async () => {
      cluster.node(2).lagsInRoot = true;
      expect(await value(1, "del_user('ann');", '/t')).toBeNull();
    });
    expect(asked.told).toBe('504 unknown');
  });

  test('the procedure makes no changes any more: the answer is still that of the first', async () => {
    await value(1, "new_procedure('inc', || .x += 1);");
    cluster.commits = false;
    const asked = new Asked(2, 'inc', { isProcedure: true });
    await cluster.settle();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.fate = ({ from, to }) => (from === 2 && to === 3 ? 'lose' : 'deliver');
    cluster.log(cluster.stuff).lead(3, 1);
    cluster.commits = true;
    await value(3, "del_procedure('inc'); new_procedure('inc', || 'nothing');");
    cluster.fate = () => 'deliver';
    await cluster.pass(400);
    expect(asked.told).toBe(1);
  });

  test('the query fails now: nothing was changed', async () => {
    cluster.commits = false;
    const asked = new Asked(2, 'assert(.x == 0); .x = 5;');
    await cluster.settle();
    cluster.fate = ({ from, to }) => (from === 2 && to === 3 ? 'hold' : 'deliver');
    cluster.log(cluster.stuff).lead(3, 0);
    cluster.commits = true;
    await cluster.pass(50);
    expect(await value(3, '.x = 7;')).toBe(7);
    cluster.fate = () => 'deliver';
    cluster.release();
    await cluster.settle();
    expect(asked.told).toBe('422 none');
    expect(await value(1, '.x;')).toBe(7);
  });

  test('other slow queries take too long', async () => {
    // So long that it waits for its turn before anything is looked up.
    const slow = `/* ${'-'.repeat(17_000)} */ log("slow"); .x += 1;`;
    cluster = await MiniCluster.begin(3, {
      waitMs: (node) => (node === 1 ? 300 : 2000),
      logged: () => {
        cluster.now += 100;
      },
    });
    await value(1, '.x = 0;');
    const asked = new Asked(2, slow);
    cluster.commits = false;
    await cluster.settle();
    cluster.log(cluster.stuff).suspend();
    const others = Array.from({ length: 8 }, () => new Asked(1, slow));
    await cluster.pass(20);
    cluster.log(cluster.stuff).lead(1, 1);
    cluster.commits = true;
    await cluster.pass(1500);
    expect(others.map(({ told }) => told)).toContain('503 none');
    expect(asked.told).toBe(1);
  });
});

describe('a copy of the request may still be on its way', () => {
  /** The first attempt comes to the leader only when it is released; no answer to it comes. */
  async function holdFirst(
    code: string,
    { node = 2, ...options }: QueryOptions & { node?: number } = {},
    between: () => Promise<void> = async () => {},
  ): Promise<Asked> {
    cluster.fate = ({ from, to, what }) =>
      what === 'call' && from === node && to === 1 ? 'hold' : 'deliver';
    const asked = new Asked(node, code, options);
    await cluster.settle();
    expect(cluster.held).toBe(1);
    cluster.fate = () => 'deliver';
    await between();
    cluster.dropCall(node, 1);
    cluster.log(cluster.stuff).lead(3, 0);
    await cluster.settle();
    return asked;
  }

  /** The first leader leads again, and gets it. */
  async function release(): Promise<void> {
    cluster.log(cluster.stuff).lead(1);
    await cluster.settle();
    cluster.release();
    await cluster.settle();
  }

  test('a query that failed does nothing then either', async () => {
    await value(1, '.y = 1;');
    const asked = await holdFirst('assert(.y == 0); .x = 5;');
    expect(asked.told).toBe('422 none');
    await value(3, '.y = 0;');
    await release();
    expect(await value(1, '.x;')).toBe(0);
    expectSameCounts();
  });

  test.each([2, 3])('one that was refused does nothing then either, asked at node %i', async (node) => {
    const grant = "grant('@:stuff', 'ann', 31);";
    await value(1, `new_user('ann'); ${grant}`, '/t');
    const asked = await holdFirst('.x = 5;', { node, user: 'ann' }, async () => {
      await value(1, "revoke('@:stuff', 'ann', 31);", '/t');
    });
    expect(asked.told).toBe('403 none');
    await value(1, grant, '/t');
    await release();
    expect(await value(1, '.x;')).toBe(0);
    expectSameCounts();
  });

  test('a failed query is tried again when its client repeats it', async () => {
    await value(1, '.y = 1;');
    const key = { key: 'a key', body: '\0'.repeat(16) };
    const asked = await holdFirst('assert(.y == 0); .x = 5;', { terms: { key } });
    expect(asked.told).toBe('422 none');
    await value(3, '.y = 0;');
    const again = new Asked(2, 'assert(.y == 0); .x = 5;', { terms: { key } });
    await cluster.settle();
    expect(again.told).toBe(5);
    await release();
    expect(await value(1, '.x;')).toBe(5);
  });

  test('a refusal is told once it is committed, also by the next leader', async () => {
    await value(1, '.y = 1;');
    cluster.commits = false;
    const asked = await holdFirst('assert(.y == 0); .x = 5;');
    expect(asked.told).toBeNull();
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.log(cluster.stuff).lead(1, 1);
    cluster.commits = true;
    // Another one finds it in the log: here the query would succeed.
    cluster.fate = ({ from, to }) => (from === 2 && to === 1 ? 'hold' : 'deliver');
    await value(1, '.y = 0;');
    cluster.fate = () => 'deliver';
    cluster.release();
    await cluster.pass(400);
    expect(asked.told).toBe('422 none');
    expect(await value(1, '.x;')).toBe(0);
  });

  test('a refusal is told by the node that was asked when it leads next', async () => {
    await value(1, '.y = 1;');
    cluster.commits = false;
    const asked = await holdFirst('assert(.y == 0); .x = 5;');
    expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
    cluster.log(cluster.stuff).lead(2, 1);
    cluster.commits = true;
    await cluster.pass(400);
    expect(asked.told).toBe('422 none');
    expect(await value(2, '.x;')).toBe(0);
  });

  test('a query that changed nothing does nothing then either', async () => {
    await value(1, '.y = 1;');
    const asked = await holdFirst('if (.y == 0) .x = 5; .x;');
    expect(asked.told).toBe(0);
    await value(3, '.y = 0;');
    await release();
    expect(await value(1, '.x;')).toBe(0);
    expectSameCounts();
  });

  /** A log entry for a request counts on all nodes, or their states would differ. */
  function expectSameCounts(): void {
    const counts = [1, 2, 3].map((node) => cluster.node(node).session(cluster.stuff).group.changeCount);
    expect(new Set(counts).size).toBe(1);
  }
});

describe('a node whose root scope lags behind', () => {
  test('carries out nothing that rests on what it does not know yet', async () => {
    cluster.log(cluster.stuff).lead(3);
    await cluster.settle();
    cluster.node(3).lagsInRoot = true;
    expect(await value(1, "new_user('ann'); grant('@:stuff', 'ann', 31);", '/t')).toBeNull();
    const asked = new Asked(2, INCREMENT, { user: 'ann' });
    await cluster.settle();
    expect(asked.told).toBeNull();
    cluster.node(3).catchUp();
    await cluster.settle();
    expect(asked.told).toBe(1);
  });
});
