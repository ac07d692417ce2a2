/** Requests that may change nothing, or are only tried out, whichever node they come to. */
import { ErrorCode } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CallKind } from '../calls/calls.js';
import type { Reply, Terms } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome } from '../testing/mini-node.js';

let cluster: MiniCluster;

beforeEach(async () => {
  cluster = await MiniCluster.begin(3);
  await ask(1, 'stuff', '.n = 1; .r = room();');
});

async function ask(node: number, scope: string, code: string, terms: Partial<Terms> = {}): Promise<Reply> {
  const reply = cluster.node(node).query(scope, code, { terms });
  await cluster.pass(0);
  return reply;
}

/** Log positions of a group on the node that leads it. */
function indexOf(group: number): number {
  return cluster.node(1).session(group).appliedIndex;
}

describe('a read-only request', () => {
  const READ_ONLY = { readOnly: true };

  test.each([1, 2])('reads at node %i, and changes nothing', async (node) => {
    const before = [indexOf(0), indexOf(cluster.stuff)];
    expect(outcome(await ask(node, 'stuff', '.n;', READ_ONLY))).toBe(1);
    for (const [scope, code] of [
      ['stuff', '.n = 2;'],
      ['stuff', 'wse(.n);'],
      ['/t', "new_collection('other');"],
      ['/n', 'reset_counters();'],
      ['/n3', 'reset_counters();'],
    ] as const) {
      const reply = await ask(node, scope, code, READ_ONLY);
      expect(reply).toMatchObject({ ok: false, error: { code: ErrorCode.FORBIDDEN } });
      expect(!reply.ok && reply.error.message).toContain('read-only');
    }
    expect(outcome(await ask(node, 'stuff', '.n;'))).toBe(1);
    expect([indexOf(0), indexOf(cluster.stuff)]).toEqual(before);
  });

  test('has no futures that change something', async () => {
    for (const node of [1, 2]) {
      const code = 'future(|| .n = 3);';
      expect(outcome(await ask(node, 'stuff', code, READ_ONLY))).toBe(ErrorCode.FORBIDDEN);
    }
    expect(outcome(await ask(2, 'stuff', 'future(|| .n);', READ_ONLY))).toBe(1);
  });

  test('sees what others see only with CHANGE as users without it do', async () => {
    await ask(1, 'stuff', "new_procedure('p', || 'secret text');");
    const code = "procedure_info('p').load().get('definition');";
    expect(outcome(await ask(1, 'stuff', code))).toContain('secret text');
    expect(outcome(await ask(1, 'stuff', code, READ_ONLY))).toBeNull();
  });

  test('tells clients of events on the leader, wherever it came: that takes JOIN alone', async () => {
    for (const node of [1, 2])
      expect(outcome(await ask(node, 'stuff', ".r.emit('e');", READ_ONLY))).toBeNull();
  });
});

describe('a dry run', () => {
  const DRY = { dryRun: true };

  test.each([1, 2])(
    'a dry run at node %i counts what a query would change, and changes nothing',
    async (node) => {
      const before = [indexOf(0), indexOf(cluster.stuff)];
      expect(outcome(await ask(node, 'stuff', '.n += 1; .more = {x: {}}; .n;', DRY))).toEqual({
        result: 2,
        changes: { things_added: 2, properties: 2 },
      });
      expect(outcome(await ask(node, '/t', "new_collection('more');", DRY))).toMatchObject({
        result: 'more',
        changes: { collections: 1 },
      });
      expect(outcome(await ask(node, 'stuff', '.r.emit("e"); .n;', DRY))).toEqual({
        result: 1,
        changes: { events: 1 },
      });
      expect(outcome(await ask(node, 'stuff', '1 + .n;', DRY))).toEqual({ result: 2, changes: {} });
      expect(outcome(await ask(node, 'stuff', '.n = 9; 1 / 0;', DRY))).toBe(ErrorCode.ZERO_DIV);
      expect(outcome(await ask(node, 'stuff', '.n;'))).toBe(1);
      expect(outcome(await ask(node, '/t', "has_collection('more');"))).toBe(false);
      expect([indexOf(0), indexOf(cluster.stuff)]).toEqual(before);
    },
  );

  test.each([1, 2])(
    'a dry run at node %i is explained where that is asked for, and changes nothing',
    async (node) => {
      const before = indexOf(cluster.stuff);
      const terms = { dryRun: 'explain' } as const;
      expect(outcome(await ask(node, 'stuff', 'for (i in range(3)) .n += 1;', terms))).toMatchObject({
        changes: { properties: 3 },
        explain: { statements: [{}, {}] },
      });
      expect(outcome(await ask(node, 'stuff', '.n = 9; 1 / 0;', terms))).toMatchObject({
        error: { name: 'zero_div_err', at: { line: 1, column: 9 } },
        changes: { properties: 1 },
      });
      expect(outcome(await ask(node, 'stuff', '.n;'))).toBe(1);
      expect(indexOf(cluster.stuff)).toBe(before);
    },
  );

  test('a dry run of a procedure counts as that of a query, and starts no futures', async () => {
    await ask(1, 'stuff', "new_procedure('p', || {.n = 5; future(|| .n = 6);});");
    const reply = cluster.node(2).run('stuff', 'p', { terms: DRY });
    await cluster.pass(100);
    expect(outcome(await reply)).toEqual({ result: null, changes: { properties: 1 }, futures: 1 });
    expect(outcome(await ask(1, 'stuff', '.n;'))).toBe(1);
  });

  test('sees what was changed before, and is answered when that is committed', async () => {
    cluster.commits = false;
    const change = cluster.node(1).query('stuff', '.n = 7;');
    const tried = cluster.node(1).query('stuff', '.n += 1;', { terms: DRY });
    let isAnswered = false;
    void tried.then(() => {
      isAnswered = true;
    });
    await cluster.settle();
    expect(isAnswered).toBe(false);
    cluster.commits = true;
    await cluster.settle();
    expect([outcome(await change), outcome(await tried)]).toEqual([
      7,
      { result: 8, changes: { properties: 1 } },
    ]);
  });

  test('takes CHANGE, and so is refused to a read-only request', async () => {
    await ask(1, '/t', "new_user('reader'); grant('//stuff', 'reader', QUERY);");
    const asked = cluster.node(1).query('stuff', '.n;', { terms: DRY, user: 'reader' });
    await cluster.settle();
    expect(outcome(await asked)).toBe(ErrorCode.FORBIDDEN);
    expect(outcome(await ask(1, 'stuff', '.n;', { ...DRY, readOnly: true }))).toBe(ErrorCode.FORBIDDEN);
  });

  test('is refused in the scope of a node, which can not take back what it does', async () => {
    for (const scope of ['/n', '/n3']) {
      expect(outcome(await ask(1, scope, 'reset_counters();', DRY))).toBe(ErrorCode.BAD_DATA);
    }
  });

  test('a dry run that gets no answer is told to have changed nothing, and leaves nothing in the log', async () => {
    const before = indexOf(cluster.stuff);
    cluster.fate = ({ kind, what }) => (kind === CallKind.Forward && what === 'return' ? 'lose' : 'deliver');
    const asked = cluster.node(2).query('stuff', '.n = 2;', { terms: DRY });
    await cluster.pass(1500);
    expect(await asked).toMatchObject({ ok: false, error: { code: ErrorCode.NODE } });
    expect(await asked).not.toMatchObject({ outcome: 'unknown' });
    expect(indexOf(cluster.stuff)).toBe(before);
  });
});
