/** Faults of connections between nodes, besides cutting what they go through. */
import { ALONE, amongOthers, type FaultKind, leaderOrAny, msUntil, type Target } from './fault-kind.js';
import { ELECTION_TIMEOUT_MS } from './fleet.js';
import type { Cut } from './network.js';

/** Milliseconds that a dead connection may be taken for alive: two election timeouts, and some for the look. */
const DETECTED_MS = 2 * ELECTION_TIMEOUT_MS + 500;

/** Milliseconds from then on until all nodes are connected again. */
const MENDED_MS = 3000;

export const linkFaultKinds: readonly FaultKind[] = [
  {
    name: 'damage',
    doc: 'bits between the nodes are flipped, and TCP does not notice',
    lastsMs: [1000, 5000],
    problem: ({ fleet }) =>
      fleet.nodes.length === 1
        ? ALONE
        : fleet.network.canDamage
          ? null
          : 'only the proxies damage (--proxies)',
    begin: async ({ fleet, draw }) => {
      const perMille = draw.pick([1, 5, 20]);
      fleet.network.damage(perMille);
      return { detail: `${perMille} of 1000 pieces`, undo: async () => fleet.network.heal() };
    },
  },
  {
    name: 'half_open',
    doc: 'connections of a node die in silence, new ones are fine: found out within two election timeouts',
    alone: true,
    lastsMs: [0, 1000],
    problem: amongOthers,
    begin: async (target) => {
      const { fleet, draw } = target;
      const node = await leaderOrAny(target);
      const others = draw.shuffled(fleet.nodes.filter((other) => other !== node));
      const outwards = others.map(({ at }): Cut => [node.at, at]);
      const inwards = others.map(({ at }): Cut => [at, node.at]);
      const [what, links] = draw.pick([
        ['all', [...outwards, ...inwards]],
        ['those it dialled', outwards],
        ['those it was dialled on', inwards],
        ['one that it dialled', outwards.slice(0, 1)],
      ] as const);
      const deadened = fleet.network.deaden(links);
      const tookMs = await msUntil(() => deadened.remaining() === 0, DETECTED_MS + MENDED_MS);
      if (tookMs > DETECTED_MS)
        target.finding(`${node.name}: dead connections (${what}) taken for alive for ${tookMs} ms`);
      const mendedMs = await msUntil(() => areConnected(target), 2 * MENDED_MS);
      if (mendedMs > MENDED_MS)
        target.finding(`${node.name}: connections (${what}) made again after ${mendedMs} ms only`);
      const detail = `${node.name}, ${what}, found out after ${tookMs} ms, mended after ${mendedMs} ms more`;
      return { detail, undo: async () => fleet.network.heal() };
    },
  },
];

/** True if all nodes say that they have connections with all others. */
async function areConnected({ fleet }: Target): Promise<boolean> {
  const pages = await Promise.all(fleet.nodes.map((node) => node.probe('/status')));
  return pages.every((page) => {
    if (page.status === 0) return false;
    const { members } = JSON.parse(page.text) as { members: readonly { connected: boolean }[] };
    return members.length === fleet.nodes.length && members.every(({ connected }) => connected);
  });
}
