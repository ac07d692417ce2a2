/** Backups that take the place of what clusters hold, by the function `restore`. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, basic, RealCluster, RealNode, until } from '../testing/index.js';
import { seededBytes } from '../testing/random.js';

const randomBytes = seededBytes(Number(process.env.ALTHING_TEST_SEED));

const FAST = { drain_delay_ms: 0 };

const MAKE = `
  set_enum('Kind', {NORMAL: 1, GOLD: 2}); new_type('Owner');
  set_type('Account', {sum: 'int', kind: 'Kind', owner: 'Owner?'}); set_type('Owner', {accounts: '{Account}'});
  mod_type('Account', 'rel', 'owner', 'accounts');
  .owner = Owner{}; .accounts = range(10).map(|i| Account{sum: i}); .owner.accounts.add(.accounts[0], .accounts[1]);
  .long = range(60000); .n = 0; .room = room();
  .due = task(datetime(), |t, o| {o.n += 1; t.again_in('seconds', 1);}, [{n: 0}]);
  .due.args()[0].n;
  new_procedure('add', |a, b| a + b); nil;`;

/** The contents that have to be the same again. */
const KNOWN = `[type_count('Account'), .accounts[2].kind.name(), .accounts[1].owner == .owner, .owner.accounts.len(),
  .long == range(60000), add(1, 2), bool(.room)];`;

const KNOWN_ROOT = `[users_info().map(|u| u.load().name).sort(), collections_info().map(|c| c.load().name).sort(), procedures_info().len(),
  history({scope: '//bank', last: 9}).map(|h| h.load().message), collection_info('bank').load().default_deep];`;

/** Takes a backup on a node, and gives its path. */
async function backedUp(node: RealNode, name: string): Promise<string> {
  const id = await node.value('/n', `new_backup('${name}');`);
  let files: unknown = [];
  await until(async () => {
    files = await node.value('/n', `backup_info(${id}).load().files;`);
    return (files as string[]).length > 0;
  }, 'the backup is taken');
  return (files as string[])[0] ?? '';
}

const restore = (node: RealNode, code: string, headers: Record<string, string> = {}): Promise<Answer> =>
  node.query('/t', code, undefined, { headers });

async function names(node: RealNode): Promise<unknown> {
  return node.value('/t', 'collections_info().map(|c| c.load().name).sort();');
}

