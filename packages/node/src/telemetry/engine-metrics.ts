/** The figures of the engine thread. A request is counted when it ends; the rest is set every second. */
import { type EngineFigures, ErrorCode, type QueryError, type ScopeName } from '@althing/engine';
import {
  FAMILIES,
  type FiguresOf,
  type LabelOf,
  OUTCOMES,
  type Rejection,
  SCOPES,
  type SeriesOf,
  type Transport,
} from './families.js';
import type { Metrics } from './metrics.js';

/** Counts of the native protocol, from the start on. */
export interface NativeFigures {
  /** Connections that are open, and those of them that are logged in. */
  readonly open: Readonly<Record<Transport, number>>;
  readonly loggedIn: Readonly<Record<Transport, number>>;
  readonly packages: FiguresOf<'nativePackages'>;
  readonly bytes: FiguresOf<'nativeBytes'>;
  readonly events: FiguresOf<'nativeEvents'>;
  readonly ended: FiguresOf<'nativeEnds'>;
}

/** Followers of changes: their number now, and what they were sent from the start on. */
export interface FeedFigures {
  readonly all: number;
  /** The number of those that read the log by themselves. */
  readonly behind: number;
  /** Entries of the log that the farthest behind was not told of. */
  readonly lag: number;
  readonly lines: number;
  readonly characters: number;
  readonly ended: FiguresOf<'feedEnds'>;
}

/** Values that are sampled now and then. */
export interface EngineState {
  readonly engine: EngineFigures;
  readonly inFlight: number;
  readonly connections: number;
  readonly bodyBytes: number;
  /** Null before the doors are open. */
  readonly native: NativeFigures | null;
  readonly waiting: FiguresOf<'queues'>;
  readonly snapshots: { readonly running: number; readonly ended: FiguresOf<'snapshotEnds'> };
  readonly tasks: { readonly waiting: number; readonly overdueMs: number };
  readonly rooms: {
    readonly listeners: number;
    readonly memberships: number;
    readonly pushed: FiguresOf<'pushed'>;
    readonly ended: FiguresOf<'roomEnds'>;
  };
  readonly feeds: FeedFigures;
  readonly repeated: number;
  readonly cacheLimitBytes: number;
  readonly checkpointAgeMs: number;
  readonly reserveBytes: number;
  readonly isDiskFull: boolean;
  readonly modules: FiguresOf<'modules'>;
}

type RequestOutcome = SeriesOf<'requests'>['outcome'];

