import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { RealNode, type TestSettings } from '@althing/node/testing';
import { afterAll, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { Workload } from './workload.js';

/** Checkpoints, cuts of the log and searches for garbage as often as can be. */
const BUSY: TestSettings = { checkpoint_interval_ms: 100, checkpoint_size_mb: 1, garbage_interval_ms: 100 };

const ROUNDS = Number(process.env.ALTHING_KILL_ROUNDS ?? 16);

describe('kill -9 under load', () => {
  let last: RealNode | undefined;
  afterAll(async () => {
    await last?.kill();
    if (last !== undefined) rmSync(last.folder, { recursive: true, force: true });
  });

  test(
    `${ROUNDS} rounds: every acknowledged write is there, and no half query`,
    async () => {
      const seed = Number(process.env.ALTHING_TEST_SEED);
      console.info(`kill -9: seed ${seed}`);
      const random = seeded(seed);
      const workload = new Workload({ clients: 8, random });
      let node = await RealNode.start(BUSY);
      last = node;
      const { folder, authorization } = node;
      await workload.prepare(node);
      for (let round = 1; round <= ROUNDS; round++) {
        const [killed] = await Promise.all([killSoon(node, random), workload.run(node)]);
        expect(killed).toBeNull();
        if (round % 4 === 0) await killWhileStarting(folder, random);
        node = await RealNode.start(BUSY, folder, authorization);
        last = node;
        await workload.verify(node).catch((error: unknown) => {
          throw node.explained(`round ${round}, seed ${seed}: ${String(error)}`);
        });
      }
      await node.stop({ keep: true });
      node = await RealNode.start(BUSY, folder, authorization);
      last = node;
      await workload.verify(node);
      await node.stop({ keep: true });
      console.info(`${workload.acknowledged} changes acknowledged, ${workload.unknown} without an answer`);
      expect(workload.acknowledged).toBeGreaterThan(2 * ROUNDS);
      expect(workload.unknown).toBeGreaterThan(0);
    },
    ROUNDS * 6000,
  );
});

/** @returns the exit code: null, since a signal ended it */
async function killSoon(node: RealNode, random: () => number): Promise<number | null> {
  await pause(20 + 280 * random());
  await node.kill();
  return node.ended();
}

/** Another end at a random moment of the recovery. */
async function killWhileStarting(folder: string, random: () => number): Promise<void> {
  const node = await RealNode.launch(BUSY, folder);
  await pause(100 + 400 * random());
  await node.kill();
}
