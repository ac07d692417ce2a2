/** The figures of the engine thread. A request is counted when it ends; the rest is set every second. */
import { type EngineFigures, ErrorCode, type QueryError, type ScopeName } from '@althing/engine';
import {
  CERTIFICATES,
  CHECKS,
  DIRECTIONS,
  FEED_ENDS,
  FORWARDINGS,
  LEVELS,
  LOGIN_METHODS,
  LOGIN_OUTCOMES,
  MODULE_CONDITIONS,
  MODULE_OUTCOMES,
  NATIVE_DIRECTIONS,
  NATIVE_ENDS,
  NATIVE_EVENTS,
  NATIVE_PACKAGES,
  NATIVE_STATES,
  OUTCOMES,
  PUSHES,
  QUEUES,
  REJECTIONS,
  RESULTS,
  type Rejection,
  ROOM_ENDS,
  RUNS,
  SCOPES,
  SNAPSHOT_ENDS,
  TRANSPORTS,
} from './families.js';
import type { Metrics } from './metrics.js';

/** Counts of the native protocol, from the start on. */
export interface NativeFigures {
  /** Connections that are open, and those of them that are logged in. */
  readonly open: Readonly<Record<(typeof TRANSPORTS)[number], number>>;
  readonly loggedIn: Readonly<Record<(typeof TRANSPORTS)[number], number>>;
  readonly packages: Readonly<Record<(typeof NATIVE_PACKAGES)[number], number>>;
  readonly bytes: Readonly<Record<(typeof NATIVE_DIRECTIONS)[number], number>>;
  readonly events: Readonly<Record<(typeof NATIVE_EVENTS)[number], number>>;
  readonly ended: Readonly<Record<(typeof NATIVE_ENDS)[number], number>>;
}

/** Who follows changes: how many now, and what they were sent from the start on. */
export interface FeedFigures {
  readonly all: number;
  /** Those that read the log by themselves. */
  readonly behind: number;
  /** Entries of the log that the farthest behind was not told of. */
  readonly lag: number;
  readonly lines: number;
  readonly characters: number;
  readonly ended: Readonly<Record<(typeof FEED_ENDS)[number], number>>;
}

/** Values that are sampled now and then. */
export interface EngineState {
  readonly engine: EngineFigures;
  readonly inFlight: number;
  readonly connections: number;
  readonly bodyBytes: number;
  /** Null before the doors are open. */
  readonly native: NativeFigures | null;
  readonly waiting: Readonly<Record<(typeof QUEUES)[number], number>>;
  readonly snapshots: {
    readonly running: number;
    readonly ended: Readonly<Record<(typeof SNAPSHOT_ENDS)[number], number>>;
  };
  readonly tasks: { readonly waiting: number; readonly overdueMs: number };
  readonly rooms: {
    readonly listeners: number;
    readonly memberships: number;
    readonly pushed: Readonly<Record<(typeof PUSHES)[number], number>>;
    readonly ended: Readonly<Record<(typeof ROOM_ENDS)[number], number>>;
  };
  readonly feeds: FeedFigures;
  readonly repeated: number;
  readonly cacheLimitBytes: number;
  readonly checkpointAgeMs: number;
  readonly reserveBytes: number;
  readonly isDiskFull: boolean;
  readonly modules: Readonly<Record<(typeof MODULE_CONDITIONS)[number], number>>;
}

type RequestOutcome = (typeof OUTCOMES)[number];

/** A reply with an error, as it is counted: by the error and by the outcome of the changes. */
interface Failed {
  readonly ok: false;
  readonly error: QueryError;
  readonly outcome?: 'none' | 'unknown' | 'made';
  /** Whether it is an error of code that ran behind what was made. */
  readonly own?: boolean;
}

type Counted = { readonly ok: true } | Failed;

export class EngineMetrics {
  private readonly observeRequest: (seconds: number, series: number) => void;
  private readonly observeQuery: (seconds: number, series: number) => void;
  private readonly countRequest: (series: number) => void;

  constructor(
    private readonly metrics: Metrics,
    /** Errors that tell that a request was refused for load. */
    private readonly rejections: ReadonlyMap<QueryError, Rejection>,
  ) {
    this.observeRequest = metrics.observer('requestSeconds');
    this.observeQuery = metrics.observer('querySeconds');
    this.countRequest = metrics.counter('requests');
  }

  /** Counts a request that was answered after so many milliseconds. */
  answered(
    { scope, body }: { readonly scope: ScopeName; readonly body: { readonly type: 'query' | 'run' } },
    reply: Counted,
    ms: number,
  ): void {
    const series = (body.type === 'query' ? 0 : SCOPES.length) + scopeOf(scope);
    this.observeRequest(ms / 1000, series);
    if (reply.ok) this.countRequest(series * OUTCOMES.length);
    else this.finished(series, outcomeOfReply(reply), reply.error);
  }

