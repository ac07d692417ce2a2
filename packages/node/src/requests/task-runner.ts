/**
 * Long because: a run from its queue to the decision about it is one state machine, in which each step may
 * find that the leadership is gone.
 */
import {
  type Change,
  type Engine,
  ErrorCode,
  type Group,
  isBeingFilled,
  LEVEL_AFTER_0_1_0,
  type PasswordHash,
  QueryError,
  type RootEvent,
  type Target,
  type TaskRun,
  type User,
} from '@althing/engine';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Respond } from '../groups/request.js';
import { type Ask, type End, FutureRunner, type More } from './future-runner.js';
import type { Scheduler } from './scheduler.js';
import { TaskQueue, type Waiting } from './task-queue.js';
import { waitsUnstoppable } from './turns.js';

export interface TaskRunnerOptions {
  readonly engine: Engine;
  /** The hash of a password that a task sets. */
  readonly hash: (password: string) => Promise<PasswordHash>;
  /** The session of a group, if it is open here. */
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** Sends requests to the modules of this node; by default there are none. */
  readonly askModule?: Ask;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Decides what runs when, of all that runs on this thread. */
  readonly scheduler: Scheduler;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** Told of each run that has ended, when that is certain. */
  readonly report?: (run: TaskReport) => void;
  /** Called with what a run did to the root scope; `isKnown` says whether that is certain. */
  readonly changed?: (by: ChangedBy, events: readonly RootEvent[], isKnown: boolean) => void;
}

/** Who changed the root scope, and by what. */
export interface ChangedBy {
  readonly user: Pick<User, 'name'>;
  readonly id?: string;
}

/** A run of a task that has ended. */
export interface TaskReport {
  readonly scope: string;
  readonly task: number;
  /** Null when it went well. */
  readonly error: QueryError | null;
  /** How long after its time it began, in milliseconds. */
  readonly lateMs: number;
  readonly durationMs: number;
}

/** How tasks wait here: in the groups that this node leads. */
export interface TaskFigures {
  /** Scheduled tasks. */
  readonly waiting: number;
  /** How long the one that is due for longest has been waiting, in milliseconds. */
  readonly overdueMs: number;
}

/**
 * Starts the tasks of the groups that this node leads, when they are due. A run is a change like any other, and what becomes of the task
 * is among its effects: so whoever leads next finds in the state which runs there were, whatever its clock says. A task runs again only
 * when it is decided what became of its last run.
 *
 * One run at a time, and whatever else there is to do between two of them.
 */
export class TaskRunner {
  private readonly options: TaskRunnerOptions;
  private readonly groups = new Map<GroupId, Led>();
  private readonly futures: FutureRunner;
  /** Runs that are due, in the order in which they became so. */
  private readonly due: Due[] = [];
  private isPumping = false;
  private isHalted = false;
  /** The users, as they were when it was last looked for tasks without owners. */
  private accessVersion = -1;
  /** The replacements of everything by a backup that were noticed. */
  private replacements = 0;

  constructor(options: TaskRunnerOptions) {
    this.options = options;
    const { engine, hash, session, monotonic, delay, askModule } = options;
    const ask: Ask = askModule ?? ((_, answer) => answer({ ok: false, error: NO_MODULES }));
    this.futures = new FutureRunner({ engine, hash, session, ask, monotonic, delay });
  }

