/**
 * The figures in memory that both threads see: each family of series with its name, type and labels. The
 * labels' values are fixed, so that a series is a number. See docs/metrics.md for what they mean.
 */

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  /** Names of the labels, each with its values. */
  readonly labels: readonly Label[];
  /** Upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[];
  /** Whether a series that is 0 is left out. */
  readonly sparse: boolean;
}

type Label = readonly [name: string, values: readonly string[]];

export const KINDS = ['query', 'run', 'other'] as const;
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
export const RUNS = ['ok', 'error'] as const;
export const QUEUES = ['slow', 'commit', 'read', 'peer', 'snapshot'] as const;
export const REJECTIONS = [
  'queue',
  'memory',
  'connections',
  'connections_per_address',
  'login_backoff',
  'no_leader',
  'disk_full',
  'draining',
] as const;
export const FORWARDINGS = ['ok', 'retried', 'failed'] as const;
export const LOGIN_METHODS = ['password', 'token'] as const;
export const LOGIN_OUTCOMES = ['ok', 'failed', 'held_off'] as const;
/** Limits that end snapshot reads. */
export const SNAPSHOT_ENDS = ['time', 'memory', 'kept'] as const;
export const STOPS = ['time', 'memory', 'result', 'depth'] as const;
export const DIRECTIONS = ['sent', 'received'] as const;
export const NATIVE_DIRECTIONS = ['received', 'sent'] as const;
export const RESULTS = ['ok', 'failed'] as const;
export const THREADS = ['engine', 'consensus'] as const;
export const QUANTILES = ['0.5', '0.99', '1'] as const;
export const COLLECTIONS_OF_GARBAGE = ['minor', 'major', 'other'] as const;
export const CERTIFICATES = ['node', 'client_ca', 'api_client_ca', 'websocket'] as const;
export const LEVELS = ['debug', 'info', 'warning', 'error', 'critical'] as const;
export const REFUSALS = ['secret', 'cluster', 'removed', 'version', 'garbage', 'damaged'] as const;
export const MODULE_CONDITIONS = ['running', 'starting', 'failed', 'off'] as const;
export const MODULE_OUTCOMES = ['ok', 'error', 'cancelled', 'refused'] as const;
export const CHECKS = ['ok', 'mismatch', 'incomplete'] as const;

/** Procedures that have series of their own at most: `metrics_procedures` names them, in the order of these places. */
export const PROCEDURES_TOLD_MAX = 32;
const PROCEDURE_PLACES: readonly string[] = Array.from({ length: PROCEDURES_TOLD_MAX }, (_, i) => String(i));

export type Rejection = (typeof REJECTIONS)[number];

/** Events that are sent to connections in rooms. */
export const PUSHES = ['join', 'leave', 'emit', 'delete'] as const;

/** Why a feed of changes ended for one who followed; `left`: the client went. */
export const FEED_ENDS = ['lost', 'forbidden', 'leaving', 'left'] as const;

