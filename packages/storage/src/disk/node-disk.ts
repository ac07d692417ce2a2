import fs from 'node:fs';
import { mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { DiskError } from '../errors.js';
import type { Disk, DiskEntry, DiskFile, WriteDone } from './disk.js';

/**
 * A real folder. Files are opened with O_DSYNC: a write completes when its bytes are durable, in one system
 * call, and it costs less than an append and an fdatasync (no metadata, at most one trip through the thread
 * pool).
 */
export class NodeDisk implements Disk {
  readonly path: string;
  private readonly pace = new Pace();

  constructor(folder: string) {
    this.path = folder;
  }

  /** Makes the folder (mode 0700) where it is missing. */
  static async make(folder: string): Promise<NodeDisk> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new NodeDisk(folder);
  }

  list(): Promise<DiskEntry[]> {
    return this.run('list', '.', async () => {
      const entries: DiskEntry[] = [];
      for (const entry of await readdir(this.path, { withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const bytes = await sizeOf(path.join(this.path, entry.name));
        if (bytes !== undefined) entries.push({ name: entry.name, bytes });
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  open(name: string): Promise<DiskFile> {
    return this.run('open', name, async () => {
      const fd = await openFile(path.join(this.path, name), fs.constants.O_RDWR | DSYNC);
      return new NodeFile(fd, name, (await statFile(fd)).size, this.pace);
    });
  }

  create(name: string, bytes: number): Promise<DiskFile> {
    const target = path.join(this.path, name);
    return this.run('create', name, async () => {
      await rm(target, { force: true });
      const flags = fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL | DSYNC;
      const file = new NodeFile(await openFile(target, flags), name, 0, this.pace);
      try {
        await fill(file, 0, bytes);
      } catch (error) {
        await file.close();
        await rm(target, { force: true });
        throw error;
      }
      return file;
    });
  }

  remove(name: string): Promise<void> {
    return this.run('remove', name, () => rm(path.join(this.path, name)));
  }

  rename(from: string, to: string): Promise<void> {
    return this.run('rename', from, () => rename(path.join(this.path, from), path.join(this.path, to)));
  }

  sync(): Promise<void> {
    return this.run('sync', '.', () => syncFolder(this.path));
  }

  freeBytes(): Promise<number> {
    return this.run('statfs', '.', async () => {
      const volume = await statfs(this.path);
      return volume.bavail * volume.bsize;
    });
  }

  private async run<T>(operation: string, name: string, task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      throw toDiskError(error, operation, path.join(this.path, name));
    }
  }
}

/** Makes the names inside a folder durable. Windows has no such call, and needs none. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const fd = await openFile(folder, fs.constants.O_RDONLY);
  try {
    await new Promise<void>((resolve, reject) => fs.fsync(fd, settle(resolve, reject)));
  } finally {
    await closeFile(fd);
  }
}

/** Windows has no O_DSYNC: there each write is followed by an fdatasync. */
const DSYNC: number = fs.constants.O_DSYNC ?? 0;

/** Zeros are written in slices, so that a log write next to it never waits for a whole new segment. */
const FILL_SLICE_BYTES = 1 << 20;

/** An urgent write of at most so many bytes holds its thread while the disk is fast. */
const HOLDING_BYTES_MAX = 64 * 1024;

/**
 * Tells whether the thread may be held for a write: two trips between threads cost more than a fast disk
 * takes. What counts is the time of the system call alone, since the trip through the thread pool says more of
 * how busy the machine is. So in between one write is held as a probe; while the disk is slow, ever fewer are.
 * The files of a folder share one.
 */
export class Pace {
  /** The number of held writes that were quick, less what slow ones cost. */
  private credit = 0;
  /** Writes that went through the pool since one was held, and how many must before one is held again. */
  private pooledWrites = 0;
  private backOff = PROBE_AFTER;

  /** True if the thread may be held for the next write. */
  get mayHold(): boolean {
    return this.credit > 0 || this.pooledWrites >= this.backOff;
  }

  /** @param ms what a write took for which the thread was held */
  held(ms: number): void {
    const isProbe = this.credit === 0;
    this.pooledWrites = 0;
    if (ms <= SLOW_MS) this.credit = Math.min(this.credit + 1, CREDIT_MAX);
    // The thread may have waited for a processor as well: one such write among quick ones says nothing.
    else this.credit = ms > STALL_MS ? 0 : Math.max(0, this.credit - SLOW_COST);
    if (this.credit === CREDIT_MAX) this.backOff = PROBE_AFTER;
    else if (isProbe && this.credit === 0) this.backOff = Math.min(2 * this.backOff, BACK_OFF_MAX);
  }

  /** @param ms what a write took that went through the thread pool */
  pooled(ms: number): void {
    this.pooledWrites = ms > STALL_MS ? 0 : this.pooledWrites + 1;
  }
}

/** Writes through the pool before one is held as a probe; at most, when probes were slow. */
const PROBE_AFTER = 32;
const BACK_OFF_MAX = 1024;

/** A system call that takes longer is slow, in milliseconds. */
const SLOW_MS = 2;

/** So long no write may take before one is held. */
const STALL_MS = 20;

/** Quick writes that count at most, and that a slow one takes away. */
const CREDIT_MAX = 32;
const SLOW_COST = 16;

class NodeFile implements DiskFile {
  private size: number;

  constructor(
    private readonly fd: number,
    private readonly name: string,
    bytes: number,
    private readonly pace: Pace,
  ) {
    this.size = bytes;
  }

  get bytes(): number {
    return this.size;
  }

  read(position: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    let done = 0;
    try {
      while (done < length) {
        const count = fs.readSync(this.fd, buffer, done, length - done, position + done);
        if (count === 0) break;
        done += count;
      }
    } catch (error) {
      throw toDiskError(error, 'read', this.name);
    }
    return done === length ? buffer : buffer.subarray(0, done);
  }

  write(buffers: readonly Uint8Array[], position: number, done: WriteDone, urgent = false): void {
    const bytes = buffers.length === 1 ? buffers[0]! : Buffer.concat(buffers);
    if (!urgent || DSYNC === 0 || bytes.length > HOLDING_BYTES_MAX) {
      this.writeFrom(bytes, 0, position, done);
    } else if (this.pace.mayHold) {
      // Messages to others go out first.
      setImmediate(() => this.writeHolding(bytes, position, done));
    } else {
      const begun = performance.now();
      this.writeFrom(bytes, 0, position, (error) => {
        this.pace.pooled(error === undefined ? performance.now() - begun : Number.POSITIVE_INFINITY);
        done(error);
      });
    }
  }

  async resize(bytes: number): Promise<void> {
    try {
      if (bytes > this.size) {
        await fill(this, this.size, bytes);
      } else {
        await new Promise<void>((resolve, reject) => fs.ftruncate(this.fd, bytes, settle(resolve, reject)));
        await new Promise<void>((resolve, reject) => fs.fsync(this.fd, settle(resolve, reject)));
        this.size = bytes;
      }
    } catch (error) {
      throw toDiskError(error, 'resize', this.name);
    }
  }

  async close(): Promise<void> {
    try {
      await closeFile(this.fd);
    } catch (error) {
      throw toDiskError(error, 'close', this.name);
    }
  }

  /** Work that is left after one system call goes the other way. */
  private writeHolding(buffer: Uint8Array, position: number, done: WriteDone): void {
    const begun = performance.now();
    let written = 0;
    try {
      written = fs.writeSync(this.fd, buffer, 0, buffer.length, position);
    } catch (error) {
      this.pace.held(Number.POSITIVE_INFINITY);
      done(toDiskError(error, 'write', this.name));
      return;
    }
    this.pace.held(performance.now() - begun);
    if (written < buffer.length) {
      this.writeFrom(buffer, written, position, done);
      return;
    }
    this.size = Math.max(this.size, position + written);
    done(undefined);
  }

  /**
   * A system call may write less than asked (a signal, a nearly full disk): then the rest is asked for again.
   */
  private writeFrom(buffer: Uint8Array, from: number, position: number, done: WriteDone): void {
    fs.write(this.fd, buffer, from, buffer.length - from, position + from, (error, count) => {
      const written = from + (error ? 0 : count);
      this.size = Math.max(this.size, position + written);
      if (error || (count === 0 && written < buffer.length)) {
        done(toDiskError(error ?? new Error('nothing written'), 'write', this.name, written));
      } else if (written < buffer.length) {
        this.writeFrom(buffer, written, position, done);
      } else if (DSYNC === 0) {
        fs.fdatasync(this.fd, (failed) =>
          done(failed ? toDiskError(failed, 'fsync', this.name, written) : undefined),
        );
      } else {
        done(undefined);
      }
    });
  }
}

/** Undefined for a file that was removed after the folder was read. */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function fill(file: NodeFile, from: number, to: number): Promise<void> {
  const zeros = Buffer.alloc(Math.min(FILL_SLICE_BYTES, to - from));
  for (let at = from; at < to; at += zeros.length) {
    const slice = zeros.subarray(0, Math.min(zeros.length, to - at));
    await new Promise<void>((resolve, reject) => file.write([slice], at, settle(resolve, reject)));
  }
}

function toDiskError(error: unknown, operation: string, file: string, written = 0): DiskError {
  if (error instanceof DiskError) return error;
  return new DiskError(errnoOf(error), operation, file, written, error);
}

function errnoOf(error: unknown): string {
  const known =
    typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
  return known ? String(error.code) : 'EIO';
}

function settle(resolve: () => void, reject: (error: Error) => void): (error?: Error | null) => void {
  return (error) => (error ? reject(error) : resolve());
}

function openFile(file: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(file, flags, 0o600, (error, fd) => (error ? reject(error) : resolve(fd)));
  });
}

function statFile(fd: number): Promise<fs.Stats> {
  return new Promise((resolve, reject) =>
    fs.fstat(fd, (error, stats) => (error ? reject(error) : resolve(stats))),
  );
}

function closeFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fs.close(fd, settle(resolve, reject)));
}
