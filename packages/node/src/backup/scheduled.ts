import {
  type BackupInfo,
  type BackupOrder,
  type BackupsView,
  ErrorCode,
  operationError,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/error-text.js';
import type { Backups } from './backup.js';
import { BackupError } from './format.js';
import { deleteBelow, pathOf, writeBelow } from './place.js';
import type { Backup, Schedule } from './schedule.js';
import { nextTurn, STANDING_TEMPLATE, type StandingOrder } from './standing.js';

export interface ScheduledOptions {
  readonly schedule: Schedule;
  readonly backups: Pick<Backups, 'take' | 'isBusy'>;
  /** The schedule of the settings; null for none. */
  readonly standing: StandingOrder | null;
  /** Where the files lie. */
  readonly folder: string;
  readonly changes: () => number;
  /** Called with the outcome of each. */
  readonly report: (event: ScheduledEvent) => void;
  /** The note of what was done can't be written. */
  readonly onFailure: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Clock of pauses and durations, which does not jump. */
  readonly clock: Pick<Clock, 'now'>;
}

export interface ScheduledEvent {
  readonly id: number;
  readonly path: string;
  /** True if it came so far that it was counted as a backup. */
  readonly isBegun: boolean;
  /** Null when it went well. */
  readonly error: string | null;
  readonly bytes: number;
  readonly ms: number;
}

/** Time that one that was due waits behind another backup that is being taken, in milliseconds. */
const BUSY_PAUSE_MS = 1000;

/** Time for which nothing is begun after something could not be remembered, in milliseconds. */
const FAILURE_PAUSE_MS = 60_000;

/** Takes the backups that were ordered in the scope of the node, one at a time. */
export class ScheduledBackups implements BackupsView {
  /** The one that is being taken. */
  private current: Promise<void> | null = null;
  private notBefore = Number.NEGATIVE_INFINITY;
  private stopped = false;
  /** True if the schedule is as the settings have it. */
  private isSettled = false;

  constructor(private readonly options: ScheduledOptions) {}

  add(order: BackupOrder): number {
    return remembered(() => this.options.schedule.add(order));
  }

  remove(id: number, deleteFiles: boolean): boolean {
    const { schedule, folder } = this.options;
    const found = schedule.find(id);
    if (found === undefined) return false;
    if (found.isStanding === true && this.options.standing !== null) {
      throw operationError(
        `backup ${id} is ordered by the settings of the node: backup_interval_ms = 0 ends it`,
      );
    }
    remembered(() => schedule.remove(id));
    if (deleteFiles) for (const file of found.files) void deleteBelow(folder, file).catch(() => {});
    return true;
  }

  all(): readonly BackupInfo[] {
    const { schedule } = this.options;
    return schedule.all.map((backup) => ({
      ...backup,
      nextRun: this.isDue(backup) ? 'pending' : backup.nextRun,
    }));
  }

  /** Number of those that are to be taken. */
  get waiting(): number {
    return this.options.schedule.all.filter(({ nextRun }) => nextRun !== null).length;
  }

  /** Begins one that is due. To be called now and then. */
  consider(): void {
    const { schedule, backups, clock } = this.options;
    if (this.current !== null || this.stopped || clock.now() < this.notBefore) return;
    if (!this.isSettled) this.settle();
    this.followClock();
    const due = schedule.all.find((backup) => this.isDue(backup));
    if (due === undefined) return;
    if (backups.isBusy) {
      this.notBefore = clock.now() + BUSY_PAUSE_MS;
      return;
    }
    this.current = this.take(due)
      .catch((error: unknown) => {
        this.notBefore = clock.now() + FAILURE_PAUSE_MS;
        this.options.onFailure(error);
      })
      .finally(() => {
        this.current = null;
      });
  }

  /** Begins no more; resolves when none is being taken. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.current;
  }

  /**
   * Brings what the settings order into the schedule, and ends what they do not order any more; its files
   * stay.
   */
  private settle(): void {
    const { schedule, standing } = this.options;
    const known = schedule.all.find(({ isStanding }) => isStanding === true);
    const nextRun = standing === null ? null : this.nextStanding(standing.repeat);
    if (standing !== null && nextRun === null) return;
    try {
      if (standing === null || nextRun === null) {
        if (known !== undefined && known.nextRun !== null)
          schedule.change(known.id, { nextRun: null, repeat: 0 });
      } else if (known === undefined) {
        const createdAt = Math.floor(this.options.now() / 1000);
        const { repeat, maxFiles } = standing;
        schedule.add({ template: STANDING_TEMPLATE, createdAt, start: nextRun, repeat, maxFiles }, true);
      } else if (known.repeat !== standing.repeat) {
        schedule.change(known.id, { repeat: standing.repeat, maxFiles: standing.maxFiles, nextRun });
      } else if (known.maxFiles !== standing.maxFiles) {
        schedule.change(known.id, { maxFiles: standing.maxFiles });
      }
      this.isSettled = true;
    } catch (error) {
      this.notBefore = this.options.clock.now() + FAILURE_PAUSE_MS;
      this.options.onFailure(error);
    }
  }

  /**
   * Moves what repeats to an earlier time where the wall clock was ahead and was set right: else the next one would come when the clock is
   * there again, after a month or years. One whose first time is to come is left alone, and so is one that is no more than
   * two periods away: a clock that is set back by a second has nothing taken twice.
   */
  private followClock(): void {
    const { schedule, now, clock, onFailure } = this.options;
    const nowS = Math.floor(now() / 1000);
    for (const { id, nextRun, repeat, result, isStanding } of schedule.all) {
      const hasPeriod = repeat > 0 && (result !== null || isStanding === true);
      if (!hasPeriod || nextRun === null || nextRun - nowS <= 2 * repeat) continue;
      try {
        schedule.change(id, { nextRun: nowS + ((nextRun - nowS) % repeat || repeat) });
      } catch (error) {
        this.notBefore = clock.now() + FAILURE_PAUSE_MS;
        onFailure(error);
        return;
      }
    }
  }

  /** The next time of this node; null while its place is not known. */
  private nextStanding(repeat: number): number | null {
    const turn = this.options.standing?.turn() ?? null;
    return turn === null ? null : nextTurn(Math.floor(this.options.now() / 1000), repeat, turn);
  }

  private isDue({ nextRun }: Backup): boolean {
    return nextRun !== null && nextRun * 1000 <= this.options.now();
  }

  private async take(backup: Backup): Promise<void> {
    const { schedule, backups, folder, changes, report, now, clock } = this.options;
    const { id, template, repeat } = backup;
    const [begun, began] = [now(), clock.now()];
    const path = pathOf(template, folder, Math.floor(begun / 1000), changes());
    let bytes = 0;
    let isBegun = false;
    let error: unknown = null;
    try {
      await writeBelow(folder, path, backup.files.includes(path), (file) => {
        isBegun = true;
        return backups.take(async (part) => {
          if (this.stopped) throw new BackupError('busy', 'the node is shutting down');
          await file.writeFile(part);
          bytes += part.length;
        });
      });
    } catch (thrown) {
      error = thrown;
    }
    // It may be gone, or have lost files, in the meantime.
    const present = schedule.find(id);
    const files =
      error === null ? [...(present?.files ?? []).filter((file) => file !== path), path] : present?.files;
    const kept = await this.prune(files ?? [], backup.maxFiles);
    const turn = backup.isStanding === true ? this.nextStanding(repeat) : null;
    const nextRun = repeat > 0 ? (turn ?? nextAfter(backup, now())) : null;
    schedule.change(id, { files: kept, nextRun, result: resultOf(error, begun) });
    report({
      id,
      path,
      isBegun,
      error: error === null ? null : messageOf(error),
      bytes,
      ms: clock.now() - began,
    });
  }

  /** Deletes the oldest files beyond the number that is kept. */
  private async prune(files: readonly string[], maxFiles: number): Promise<readonly string[]> {
    const kept = files.slice(-maxFiles);
    for (const file of files.slice(0, -maxFiles))
      await deleteBelow(this.options.folder, file).catch(() => {});
    return kept;
  }
}

/** Does what has to be on the disk in the end. */
function remembered<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw operationError(`the node can not remember it: ${messageOf(error)}`);
  }
}

/** The first time in the future that is a number of periods behind the last one. */
function nextAfter({ nextRun, repeat }: Backup, nowMs: number): number {
  const now = Math.floor(nowMs / 1000);
  // One that was due at once has its time from now on.
  const last = nextRun === null || nextRun === 0 ? now : nextRun;
  return last + repeat * Math.max(1, Math.floor((now - last) / repeat) + 1);
}

function resultOf(error: unknown, begunMs: number): NonNullable<BackupInfo['result']> {
  const when = new Date(begunMs).toISOString().replace(/\.\d+/, '');
  if (error === null) return { code: 0, message: `success - ${when}` };
  const code = error instanceof BackupError && error.reason === 'busy' ? ErrorCode.NODE : ErrorCode.OPERATION;
  return { code, message: `${messageOf(error)} - ${when}` };
}
