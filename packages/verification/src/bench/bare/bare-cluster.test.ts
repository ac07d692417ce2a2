import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BareCluster } from './bare-cluster.js';
import { SHAPES } from './order.js';

test.each(SHAPES)(
  'shape %s: each write has an index of its own, and reads see what was acknowledged',
  async (shape) => {
    const folder = mkdtempSync(join(tmpdir(), 'althing-test-'));
    const cluster = await BareCluster.start(shape, folder);
    try {
      const nodes = cluster.targets.map(({ port }) => port);
      const everywhere = nodes.flatMap((port) => Array.from({ length: 8 }, () => port));
      const indexes = await Promise.all(everywhere.map((port) => ask(port, '.counter += 1;')));
      expect(indexes.sort((a, b) => a - b)).toEqual(everywhere.map((_, at) => at + 1));
      const count = everywhere.length;
      for (const [at, port] of nodes.entries()) {
        expect(await ask(port, '.counter += 1;')).toBe(count + at + 1);
        for (const reader of nodes) expect(await ask(reader, '.counter;')).toBe(count + at + 1);
      }
    } finally {
      await cluster.discard();
    }
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  },
);

async function ask(port: number, code: string): Promise<number> {
  const body = JSON.stringify({ type: 'query', code });
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`http://127.0.0.1:${port}/collection/bench`, { method: 'POST', body, signal });
  expect(response.status).toBe(200);
  return Number(await response.text());
}
