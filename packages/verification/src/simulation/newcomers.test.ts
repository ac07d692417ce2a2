/**
 * Nodes that are called by `new_node()` and come by themselves besides: each becomes one member, and its invitation ends.
 */
import { describe, expect, test } from '@jest/globals';
import { simulate } from './simulate.js';
import { drawSwarm, type Swarm } from './swarm.js';

/** Nodes come all the time, while leaders and links are lost. */
function crowded(seed: number): Swarm {
  return {
    ...drawSwarm(seed),
    nodes: 3,
    clients: 2,
    clientMs: 40,
    sockets: 1,
    faultsMs: 3000,
    faultMs: 300,
    faults: [
      ['grow', 6],
      ['isolate', 1],
      ['heal', 3],
      ['crash_leader', 1],
    ],
  };
}

describe('a node that is called and comes', () => {
  test('leaves no invitation behind, in whatever order that happens', async () => {
    const reached = new Set<string>();
    const wanted = ['a node accepts an invitation', 'new_node is ok'];
    // Three runs at least, and more until both have happened.
    for (let seed = 1; seed <= 3 || (seed <= 20 && !wanted.every((place) => reached.has(place))); seed++)
      for (const place of (await simulate({ seed, swarm: crowded(seed) })).reached) reached.add(place);
    expect([...reached]).toEqual(expect.arrayContaining(wanted));
  });

  test('is missed where nobody notices that it came by another way', async () => {
    const mutants = new Set(['node:invitation_stays']);
    const findings: string[] = [];
    for (let seed = 1000; seed <= 1010 && findings.length === 0; seed++)
      await simulate({ seed, swarm: crowded(seed), mutants }).catch((error: Error) =>
        findings.push(error.message),
      );
    expect(findings[0]).toContain('stays, though');
  });
});
