import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, RealNode, type TestSettings, until, within } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { seeded } from 'raft-ts';
import { SmallDisk } from './small-disk.js';
import { fateOf, Workload } from './workload.js';

const problem = SmallDisk.problem();
const testOnSmallDisk = testThatNeeds('a full disk', problem);

const DISK_MB = 128;

const SETTINGS: TestSettings = {
  disk_reserve_mb: 32,
  log_segment_mb: 1,
  checkpoint_interval_ms: 100,
  checkpoint_size_mb: 1,
};

/** Until when a write that finds the disk full has its answer, in milliseconds. */
const PROMPT_MS = 5000;

/** Time that a node may take to fill the disk by itself, in milliseconds: a second or two, and many where others work, too. */
const FILL_MS = 90_000;

describe('a full disk', () => {
  let disk: SmallDisk;
  let node: RealNode;
  let workload: Workload;

  beforeEach(() => {
    if (problem !== null) return;
    disk = SmallDisk.mount(DISK_MB);
    const seed = Number(process.env.ALTHING_TEST_SEED);
    console.info(`full disk: seed ${seed}`);
    workload = new Workload({ clients: 8, random: seeded(seed), onRefusal: fateOf });
  });

  afterEach(async () => {
    if (problem !== null) return;
    await node?.kill();
    disk.unmount();
  });

  testOnSmallDisk(
    'that another program filled: writes get 503 at once, reads go on, and writes go on by themselves when there is room',
    async () => {
      node = await RealNode.start(SETTINGS, disk.folder);
      await workload.prepare(node);
      for (let round = 0; round < 3; round++) {
        // Given a node under load, when the disk gets full,
        const acknowledged = workload.acknowledged;
        const load = workload.run(node);
        await told(
          node,
          until(() => workload.acknowledged > acknowledged + 50, 'changes are acknowledged'),
        );
        disk.fill();
        await told(
          node,
          until(async () => (await write(node)).status === 503, 'a write is refused'),
        );

        // then no request waits for room, refusals tell why, and reads go on,
        workload.stop();
        await told(node, within(load, 'the answers to all requests', PROMPT_MS));
        const refused = await refusedWrite(node, disk);
        expect([refused.verdict, refused.error.outcome]).toEqual(['503 -51', 'none']);
        expect(refused.headers.get('retry-after')).toBe('1');
        await expectReadsGoOn(node);
        await told(
          node,
          until(async () => {
            await refusedWrite(node, disk);
            return (await diskLevel(node)) !== 'ok';
          }, 'the status tells of the disk'),
        );

        // and when there is room again nothing is lost and writes go on by themselves.
        disk.clear();
        await told(
          node,
          until(async () => (await write(node)).status === 200, 'a write is taken again'),
        );
        await told(
          node,
          until(async () => (await diskLevel(node)) === 'ok', 'the disk is well'),
        );
        await workload.verify(node);
      }
      await node.stop({ keep: true });
    },
  );

  testOnSmallDisk(
    'that the node filled itself: there is room for deleting a collection, and that makes room',
    async () => {
      node = await RealNode.start(SETTINGS, disk.folder);
      await workload.prepare(node);
      await node.value('/t', "new_collection('large');");
      // It finds some more room when its log has been cut, until there is nothing left to cut.
      await told(
        node,
        until(
          async () => (await fillLarge(node)) && (await write(node)).verdict === '503 -51',
          'changes are refused',
          FILL_MS,
        ),
      );
      expect(await node.value('//large', 'is_list(.large);')).toBe(true);
      // The state may have to be opened again before.
      const remove = (): Promise<Answer> => node.query('/t', "del_collection('large');");
      await told(
        node,
        until(async () => (await remove()).status === 200, 'the collection is deleted'),
      );
      await told(
        node,
        until(async () => (await write(node)).status === 200, 'there is room again'),
      );
      await workload.verify(node);
      await node.stop({ keep: true });
    },
    FILL_MS + 60_000,
  );

  testOnSmallDisk('is survived by a node that is killed and started again on it', async () => {
    node = await RealNode.start(SETTINGS, disk.folder);
    const { authorization } = node;
    await workload.prepare(node);
    for (let round = 0; round < 3; round++) {
      const load = workload.run(node);
      const acknowledged = workload.acknowledged;
      await told(
        node,
        until(() => workload.acknowledged > acknowledged + 50, 'changes are acknowledged'),
      );
      disk.fill();
      await node.kill();
      await load;
      const hasReserve = existsSync(join(disk.folder, 'data', 'reserve'));
      disk.fill();
      try {
        node = await RealNode.start(SETTINGS, disk.folder, authorization);
        expect(await node.value('//stuff', '.all.len() == .counter;')).toBe(true);
        disk.clear();
      } catch (error) {
        // Without the reserve, which it gave up before, it may have no room to start in, and says so.
        if (hasReserve || !String(error).includes('The disk is full')) throw error;
        disk.clear();
        node = await RealNode.start(SETTINGS, disk.folder, authorization);
      }
      await told(
        node,
        until(async () => (await write(node)).status === 200, 'a write is taken again'),
      );
      await workload.verify(node);
    }
    await node.stop({ keep: true });
  });
});

/** Unless the disk was filled in the very moment in which the node gave up its reserve to open its state again. */
async function expectReadsGoOn(node: RealNode): Promise<void> {
  const read = await node.query('//stuff', '.all.len() == .counter;');
  const isShut = node.log.lastIndexOf('"state_shut"') > node.log.lastIndexOf('"state_reopened"');
  expect([read.verdict, read.text.slice(0, 4)]).toEqual(isShut ? ['503 -51', '{"er'] : ['200', 'true']);
}

/** An error shows what the node had to say. */
async function told(node: RealNode, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    throw node.explained(String(error));
  });
}

function write(node: RealNode): Promise<Answer> {
  return node.query('//stuff', '.written = true;');
}

/** A write that is refused, while the node finds room here and there that the disk is filled with at once. */
async function refusedWrite(node: RealNode, disk: SmallDisk): Promise<Answer> {
  for (;;) {
    disk.fill();
    const answer = await within(write(node), 'the answer to a write', PROMPT_MS).catch((error: unknown) => {
      throw node.explained(String(error));
    });
    if (answer.status !== 200 && fateOf(answer) === 'refused') return answer;
  }
}

async function diskLevel(node: RealNode): Promise<string> {
  const status = (await node.probe('/status')).json as { readonly disk: { readonly level: string } };
  return status.disk.level;
}

/** @returns whether a change was refused */
async function fillLarge(node: RealNode): Promise<boolean> {
  const text = 'x'.repeat(100_000);
  const code = ".large = is_list(.get('large')) ? .large : []; .large.push(text); nil;";
  const answer = await node.query('//large', code, { text });
  if (answer.status !== 200) fateOf(answer);
  return answer.status !== 200;
}
