/** Processor time and written bytes of processes, where the system tells (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** The time that all threads of some processes have run so far, in µs; undefined when the system does not tell. */
export function cpuTimeUs(pids: readonly number[]): number | undefined {
  try {
    let total = 0;
    for (const pid of new Set(pids)) {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        // First field: nanoseconds on a processor.
        const [ns = '0'] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ');
        total += Number(ns) / 1000;
      }
    }
    return total;
  } catch {
    // Another system, or a kernel without these statistics.
    return undefined;
  }
}

/** The time that the first thread of a process has run so far, in µs; undefined when the system does not tell. */
export function firstThreadTimeUs(pid: number): number | undefined {
  try {
    const [ns = '0'] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1000;
  } catch {
    // Another system, or a kernel without these statistics.
    return undefined;
  }
}

/** The bytes that a process, or this one, has written to files so far; undefined when the system does not tell. */
export function writtenBytesOf(pid: number | 'self'): number | undefined {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
  } catch {
    return undefined;
  }
}

/**
 * The number of times threads of some processes have gone to sleep so far, which is that of their wakes; undefined when the system
 * does not tell.
 */
export function wakesOf(pids: readonly number[]): number | undefined {
  try {
    let total = 0;
    for (const pid of new Set(pids)) {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8');
        total += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      }
    }
    return total;
  } catch {
    return undefined;
  }
}