describe('a restore in a cluster', () => {
  let cluster: RealCluster;
  /** On the second node. */
  let file: string;
  let known: unknown;
  let knownRoot: unknown;

  beforeAll(async () => {
    cluster = await RealCluster.start(3, FAST);
    const [first, second] = cluster.nodes as [RealNode, RealNode];
    await until(
      async () => (await first.query('/t', "set_history('//stuff', false);")).status !== 422,
      'the level of the cluster',
    );
    await first.value(
      '/t',
      `new_collection('gone'); new_collection('bank'); del_collection('gone'); set_default_deep('//bank', 3); new_user('iris');
       set_password('iris', 'secret'); grant('//bank', 'iris', QUERY|CHANGE); whitelist_add('iris', 'procedures', 'add');
       new_procedure('root_add', |a, b| a + b); set_history('//bank', true);
       task(timeval(4000000000), |t, n| n, [5]); nil;`,
    );
    await first.value('//bank', `commit('made'); ${MAKE}`);
    file = await backedUp(second, 'kept.backup');
    known = await first.value('//bank', KNOWN);
    knownRoot = await first.value('/t', KNOWN_ROOT);
    // The present cluster is another one in all but its nodes, and has used up numbers.
    await first.value('/t', "del_collection('bank'); del_user('iris'); del_procedure('root_add');");
    const tasked = await restore(second, "restore('kept.backup');");
    expect([tasked.verdict, tasked.error.message]).toEqual(['404 -54', expect.stringContaining('the task')]);
    await first.value('/t', 'tasks().each(|t| t.del());');
    await first.value(
      '/t',
      "new_user('other'); new_collection('bank'); new_collection('more'); new_procedure('p', || 1);",
    );
    await first.value('//more', '.x = 1;');
  });

  afterAll(() => cluster.stop());

  test('is refused as long as a collection has something in it, and without a file that is a backup', async () => {
    const [first, second] = cluster.nodes as [RealNode, RealNode];
    const before = [await names(first), await first.value('/t', 'users_info().len();')];
    const refused = await restore(second, "restore('kept.backup');");
    expect([refused.verdict, refused.error.message]).toEqual(['422 -63', expect.stringContaining("'more'")]);
    await first.value('//more', '.clear();');

    const folder = join(second.folder, 'backups');
    const bytes = readFileSync(file);
    const damaged = Buffer.from(bytes);
    damaged[bytes.length - 40] = (damaged[bytes.length - 40] ?? 0) ^ 1;
    writeFileSync(join(folder, 'damaged.backup'), damaged);
    writeFileSync(join(folder, 'short.backup'), bytes.subarray(0, -50));
    writeFileSync(join(folder, 'other.tar.gz'), randomBytes(100));
    writeFileSync(join(folder, 'empty'), '');
    mkdirSync(join(folder, 'below'));
    copyFileSync(file, join(second.folder, 'outside.backup'));
    symlinkSync(join(second.folder, 'outside.backup'), join(folder, 'link.backup'));
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    const exported = await second.post('/@export/more', '');
    writeFileSync(join(folder, 'part.backup'), exported.body);
    const wrong = [
      'damaged.backup',
      'short.backup',
      'other.tar.gz',
      'empty',
      'below',
      'link.backup',
      'pipe',
      'part.backup',
    ];
    const outside = join(second.folder, 'outside.backup');
    for (const path of [...wrong, 'nothing', '../outside.backup', outside, '', 'a\0b', 'x'.repeat(5000)]) {
      const answer = await second.query('/t', 'restore(path);', { path });
      expect([path, answer.verdict, answer.error.outcome]).toEqual([path, '400 -53', 'none']);
    }
    // The file lies on the second node.
    expect((await restore(first, "restore('kept.backup');")).verdict).toBe('400 -53');
    expect([await names(first), await first.value('/t', 'users_info().len();')]).toEqual(before);
  });

  test('puts everything in the place of what was there, on every node, once', async () => {
    const [first, second] = cluster.nodes as [RealNode, RealNode];
    await cluster.killNode(3);
    const key = { 'Idempotency-Key': 'once' };
    const { at } = (await (await changesOf(second, '', 'application/json')).json()) as { at: string };
    const followed = (await changesOf(second, '', 'application/x-ndjson')).text();
    const answer = await restore(second, "restore('kept.backup', {restore_tasks: true}); 42;", key);
    expect([answer.verdict, answer.text]).toEqual(['200', '42']);
    // The follower of a replaced collection is told so, and that its position is lost when it asks again.
    expect(await followed).toMatch(/"ended":"forbidden"\}\n$/);
    expect((await changesOf(second, `?since=${at}`, 'application/json')).status).toBe(410);
    const third = await cluster.restartNode(3);
    for (const node of [second, first, third]) {
      expect(await node.value('//bank', KNOWN)).toEqual(known);
      expect(await node.value('/t', KNOWN_ROOT)).toEqual(knownRoot);
      const iris = { authorization: basic('iris', 'secret') };
      expect((await node.query('//bank', '.accounts.len();', undefined, iris)).text).toBe('10');
      expect((await node.query('//stuff', '1;', undefined, iris)).verdict).toBe('403 -55');
      expect((await node.run('/t', 'root_add', [1, 2])).text).toBe('3');
      expect((await node.query('//more', '1;')).status).toBe(404);
    }
    const info = "user_info('iris').load().whitelists.procedures.len();";
    expect(await first.value('/t', info)).toBe(1);
    expect(await first.value('/t', 'tasks().map(|t| t.args());')).toEqual([[5]]);
    // Its tasks go on, and belong to whom they belonged.
    const runs = async (): Promise<number> => (await first.value('//bank', '.due.args()[0].n;')) as number;
    const before = await runs();
    await until(async () => (await runs()) > before, 'the task runs');
    expect(await first.value('//bank', '[.due.owner(), .due.err()];')).toEqual(['admin', null]);
    // A repetition is the same restore, though there is something in the collections now.
    const again = await restore(second, "restore('kept.backup', {restore_tasks: true}); 42;", key);
    expect([again.verdict, again.text]).toEqual(['200', '42']);
    expect(await runs()).toBeGreaterThan(before);
    await first.value('/t', 'tasks().each(|t| t.del());');
    expect((await restore(second, "restore('kept.backup');")).verdict).toBe('422 -63');
    // It is gone on from.
    await third.value('//bank', "commit('later'); .new = {}; .long.push(1); new_type('Later');");
    expect(
      await first.value('/t', "new_collection('later'); history({scope: '//bank', last: 9}).len();"),
    ).toBe(2);
  });
});

