import { type Change, ErrorCode, isBeingFilled, type QueryError, type TaskRun } from '@althing/engine';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Driver, DriverOptions } from './driver.js';
import type { FuturesEnd } from './proposed-parts.js';
import type { RootReports } from './root-reports.js';
import { type DueTask, type LedGroup, RunningTask, type RunningTaskHost } from './running-task.js';
import { TaskQueue, type WaitingTask } from './task-queue.js';

export interface TasksOptions extends Pick<DriverOptions, 'engine' | 'session' | 'scheduler' | 'clock'> {
  readonly driver: Driver;
  readonly reports: RootReports;
  /** Wall clock in milliseconds. */
  readonly wallClock: () => number;
  /** Called for each run that has ended, when that is certain. */
  readonly report?: (run: TaskReport) => void;
}

/** A run of a task that has ended. */
export interface TaskReport {
  readonly scope: string;
  readonly task: number;
  /** Null when it went well. */
  readonly error: QueryError | null;
  /** The delay of its beginning behind its time, in milliseconds. */
  readonly lateMs: number;
  readonly durationMs: number;
}

/** Figures of tasks that wait here: in the groups that this node leads. */
export interface TaskFigures {
  /** Scheduled tasks. */
  readonly waiting: number;
  /** Wait so far of the one that is due for longest, in milliseconds. */
  readonly overdueMs: number;
}

/**
 * Starts the tasks of the groups that this node leads, when they are due. A run is a change like any other, and what becomes of the task
 * is among its effects: so whoever leads next finds in the state which runs there were, whatever its clock says. A task runs again only
 * when it is decided what became of its last run.
 *
 * One run at a time, and whatever else there is to do between two of them.
 */
export class Tasks implements RunningTaskHost {
  private readonly groups = new Map<GroupId, LedGroup>();
  /** Runs that are due, in the order in which they became so. */
  private due: DueTask[] = [];
  private isPumping = false;
  private isHalted = false;
  /** Ends the watch over the wall clock; null while none goes on, since nothing waits. */
  private endWatch: (() => void) | null = null;
  /** The users, as they were when it was last looked for tasks without owners. */
  private accessVersion = -1;
  /** The replacements of everything by a backup that were noticed. */
  private replacements = 0;

  constructor(private readonly options: TasksOptions) {}

  get figures(): TaskFigures {
    const now = this.options.wallClock();
    let waiting = 0;
    let overdueMs = 0;
    for (const { group } of this.groups.values()) waiting += group.tasks.scheduled;
    for (const { since } of this.due) overdueMs = Math.max(overdueMs, now - since);
    return { waiting, overdueMs };
  }

  /** To be called when a session changed: it may lead now, or not any more. */
  sessionChanged(session: GroupSession): void {
    const led = this.groups.get(session.id);
    const isOver = led !== undefined && !isCurrent(led);
    if (isOver) this.leave(led);
    if ((isOver || led === undefined) && session.proposes && !this.isHalted) this.takeUp(session);
    if (session.id === ROOT_GROUP) this.rootChanged(session);
  }

  /** Starts no run any more: the node stops. Those that are under way go on, and are decided here as long as it leads. */
  halt(): void {
    this.isHalted = true;
    this.endWatch?.();
    this.due = [];
    for (const led of this.groups.values()) stopWatching(led);
  }

  private takeUp(session: GroupSession): void {
    const { group, id, roleVersion } = session;
    const { tasks } = group;
    const target = id === ROOT_GROUP ? 'thingsdb' : id;
    const queue = new TaskQueue();
    const led: LedGroup = {
      session,
      group,
      target,
      version: roleVersion,
      queue,
      running: new Map(),
      isHeld: this.isHeld({ session }),
      cancel: NOTHING,
    };
    this.groups.set(id, led);
    tasks.onChange = (task) => {
      if (!led.running.has(task)) this.enqueue(led, task, this.options.wallClock());
    };
    this.enqueueAll(led);
    this.removeOrphans(led);
    this.arm(led);
  }

