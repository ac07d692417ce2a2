import { describe, expect, test } from '@jest/globals';
import { WHOLE } from './cut.js';
import { Faults } from './faults.js';
import { Draw } from './random.js';
import { World } from './world.js';

/** Time that a cluster may take until it is complete, in milliseconds of virtual time. */
const COMPLETE_MS = 120_000;

describe('a disk that lied', () => {
  test('is not used before the others have what it lost, whoever starts it; one machine takes its place', async () => {
    // Given a cluster of three,
    const world = new World({ seed: 1, cut: { ...WHOLE, nodes: 3 } });
    const faults = new Faults(world, new Draw(1, 'faults'));
    const [liar, other] = world.machines;
    if (liar === undefined || other === undefined) throw new Error('there are no machines');
    const startAll = (): void => {
      for (const machine of world.present) world.start(machine);
    };
    startAll();
    await world.run(() => world.isComplete, COMPLETE_MS);

    // when the disk of one has lied while another is down,
    faults.lie(liar);
    world.crash(other, true);
    world.start(liar);

    // then it waits for that one,
    expect(liar.process === null).toBe(true);

    // and afterwards nobody is left who wants a place that is taken.
    await world.run(() => liar.isGone, COMPLETE_MS);
    startAll();
    await world.run(() => world.isComplete, COMPLETE_MS);
    expect(world.isComplete).toBe(true);
    expect(world.machines.filter(({ name }) => name === liar.name)).toHaveLength(2);
  });
});
