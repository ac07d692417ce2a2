/**
 * The figures in memory that both threads see: each family of series with its name, type and labels. The
 * labels' values are fixed, so that a series is a number. See docs/metrics.md for what they mean.
 */

export interface Family<Values extends Labels = Labels> {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly labels: Values;
  /** Upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[];
  /** True if a series that is 0 is left out. */
  readonly sparse: boolean;
}

/** Names of labels, each with its values. */
type Labels = Readonly<Record<string, readonly string[]>>;
type NoLabels = Readonly<Record<never, never>>;

const KINDS = ['query', 'run', 'other'] as const;
export const SCOPES = ['root', 'collection', 'node', 'none'] as const;
export const OUTCOMES = [
  'ok',
  'error',
  'invalid',
  'unauthorized',
  'forbidden',
  'rejected',
  'unavailable',
  'timeout',
  'internal',
] as const;
const RUNS = ['ok', 'error'] as const;
const DIRECTIONS = ['sent', 'received'] as const;
export const RESULTS = ['ok', 'failed'] as const;
export const THREADS = ['engine', 'consensus'] as const;
export const QUANTILES = ['0.5', '0.99', '1'] as const;

/** Procedures that have series of their own at most: `metrics_procedures` names them, in the order of these places. */
export const PROCEDURES_TOLD_MAX = 32;
const PROCEDURE_PLACES: readonly string[] = Array.from({ length: PROCEDURES_TOLD_MAX }, (_, i) => String(i));

/** Upper bounds of buckets, 0.5 ms to 30 s. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Upper bounds of buckets, 0.1 ms to 10 s. */
export const SYNC_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** Upper bounds of buckets, 0.1 s to an hour: a start has whole seconds. */
const LATE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

