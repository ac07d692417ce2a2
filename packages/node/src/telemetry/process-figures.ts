/**
 * Figures of the operating system about this process, under the names that exporters of Prometheus give it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Page } from './page.js';

/**
 * Adds the figures of the process; what this system does not tell is left out.
 *
 * @param startedAt wall clock in milliseconds, always the same: each other value counts as a restart
 */
export function addProcess(page: Page, startedAt: number): void {
  const { user, system } = process.cpuUsage();
  page.single('counter', 'process_cpu_seconds_total', 'Processor time', (user + system) / 1e6);
  page.single('gauge', 'process_resident_memory_bytes', 'Resident memory', process.memoryUsage.rss());
  page.single('gauge', 'process_start_time_seconds', 'Start of the process', startedAt / 1000);
  const open = told(() => readdirSync('/proc/self/fd').length);
  if (open !== null) page.single('gauge', 'process_open_fds', 'Open file descriptors', open);
  const max = told(() =>
    Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]),
  );
  if (max !== null) page.single('gauge', 'process_max_fds', 'Most open file descriptors', max);
}

function told(ask: () => number): number | null {
  try {
    return ask();
  } catch {
    return null;
  }
}
