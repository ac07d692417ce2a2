/**
 * Clocks that jump: a small library that is loaded into a node's process and adds to the time of day what a file says.
 * Monotonic clocks go on as ever, as they do when an operator sets the time.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_s;

__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("CHAOS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *at = mmap(0, sizeof *offset_s, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) offset_s = at;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (result == 0 && offset_s && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset_s;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(time, zone);
  if (result == 0 && time && offset_s) time->tv_sec += *offset_s;
  return result;
}
`;

export class Clocks {
  private readonly folder: string;
  private readonly library: string;

  /** @returns null, and why, when the library can't be built here */
  static build(folder: string): Clocks | string {
    if (process.platform !== 'linux') return 'clocks can only be changed on Linux';
    const source = join(folder, 'clock.c');
    const library = join(folder, 'clock.so');
    writeFileSync(source, SOURCE);
    try {
      execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'pipe' });
    } catch (error) {
      return `clocks can't be changed without a C compiler (${(error as Error).message.split('\n')[0]})`;
    }
    return new Clocks(folder, library);
  }

  private constructor(folder: string, library: string) {
    this.folder = folder;
    this.library = library;
  }

  /** The environment of the node at a place. */
  environment(place: number): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.library, CHAOS_CLOCK: this.fileOf(place) };
  }

  /** Sets how many seconds a node's clock is ahead. */
  set(place: number, seconds: number): void {
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(BigInt(seconds));
    // In place: the file is mapped into the process.
    writeFileSync(this.fileOf(place), offset, { flag: this.isNew.delete(place) ? 'w' : 'r+' });
  }

  private readonly isNew = new Set([0, 1, 2, 3, 4, 5, 6]);

  private fileOf(place: number): string {
    return join(this.folder, `clock${place}`);
  }
}
