/** Processor time and written bytes of processes, where the system tells (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** The time that all threads of some processes have run so far, in µs; undefined when the system does not tell. */
export function cpuTimeUs(pids: readonly number[]): number | undefined {
  return ifTold(() => sumOfThreads(pids, threadTimeUs));
}

/** The same. @throws {Error} when the system does not tell */
export function measuredTimeUs(pids: readonly number[]): number {
  const us = cpuTimeUs(pids);
  if (us === undefined)
    throw new Error('the system does not tell how much processor time other processes took');
  return us;
}

/** The time that the first thread of a process has run so far, in µs; undefined when the system does not tell. */
export function firstThreadTimeUs(pid: number): number | undefined {
  return ifTold(() => threadTimeUs(`/proc/${pid}/task/${pid}`));
}

/** The bytes that a process, or this one, has written to files so far; undefined when the system does not tell. */
export function writtenBytesOf(pid: number | 'self'): number | undefined {
  return ifTold(() => Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0));
}

/**
 * The number of times threads of some processes have gone to sleep so far, which is that of their wakes; undefined when the system
 * does not tell.
 */
export function wakesOf(pids: readonly number[]): number | undefined {
  return ifTold(() =>
    sumOfThreads(pids, (folder) => {
      const status = readFileSync(`${folder}/status`, 'utf8');
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    }),
  );
}

function sumOfThreads(pids: readonly number[], read: (folder: string) => number): number {
  let total = 0;
  for (const pid of new Set(pids)) {
    for (const task of readdirSync(`/proc/${pid}/task`)) total += read(`/proc/${pid}/task/${task}`);
  }
  return total;
}

function threadTimeUs(folder: string): number {
  // First field: nanoseconds on a processor.
  const [ns = '0'] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
  return Number(ns) / 1000;
}

/** Undefined on another system, and with a kernel without these statistics. */
function ifTold(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
