import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@althing/node/testing';
import { describe, expect, test } from '@jest/globals';
import { startNode } from './start-node.js';

const fakeNode = [process.execPath, fileURLToPath(new URL('fake-node.js', import.meta.url))] as const;

describe('a node in a process of its own', () => {
  test('is ready when started, and leaves nothing behind when stopped', async () => {
    const node = await startNode({ command: fakeNode });

    expect((await fetch(`http://127.0.0.1:${node.statusPort}/ready`)).status).toBe(200);
    expect(existsSync(node.folder)).toBe(true);
    await node.stop();
    expect([node.running, existsSync(node.folder)]).toEqual([false, false]);
  });

  test('a node that does not start says why', async () => {
    const command = [process.execPath, '-e', 'console.error("no luck"); process.exit(3)'] as const;
    await expect(startNode({ command })).rejects.toThrow(/did not start(.|\n)*code 3(.|\n)*no luck/);
  });

  test('gets its settings as variables, and none of ours', async () => {
    const command = [
      process.execPath,
      '-e',
      'console.error(JSON.stringify(process.env)); process.exit(3)',
    ] as const;
    process.env.SERVICE_CACHE_SIZE_MB = '1';
    try {
      const started = startNode({ command, settings: { log_level: 'debug' } });
      await expect(started).rejects.toThrow('"SERVICE_LOG_LEVEL":"debug"');
      await expect(started).rejects.not.toThrow('SERVICE_CACHE_SIZE_MB');
    } finally {
      delete process.env.SERVICE_CACHE_SIZE_MB;
    }
  });
});

test('free ports are different', async () => {
  const ports = await freePorts(10);
  expect(new Set(ports).size).toBe(10);
});