  /**
   * Takes up the tasks that there are: those too that came as records of a backup, and those whose owners are gone, since they may be
   * back as long as that is not committed.
   */
  private enqueueAll(led: LedGroup): void {
    for (const { id } of led.group.tasks.all()) if (!led.running.has(id)) this.enqueue(led, id, 0);
  }

  private leave(led: LedGroup): void {
    stopWatching(led);
    // Each would take a turn only to find that it is over, and all of them come back when the group is taken up again.
    this.due = this.due.filter((due) => due.led !== led);
    if (this.groups.get(led.session.id) === led) this.groups.delete(led.session.id);
  }

  private enqueue(led: LedGroup, id: number, knownAt: number): void {
    const { queue, group } = led;
    const startAt = group.tasks.stateOf(id)?.startAt ?? 0;
    if (startAt === 0) return;
    // Half of it is obsolete, or more.
    if (queue.size > QUEUE_SPARE + 2 * group.tasks.size) this.rebuild(led);
    queue.add({ id, startAt, knownAt });
    if (queue.head?.id === id) this.arm(led);
  }

  private rebuild({ queue, group, running }: LedGroup): void {
    const known = new Map<number, number>();
    for (let next = queue.take(); next !== undefined; next = queue.take()) known.set(next.id, next.knownAt);
    for (const { id, startAt } of group.tasks.all()) {
      const knownAt = known.get(id);
      if (startAt !== 0 && knownAt !== undefined && !running.has(id)) queue.add({ id, startAt, knownAt });
    }
  }

  /** Sets the timer of a group to the head of its queue. */
  private arm(led: LedGroup): void {
    const { wallClock, clock } = this.options;
    led.cancel();
    const { head } = led.queue;
    if (head === undefined) {
      led.cancel = NOTHING;
      return;
    }
    const ms = Math.min(Math.max(0, head.startAt * 1000 - wallClock()), LOOK_MAX_MS);
    led.cancel = clock.after(ms, () => this.look(led));
    this.watch();
  }

  /** Sets all timers anew when the wall clock was set: they go by the other one. One timer does that for all groups. */
  private watch(): void {
    if (this.endWatch !== null || this.isHalted) return;
    const { wallClock, clock } = this.options;
    const offset = wallClock() - clock.now();
    this.endWatch = clock.after(WATCH_MS, () => {
      this.endWatch = null;
      const waiting = [...this.groups.values()].filter(({ queue }) => queue.size > 0);
      if (Math.abs(wallClock() - clock.now() - offset) > SET_MS) for (const led of waiting) this.arm(led);
      if (waiting.length > 0) this.watch();
    });
  }

  /** Takes the tasks of a group that are due out of its queue. */
  private look(led: LedGroup): void {
    if (!this.isOurs(led)) return;
    const now = this.options.wallClock();
    const { queue, group } = led;
    for (let { head } = queue; head !== undefined && head.startAt * 1000 <= now; { head } = queue) {
      queue.take();
      if (group.tasks.stateOf(head.id)?.startAt === head.startAt) this.becomesDue(led, head);
    }
    this.arm(led);
  }

  private becomesDue(led: LedGroup, { id, startAt, knownAt }: WaitingTask): void {
    this.due.push({ led, id, startAt, since: Math.max(startAt * 1000, knownAt) });
    this.pump(0);
  }

  /** Begins the next run, when other work had its turn. */
  private pump(ms: number): void {
    if (this.isPumping || this.isHalted || this.due.length === 0) return;
    this.isPumping = true;
    const { clock, scheduler } = this.options;
    const goOn = (): void => {
      this.isPumping = false;
      const next = this.due.shift();
      const begun = clock.now();
      if (next !== undefined) this.begin(next);
      // A long run leaves other work as much time as it took.
      this.pump(clock.now() - begun);
    };
    clock.after(ms, () => {
      // No run may overtake one that has to wait for its turn: a task may be about to cancel the next one.
      const [next] = this.due;
      const owner = next?.led.group.tasks.stateOf(next.id)?.owner;
      if (owner === undefined || !scheduler.defersUnstoppable(owner, undefined, goOn)) goOn();
    });
  }