/** A reply with an error, as it is counted: by the error and by the outcome of the changes. */
interface Failed {
  readonly ok: false;
  readonly error: QueryError;
  readonly outcome?: 'none' | 'unknown' | 'made';
  /** True if it is an error of code that ran behind what was made. */
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
    this.metrics.count('procedureCalls', { procedure: String(place), outcome: isOk ? 'ok' : 'error' });
    this.metrics.add('procedureSeconds', place, ms / 1000);
  }

  rejected(rejection: Rejection): void {
    this.metrics.count('rejected', { reason: rejection });
  }

  /** A query ran for so many milliseconds. */
  ran(ms: number): void {
    this.observeQuery(ms / 1000, 0);
  }

  /** A run of a task has ended. */
  taskRan({ error, lateMs }: { readonly error: QueryError | null; readonly lateMs: number }): void {
    this.metrics.count('tasks', { outcome: error === null ? 'ok' : 'error' });
    this.metrics.observe('taskLateSeconds', Math.max(0, lateMs) / 1000);
  }

  forwarded(outcome: LabelOf<'forwarded'>): void {
    this.metrics.count('forwarded', { outcome });
  }

  moduleAnswered(outcome: LabelOf<'moduleRequests'>): void {
    this.metrics.count('moduleRequests', { outcome });
  }

  loggedIn(login: SeriesOf<'logins'>): void {
    this.metrics.count('logins', login);
  }

  checkpointed(ms: number, bytes: number): void {
    this.metrics.observe('checkpointSeconds', ms / 1000);
    this.metrics.add('checkpointBytes', 0, bytes);
  }

  snapshot(direction: LabelOf<'snapshotBytes'>, outcome: LabelOf<'backups'>): void {
    this.metrics.count('snapshots', { direction, outcome });
  }

  snapshotBytes(direction: LabelOf<'snapshotBytes'>, bytes: number): void {
    this.metrics.count('snapshotBytes', { direction }, bytes);
  }

  checked(outcome: LabelOf<'stateChecks'>): void {
    this.metrics.count('stateChecks', { outcome });
  }

  /** Counts a backup, which reads everything and compares all checksums. */
  backedUp(outcome: LabelOf<'backups'>): void {
    this.metrics.count('backups', { outcome });
    if (outcome === 'ok') this.checked('ok');
  }

  /** @param begunAt of the newest, wall clock in milliseconds; 0 when there is none */
  backupIsThere(begunAt: number): void {
    this.metrics.set('backupTime', begunAt / 1000);
  }

  /** @param end of the certificate of `ws_port`, wall clock in milliseconds */
  webSocketCertificate(end: number): void {
    this.metrics.tell('certificateEnd', { certificate: 'websocket' }, end / 1000);
  }

  /** To be called every second or so. */
  publish(state: EngineState): void {
    const { metrics } = this;
    const { programs, things, indexes, garbage, stops } = state.engine;
    metrics.set('inFlight', state.inFlight);
    metrics.set('connections', state.connections);
    metrics.set('bodyBytes', state.bodyBytes);
    if (state.native !== null) this.publishNative(state.native);
    metrics.setEach('queues', state.waiting);
    metrics.set('repeated', state.repeated);
    metrics.set('tasksWaiting', state.tasks.waiting);
    metrics.set('tasksOverdue', state.tasks.overdueMs / 1000);
    metrics.set('listeners', state.rooms.listeners);
    metrics.set('memberships', state.rooms.memberships);
    metrics.setEach('pushed', state.rooms.pushed);
    metrics.setEach('roomEnds', state.rooms.ended);
    metrics.set('followers', state.feeds.all);
    metrics.set('followersBehind', state.feeds.behind);
    metrics.set('feedLag', state.feeds.lag);
    metrics.set('feedLines', state.feeds.lines);
    metrics.set('feedCharacters', state.feeds.characters);
    metrics.setEach('feedEnds', state.feeds.ended);
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
    metrics.setEach('snapshotEnds', state.snapshots.ended);
    metrics.setEach('stopped', stops);
    metrics.set('checkpointAge', state.checkpointAgeMs / 1000);
    metrics.set('reserveBytes', state.reserveBytes);
    metrics.set('diskFull', Number(state.isDiskFull));
    metrics.setEach('modules', state.modules);
  }

  private publishNative({ open, loggedIn, packages, bytes, events, ended }: NativeFigures): void {
    const { metrics } = this;
    for (const transport of FAMILIES.nativeConnections.labels.transport) {
      const known = loggedIn[transport];
      metrics.tell('nativeConnections', { transport, state: 'anonymous' }, open[transport] - known);
      metrics.tell('nativeConnections', { transport, state: 'logged_in' }, known);
    }
    metrics.setEach('nativePackages', packages);
    metrics.setEach('nativeBytes', bytes);
    metrics.setEach('nativeEvents', events);
    metrics.setEach('nativeEnds', ended);
  }

  private finished(series: number, outcome: RequestOutcome, error: QueryError): void {
    this.metrics.add('requests', series * OUTCOMES.length + OUTCOMES.indexOf(outcome));
    const rejection = this.rejections.get(error);
    if (rejection !== undefined) this.rejected(rejection);
  }
}

/** Counts the lines of the log by the numbers that pino gives their levels. */
export function countLine(metrics: Metrics, level: number): void {
  metrics.add(
    'logMessages',
    Math.min(Math.max(Math.floor(level / 10) - 2, 0), FAMILIES.logMessages.labels.level.length - 1),
  );
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
