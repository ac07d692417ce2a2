import type { Disk } from './disk/disk.js';
import { DiskFullError, isDiskFull } from './errors.js';

export const RESERVE_NAME = 'reserve';

/**
 * A file of zeros whose only use is that it can be given up: a database can not even be opened, and nothing
 * can be compacted, on a disk without any room.
 */
export class Reserve {
  private held = false;

  constructor(
    private readonly disk: Disk,
    private readonly bytes: number,
  ) {}

  /** The reserve is there, in its full size. */
  get isHeld(): boolean {
    return this.held;
  }

  /** Looks whether the reserve of a former run is there. */
  async find(): Promise<boolean> {
    const entry = (await this.disk.list()).find(({ name }) => name === RESERVE_NAME);
    this.held = entry?.bytes === this.bytes;
    return this.held;
  }

  /** Gives the space back to the disk. */
  async release(): Promise<void> {
    this.held = false;
    const exists = (await this.disk.list()).some(({ name }) => name === RESERVE_NAME);
    if (!exists) return;
    await this.disk.remove(RESERVE_NAME);
    await this.disk.sync();
  }

  /** Takes the space again. Throws `DiskFullError` if it is not there, and then takes nothing. */
  async restore(): Promise<void> {
    if (this.bytes === 0 || (await this.find())) return;
    try {
      const file = await this.disk.create(RESERVE_NAME, this.bytes);
      await file.close();
      await this.disk.sync();
      this.held = true;
    } catch (error) {
      throw isDiskFull(error) ? new DiskFullError('there is no room for the reserve file', error) : error;
    }
  }
}
