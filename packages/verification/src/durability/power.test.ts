import { setTimeout as pause } from 'node:timers/promises';
import { RealNode, type TestSettings, until } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { describe, expect } from '@jest/globals';
import { seeded } from 'raft-ts';
import { PowerDisk } from './power-disk.js';
import { fateOf, Workload } from './workload.js';

const problem = PowerDisk.problem();

const SETTINGS: TestSettings = { checkpoint_interval_ms: 100, checkpoint_size_mb: 1 };
const ROUNDS = Number(process.env.ALTHING_POWER_ROUNDS ?? 8);
/** So many changes are acknowledged in each round at least. */
const CHANGES_MIN = 6;

describe('power loss under load', () => {
  testThatNeeds('power cuts', problem)(
    `${ROUNDS} cuts: the node ends with code 1, and after them every acknowledged write is there, and no half query`,
    async () => {
      const seed = Number(process.env.ALTHING_TEST_SEED);
      console.info(`power loss: seed ${seed}`);
      const random = seeded(seed);
      const workload = new Workload({ clients: 8, random, onRefusal: fateOf });
      const disk = new PowerDisk();
      let node = await RealNode.start(SETTINGS, disk.folder);
      try {
        const { authorization } = node;
        await workload.prepare(node);
        for (let round = 1; round <= ROUNDS; round++) {
          const load = workload.run(node);
          // On a machine that has much else to do, little is done in that time: the cut waits for some of it.
          const wanted = workload.acknowledged + CHANGES_MIN;
          await pause(20 + 280 * random());
          await until(() => workload.acknowledged >= wanted, `changes are acknowledged in round ${round}`);
          disk.cutPower();
          // An error of a sync is the end: what a second one would say can't be trusted.
          expect(await node.ended()).toBe(1);
          expect(node.log).toMatch(/"level":"fatal".*"event":"failed"/);
          await load;
          disk.powerAgain();
          node = await RealNode.start(SETTINGS, disk.folder, authorization);
          await workload.verify(node).catch((error: unknown) => {
            throw node.explained(`round ${round}, seed ${seed}: ${String(error)}`);
          });
        }
        await node.stop({ keep: true });
        expect(workload.acknowledged).toBeGreaterThanOrEqual(CHANGES_MIN * ROUNDS);
      } finally {
        await node.kill();
        disk.discard();
      }
    },
    ROUNDS * 20_000,
  );
});
