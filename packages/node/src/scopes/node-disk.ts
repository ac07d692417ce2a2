import type { DataFolder } from '@althing/storage';
import type { Config } from '../config/index.js';
import type { Logger } from '../logger.js';
import { type DiskEvent, DiskKeeper, type DiskKeeperOptions } from './disk-keeper.js';

export interface NodeDiskOptions extends Pick<DiskKeeperOptions, 'setLevel' | 'reopenState' | 'onFailure'> {
  readonly config: Pick<Config, 'diskReserveMb'>;
  readonly folder: DataFolder;
  readonly log: Logger;
}

const MiB = 1024 * 1024;

/** Keeps the disk of a node's data folder, and tells the log what happens to it. */
export function keepDisk({ config, folder, log, ...actions }: NodeDiskOptions): DiskKeeper {
  return new DiskKeeper({
    ...actions,
    reserve: folder,
    freeBytes: () => folder.stateDisk.freeBytes(),
    bytesToReopen: () => folder.bytesToReopen(),
    reserveBytes: config.diskReserveMb * MiB,
    report: (event) => report(log, event),
  });
}

function report(log: Logger, event: DiskEvent): void {
  switch (event.kind) {
    case 'level':
      if (event.level === 'ok') log.info({ event: 'disk', level: event.level }, LEVEL_TEXT[event.level]);
      else log.error({ event: 'disk', level: event.level }, LEVEL_TEXT[event.level]);
      return;
    case 'reserve_released':
      log.warn({ event: event.kind }, 'the reserve was given up to make room for a checkpoint');
      return;
    case 'reserve_restored':
      log.info({ event: event.kind }, 'the reserve is there again');
      return;
    case 'state_shut':
      log.error({ event: event.kind }, 'no room on the disk to open the data again: requests are refused');
      return;
    case 'state_reopened':
      log.info({ event: event.kind }, 'the state was opened again and takes checkpoints');
  }
}

const LEVEL_TEXT = {
  ok: 'the disk has room again: changes are taken',
  low: 'the disk is almost full: changes are refused, but for those of the root scope',
  full: 'the disk is full: changes are refused',
} as const;