  /** Counts a request that was refused before it was run; null: before its scope was known. */
  refused(scope: ScopeName | null, error: QueryError, status: string): void {
    const outcome = OUTCOME_BY_STATUS.get(status.slice(0, 3)) ?? outcomeOf(error);
    this.finished(2 * SCOPES.length + scopeOf(scope), outcome, error);
  }

  /** A procedure that has series of its own ran for a request; `place` is that among the names. */
  ranProcedure(place: number, isOk: boolean, ms: number): void {
    this.metrics.add('procedureCalls', RUNS.length * place + (isOk ? 0 : 1));
    this.metrics.add('procedureSeconds', place, ms / 1000);
  }

  rejected(rejection: Rejection): void {
    this.metrics.add('rejected', REJECTIONS.indexOf(rejection));
  }

  /** A query ran for so many milliseconds. */
  ran(ms: number): void {
    this.observeQuery(ms / 1000, 0);
  }

  /** A run of a task has ended. */
  taskRan({ error, lateMs }: { readonly error: QueryError | null; readonly lateMs: number }): void {
    this.metrics.add('tasks', error === null ? 0 : 1);
    this.metrics.observe('taskLateSeconds', Math.max(0, lateMs) / 1000);
  }

  forwarded(outcome: (typeof FORWARDINGS)[number]): void {
    this.metrics.add('forwarded', FORWARDINGS.indexOf(outcome));
  }

  moduleAnswered(outcome: (typeof MODULE_OUTCOMES)[number]): void {
    this.metrics.add('moduleRequests', MODULE_OUTCOMES.indexOf(outcome));
  }

  loggedIn(method: (typeof LOGIN_METHODS)[number], outcome: (typeof LOGIN_OUTCOMES)[number]): void {
    this.metrics.add(
      'logins',
      LOGIN_METHODS.indexOf(method) * LOGIN_OUTCOMES.length + LOGIN_OUTCOMES.indexOf(outcome),
    );
  }

  checkpointed(ms: number, bytes: number): void {
    this.metrics.observe('checkpointSeconds', ms / 1000);
    this.metrics.add('checkpointBytes', 0, bytes);
  }

  snapshot(direction: (typeof DIRECTIONS)[number], outcome: (typeof RESULTS)[number]): void {
    this.metrics.add('snapshots', DIRECTIONS.indexOf(direction) * RESULTS.length + RESULTS.indexOf(outcome));
  }

  snapshotBytes(direction: (typeof DIRECTIONS)[number], bytes: number): void {
    this.metrics.add('snapshotBytes', DIRECTIONS.indexOf(direction), bytes);
  }

  checked(outcome: (typeof CHECKS)[number]): void {
    this.metrics.add('stateChecks', CHECKS.indexOf(outcome));
  }

  /** For a backup everything is read, and all checksums are compared. */
  backedUp(outcome: (typeof RESULTS)[number]): void {
    this.metrics.add('backups', RESULTS.indexOf(outcome));
    if (outcome === 'ok') this.checked('ok');
  }

  /** @param begunAt of the newest, wall clock in milliseconds; 0 when there is none */
  backupIsThere(begunAt: number): void {
    this.metrics.set('backupTime', begunAt / 1000);
  }

  /** @param end of the certificate of `ws_port`, wall clock in milliseconds */
  webSocketCertificate(end: number): void {
    this.metrics.set('certificateEnd', end / 1000, CERTIFICATES.indexOf('websocket'));
  }

