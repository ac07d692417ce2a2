/**
 * Loaded into a node (`--expose-gc --import`): on SIGUSR2 it collects garbage and prints what memory is left in use.
 */
import process from 'node:process';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  console.log(JSON.stringify({ event: 'memory', rss, heapUsed, external }));
});
