/** The cost of a console that nobody uses, for requests of the API. */
import { RealNode } from '@althing/node/testing';
import { type Contender, contest } from '../contest.js';
import { Generator } from '../measure.js';

/** Pairs of nodes: two processes of one program, each compiled as it runs, differ by more than the console may cost. */
const PAIRS = 6;

const OPTIONS = { connections: [64], durationMs: 300, warmupMs: 50, heatMs: 2000, rounds: 12 };

/** The processor time of a request at a node with the console beside one at a node without, as percent above it: the geometric mean of some pairs. */
export async function apiCost(): Promise<number> {
  const generator = new Generator(1);
  const ratios: number[] = [];
  try {
    for (let pair = 0; pair < PAIRS; pair++) {
      // The first of a pair finds another machine than the second.
      const order = pair % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const);
      const nodes: RealNode[] = [];
      try {
        for (const console of order) nodes.push(await RealNode.start({ console }));
        const sides = nodes.map((node, i) => contenderOf(order[i] ?? '', node));
        const rows = await contest(generator, sides, null, 'requests', OPTIONS, () => {});
        for (const { others, lastError } of rows) {
          if (lastError !== undefined) throw new Error(lastError);
          const [ratio] = others.map(({ ratios: { CPU } }) => CPU.median);
          if (ratio !== undefined) ratios.push(order[0] === 'on' ? ratio : 1 / ratio);
        }
      } finally {
        for (const node of nodes) await node.stop();
      }
    }
  } finally {
    generator.close();
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  return (mean - 1) * 100;
}

function contenderOf(name: string, node: RealNode): Contender<null> {
  const requests = ['1 + 1;', '.counter = 1;'].map((code) =>
    Buffer.from(node.text('//stuff', JSON.stringify({ type: 'query', code })), 'latin1'),
  );
  const { port, pid } = node;
  return { name, load: async () => ({ targets: [{ port, pid }], requests }) };
}
