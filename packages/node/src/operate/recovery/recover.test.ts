/**
 * A cluster of real nodes loses its majority for ever, and goes on with what one node has.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ExitCode } from '../../config/index.js';
import { RealCluster, RealNode, until } from '../../testing/index.js';

const PROGRAM = fileURLToPath(new URL('../../../../cli/bin/althing.js', import.meta.url));

let cluster: RealCluster | null = null;
const others: RealNode[] = [];

afterEach(async () => {
  for (const node of others.splice(0)) await node.kill();
  await cluster?.discard();
  cluster = null;
});

describe('althing recover', () => {
  test('makes a cluster of one node that is left, with all that it has', async () => {
    cluster = await RealCluster.start(3, {
      checkpoint_interval_ms: 3_600_000,
      checkpoint_size_mb: 1,
    });
    await cluster.node(1).value('//stuff', '.list = range(5000); .name = "before";');
    await cluster.node(1).value('/t', "new_collection('gone'); new_user('iris');");
    // A node that is told to stop writes everything to its state; what comes behind that is in the log only.
    await cluster.node(1).stop({ keep: true });
    const first = await cluster.restartNode(1);
    await first.value('/t', "new_collection('late'); del_collection('gone');");
    await first.value('//late', '.x = {a: [1, 2, 3]};');
    // A state on disk that the root scope on disk knows nothing of.
    await first.value('/t', "new_collection('large');");
    await first.value('//large', '.x = range(3000).map(|| text); nil;', { text: 'x'.repeat(1000) });
    await until(async () => {
      const page = (await first.probe('/metrics')).text;
      return Number(/^althing_checkpoint_bytes_total (\d+)$/m.exec(page)?.[1]) > 1_000_000;
    }, 'a checkpoint by volume');
    await first.value('//stuff', '.name = "after"; .list.push(-1);');
    // The others are a majority, too: what it can read, it has.
    for (const scope of ['//stuff', '//late', '//large']) await first.value(scope, '.len();');
    await first.value('/t', "has_user('iris');");
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    const data = join(first.folder, 'data');

    const checked = await althing('check', '--storage-path', data);
    expect([checked.code, checked.errors]).toEqual([0, '']);
    expect(checked.output).toMatch(/^stuff: \d+ things, all rules are kept$/m);
    const inspected = await althing('recover', '--storage-path', data, '--inspect');
    expect([inspected.code, inspected.errors]).toEqual([0, '']);
    expect(inspected.output).toMatch(/^ +\d+ +\d+ +\d+ {2}root$/m);
    expect(inspected.output).toMatch(/^ +\d+ +\d+ +\d+ {2}stuff$/m);
    const unconfirmed = await althing('recover', '--storage-path', data);
    expect([unconfirmed.code, unconfirmed.errors]).toEqual([2, expect.stringContaining('--yes')]);
    expect(existsSync(join(data, 'removed'))).toBe(false);

    const done = await althing('recover', '--storage-path', data, '--yes');
    expect([done.code, done.errors]).toEqual([0, expect.stringContaining('recovered')]);
    expect(clusterIn(done.output)).not.toBe(clusterIn(inspected.output));
    const [kept = ''] = readdirSync(join(data, 'removed'));
    expect(readdirSync(join(data, 'removed', kept)).sort()).toEqual(['cluster', 'log', 'state']);

    const alone = await cluster.restartNode(1);
    expect(await alone.value('//stuff', '[.name, .list.len(), .list.last()];')).toEqual(['after', 5001, -1]);
    expect(await alone.value('//late', '.x.a;')).toEqual([1, 2, 3]);
    expect(await alone.value('//large', '.x.len();')).toBe(3000);
    expect(await alone.value('/t', "[has_collection('gone'), has_user('iris')];")).toEqual([false, true]);
    expect(await alone.value('/n', 'nodes_info().len();')).toBe(1);
    await alone.value('//stuff', '.name = "alone";');

    // A node of the old cluster that comes back all the same.
    const old = await cluster.launchNode(3);
    await until(async () => /peer_other_cluster/.test(old.log), 'the old node says why it is refused');
    expect((await old.probe('/ready')).status).toBe(503);
    await old.kill();

    for (const place of [2, 3]) rmSync(join(cluster.node(place).folder, 'data'), { recursive: true });
    await Promise.all([2, 3].map((place) => cluster?.restartNode(place)));
    await until(async () => {
      const voters = await alone.value('/n', 'groups_info().map(|g| g.load().voters.len());');
      return String(voters) === '3,3,3,3';
    }, 'the others joined');
    expect(await cluster.node(3).value('//stuff', '[.name, .list.len()];')).toEqual(['alone', 5001]);
    await cluster.node(1).kill();
    expect(await cluster.node(2).value('//late', '.x.a.push(4);')).toBe(4);

    // Once more, with a node that joined.
    await Promise.all([2, 3].map((place) => cluster?.killNode(place)));
    const joined = join(cluster.node(2).folder, 'data');
    expect(await althing('recover', '--storage-path', joined, '--yes')).toMatchObject({ code: 0 });
    const second = await cluster.restartNode(2);
    expect(await second.value('//late', '.x.a;')).toEqual([1, 2, 3, 4]);
    expect(await second.value('//stuff', '[.name, .list.len()];')).toEqual(['alone', 5001]);
  });

  test('goes on where it was interrupted, and no node starts before', async () => {
    cluster = await RealCluster.start(3);
    await cluster.node(1).value('//stuff', '.x = 1;');
    expect(await cluster.node(1).value('//stuff', '.x;')).toBe(1);
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    const data = join(cluster.node(1).folder, 'data');
    const copy = join(cluster.node(1).folder, 'copy');
    cpSync(data, copy, { recursive: true });
    expect(await althing('recover', '--storage-path', copy, '--yes')).toMatchObject({ code: 0 });
    // As far as a crash in the middle of the exchange may have left it.
    const recovering = join(data, 'recovering');
    for (const name of ['ready', 'before']) mkdirSync(join(recovering, name), { recursive: true });
    renameSync(join(copy, 'log'), join(recovering, 'ready', 'log'));
    renameSync(join(copy, 'state'), join(recovering, 'ready', 'state'));
    for (const name of ['cluster', 'log']) renameSync(join(data, name), join(recovering, 'before', name));
    renameSync(join(copy, 'cluster'), join(data, 'cluster'));

    const early = await cluster.launchNode(1);
    expect(await early.ended()).toBe(ExitCode.DataDamaged);
    expect(early.log).toContain('althing recover');
    expect(await althing('recover', '--storage-path', data, '--yes')).toMatchObject({ code: 0 });
    const [kept = ''] = readdirSync(join(data, 'removed'));
    expect(readdirSync(join(data, 'removed', kept)).sort()).toEqual(['cluster', 'log', 'state']);
    const alone = await cluster.restartNode(1);
    expect(await alone.value('//stuff', '.x;')).toBe(1);
  });

  test('refuses what it should not touch', async () => {
    const node = await RealNode.start();
    others.push(node);
    const data = join(node.folder, 'data');
    expect(await althing('recover', '--storage-path', data, '--yes')).toMatchObject({ code: 3 });
    await node.kill();
    const alone = await althing('recover', '--storage-path', data, '--yes');
    expect([alone.code, alone.errors]).toEqual([2, expect.stringContaining('can just be started')]);
    writeFileSync(join(data, 'cluster'), 'not what it was');
    expect(await althing('recover', '--storage-path', data, '--yes')).toMatchObject({ code: 4 });
    expect(existsSync(join(data, 'recovering'))).toBe(false);
    const nothing = await althing('recover', '--storage-path', join(node.folder, 'nothing'), '--yes');
    expect([nothing.code, nothing.errors]).toEqual([2, expect.stringContaining('no data of a node')]);
    expect(existsSync(join(node.folder, 'nothing'))).toBe(false);
    node.clear();
  });
});

function clusterIn(output: string): string {
  return /cluster ([0-9a-f]{32})/.exec(output)?.[1] ?? '';
}

function althing(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env;
    execFile(process.execPath, [PROGRAM, ...args], { env: { PATH } }, (error, output, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output, errors });
    });
  });
}
