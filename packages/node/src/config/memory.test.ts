import { describe, expect, test } from '@jest/globals';
import { loadConfig } from './load.js';
import { checkMemory, consensusHeapMb, memoryOf, type ProcessMemory } from './memory.js';

const GiB = 1024 ** 3;

/** The memory of a process, with the heap that Node.js 20 and 22 choose: see the head of memory.ts. */
function container(totalMb: number, heapMb = heapOf(totalMb)): ProcessMemory {
  return { totalMb, isLimited: true, heapMb };
}

function heapOf(totalMb: number): number {
  if (totalMb >= 16_384) return 4144;
  return Math.max(259, Math.min(2048, totalMb / 2) + (totalMb < 2048 ? 12 : 48));
}

function checked(memory: ProcessMemory, environment: Record<string, string> = {}) {
  const { config } = loadConfig({ environment, memory, hostName: 'a' });
  const { problems, warnings } = checkMemory(config, memory);
  return { config, problems: problems.map(({ message }) => message), warnings };
}

describe('the memory of a process', () => {
  test('is that of its control group, where that is less than the machine has', () => {
    const heap = GiB;
    expect(memoryOf({ machine: 8 * GiB, limit: 2 * GiB, heap })).toEqual({
      totalMb: 2048,
      isLimited: true,
      heapMb: 1024,
    });
    for (const limit of [0, 2 ** 63, 8 * GiB]) {
      expect(memoryOf({ machine: 8 * GiB, limit, heap })).toEqual({
        totalMb: 8192,
        isLimited: false,
        heapMb: 1024,
      });
    }
  });
});

test('the consensus thread has a share where memory is limited', () => {
  expect([384, 1024, 8192].map((totalMb) => consensusHeapMb(container(totalMb)))).toEqual([128, 204, 1638]);
  expect(consensusHeapMb({ totalMb: 8192, isLimited: false, heapMb: 4144 })).toBeNull();
});

describe('settings that are not set', () => {
  test.each([384, 512, 1024, 2048, 4096, 8192, 65_536])('fit into a container of %i MB', (totalMb) => {
    expect(checked(container(totalMb))).toMatchObject({ problems: [], warnings: [] });
  });

  test('follow the heap', () => {
    const sizes = (memory: ProcessMemory): number[] => {
      const { cacheSizeMb, queryMemoryLimitMb } = checked(memory).config;
      return [cacheSizeMb, queryMemoryLimitMb];
    };
    expect(sizes(container(1024, 524))).toEqual([131, 262]);
    expect(sizes(container(8192, 4800))).toEqual([1200, 512]);
    expect(sizes({ totalMb: 8192, isLimited: false, heapMb: 4144 })).toEqual([256, 512]);
    expect(sizes({ totalMb: 1024, isLimited: false, heapMb: 524 })).toEqual([131, 262]);
  });
});

describe('a node is refused', () => {
  test('less memory than its heap may take', () => {
    expect(checked(container(256)).problems).toEqual([expect.stringContaining('at least 384 MB')]);
    expect(checked(container(2048, 4144)).problems).toEqual([
      expect.stringContaining('NODE_OPTIONS=--max-old-space-size=1228,'),
    ]);
    const machine = { totalMb: 2048, isLimited: false, heapMb: 4144 };
    expect(checked(machine).problems).toHaveLength(1);
  });

  test('a heap that is too small', () => {
    expect(checked(container(1024, 112)).problems).toEqual([
      expect.stringContaining('NODE_OPTIONS=--max-old-space-size=128'),
    ]);
  });

  test('caches that do not fit, and is told which heap they need', () => {
    const large = { SERVICE_CACHE_SIZE_MB: '2400' };
    expect(checked(container(8192, 2096), large).problems).toEqual([
      expect.stringMatching(/^cache_size_mb = 2400 .*, or set NODE_OPTIONS=--max-old-space-size=4054$/),
    ]);
    expect(checked(container(4096, 2096), large).problems).toEqual([
      expect.stringContaining('give the process 6756 MB of memory and set NODE_OPTIONS='),
    ]);
    // Where nothing limits the process, it is the operator's business.
    const machine = { totalMb: 4096, isLimited: false, heapMb: 2096 };
    expect(checked(machine, large)).toMatchObject({ problems: [], warnings: [expect.any(String)] });
    // More than the machine has fits into no heap.
    expect(checked(machine, { SERVICE_CACHE_SIZE_MB: '1048576' }).problems).toEqual([
      expect.stringMatching(/^cache_size_mb = 1048576 .* do not fit: /),
    ]);
  });

  test('but only warned of a query that takes what is left', () => {
    const settings = { SERVICE_CACHE_SIZE_MB: '256', SERVICE_QUERY_MEMORY_LIMIT_MB: '512' };
    expect(checked(container(1024, 524), settings)).toMatchObject({
      problems: [],
      warnings: [expect.stringContaining('query_memory_limit_mb = 512')],
    });
  });
});
