/** A small file system of its own, for tests that fill it. It takes root to mount one. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@althing/storage';

export class SmallDisk {
  /** A folder on the disk, for a node. */
  readonly folder: string;

  /** @returns why no file system can be mounted here; null when it can */
  static problem(): string | null {
    if (process.platform !== 'linux') return 'only Linux has tmpfs';
    if (process.getuid?.() !== 0) return 'only root can mount a file system';
    try {
      SmallDisk.mount(1).unmount();
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  static mount(megabytes: number): SmallDisk {
    const mountPoint = mkdtempSync(join(tmpdir(), 'althing-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint], {
        stdio: 'pipe',
      });
    } catch (error) {
      rmSync(mountPoint, { recursive: true });
      throw error;
    }
    return new SmallDisk(mountPoint);
  }

  private constructor(private readonly mountPoint: string) {
    this.folder = join(mountPoint, 'node');
    mkdirSync(this.folder);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.mountPoint);
    return bavail * bsize;
  }

  /** Takes all room, as another program on the disk would. */
  fill(): void {
    const file = openSync(this.ballast, 'a');
    const block = Buffer.alloc(4096, 1);
    try {
      while (this.freeBytes > 0 && writeSync(file, block) === block.length) {
        // On until nothing is left.
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Gives the room back. */
  clear(): void {
    rmSync(this.ballast, { force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.mountPoint], { stdio: 'pipe' });
    rmSync(this.mountPoint, { recursive: true, force: true });
  }

  private get ballast(): string {
    return join(this.mountPoint, 'ballast');
  }
}
