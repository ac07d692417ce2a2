/**
 * Disks that fail or are slow: a small library that is loaded into a node's process and does to what it writes in its
 * data folder what a file says, also while it runs. A write that is to be durable (O_DSYNC) counts as a write and a sync. The
 * state or the log alone may have no room: that is how a node meets a quota, or two disks.
 */
import type { LibrarySource } from './preload.js';

const CODE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The content of the file. */
struct faults { int64_t write_fails, sync_fails, sync_takes_ms, state_full, log_full; };

static const volatile struct faults *faults;
static const char *folder;

__attribute__((constructor)) static void open_faults(void) {
  const char *path = getenv("CHAOS_DISK");
  folder = getenv("SERVICE_STORAGE_PATH");
  int file = path && folder ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *at = mmap(0, sizeof *faults, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) faults = at;
}

/* Whether a file is in the data folder, or in a folder of that one. */
static int is_in(int file, const char *name) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  size_t own = strlen(folder);
  return strncmp(path, folder, own) == 0 && strncmp(path + own, name, strlen(name)) == 0;
}

/* Overwritten bytes take no room. */
static int is_overwritten(int file) {
  return is_in(file, "/log/mark");
}

static int is_data(int file) {
  if (!faults || !(faults->write_fails | faults->sync_fails | faults->sync_takes_ms)) return 0;
  return is_in(file, "");
}

static int is_full(int file) {
  if (!faults) return 0;
  return (faults->state_full && is_in(file, "/state/")) || (faults->log_full && is_in(file, "/log/") && !is_overwritten(file));
}

/* The bytes may be there, or not: nobody knows after a failed sync. */
static int after_sync(int result) {
  int64_t ms = faults->sync_takes_ms;
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  if (ms) nanosleep(&time, 0);
  if (!faults->sync_fails || result < 0) return result;
  errno = EIO;
  return -1;
}

static int write_fails(int file) {
  if (is_full(file)) {
    errno = ENOSPC;
    return 1;
  }
  if (!is_data(file) || !faults->write_fails) return 0;
  errno = EIO;
  return 1;
}

static ssize_t after_write(int file, ssize_t result) {
  if (!is_data(file) || !(fcntl(file, F_GETFL) & O_DSYNC)) return result;
  return after_sync(result > 0) < 0 ? -1 : result;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define WRITE(name, parameters, ...) ssize_t name parameters { \\
    REAL(name); return write_fails(file) ? -1 : after_write(file, real(file, __VA_ARGS__)); }
#define SYNC(name) int name(int file) { REAL(name); int result = real(file); return is_data(file) ? after_sync(result) : result; }

WRITE(write, (int file, const void *bytes, size_t length), bytes, length)
WRITE(pwrite, (int file, const void *bytes, size_t length, off_t at), bytes, length, at)
WRITE(pwrite64, (int file, const void *bytes, size_t length, off64_t at), bytes, length, at)
WRITE(writev, (int file, const struct iovec *parts, int count), parts, count)
WRITE(pwritev, (int file, const struct iovec *parts, int count, off_t at), parts, count, at)
WRITE(pwritev64, (int file, const struct iovec *parts, int count, off64_t at), parts, count, at)
WRITE(pwritev2, (int file, const struct iovec *parts, int count, off_t at, int flags), parts, count, at, flags)
SYNC(fsync)
SYNC(fdatasync)

/* LevelDB writes through these, and the C library does not call write for them where it could be caught. */
#undef fwrite_unlocked
#undef fflush_unlocked
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
  REAL(fwrite_unlocked);
  return write_fails(fileno(file)) ? 0 : real(bytes, size, count, file);
}
int fflush_unlocked(FILE *file) {
  REAL(fflush_unlocked);
  return file && write_fails(fileno(file)) ? EOF : real(file);
}
`;

/** Its integers are the faults, in the order of the struct. */
export const DISK: LibrarySource = { name: 'disk-faults', variable: 'CHAOS_DISK', code: CODE, cells: 5 };

/** Faults of a node's disk. */
export interface DiskFault {
  /** Writes fail with EIO. */
  readonly writeFails?: boolean;
  /** Writes are carried out, and syncs fail with EIO. */
  readonly syncFails?: boolean;
  /** Milliseconds that a sync takes longer. */
  readonly syncTakesMs?: number;
  /** Writes of the state alone, or of the log alone, fail with ENOSPC. */
  readonly stateFull?: boolean;
  readonly logFull?: boolean;
}
