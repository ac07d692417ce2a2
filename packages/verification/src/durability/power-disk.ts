/**
 * A file system that can lose its power: an ext4 image on a loop device. It takes root, a loop device, mkfs.ext4 and perl
 * (for a call that Node.js does not offer).
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@althing/storage';

const IMAGE_BYTES = 192 * 1024 * 1024;

/** `EXT4_IOC_SHUTDOWN` without a flush of the journal (linux/fs/ext4/ext4.h): from then on every access is an error. */
const SHUTDOWN = `
  open(my $file, '<', $ARGV[0]) or die $!;
  my $flags = pack('L', 2);
  ioctl($file, 0x8004587d, $flags) or die $!;`;

export class PowerDisk {
  /** A folder on the disk, for a node. */
  readonly folder: string;
  private readonly home: string;
  private mounted = false;

  /** @returns why no such disk can be had here; null when it can */
  static problem(): string | null {
    if (process.platform !== 'linux') return 'only Linux has ext4 on loop devices';
    if (process.getuid?.() !== 0) return 'only root can mount a file system';
    let disk: PowerDisk | undefined;
    try {
      disk = new PowerDisk();
      disk.cutPower();
      return null;
    } catch (error) {
      return messageOf(error).trim();
    } finally {
      disk?.discard();
    }
  }

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'althing-power-'));
    this.folder = join(this.home, 'disk', 'node');
    mkdirSync(join(this.home, 'disk'));
    const image = openSync(this.image, 'w');
    ftruncateSync(image, IMAGE_BYTES);
    closeSync(image);
    try {
      run('mkfs.ext4', ['-q', this.image]);
      this.switchOn();
    } catch (error) {
      this.discard();
      throw error;
    }
    mkdirSync(this.folder);
    writeFileSync(this.handle, '');
    run('sync', ['-f', this.handle]);
  }

  /** Writes that were not synced are gone, and every access fails until the power is back. */
  cutPower(): void {
    run('perl', ['-e', SHUTDOWN, this.handle]);
  }

  /** After a cut: nothing may have a file open on the disk any more. */
  powerAgain(): void {
    run('umount', [join(this.home, 'disk')]);
    this.mounted = false;
    // A process in a mount namespace of its own, begun meanwhile, still has the file system mounted: the same image would
    // come back as that one, on which every access is an error for ever.
    const copy = `${this.image}.copy`;
    run('cp', ['--sparse=always', this.image, copy]);
    renameSync(copy, this.image);
    this.switchOn();
  }

  discard(): void {
    if (this.mounted) run('umount', ['-l', join(this.home, 'disk')]);
    rmSync(this.home, { recursive: true, force: true });
  }

  private switchOn(): void {
    run('mount', ['-o', 'loop', this.image, join(this.home, 'disk')]);
    this.mounted = true;
  }

  private get image(): string {
    return join(this.home, 'image');
  }

  /** A file through which the disk is reached. */
  private get handle(): string {
    return join(this.home, 'disk', 'handle');
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'pipe' });
}
