import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { LineRing, newLineMemory } from './line-ring.js';

const MiB = 1 << 20;

describe('the ring of lines', () => {
  test('gives all bytes in their order, also over its end and where the counts begin anew', () => {
    const memory = newLineMemory();
    // Both counts are about to become negative.
    memory.words.fill(2 ** 31 - 700_000, 0, 2);
    const ring = new LineRing(memory);
    for (let turn = 0; turn < 6; turn++) {
      const bytes = randomBytes(600_000);
      expect(ring.put(bytes)).toBe(0);
      const parts: Uint8Array[] = [];
      for (let part = ring.next(250_000); part.length > 0; part = ring.next(250_000)) {
        expect(part.length).toBeLessThanOrEqual(250_000);
        parts.push(part);
        ring.take(part.length);
      }
      expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    }
  });

  test('gives the same again until it is taken, and takes no more than there is room for', async () => {
    const memory = newLineMemory();
    const ring = new LineRing(memory);
    ring.put(new Uint8Array(MiB).fill(1));
    expect(ring.next(10)).toEqual(ring.next(10));
    const program = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { LineRing } = await import(workerData.module);
      parentPort.postMessage(new LineRing(workerData.memory).put(new Uint8Array(10).fill(2)));`;
    const module = new URL('./line-ring.js', import.meta.url).href;
    const other = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      workerData: { memory, module },
    });
    const waitedMs = new Promise<number>((resolve) => other.once('message', resolve));
    // The word behind the count of those taken says that the other thread waits.
    while (Atomics.load(memory.words, 2) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(ring.next(2 * MiB).length).toBe(MiB);
    ring.take(MiB);
    expect(await waitedMs).toBeGreaterThan(0);
    expect([...ring.next(MiB)]).toEqual(new Array(10).fill(2));
  });
});