  private begin(due: DueTask): void {
    const { engine } = this.options;
    const { led, id, startAt } = due;
    const state = led.group.tasks.stateOf(id);
    if (!this.isOurs(led) || led.running.has(id) || state?.startAt !== startAt) return;
    // A user that is not known here yet will be; one that is gone may be back, as long as that is not committed.
    const owner = engine.root.users.get(state.owner);
    const { session } = led;
    const mustWait =
      owner === undefined || !session.readable || session.refusal() !== null || this.isHeld(led);
    if (mustWait) {
      this.comeBack(due);
      return;
    }
    const { clock, wallClock } = this.options;
    const run = new RunningTask(this, due, owner, clock.now(), wallClock() - due.since);
    led.running.set(id, run);
    this.attempt(run, true);
  }

  /** A run could not begin, or came to nothing: it is tried again later. */
  private comeBack(due: DueTask): void {
    this.options.clock.after(RETRY_MS, () => {
      if (!this.isOurs(due.led)) return;
      this.due.push(due);
      this.pump(0);
    });
  }

  private attempt(run: RunningTask, hasTurn = false): void {
    const { engine, driver, scheduler, clock } = this.options;
    const { led, id, userId, prerequisites } = run;
    if (this.isHalted || !this.isOurs(led)) return;
    if (!hasTurn && scheduler.defersUnstoppable(userId, undefined, () => this.attempt(run, true))) return;
    if (!led.session.readable) {
      this.retry(run);
      return;
    }
    const { hashes } = prerequisites;
    const begun = clock.now();
    const outcome = engine.taskRuns.run(led.target, id, {
      ...(hashes === null ? {} : { hashes }),
      fresh: prerequisites,
    });
    run.ran(clock.now() - begun);
    switch (outcome.kind) {
      case 'hash':
      case 'behind':
      case 'positions':
        driver.provide(
          outcome,
          prerequisites,
          null,
          () => this.attempt(run),
          () => this.retry(run),
        );
        return;
      case 'slice_over':
        throw new Error('tasks have no slices');
      case 'more':
        run.start(outcome, driver);
        return;
      case 'done':
        this.propose(run, outcome.run, outcome.change, outcome.error);
    }
  }

  futuresFinished(run: RunningTask, end: FuturesEnd): void {
    const { led, rest } = run;
    if (!this.isOurs(led)) return;
    if (end.kind === 'value') this.propose(run, rest, end.change, null);
    else if (end.kind !== 'error' || led.session.refusal() !== null || this.isCutOff(end.error))
      this.retry(run);
    else this.fail(run, rest, end.error);
  }

  /** True if a run may have ended only since the node stops, which answers what waits for modules: the next leader is to run it. */
  private isCutOff({ code }: QueryError): boolean {
    return this.isHalted && code === ErrorCode.CANCELLED;
  }

  private fail(run: RunningTask, taskRun: TaskRun | null, error: QueryError): void {
    const failed = taskRun ?? { id: run.id, next: null, isCancelled: false };
    const { change } = this.options.engine.taskRuns.fail(run.led.target, failed, error);
    this.propose(run, failed, change, error);
  }

  /** Proposes the last change of a run, in which it says what becomes of the task. */
  private propose(
    run: RunningTask,
    taskRun: TaskRun | null,
    change: Change | null,
    error: QueryError | null,
  ): void {
    if (change === null) {
      this.finish(run);
      return;
    }
    let isOnItsWay = false;
    const respond = run.reporting(change, (reply) => {
      if (!isOnItsWay) return;
      if (reply.ok) this.report(run, error);
      this.finish(run);
    });
    const refusal = run.session.propose(change, { ok: true, result: '' }, respond);
    isOnItsWay = refusal === null;
    if (refusal === null) return;
    if (refusal.code === ErrorCode.MAX_QUOTA && error === null) this.fail(run, taskRun, refusal);
    else this.retry(run);
  }

