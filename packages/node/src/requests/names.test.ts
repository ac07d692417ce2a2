/** Names of collections that mean something else from now on, at nodes that do not know yet. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CallKind } from '../calls/calls.js';
import type { Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome, watch } from '../testing/mini-node.js';

let cluster: MiniCluster;
beforeEach(async () => {
  cluster = await MiniCluster.begin(3);
});

/** Has node 1 make another collection of the same name, and lead it. */
async function renewed(): Promise<{ reply: Reply | null }> {
  const reply = watch(cluster.node(1).query('/t', "del_collection('stuff'); new_collection('stuff');"));
  await cluster.settle();
  cluster.log(cluster.stuff).lead(1);
  await cluster.settle();
  return reply;
}

describe('a collection that was made anew under the same name', () => {
  test('is acknowledged when all nodes that can be reached know of it', async () => {
    cluster.node(3).lagsInRoot = true;
    const made = await renewed();
    expect(made.reply).toBeNull();

    cluster.node(3).catchUp();
    await cluster.pass(1);
    expect(made.reply && outcome(made.reply)).toBe('stuff');
  });

  test('does not wait for a node that does not answer', async () => {
    cluster.fate = ({ kind, to }) => (kind === CallKind.RootApplied && to === 3 ? 'hold' : 'deliver');
    const made = await renewed();
    expect(made.reply).toBeNull();

    await cluster.pass(600);
    expect(made.reply && outcome(made.reply)).toBe('stuff');
  });

  test('is written to also by a node that still knew the former one', async () => {
    cluster.node(3).lagsInRoot = true;
    cluster.fate = ({ kind }) => (kind === CallKind.RootApplied ? 'lose' : 'deliver');
    await renewed();

    const reply = watch(cluster.node(3).query('stuff', '.a = 1;'));
    await cluster.pass(10);
    expect(reply.reply).toBeNull();
    cluster.node(3).catchUp();
    await cluster.pass(1000);
    expect(reply.reply && outcome(reply.reply)).toBe(1);
    const read = cluster.node(1).query('stuff', '.a;');
    await cluster.pass(100);
    expect(outcome(await read)).toBe(1);
  });

  test('is written to when the former one went while a change waited for its commit there', async () => {
    cluster.log(cluster.stuff).depose();
    await cluster.settle();
    cluster.log(cluster.stuff).lead(3);
    await cluster.settle();
    cluster.commits = false;
    const reply = watch(cluster.node(3).query('stuff', '.a = 1;'));
    await cluster.settle();
    const made = watch(cluster.node(1).query('/t', "del_collection('stuff'); new_collection('stuff');"));
    await cluster.settle();
    cluster.log(0).commitAll();
    await cluster.settle();
    cluster.commits = true;
    cluster.log(cluster.stuff).lead(1);
    await cluster.pass(2000);

    expect(made.reply && outcome(made.reply)).toBe('stuff');
    expect(reply.reply && outcome(reply.reply)).toBe(1);
  });
});