/** The ways that the native protocol comes. */
export const TRANSPORTS = ['tcp', 'unix', 'websocket', 'api_websocket'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export const NATIVE_STATES = ['anonymous', 'logged_in'] as const;

/** Packages that clients send by it. */
export const NATIVE_PACKAGES = [
  'ping',
  'auth',
  'query',
  'run',
  'join',
  'leave',
  'emit',
  'emit_peer',
  'changes',
  'other',
] as const;

/** Packages that clients get without asking. */
export const NATIVE_EVENTS = ['node_status', 'warn', 'join', 'leave', 'emit', 'delete', 'changes'] as const;

/** Why the node ended connections. */
export const NATIVE_ENDS = [
  'unread',
  'gap',
  'login_timeout',
  'package_timeout',
  'too_large',
  'malformed',
  'login_ended',
] as const;

/** Why memberships ended that nobody asked to end. */
export const ROOM_ENDS = ['revoked', 'gap'] as const;

/** From 0.5 ms to 30 s. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** From 0.1 ms to 10 s. */
export const SYNC_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** From 0.1 s to an hour: a start has whole seconds. */
const LATE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

const CHECKPOINT_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30, 60, 300];
const GC_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const ENTRIES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export const FAMILIES = {
  requests: counter('althing_requests_total', 'Answered requests', [
    ['kind', KINDS],
    ['scope', SCOPES],
    ['outcome', OUTCOMES],
  ]),
  requestSeconds: histogram('althing_request_duration_seconds', 'Time to answer', REQUEST_SECONDS, [
    ['kind', KINDS],
    ['scope', SCOPES],
  ]),
  procedureCalls: {
    ...counter('althing_procedure_calls_total', 'Requests that ran a procedure here', [
      ['procedure', PROCEDURE_PLACES],
      ['outcome', RUNS],
    ]),
    sparse: true,
  },
  procedureSeconds: {
    ...counter('althing_procedure_run_seconds_total', 'Time that procedures ran', [
      ['procedure', PROCEDURE_PLACES],
    ]),
    sparse: true,
  },
  inFlight: gauge('althing_requests_in_flight', 'Requests that are not answered yet'),
  queues: gauge('althing_request_queue_length', 'Requests that wait', [['queue', QUEUES]]),
  rejected: counter('althing_requests_rejected_total', 'Requests refused for load', [['reason', REJECTIONS]]),
  forwarded: counter('althing_requests_forwarded_total', 'Requests sent on to a leader', [
    ['outcome', FORWARDINGS],
  ]),
  repeated: counter('althing_requests_repeated_total', 'Repetitions answered with the first result'),
  bodyBytes: gauge('althing_request_body_bytes', 'Bodies held in memory while they come in'),
  connections: gauge('althing_connections', 'Open connections of clients'),
  nativeConnections: gauge('althing_native_connections', 'Open connections of the native protocol', [
    ['transport', TRANSPORTS],
    ['state', NATIVE_STATES],
  ]),
  nativePackages: counter('althing_native_packages_total', 'Packages that clients sent', [
    ['type', NATIVE_PACKAGES],
  ]),
  nativeBytes: counter('althing_native_bytes_total', 'Bytes of the native protocol', [
    ['direction', NATIVE_DIRECTIONS],
  ]),
  nativeEvents: counter('althing_native_events_total', 'Events that were sent to clients', [
    ['type', NATIVE_EVENTS],
  ]),
  nativeEnds: counter('althing_native_connections_ended_total', 'Connections that the node ended', [
    ['reason', NATIVE_ENDS],
  ]),
  modules: gauge('althing_modules', 'Modules of this node', [['status', MODULE_CONDITIONS]]),
  moduleRequests: counter('althing_module_requests_total', 'Requests to modules that were answered', [
    ['outcome', MODULE_OUTCOMES],
  ]),
  logins: counter('althing_logins_total', 'Logins that were checked', [
    ['method', LOGIN_METHODS],
    ['outcome', LOGIN_OUTCOMES],
  ]),
  querySeconds: histogram('althing_query_duration_seconds', 'Execution of queries alone', REQUEST_SECONDS),
  tasks: counter('althing_tasks_total', 'Runs of tasks that this node made', [['outcome', RUNS]]),
  taskLateSeconds: histogram(
    'althing_task_lateness_seconds',
    'From the start of a task to its run',
    LATE_SECONDS,
  ),
  tasksWaiting: gauge('althing_tasks_waiting', 'Scheduled tasks of scopes that this node leads'),
  tasksOverdue: gauge('althing_tasks_overdue_seconds', 'How late the task is that is due for longest'),
  listeners: gauge('althing_room_listeners', 'Connections of this node that are in a room'),
  memberships: gauge('althing_room_memberships', 'Rooms that connections of this node are in'),
  pushed: counter('althing_room_events_total', 'What was sent to connections in rooms', [['kind', PUSHES]]),
  roomEnds: counter('althing_room_memberships_ended_total', 'Memberships that this node ended', [
    ['reason', ROOM_ENDS],
  ]),
  followers: gauge('althing_feed_followers', 'Clients that follow the changes of a collection at this node'),
  followersBehind: gauge('althing_feed_followers_behind', 'Those that read what they missed from the log'),
  feedLag: gauge('althing_feed_lag_entries', 'Entries of the log that the slowest of them was not told of'),
  feedLines: counter('althing_feed_lines_total', 'Lines that those who follow were sent'),
  feedCharacters: counter('althing_feed_characters_total', 'Characters of these lines'),
  feedEnds: counter('althing_feed_ends_total', 'Feeds that ended', [['reason', FEED_ENDS]]),
  snapshotReads: gauge('althing_snapshot_reads', 'Snapshot reads that run'),
  snapshotEnds: counter('althing_snapshot_reads_stopped_total', 'Snapshot reads ended by a limit', [
    ['reason', SNAPSHOT_ENDS],
  ]),
  stopped: counter('althing_queries_stopped_total', 'Queries ended by a limit', [['reason', STOPS]]),
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
  snapshots: counter('althing_raft_snapshots_total', 'Snapshots between nodes', [
    ['direction', DIRECTIONS],
    ['outcome', RESULTS],
  ]),
  snapshotBytes: counter('althing_raft_snapshot_bytes_total', 'Bytes of snapshots', [
    ['direction', DIRECTIONS],
  ]),
  peersRefused: counter('althing_peer_refused_total', 'Strangers at the node port', [['reason', REFUSALS]]),
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
  stateChecks: counter('althing_state_checks_total', 'Comparisons of state and checksums', [
    ['outcome', CHECKS],
  ]),
  livenessFailures: counter('althing_liveness_failures_total', 'Times that /healthy turned from 200'),
  loopDelay: {
    ...gauge('althing_event_loop_delay_seconds', 'Delay of the event loop in the last 15 s', [
      ['thread', THREADS],
      ['quantile', QUANTILES],
    ]),
    type: 'summary',
  },
  gcSeconds: histogram('althing_gc_duration_seconds', 'Pauses for garbage collection', GC_SECONDS, [
    ['thread', THREADS],
    ['kind', COLLECTIONS_OF_GARBAGE],
  ]),
  heapUsed: gauge('althing_heap_used_bytes', 'JavaScript heap in use', [['thread', THREADS]]),
  heapLimit: gauge('althing_heap_limit_bytes', 'Most that the heap may take', [['thread', THREADS]]),
  certificateEnd: {
    ...gauge('althing_certificate_expiry_timestamp_seconds', 'When a certificate ends', [
      ['certificate', CERTIFICATES],
    ]),
    sparse: true,
  },
  backupTime: gauge(
    'althing_backup_last_success_timestamp_seconds',
    'When the newest complete backup was begun',
  ),
  backups: counter('althing_backups_total', 'Backups taken', [['outcome', RESULTS]]),
  logMessages: counter('althing_log_messages_total', 'Lines in the log', [['level', LEVELS]]),
  logDropped: counter('althing_log_lines_dropped_total', 'Lines that could not be written'),
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;

/** All names, in the order of the table. `Object.keys` does not tell the type of its keys. */
export const FAMILY_NAMES = Object.keys(FAMILIES) as FamilyName[];

/** Number of series of a family. */
export function seriesOf({ labels }: Family): number {
  return labels.reduce((count, [, values]) => count * values.length, 1);
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
export function labelsOf({ labels }: Family, series: number, procedures: readonly string[] = []): string {
  const texts: string[] = [];
  let rest = series;
  for (const [name, values] of [...labels].reverse()) {
    const value = values[rest % values.length];
    texts.unshift(`${name}="${values === PROCEDURE_PLACES ? procedures[Number(value)] : value}"`);
    rest = Math.floor(rest / values.length);
  }
  return texts.join(',');
}

function counter(name: string, help: string, labels: readonly Label[] = []): Family {
  return { name, type: 'counter', help, labels, bounds: [], sparse: false };
}

function gauge(name: string, help: string, labels: readonly Label[] = []): Family {
  return { name, type: 'gauge', help, labels, bounds: [], sparse: false };
}

function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  labels: readonly Label[] = [],
): Family {
  return { name, type: 'histogram', help, labels, bounds, sparse: false };
}