  /** To be called every second or so. */
  publish(state: EngineState): void {
    const { metrics } = this;
    const { programs, things, indexes, garbage, stops } = state.engine;
    metrics.set('inFlight', state.inFlight);
    metrics.set('connections', state.connections);
    metrics.set('bodyBytes', state.bodyBytes);
    if (state.native !== null) this.publishNative(state.native);
    QUEUES.forEach((queue, i) => {
      metrics.set('queues', state.waiting[queue], i);
    });
    metrics.set('repeated', state.repeated);
    metrics.set('tasksWaiting', state.tasks.waiting);
    metrics.set('tasksOverdue', state.tasks.overdueMs / 1000);
    metrics.set('listeners', state.rooms.listeners);
    metrics.set('memberships', state.rooms.memberships);
    PUSHES.forEach((kind, i) => {
      metrics.set('pushed', state.rooms.pushed[kind], i);
    });
    ROOM_ENDS.forEach((reason, i) => {
      metrics.set('roomEnds', state.rooms.ended[reason], i);
    });
    metrics.set('followers', state.feeds.all);
    metrics.set('followersBehind', state.feeds.behind);
    metrics.set('feedLag', state.feeds.lag);
    metrics.set('feedLines', state.feeds.lines);
    metrics.set('feedCharacters', state.feeds.characters);
    FEED_ENDS.forEach((reason, i) => {
      metrics.set('feedEnds', state.feeds.ended[reason], i);
    });
    metrics.set('programHits', programs.hits);
    metrics.set('programMisses', programs.misses);
    metrics.set('programBytes', programs.bytes);
    metrics.set('cacheHits', things.hits);
    metrics.set('cacheMisses', things.misses);
    metrics.set('cacheEvictions', things.evictions);
    metrics.set('indexLookUps', indexes.lookUps);
    metrics.set('cacheBytes', things.bytes);
    metrics.set('cacheLimit', state.cacheLimitBytes);
    metrics.set('garbage', garbage);
    metrics.set('snapshotReads', state.snapshots.running);
    SNAPSHOT_ENDS.forEach((reason, i) => {
      metrics.set('snapshotEnds', state.snapshots.ended[reason], i);
    });
    metrics.set('stopped', stops.time, 0);
    metrics.set('stopped', stops.memory, 1);
    metrics.set('stopped', stops.result, 2);
    metrics.set('stopped', stops.depth, 3);
    metrics.set('checkpointAge', state.checkpointAgeMs / 1000);
    metrics.set('reserveBytes', state.reserveBytes);
    metrics.set('diskFull', Number(state.isDiskFull));
    MODULE_CONDITIONS.forEach((condition, i) => {
      metrics.set('modules', state.modules[condition], i);
    });
  }

  private publishNative({ open, loggedIn, packages, bytes, events, ended }: NativeFigures): void {
    const { metrics } = this;
    TRANSPORTS.forEach((transport, i) => {
      const known = loggedIn[transport];
      metrics.set('nativeConnections', open[transport] - known, i * NATIVE_STATES.length);
      metrics.set('nativeConnections', known, i * NATIVE_STATES.length + 1);
    });
    NATIVE_PACKAGES.forEach((type, i) => {
      metrics.set('nativePackages', packages[type], i);
    });
    NATIVE_DIRECTIONS.forEach((direction, i) => {
      metrics.set('nativeBytes', bytes[direction], i);
    });
    NATIVE_EVENTS.forEach((type, i) => {
      metrics.set('nativeEvents', events[type], i);
    });
    NATIVE_ENDS.forEach((reason, i) => {
      metrics.set('nativeEnds', ended[reason], i);
    });
  }

  private finished(series: number, outcome: RequestOutcome, error: QueryError): void {
    this.metrics.add('requests', series * OUTCOMES.length + OUTCOMES.indexOf(outcome));
    const rejection = this.rejections.get(error);
    if (rejection !== undefined) this.rejected(rejection);
  }
}

/** Counts the lines of the log by the numbers that pino gives their levels. */
export function countLine(metrics: Metrics, level: number): void {
  metrics.add('logMessages', Math.min(Math.max(Math.floor(level / 10) - 2, 0), LEVELS.length - 1));
}

/** The outcome that a failed reply counts as: the one its status says. */
function outcomeOfReply({ error, outcome, own }: Failed): RequestOutcome {
  if (outcome === 'unknown') return 'timeout';
  return outcome === 'made' && own !== true ? 'internal' : outcomeOf(error);
}

/** The outcome that an error counts as; errors of the query's own making are `error`. */
function outcomeOf(error: QueryError): RequestOutcome {
  return OUTCOME_BY_CODE.get(error.code) ?? 'error';
}

/** Where the status tells more than the error. */
const OUTCOME_BY_STATUS: ReadonlyMap<string, RequestOutcome> = new Map([
  ['408', 'invalid'],
  ['413', 'invalid'],
  ['429', 'rejected'],
]);

const OUTCOME_BY_CODE: ReadonlyMap<number, RequestOutcome> = new Map([
  [ErrorCode.AUTH, 'unauthorized'],
  [ErrorCode.FORBIDDEN, 'forbidden'],
  [ErrorCode.BAD_DATA, 'invalid'],
  [ErrorCode.SYNTAX, 'invalid'],
  [ErrorCode.NODE, 'unavailable'],
  [ErrorCode.TIMEOUT, 'timeout'],
  [ErrorCode.INTERNAL, 'internal'],
]);

/** Place in `SCOPES`. */
function scopeOf(scope: ScopeName | null): number {
  if (scope === null) return 3;
  if (scope.kind === 'collection') return 1;
  return scope.kind === 'thingsdb' ? 0 : 2;
}