  get figures(): TaskFigures {
    const now = this.options.now();
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

  /** Starts no run any more: the node stops. Those that are under way go on. */
  halt(): void {
    this.isHalted = true;
    for (const led of this.groups.values()) this.leave(led);
  }

  private takeUp(session: GroupSession): void {
    const { group, id, roleVersion } = session;
    const { tasks } = group;
    const target = id === ROOT_GROUP ? 'thingsdb' : id;
    const queue = new TaskQueue();
    const led: Led = {
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
      if (!led.running.has(task)) this.enqueue(led, task, this.options.now());
    };
    this.enqueueAll(led);
    this.removeOrphans(led);
    this.arm(led);
  }

  /**
   * Takes up the tasks that there are: those too that came as records of a backup, and those whose owners are gone, since they may be
   * back as long as that is not committed.
   */
  private enqueueAll(led: Led): void {
    for (const { id } of led.group.tasks.all()) if (!led.running.has(id)) this.enqueue(led, id, 0);
  }

  private leave(led: Led): void {
    led.cancel();
    led.group.tasks.onChange = null;
    if (this.groups.get(led.session.id) === led) this.groups.delete(led.session.id);
  }

  private enqueue(led: Led, id: number, knownAt: number): void {
    const { queue, group } = led;
    const startAt = group.tasks.stateOf(id)?.startAt ?? 0;
    if (startAt === 0) return;
    // Half of it is obsolete, or more.
    if (queue.size > QUEUE_SPARE + 2 * group.tasks.size) this.rebuild(led);
    queue.add({ id, startAt, knownAt });
    if (queue.head?.id === id) this.arm(led);
  }

  private rebuild({ queue, group, running }: Led): void {
    const known = new Map<number, number>();
    for (let next = queue.take(); next !== undefined; next = queue.take()) known.set(next.id, next.knownAt);
    for (const { id, startAt } of group.tasks.all()) {
      const knownAt = known.get(id);
      if (startAt !== 0 && knownAt !== undefined && !running.has(id)) queue.add({ id, startAt, knownAt });
    }
  }

  /** Sets the timer of a group to the head of its queue. */
  private arm(led: Led): void {
    const { now, delay } = this.options;
    led.cancel();
    const { head } = led.queue;
    if (head === undefined) {
      led.cancel = NOTHING;
      return;
    }
    const ms = Math.min(Math.max(0, head.startAt * 1000 - now()), LOOK_MAX_MS);
    led.cancel = delay(ms, () => this.look(led));
  }

  /** Takes the tasks of a group that are due out of its queue. */
  private look(led: Led): void {
    if (!this.isOurs(led)) return;
    const now = this.options.now();
    const { queue, group } = led;
    for (let { head } = queue; head !== undefined && head.startAt * 1000 <= now; { head } = queue) {
      queue.take();
      if (group.tasks.stateOf(head.id)?.startAt === head.startAt) this.becomesDue(led, head);
    }
    this.arm(led);
  }

  private becomesDue(led: Led, { id, startAt, knownAt }: Waiting): void {
    this.due.push({ led, id, startAt, since: Math.max(startAt * 1000, knownAt) });
    this.pump(0);
  }

  /** Sees to it that the next run begins, when others had their turn. */
  private pump(ms: number): void {
    if (this.isPumping || this.due.length === 0) return;
    this.isPumping = true;
    this.options.delay(ms, () => {
      this.isPumping = false;
      const next = this.due.shift();
      const { monotonic } = this.options;
      const begun = monotonic();
      if (next !== undefined) this.begin(next);
      // What takes long leaves others as much time as it took.
      this.pump(monotonic() - begun);
    });
  }

  private begin(due: Due): void {
    const { engine, now, monotonic } = this.options;
    const { led, id, startAt, since } = due;
    const { tasks } = led.group;
    const state = tasks.stateOf(id);
    if (!this.isOurs(led) || led.running.has(id) || state?.startAt !== startAt) return;
    // A user that is not known here yet will be; one that is gone may be back, as long as that is not committed.
    const owner = engine.root.users.get(state.owner);
    const { session } = led;
    const mustWait =
      owner === undefined || !session.readable || session.refusal() !== null || this.isHeld(led);
    // Who made it knew the level of the cluster, and what its code may do therefore: this node will.
    if (mustWait || engine.root.level < LEVEL_AFTER_0_1_0) {
      this.options.delay(RETRY_MS, () => this.again(due));
      return;
    }
    const begunAt = monotonic();
    const by = { user: { name: owner.name }, id: `task:${id}` };
    const run: Run = {
      due,
      led,
      id,
      by,
      userId: owner.id,
      begunAt,
      lateMs: now() - since,
      hashes: new Map(),
      fresh: new Set(),
    };
    led.running.set(id, run);
    this.attempt(run);
  }

  /** A run could not begin, or came to nothing: it is tried again. */
  private again(due: Due): void {
    if (!this.isOurs(due.led)) return;
    this.due.push(due);
    this.pump(0);
  }

  private attempt(run: Run, hasTurn = false): void {
    const { engine, hash, session, scheduler, monotonic } = this.options;
    const { led, id, hashes, userId } = run;
    if (!this.isOurs(led)) return;
    const goOn = (): void => this.attempt(run, true);
    if (!hasTurn && waitsUnstoppable(scheduler, userId, undefined, goOn)) return;
    if (!led.session.readable) {
      this.retry(run);
      return;
    }
    const fresh = { isFresh: (collection: number): boolean => run.fresh.has(collection) };
    const begun = monotonic();
    const outcome = engine.runTask(led.target, id, { hashes, fresh });
    scheduler.ran(null, userId, monotonic() - begun);
    switch (outcome.kind) {
      case 'hash': {
        const { password } = outcome;
        hash(password).then(
          (made) => {
            hashes.set(password, made);
            this.attempt(run);
          },
          () => this.retry(run),
        );
        return;
      }
      case 'behind': {
        const { collection } = outcome;
        const freshened = (ok: boolean): void => {
          run.fresh.add(collection);
          if (ok) this.attempt(run);
          else this.retry(run);
        };
        const other = session(collection);
        if (other === undefined) freshened(true);
        else other.readIndex(freshened);
        return;
      }
      case 'slice_over':
        throw new Error('tasks have no slices');
      case 'more':
        this.goOn(run, outcome);
        return;
      case 'done':
        this.propose(run, outcome.run, outcome.change, outcome.error);
    }
  }

  /** Runs the futures of a task. */
  private goOn(run: Run, first: More): void {
    const { rest } = first;
    const { userId } = run;
    const { session } = run.led;
    const { scheduler } = this.options;
    this.futures.start(first, {
      session,
      saltKey: null,
      mayChange: true,
      isNamed: () => false,
      asks: () => {},
      begins: () => null,
      telling: (change, respond) => this.telling(run, change, respond),
      isGone: () => false,
      ran: (ms) => scheduler.ran(null, userId, ms),
      waits: (knownMs, goOn) => waitsUnstoppable(scheduler, userId, knownMs, goOn),
      done: (end) => this.ended(run, rest.run, end),
    });
  }

  private ended(run: Run, rest: TaskRun | null, end: End): void {
    const { led } = run;
    if (!this.isOurs(led)) return;
    if (end.kind === 'value') this.propose(run, rest, end.change, null);
    else if (end.kind !== 'error' || led.session.refusal() !== null) this.retry(run);
    else this.fail(run, rest, end.error);
  }

  private fail(run: Run, of: TaskRun | null, error: QueryError): void {
    const failed = of ?? { id: run.id, next: null, isCancelled: false };
    const { change } = this.options.engine.failTask(run.led.target, failed, error);
    this.propose(run, failed, change, error);
  }

  /** Proposes the last change of a run, in which it says what becomes of the task. */
  private propose(run: Run, of: TaskRun | null, change: Change | null, error: QueryError | null): void {
    const { led } = run;
    if (change === null) {
      this.decided(run);
      return;
    }
    let isOnItsWay = false;
    const respond = this.telling(run, change, (reply) => {
      if (!isOnItsWay) return;
      if (reply.ok) this.report(run, error);
      this.decided(run);
    });
    const refusal = led.session.propose(change, { ok: true, result: '' }, respond);
    isOnItsWay = refusal === null;
    if (refusal === null) return;
    if (refusal.code === ErrorCode.MAX_QUOTA && error === null) this.fail(run, of, refusal);
    else this.retry(run);
  }

  /** What a run did to the root scope is told when it is decided. */
  private telling({ by }: Run, { events }: Change, respond: Respond): Respond {
    const { changed } = this.options;
    if (events.length === 0 || changed === undefined) return respond;
    return (reply) => {
      const isMade = reply.ok || reply.outcome === 'made';
      if (isMade || reply.outcome === 'unknown') changed(by, events, isMade);
      respond(reply);
    };
  }

  private report({ led, id, lateMs, begunAt }: Run, error: QueryError | null): void {
    const { engine, monotonic, report } = this.options;
    const scope = engine.scope(led.target)?.name ?? '?';
    report?.({ scope, task: id, error, lateMs, durationMs: monotonic() - begunAt });
  }

  /** Ends a run of which nothing is left in the state. */
  private retry({ led, id, due }: Run): void {
    led.running.delete(id);
    this.options.delay(RETRY_MS, () => this.again(due));
  }

  /** It is known what became of a run: the task may run again, but no sooner than a second after it began. */
  private decided({ led, id, begunAt }: Run): void {
    const { monotonic, now, delay } = this.options;
    led.running.delete(id);
    const enqueue = (): void => {
      if (this.isOurs(led) && !led.running.has(id)) this.enqueue(led, id, now());
    };
    const pause = begunAt + PACE_MS - monotonic();
    if (pause > 0) delay(pause, enqueue);
    else enqueue();
  }

  /** Whether a group is still the one that was taken up, and led by this node. */
  private isOurs(led: Led): boolean {
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

  /** Whether the tasks of a group have to wait: it is being filled from a backup, which has what they need. */
  private isHeld({ session: { id } }: Pick<Led, 'session'>): boolean {
    return isBeingFilled(this.options.engine.root, id);
  }

  private removeOrphans(led: Led): void {
    // Who tells of the session's change may be in the midst of it.
    this.options.delay(0, () => {
      if (this.isOurs(led)) this.removeOrphansNow(led);
    });
  }

  private removeOrphansNow(led: Led): void {
    const { engine } = this.options;
    const root = this.options.session(ROOT_GROUP);
    if (led.group.tasks.size === 0 || root === undefined || root.hasUncommitted) return;
    if (this.isHeld(led) || led.session.refusal() !== null) return;
    const change = engine.removeOrphanedTasks(led.target);
    if (change !== null) led.session.propose(change, { ok: true, result: '' }, NOTHING);
  }
}

/** A group that this node leads. */
interface Led {
  readonly session: GroupSession;
  readonly group: Group;
  readonly target: Target;
  /** Of its roles, when it was taken up. */
  readonly version: number;
  readonly queue: TaskQueue;
  /** Runs that are not decided, by task. */
  readonly running: Map<number, Run>;
  /** Whether its tasks had to wait, when that was looked at last. */
  isHeld: boolean;
  /** Calls its timer off. */
  cancel: () => void;
}

/** Whether nothing happened to the role and the state of a group since it was taken up. */
function isCurrent({ session, group, version }: Led): boolean {
  return session.roleVersion === version && session.group === group;
}

interface Due {
  readonly led: Led;
  readonly id: number;
  readonly startAt: number;
  /** Wall clock in milliseconds. */
  readonly since: number;
}

interface Run {
  /** The owner. */
  readonly userId: number;
  readonly due: Due;
  readonly led: Led;
  readonly id: number;
  readonly by: ChangedBy;
  readonly begunAt: number;
  readonly lateMs: number;
  readonly hashes: Map<string, PasswordHash>;
  /** Collections of which this node has all that was acknowledged. */
  readonly fresh: Set<number>;
}

const NOTHING = (): void => {};

const NO_MODULES = new QueryError(ErrorCode.OPERATION, 'this node runs no modules');

/** Milliseconds at least from the beginning of a run to that of the next one of the same task. */
const PACE_MS = 1000;

/** Milliseconds until a run is tried again that the node could not make, as on a full disk. */
const RETRY_MS = 1000;

/** Milliseconds until a timer looks at the wall clock again, which may have been set. */
const LOOK_MAX_MS = 60_000;

/** Places of a queue that may be obsolete, beside as many as there are tasks. */
const QUEUE_SPARE = 64;
