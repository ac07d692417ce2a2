/** A run of a task, from its beginning until it is decided what became of it. */
import type { Change, Group, Target, TaskRun, User } from '@althing/engine';
import type { GroupSession } from '../groups/group-session.js';
import type { Respond } from '../groups/request.js';
import type { Driver, PendingFutures } from './driver.js';
import type { FuturesEnd, FuturesOwner } from './proposed-parts.js';
import { Prerequisites } from './request.js';
import type { ChangedBy, RootReports } from './root-reports.js';
import type { TaskQueue } from './task-queue.js';

/** A group that this node leads. */
export interface LedGroup {
  readonly session: GroupSession;
  readonly group: Group;
  readonly target: Target;
  /** The version of its role when it was taken up. */
  readonly version: number;
  readonly queue: TaskQueue;
  /** Runs that are not decided, by task. */
  readonly running: Map<number, RunningTask>;
  /** True if its tasks had to wait, when that was looked at last. */
  isHeld: boolean;
  /** Calls its timer off. */
  cancel: () => void;
}

export interface DueTask {
  readonly led: LedGroup;
  readonly id: number;
  readonly startAt: number;
  /** Wall clock in milliseconds. */
  readonly since: number;
}

/** The tasks of a node, as a run sees them. */
export interface RunningTaskHost {
  readonly reports: RootReports;
  /** Notes that code of a task ran. */
  ran(userId: number, ms: number): void;
  futuresFinished(run: RunningTask, end: FuturesEnd): void;
}

/** A run of a task that is not decided. */
export class RunningTask implements FuturesOwner {
  readonly by: ChangedBy;
  /** The owner of the task. */
  readonly userId: number;
  readonly prerequisites = new Prerequisites();
  /** The engine's note of the run, which its futures have; null before there are any. */
  rest: TaskRun | null = null;
  readonly saltKey = null;
  readonly mayChange = true;
  readonly isRequest = false;
  readonly isAbandoned = false;
  readonly isNamed = false;

  constructor(
    private readonly tasks: RunningTaskHost,
    readonly due: DueTask,
    { id, name }: User,
    /** Monotonic time in milliseconds. */
    readonly begunAt: number,
    readonly lateMs: number,
  ) {
    this.userId = id;
    this.by = { user: { name }, id: `task:${due.id}` };
  }

  get id(): number {
    return this.due.id;
  }

  get led(): LedGroup {
    return this.due.led;
  }

  get session(): GroupSession {
    return this.led.session;
  }

  start(first: PendingFutures, driver: Driver): void {
    this.rest = first.rest.call.run;
    driver.start(first, this);
  }

  begins(): null {
    return null;
  }

  acts(): void {}

  reporting(change: Change, respond: Respond): Respond {
    return this.tasks.reports.reporting(this.by, change, respond);
  }

  ran(ms: number): void {
    this.tasks.ran(this.userId, ms);
  }

  finished(end: FuturesEnd): void {
    this.tasks.futuresFinished(this, end);
  }
}
