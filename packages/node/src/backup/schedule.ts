/**
 * The memory of a node for its backups: those that it takes by itself, and when the newest was taken, by
 * whomever. It lies in the file `backups` of the data folder:
 *
 *   file  := "ALTHBKPS" check[8] body     see `small-file.ts`
 *   body  := JSON: {"format": 1, "nextId", "newest", "backups": [...]}, see `Remembered`
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupInfo, BackupOrder } from '@althing/engine';
import { replaceFile, sealed, unsealed } from '../base/small-file.js';
import { ExitCode } from '../config/index.js';

export interface Backup extends Omit<BackupInfo, 'nextRun'> {
  /** Unix seconds; null when no further one is taken. */
  readonly nextRun: number | null;
  /** True if the settings order it. */
  readonly isStanding?: boolean;
}

interface Remembered {
  readonly nextId: number;
  /** When the newest complete backup was begun, in milliseconds; 0 when there is none. */
  readonly newest: number;
  readonly backups: readonly Backup[];
}

/** The file can't be what was written there. */
export class ScheduleFileError extends Error {
  readonly exitCode = ExitCode.DataDamaged;
}

const NAME = 'backups';

/** Names that may be in the data folder. */
export const SCHEDULE_FILE_NAMES = [NAME, `${NAME}.tmp`];

const MAGIC = 'ALTHBKPS';
const FORMAT = 1;

/** Each change is on the disk when the method returns: they are few and small. */
export class Schedule {
  private state: Remembered;

  /** @throws ScheduleFileError, errors of the file system */
  constructor(private readonly folder: string) {
    this.state = read(join(folder, NAME));
  }

  get all(): readonly Backup[] {
    return this.state.backups;
  }

  get newest(): number {
    return this.state.newest;
  }

  find(id: number): Backup | undefined {
    return this.state.backups.find((backup) => backup.id === id);
  }

  /** @returns the id, which was never used before */
  add({ template, createdAt, start, repeat, maxFiles }: BackupOrder, isStanding = false): number {
    const { nextId: id, backups } = this.state;
    const backup = { id, template, createdAt, nextRun: start, repeat, maxFiles, result: null, files: [] };
    this.save({ nextId: id + 1, backups: [...backups, isStanding ? { ...backup, isStanding } : backup] });
    return id;
  }

  remove(id: number): void {
    this.save({ backups: this.state.backups.filter((backup) => backup.id !== id) });
  }

  /** Nothing happens to one that is not there any more. */
  change(id: number, change: Partial<Omit<Backup, 'id'>>): void {
    const backups = this.state.backups.map((backup) =>
      backup.id === id ? { ...backup, ...change } : backup,
    );
    this.save({ backups });
  }

  /**
   * Notes the backup that was taken last. It is the newest also where an earlier one was begun at a later time: by a clock that was ahead.
   *
   * @param begunAt wall clock in milliseconds
   */
  noteNewest(begunAt: number): void {
    this.save({ newest: begunAt });
  }

  private save(change: Partial<Remembered>): void {
    const state = { ...this.state, ...change };
    replaceFile(this.folder, NAME, encodeSchedule(state));
    this.state = state;
  }
}

export function encodeSchedule(state: Remembered): Buffer {
  return sealed(MAGIC, Buffer.from(JSON.stringify({ format: FORMAT, ...state })));
}

/** @throws ScheduleFileError */
export function decodeSchedule(file: Buffer): Remembered {
  const body = unsealed(MAGIC, file, damaged);
  // Bytes that fit their checksum were written here.
  const { format, ...state }: Remembered & { readonly format: number } = JSON.parse(body.toString('utf8'));
  if (format !== FORMAT) {
    throw new ScheduleFileError(
      `the file "${NAME}" in the data folder has format ${format}, and this version knows ${FORMAT} only: start a newer version`,
    );
  }
  return state;
}

function read(path: string): Remembered {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      return { nextId: 0, newest: 0, backups: [] };
    throw error;
  }
  return decodeSchedule(file);
}

function damaged(why: string): ScheduleFileError {
  return new ScheduleFileError(
    `the file "${NAME}" in the data folder is damaged (${why}): remove it, and order the backups of this node anew`,
  );
}