const CHECKPOINT_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30, 60, 300];
const GC_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const ENTRIES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export const FAMILIES = {
  requests: counter('althing_requests_total', 'Answered requests', {
    kind: KINDS,
    scope: SCOPES,
    outcome: OUTCOMES,
  }),
  requestSeconds: histogram('althing_request_duration_seconds', 'Time to answer', REQUEST_SECONDS, {
    kind: KINDS,
    scope: SCOPES,
  }),
  procedureCalls: {
    ...counter('althing_procedure_calls_total', 'Requests that ran a procedure here', {
      procedure: PROCEDURE_PLACES,
      outcome: RUNS,
    }),
    sparse: true,
  },
  procedureSeconds: {
    ...counter('althing_procedure_run_seconds_total', 'Time that procedures ran', {
      procedure: PROCEDURE_PLACES,
    }),
    sparse: true,
  },
  inFlight: gauge('althing_requests_in_flight', 'Requests that are not answered yet'),
  queues: gauge('althing_request_queue_length', 'Requests that wait', {
    queue: ['slow', 'commit', 'read', 'peer', 'snapshot'],
  }),
  rejected: counter('althing_requests_rejected_total', 'Requests refused for load', {
    reason: [
      'queue',
      'memory',
      'connections',
      'connections_per_address',
      'login_backoff',
      'no_leader',
      'disk_full',
      'draining',
    ],
  }),
  forwarded: counter('althing_requests_forwarded_total', 'Requests sent on to a leader', {
    outcome: ['ok', 'retried', 'failed'],
  }),
  repeated: counter('althing_requests_repeated_total', 'Repetitions answered with the first result'),
  bodyBytes: gauge('althing_request_body_bytes', 'Bodies held in memory while they come in'),
  connections: gauge('althing_connections', 'Open connections of clients'),
  nativeConnections: gauge('althing_native_connections', 'Open connections of the native protocol', {
    transport: ['tcp', 'unix', 'websocket', 'api_websocket'],
    state: ['anonymous', 'logged_in'],
  }),
  nativePackages: counter('althing_native_packages_total', 'Packages that clients sent', {
    type: ['ping', 'auth', 'query', 'run', 'join', 'leave', 'emit', 'emit_peer', 'changes', 'other'],
  }),
  nativeBytes: counter('althing_native_bytes_total', 'Bytes of the native protocol', {
    direction: ['received', 'sent'],
  }),
  nativeEvents: counter('althing_native_events_total', 'Events that were sent to clients', {
    type: ['node_status', 'warn', 'join', 'leave', 'emit', 'delete', 'changes'],
  }),
  nativeEnds: counter('althing_native_connections_ended_total', 'Connections that the node ended', {
    reason: ['unread', 'gap', 'login_timeout', 'package_timeout', 'too_large', 'malformed', 'login_ended'],
  }),
  modules: gauge('althing_modules', 'Modules of this node', {
    status: ['running', 'starting', 'failed', 'off'],
  }),
  moduleRequests: counter('althing_module_requests_total', 'Requests to modules that were answered', {
    outcome: ['ok', 'error', 'cancelled', 'refused'],
  }),
  logins: counter('althing_logins_total', 'Logins that were checked', {
    method: ['password', 'token'],
    outcome: ['ok', 'failed', 'held_off'],
  }),
  querySeconds: histogram('althing_query_duration_seconds', 'Execution of queries alone', REQUEST_SECONDS),
  tasks: counter('althing_tasks_total', 'Runs of tasks that this node made', { outcome: RUNS }),
  taskLateSeconds: histogram(
    'althing_task_lateness_seconds',
    'From the start of a task to its run',
    LATE_SECONDS,
  ),
  tasksWaiting: gauge('althing_tasks_waiting', 'Scheduled tasks of scopes that this node leads'),
  tasksOverdue: gauge('althing_tasks_overdue_seconds', 'How late the task is that is due for longest'),
  listeners: gauge('althing_room_listeners', 'Connections of this node that are in a room'),
  memberships: gauge('althing_room_memberships', 'Rooms that connections of this node are in'),
  pushed: counter('althing_room_events_total', 'What was sent to connections in rooms', {
    kind: ['join', 'leave', 'emit', 'delete'],
  }),
  roomEnds: counter('althing_room_memberships_ended_total', 'Memberships that this node ended', {
    reason: ['revoked', 'gap'],
  }),
  followers: gauge('althing_feed_followers', 'Clients that follow the changes of a collection at this node'),
  followersBehind: gauge('althing_feed_followers_behind', 'Those that read what they missed from the log'),
  feedLag: gauge('althing_feed_lag_entries', 'Entries of the log that the slowest of them was not told of'),
  feedLines: counter('althing_feed_lines_total', 'Lines that those who follow were sent'),
  feedCharacters: counter('althing_feed_characters_total', 'Characters of these lines'),
  feedEnds: counter('althing_feed_ends_total', 'Feeds that ended', {
    reason: ['lost', 'forbidden', 'leaving', 'left'],
  }),
  snapshotReads: gauge('althing_snapshot_reads', 'Snapshot reads that run'),
  snapshotEnds: counter('althing_snapshot_reads_stopped_total', 'Snapshot reads ended by a limit', {
    reason: ['time', 'memory', 'kept'],
  }),
  stopped: counter('althing_queries_stopped_total', 'Queries ended by a limit', {
    reason: ['time', 'memory', 'result', 'depth'],
  }),
  programHits: counter('althing_program_cache_hits_total', 'Queries whose parsed form was there'),
  programMisses: counter('althing_program_cache_misses_total', 'Queries that had to be parsed'),
  programBytes: gauge('althing_program_cache_bytes', 'Memory of parsed forms'),
  cacheHits: counter('althing_cache_hits_total', 'Things that were in memory when needed'),
  cacheMisses: counter('althing_cache_misses_total', 'Things that had to be read from disk'),
  cacheEvictions: counter('althing_cache_evictions_total', 'Things dropped from memory'),
  indexLookUps: counter('althing_index_lookups_total', 'Calls that looked something up in an index'),
  cacheBytes: gauge('althing_cache_bytes', 'Memory of loaded things'),
  cacheLimit: gauge('althing_cache_limit_bytes', 'Most memory that loaded things should take'),
  garbage: counter('althing_garbage_removed_total', 'Things removed by the search for circles'),
  readIndexSeconds: histogram(
    'althing_raft_read_index_duration_seconds',
    'From asking for a read index to its confirmation',
    SYNC_SECONDS,
  ),
  commitSeconds: histogram(
    'althing_commit_duration_seconds',
    'From proposal to commit, of all groups that this node leads',
    SYNC_SECONDS,
  ),
  snapshots: counter('althing_raft_snapshots_total', 'Snapshots between nodes', {
    direction: DIRECTIONS,
    outcome: RESULTS,
  }),
  snapshotBytes: counter('althing_raft_snapshot_bytes_total', 'Bytes of snapshots', {
    direction: DIRECTIONS,
  }),
  peersRefused: counter('althing_peer_refused_total', 'Strangers at the node port', {
    reason: ['secret', 'cluster', 'removed', 'version', 'garbage', 'damaged'],
  }),
  syncSeconds: histogram('althing_log_sync_duration_seconds', 'One sync of the log', SYNC_SECONDS),
  syncEntries: histogram('althing_log_sync_entries', 'Entries that shared a sync', ENTRIES),
  logAppended: counter('althing_log_appended_bytes_total', 'Bytes written to the log'),
  checkpointSeconds: histogram(
    'althing_checkpoint_duration_seconds',
    'One checkpoint of one group',
    CHECKPOINT_SECONDS,
  ),
  checkpointBytes: counter('althing_checkpoint_bytes_total', 'Bytes written by checkpoints'),
  checkpointAge: gauge('althing_checkpoint_age_seconds', 'Age of the oldest change in no checkpoint'),
  reserveBytes: gauge('althing_disk_reserve_bytes', 'What of the reserve is there'),
  diskFull: gauge('althing_disk_full', '1 while changes are refused for want of space'),
  stateChecks: counter('althing_state_checks_total', 'Comparisons of state and checksums', {
    outcome: ['ok', 'mismatch', 'incomplete'],
  }),
  livenessFailures: counter('althing_liveness_failures_total', 'Times that /healthy turned from 200'),
  loopDelay: {
    ...gauge('althing_event_loop_delay_seconds', 'Delay of the event loop in the last 15 s', {
      thread: THREADS,
      quantile: QUANTILES,
    }),
    type: 'summary',
  },
  gcSeconds: histogram('althing_gc_duration_seconds', 'Pauses for garbage collection', GC_SECONDS, {
    thread: THREADS,
    kind: ['minor', 'major', 'other'],
  }),
  heapUsed: gauge('althing_heap_used_bytes', 'JavaScript heap in use', { thread: THREADS }),
  heapLimit: gauge('althing_heap_limit_bytes', 'Most that the heap may take', { thread: THREADS }),
  certificateEnd: {
    ...gauge('althing_certificate_expiry_timestamp_seconds', 'When a certificate ends', {
      certificate: ['node', 'client_ca', 'api_client_ca', 'websocket'],
    }),
    sparse: true,
  },
  backupTime: gauge(
    'althing_backup_last_success_timestamp_seconds',
    'When the newest complete backup was begun',
  ),
  backups: counter('althing_backups_total', 'Backups taken', { outcome: RESULTS }),
  logMessages: counter('althing_log_messages_total', 'Lines in the log', {
    level: ['debug', 'info', 'warning', 'error', 'critical'],
  }),
  logDropped: counter('althing_log_lines_dropped_total', 'Lines that could not be written'),
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;

type LabelsOf<Name extends FamilyName> = (typeof FAMILIES)[Name]['labels'];

/** A series of a family: a value for each of its labels. */
export type SeriesOf<Name extends FamilyName> = {
  readonly [Label in keyof LabelsOf<Name>]: ValuesOf<LabelsOf<Name>[Label]>;
};

/** A value of the only label of a family. */
export type LabelOf<Name extends FamilyName> = ValuesOf<LabelsOf<Name>[keyof LabelsOf<Name>]>;
type ValuesOf<Values> = Values extends readonly (infer Value extends string)[] ? Value : never;

/** A number for each series of a family with one label. */
export type FiguresOf<Name extends FamilyName> = Readonly<Record<LabelOf<Name>, number>>;

export type Rejection = LabelOf<'rejected'>;
export type Transport = SeriesOf<'nativeConnections'>['transport'];

/** All names, in the order of the table. `Object.keys` does not tell the type of its keys. */
export const FAMILY_NAMES = Object.keys(FAMILIES) as FamilyName[];

export function seriesCount({ labels }: Family): number {
  return Object.values(labels).reduce((count, values) => count * values.length, 1);
}

/** The number of a series among those of its family. */
export function seriesNumber({ labels }: Family, series: Readonly<Record<string, string>>): number {
  return Object.entries(labels).reduce(
    (number, [label, values]) => number * values.length + values.indexOf(series[label] ?? ''),
    0,
  );
}

/** Numbers that a series takes: of a histogram its buckets, the one without a bound, and the sum. */
export function cellsOf({ type, bounds }: Family): number {
  return type === 'histogram' ? bounds.length + 2 : 1;
}

/**
 * The labels of a series, as they are written.
 *
 * @param procedures names of those that have series of their own, as `COLLECTION.PROCEDURE`
 */
export function labelsOf({ labels }: Family, series: number, procedures: readonly string[]): string {
  const texts: string[] = [];
  let rest = series;
  for (const [name, values] of Object.entries(labels).reverse()) {
    const value = values[rest % values.length];
    texts.unshift(`${name}="${values === PROCEDURE_PLACES ? procedures[Number(value)] : value}"`);
    rest = Math.floor(rest / values.length);
  }
  return texts.join(',');
}

function counter(name: string, help: string): Family<NoLabels>;
function counter<const L extends Labels>(name: string, help: string, labels: L): Family<L>;
function counter(name: string, help: string, labels: Labels = {}): Family {
  return { name, type: 'counter', help, labels, bounds: [], sparse: false };
}

function gauge(name: string, help: string): Family<NoLabels>;
function gauge<const L extends Labels>(name: string, help: string, labels: L): Family<L>;
function gauge(name: string, help: string, labels: Labels = {}): Family {
  return { ...counter(name, help, labels), type: 'gauge' };
}

function histogram(name: string, help: string, bounds: readonly number[]): Family<NoLabels>;
function histogram<const L extends Labels>(
  name: string,
  help: string,
  bounds: readonly number[],
  labels: L,
): Family<L>;
function histogram(name: string, help: string, bounds: readonly number[], labels: Labels = {}): Family {
  return { ...counter(name, help, labels), type: 'histogram', bounds };
}
