/** `npm run crowds`: looks for crowds of requests that keep others waiting. */
import { parseArgs } from 'node:util';
import { messageOf } from '@althing/storage';
import { durationOf, runProgram, wholeIn } from '../harness/usage.js';
import { deltaDebug } from '../simulation/delta-debug.js';
import { Draw } from '../simulation/random.js';
import { type Asker, drawCrowd } from './crowd.js';
import { meetInHeap } from './heap.js';
import { isFair, type Met, meet, NODE_MAX_MS, type Wait } from './meeting.js';

const HELP = `Crowds of requests of all kinds come to all doors of a simulated cluster, in which queries take time. Whoever asks something quick
meanwhile may wait for one query of somebody else and a tenth of a second; for a change at a node that does not lead, on each of two nodes.

  npm run crowds                    100 crowds
  npm run crowds -- --for 30m       as many as there is time for (s, m, h)
  npm run crowds -- --nodes 3       a cluster of three (default: one node)
  npm run crowds -- --seed 42       one crowd; when it keeps somebody waiting, it is made small
  npm run crowds -- --from 1000     the first seed (default: 1)
  npm run crowds -- --heap          large bodies, answers and values at a real node with a heap of 400 MB, which has to live, and to
                                    keep nobody waiting for more than one query, less what the machine did meanwhile
`;

const CROWDS = 100;

/** The part of the excess that has to be left when a crowd is made small. */
const WORTH_SHOWING = 0.7;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      for: { type: 'string' },
      nodes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      heap: { type: 'boolean', default: false },
    },
  });
  const nodes = wholeIn('--nodes', values.nodes, 1, 9);
  if (values.seed !== undefined) return await showOne(wholeIn('--seed', values.seed, 1, 2 ** 31), nodes);
  const from = wholeIn('--from', values.from, 1, 2 ** 31);
  const until = values.for === undefined ? null : performance.now() + durationOf('--for', values.for);
  if (values.heap) return await inHeap(from, until);
  let failed = 0;
  let longest: Wait | null = null;
  let seed = from;
  for (; until === null ? seed < from + CROWDS : performance.now() < until; seed++) {
    const { fault, met } = await tried(seed, nodes, drawCrowd(new Draw(seed, 'crowd'), nodes));
    for (const wait of met?.longest ?? []) if (partOf(wait) > partOf(longest)) longest = wait;
    if (fault === null) continue;
    failed += 1;
    console.log(`seed ${seed}: ${fault}`);
  }
  console.log(`the longest wait: ${longest === null ? 'none' : textOf(longest)}`);
  console.log(`${seed - from - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** One crowd at a real node, or as many as there is time for. */
async function inHeap(from: number, until: number | null): Promise<number> {
  for (let seed = from; seed === from || (until !== null && performance.now() < until); seed++) {
    try {
      const { statuses, answers, longestMs, heldMs, ranMs } = await meetInHeap(new Draw(seed, 'crowd'));
      const told = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ');
      console.log(
        `seed ${seed}: ${told}; ${answers} changes beside them, of which one took ${longestMs.toFixed(0)} ms, and ${heldMs.toFixed(0)} without what the node waited for a processor; in none it ran for more than ${ranMs.toFixed(0)} ms`,
      );
      if (heldMs > NODE_MAX_MS) throw new Error(`a change took longer than ${NODE_MAX_MS} ms`);
    } catch (error) {
      console.log(`seed ${seed}: ${messageOf(error)}`);
      return 1;
    }
  }
  return 0;
}

/** Shows what a crowd does, and which part of it does the same. */
async function showOne(seed: number, nodes: number): Promise<number> {
  const crowd = drawCrowd(new Draw(seed, 'crowd'), nodes);
  const { fault, met } = await tried(seed, nodes, crowd);
  for (const wait of met?.longest ?? []) console.log(textOf(wait));
  console.log(`${crowd.length} askers, ${met?.ended ?? 0} answers to them`);
  if (fault === null) return 0;
  console.log(`${fault}\nmakes it small ...`);
  const worst = excessOf(met);
  const left = await deltaDebug(crowd, async (attempts) => {
    let at = 0;
    for (const attempt of attempts) {
      const less = await tried(seed, nodes, attempt);
      if (less.fault !== null && excessOf(less.met) >= worst * WORTH_SHOWING) return { at, left: attempt };
      at += 1;
    }
    return null;
  });
  for (const asker of left) console.log(JSON.stringify(asker));
  console.log(`with these alone: ${(await tried(seed, nodes, left)).fault}`);
  return 1;
}

/** The error of a crowd, null for none, and its result. */
async function tried(
  seed: number,
  nodes: number,
  crowd: readonly Asker[],
): Promise<{ readonly fault: string | null; readonly met: Met | null }> {
  try {
    const met = await meet(seed, nodes, crowd);
    const late = met.longest.filter(({ ms, maxMs }) => ms > maxMs);
    return { fault: isFair(met) ? null : late.map(textOf).join('; '), met };
  } catch (error) {
    return { fault: messageOf(error), met: null };
  }
}

/** The part by which the longest wait is longer than it may be; 0 for a crowd that failed otherwise. */
function excessOf(met: Met | null): number {
  return Math.max(0, ...(met?.longest ?? []).map((wait) => partOf(wait) - 1));
}

function partOf(wait: Wait | null): number {
  return wait === null ? 0 : wait.ms / wait.maxMs;
}

function textOf({ question, node, at, ms, maxMs }: Wait): string {
  return `${question} at ${node}, asked after ${at.toFixed(0)} ms, took ${ms.toFixed(0)} ms of ${maxMs}`;
}

await runProgram(HELP, main);
