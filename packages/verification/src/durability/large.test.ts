import { rmSync } from 'node:fs';
import { RealNode, type TestSettings } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';

const CACHE_MB = 16;
const SETTINGS: TestSettings = { cache_size_mb: CACHE_MB, checkpoint_interval_ms: 500, log_segment_mb: 16 };

const TEXT_LENGTH = 16_000;
const BATCH = 100;
/** Ten times what may be in memory. */
const THINGS = Math.ceil((10 * CACHE_MB * 1024 * 1024) / TEXT_LENGTH / BATCH) * BATCH;

/** All things don't fit into V8's heap by far: a node that kept them in memory would end. */
const HEAP = ['--max-old-space-size=128'];

describe('a collection of ten times cache_size_mb', () => {
  let node: RealNode;

  beforeAll(async () => {
    node = await RealNode.start(SETTINGS, undefined, undefined, HEAP);
    await node.value('//stuff', '.large = [];');
    for (let from = 0; from < THINGS; from += BATCH) {
      const code = 'range(from, to).each(|i| .large.push({n: i, text: texts[i % 10]})); nil;';
      await node.value('//stuff', code, { from, to: from + BATCH, texts: TEXTS });
    }
  });

  afterAll(async () => {
    await node.kill();
    rmSync(node.folder, { recursive: true, force: true });
  });

  test('can be read in random order, twice', async () => {
    expect(await wrongThings(node)).toEqual([]);
    expect(await wrongThings(node)).toEqual([]);
  });

  test('is all there after a restart', async () => {
    await node.stop({ keep: true });
    node = await RealNode.start(SETTINGS, node.folder, node.authorization, HEAP);
    expect(await wrongThings(node)).toEqual([]);
  });
});

const TEXTS = Array.from('abcdefghij', (letter) => letter.repeat(TEXT_LENGTH));

/** Reads everything in random order. */
async function wrongThings(node: RealNode): Promise<number[]> {
  const random = seeded(11);
  const order = Array.from({ length: THINGS }, (_, index) => [random(), index] as const)
    .sort(([a], [b]) => a - b)
    .map(([, index]) => index);
  const wrong: number[] = [];
  const code = `
    wanted.filter(|i| {
      thing = .large[i];
      thing.n != i || thing.text.len() != length || thing.text[0] != 'abcdefghij'[i % 10];
    });`;
  for (let from = 0; from < THINGS; from += BATCH) {
    const wanted = order.slice(from, from + BATCH);
    wrong.push(...((await node.value('//stuff', code, { wanted, length: TEXT_LENGTH })) as number[]));
  }
  return wrong;
}
