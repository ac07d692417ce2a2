/**
 * The files of a LevelDB, held open. LevelDB removes all tables of a compaction one after the other, while it holds the lock that
 * each read needs. A file system takes some 5 ms to give the blocks of one back, and 10 µs to take the name from one that is open elsewhere. So
 * blocks are given back when files are closed here, in a thread of the pool, for which nobody waits.
 */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Milliseconds between two looks at the folder: while files come and go, and at most. */
const LOOK_MS = 200;
const LOOK_MAX_MS = 10_000;

/** A look at a large folder takes some milliseconds: the next one waits for one more by so many names. */
const NAMES_PER_MS = 10;

/** Tables and logs. The file `LOCK` must not be opened: the system gives up the lock of a process that closes it. */
const HELD = /^\d+\.(?:ldb|log)$/;

export class HeldFiles {
  private readonly files = new Map<string, FileHandle>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private leastMs = LOOK_MS;
  private waitMs = LOOK_MS;
  private isClosed = false;

  /** @param max files at a time, the newest ones: each takes a descriptor */
  constructor(
    private readonly folder: string,
    private readonly max: number,
  ) {
    this.lookLater();
  }

  /** Something is written: files will come and go. */
  notice(): void {
    if (this.waitMs === this.leastMs || this.timer === undefined) return;
    clearTimeout(this.timer);
    this.waitMs = this.leastMs;
    this.lookLater();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.looking;
    for (const name of this.files.keys()) await this.letGo(name);
  }

  private lookLater(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.looking = this.look().finally(() => this.lookLater());
    }, this.waitMs).unref();
  }

  private async look(): Promise<void> {
    // Nothing is held where the folder can't be read: that saves time, no more.
    const all = (await readdir(this.folder).catch(() => [])).filter((name) => HELD.test(name));
    const names = new Set(
      all.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10)).slice(0, this.max),
    );
    let changes = 0;
    for (const name of this.files.keys()) {
      if (names.has(name)) continue;
      await this.letGo(name);
      changes++;
    }
    for (const name of names) {
      if (this.files.has(name)) continue;
      const file = await open(path.join(this.folder, name)).catch(() => undefined);
      if (file === undefined) continue;
      this.files.set(name, file);
      changes++;
    }
    this.leastMs = Math.min(Math.max(LOOK_MS, all.length / NAMES_PER_MS), LOOK_MAX_MS);
    this.waitMs = changes > 0 ? this.leastMs : Math.min(2 * this.waitMs, LOOK_MAX_MS);
  }

  private async letGo(name: string): Promise<void> {
    const file = this.files.get(name);
    this.files.delete(name);
    await file?.close().catch(() => undefined);
  }
}