  private report({ led, id, lateMs, begunAt }: RunningTask, error: QueryError | null): void {
    const { engine, clock, report } = this.options;
    const scope = engine.scope(led.target)?.name ?? '?';
    report?.({ scope, task: id, error, lateMs, durationMs: clock.now() - begunAt });
  }

  /** Ends a run of which nothing is left in the state. */
  private retry({ led, id, due }: RunningTask): void {
    led.running.delete(id);
    this.comeBack(due);
  }

  /** Ends a run: the task may run again, but no sooner than a second after it began. */
  private finish({ led, id, begunAt }: RunningTask): void {
    const { clock, wallClock } = this.options;
    led.running.delete(id);
    const enqueue = (): void => {
      if (this.isOurs(led) && !led.running.has(id)) this.enqueue(led, id, wallClock());
    };
    const pauseMs = begunAt + PACE_MS - clock.now();
    if (pauseMs > 0) clock.after(pauseMs, enqueue);
    else enqueue();
  }

  get reports(): RootReports {
    return this.options.reports;
  }

  /** Notes that code of a task ran. */
  ran(userId: number, ms: number): void {
    this.options.scheduler.ran(null, userId, ms);
  }

  /** True if a group is still the one that was taken up, and led by this node. */
  private isOurs(led: LedGroup): boolean {
    return (
      this.groups.get(led.session.id) === led &&
      isCurrent(led) &&
      this.options.session(led.session.id) === led.session
    );
  }

  /** Users may have gone, with whom their tasks go. */
  private rootChanged(session: GroupSession): void {
    const { accessVersion, replacements } = this.options.engine.root;
    // A user that is gone may be back, as long as that is not committed.
    if (session.hasUncommitted || accessVersion === this.accessVersion) return;
    this.accessVersion = accessVersion;
    for (const led of this.groups.values()) {
      this.removeOrphans(led);
      const wasHeld = led.isHeld || (led.session === session && replacements !== this.replacements);
      led.isHeld = this.isHeld(led);
      if (wasHeld && !led.isHeld) this.enqueueAll(led);
    }
    this.replacements = replacements;
  }

  /** True if the tasks of a group have to wait: it is being filled from a backup, which has what they need. */
  private isHeld({ session: { id } }: Pick<LedGroup, 'session'>): boolean {
    return isBeingFilled(this.options.engine.root, id);
  }

  private removeOrphans(led: LedGroup): void {
    // The session may be in the midst of the change of which it tells.
    this.options.clock.after(0, () => {
      if (this.isOurs(led)) this.removeOrphansNow(led);
    });
  }

  private removeOrphansNow(led: LedGroup): void {
    const { engine } = this.options;
    const root = this.options.session(ROOT_GROUP);
    if (led.group.tasks.size === 0 || root === undefined || root.hasUncommitted) return;
    if (this.isHeld(led) || led.session.refusal() !== null) return;
    const change = engine.taskRuns.removeOrphaned(led.target);
    if (change !== null) led.session.propose(change, { ok: true, result: '' }, NOTHING);
  }
}

/** True if nothing happened to the role and the state of a group since it was taken up. */
function isCurrent({ session, group, version }: LedGroup): boolean {
  return session.roleVersion === version && session.group === group;
}

/** No task of a group becomes due any more. */
function stopWatching({ cancel, group }: LedGroup): void {
  cancel();
  group.tasks.onChange = null;
}

const NOTHING = (): void => {};

/** Milliseconds at least from the beginning of a run to that of the next one of the same task. */
const PACE_MS = 1000;

/** Milliseconds until a run is tried again that the node could not make, as on a full disk. */
const RETRY_MS = 1000;

/** Milliseconds until a timer looks at the wall clock again: two clocks drift apart. */
const LOOK_MAX_MS = 60_000;

/** Milliseconds between two looks whether the wall clock was set. */
const WATCH_MS = 1000;

/** Milliseconds from which a clock was set, and did not drift alone. */
const SET_MS = 100;

/** Places of a queue that may be obsolete, beside as many as there are tasks. */
const QUEUE_SPARE = 64;
