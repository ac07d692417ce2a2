/**
 * A few runs; `npm run simulate` runs thousands. A failure names the seed: `npm run simulate -- --seed N` shows it.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { simulate } from './simulate.js';
import type { Happening } from './table.js';

const SEEDS = 6;

describe('simulated clusters', () => {
  test(`seeds 1 to ${SEEDS} keep every promise, and get things done`, async () => {
    let acknowledged = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      try {
        acknowledged += (await simulate({ seed })).acknowledged;
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
    expect(acknowledged).toBeGreaterThan(SEEDS * 20);
  });

  test('the same seed leads to the same run', async () => {
    const seed = 2;
    const first: string[] = [];
    const report = await simulate({ seed, log: (happening) => first.push(rowOf(happening)) });
    const second: string[] = [];
    expect(await simulate({ seed, log: (happening) => second.push(rowOf(happening)) })).toEqual(report);
    expect(second).toEqual(first);
  });

  test('garbage collections do not change a run', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const seed = 2;
    const { traceHash } = await simulate({ seed });
    const random = seeded(Number(process.env.ALTHING_TEST_SEED));
    const log = (): void => {
      if (random() < 0.02) collect();
    };
    expect((await simulate({ seed, log })).traceHash).toBe(traceHash);
  });

  test('the run is the same in a process that compiles nothing', async () => {
    const seed = 2;
    const { traceHash } = await simulate({ seed });
    const main = new URL('main.js', import.meta.url).pathname;
    // Not --jitless: Node.js 22 loads WebAssembly by itself, which that takes away.
    const interpreted = ['--no-opt', '--no-sparkplug', '--no-maglev', '--regexp-interpret-all'];
    const args = [...interpreted, main, '--seed', String(seed), '--times', '1', '--workers', '1'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toContain(`1 of 1: trace ${traceHash},`);
  });

  test('a planted bug is found', async () => {
    const mutants = new Set(['node:answer_before_commit']);
    const findings: string[] = [];
    for (let seed = 1; seed <= 20 && findings.length === 0; seed++) {
      await simulate({ seed, mutants }).catch((error: Error) => findings.push(error.message));
    }
    expect(findings).toHaveLength(1);
  });
});

function rowOf({ timeMs, machine, what }: Happening): string {
  return `${timeMs} ${machine} ${what}`;
}