function changesOf({ url, authorization }: RealNode, query: string, accept: string): Promise<Response> {
  return fetch(`${url}/@changes/stuff${query}`, { headers: { accept, authorization } });
}

describe('a restore into a single node', () => {
  let node: RealNode;

  beforeAll(async () => {
    node = await RealNode.start(FAST);
    await node.value('/t', "new_collection('bank'); new_user('iris'); set_password('iris', 'secret');");
    await node.value('//bank', MAKE);
    await node.value('//stuff', '.all = [];');
    const texts = Array.from({ length: 3000 }, () => randomBytes(500).toString('hex'));
    for (let at = 0; at < texts.length; at += 500) {
      await node.value('//stuff', 'texts.each(|text| .all.push({text:})); nil;', {
        texts: texts.slice(at, at + 500),
      });
    }
    await backedUp(node, 'whole.backup');
  });

  afterAll(() => node.stop());

  const emptied = async (): Promise<void> => {
    await node.value('/t', "del_collection('bank'); del_collection('stuff'); new_collection('stuff');");
  };

  test('a restore that is ended by kill -9 leaves all that there was, or all of the backup', async () => {
    await emptied();
    const before = await names(node);
    const asked = restore(node, "restore('whole.backup');").catch(() => null);
    await until(
      async () => ((await names(node).catch(() => [])) as string[]).some((name) => name.startsWith('~')),
      'collections are filled',
    );
    await node.kill();
    await asked;
    node = await RealNode.start(FAST, node.folder, node.authorization);
    await until(
      async () => !((await names(node)) as string[]).some((name) => name.startsWith('~')),
      'what was filled in vain is deleted',
    );
    const after = (await names(node)) as string[];
    if (after.includes('bank')) expect(await node.value('//stuff', '.all.len();')).toBe(3000);
    else expect([after, await node.value('//stuff', '.len();')]).toEqual([before, 0]);
    if (after.includes('bank')) await emptied();
  });

  test('leaves the caller alone as user, and no tasks, if that is asked for', async () => {
    await node.value('/t', "new_user('boss'); grant('@t', 'boss', FULL); set_password('boss', 'mine');");
    const boss = { authorization: basic('boss', 'mine') };
    const answer = await node.query('/t', "restore('whole.backup', {take_access: true});", undefined, boss);
    expect([answer.verdict, answer.text]).toEqual(['200', 'null']);
    const value = async (scope: string, code: string): Promise<unknown> =>
      (await node.query(scope, code, undefined, boss)).json;
    expect(await value('/t', 'users_info().map(|u| u.load().name);')).toEqual(['boss']);
    expect(await value('//bank', '[tasks(), str(.due), .accounts.len(), add(1, 2)];')).toEqual([
      [],
      'task:nil',
      10,
      3,
    ]);
    expect(await value('//stuff', '.all.len();')).toBe(3000);
    expect(await value('/n', 'backups_info().len();')).toBe(1);
    expect((await node.query('/t', '1;')).status).toBe(401);
    // It survives, and can be saved.
    await node.stop({ keep: true });
    node = await RealNode.start(FAST, node.folder, boss.authorization);
    expect(await node.value('//bank', '.long == range(60000);')).toBe(true);
    expect((await node.post('/@backup', '')).status).toBe(200);
  });
});
