/**
 * Clocks that jump: a small library that is loaded into a node's process and adds to the time of day what a file says.
 * Monotonic clocks go on as ever, as they do when an operator sets the time.
 */
import type { LibrarySource } from './preload.js';

const CODE = `#define _GNU_SOURCE
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

/** Its one integer says how many seconds the clock is ahead. */
export const CLOCK: LibrarySource = { name: 'clock', variable: 'CHAOS_CLOCK', code: CODE, cells: 1 };
