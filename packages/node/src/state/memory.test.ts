/** Real nodes in memories that do not fit. */
import { expect, test } from '@jest/globals';
import { ExitCode } from '../config/index.js';
import { RealNode } from '../testing/index.js';

test.each([
  [
    'larger than the memory',
    10_000_000,
    /this process has \d+ MB of memory.*NODE_OPTIONS=--max-old-space-size=\d+/,
  ],
  ['too small', 64, /a node needs 128 MB: set NODE_OPTIONS=--max-old-space-size=128/],
])('a node with a heap that is %s does not start, and says what to do', async (_, sizeMb, message) => {
  const node = await RealNode.launch({}, undefined, [`--max-old-space-size=${sizeMb}`]);
  try {
    expect(await node.ended()).toBe(ExitCode.Configuration);
    expect(node.log).toMatch(message);
  } finally {
    node.clear();
  }
});

test('a node tells of a cache that its heap has little room for', async () => {
  const node = await RealNode.start({ cache_size_mb: 400 }, undefined, undefined, [
    '--max-old-space-size=512',
  ]);
  try {
    expect(node.log).toContain('cache_size_mb = 400 and program_cache_mb = 32 leave little room');
  } finally {
    await node.stop();
  }
});
