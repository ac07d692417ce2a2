/**
 * The node as the engine's functions see it that run on it, and of the cluster: handed in, since all of it lies
 * outside of the state of the scopes.
 */
import type { MemberInfo } from './admin/member.js';
import type { ModuleManifest } from './pack/manifest.js';
import type { RunFigures } from './run/run-figures.js';

/** Keys of `node_info()`, in their order; all of them a contract with clients. */
export const NODE_INFO_KEYS = [
  'node_id',
  'version',
  'syntax_version',
  'msgpack_version',
  'libcleri_version',
  'libuv_version',
  'libpcre2_version',
  'status',
  'zone',
  'log_level',
  'node_name',
  'client_port',
  'node_port',
  'ip_support',
  'storage_path',
  'uptime',
  'changes_in_queue',
  'archived_in_memory',
  'archive_files',
  'local_stored_change_id',
  'local_committed_change_id',
  'global_stored_change_id',
  'global_committed_change_id',
  'db_stored_change_id',
  'next_change_id',
  'cached_names',
  'http_status_port',
  'http_api_port',
  'scheduled_backups',
  'yajl_version',
  'connected_clients',
  'result_size_limit',
  'cached_queries',
  'threshold_query_cache',
  'cache_expiration_time',
  'python_interpreter',
  'modules_path',
  'platform',
  'architecture',
  'next_free_id',
  'libwebsockets_version',
  'commit_history',
] as const;

/** Keys of `counters()`, in their order. */
export const COUNTER_KEYS = [
  'queries_success',
  'queries_with_error',
  'tasks_success',
  'tasks_with_error',
  'changes_with_gap',
  'changes_skipped',
  'changes_failed',
  'changes_killed',
  'changes_committed',
  'changes_unaligned',
  'garbage_collected',
  'quorum_lost',
  'queries_from_cache',
  'wasted_cache',
  'longest_query_duration',
  'average_query_duration',
  'longest_change_duration',
  'average_change_duration',
  'started_at',
  'largest_result_size',
] as const;

export type NodeInfoKey = (typeof NODE_INFO_KEYS)[number];

/** The fields of `node_info()`: ints and texts, but for `uptime`, which is a float. */
export type NodeInfo = Readonly<
  Record<Exclude<NodeInfoKey, 'cached_names' | 'next_free_id' | 'commit_history'>, string | number>
>;

/** Ints, but for the durations, which are floats, in seconds. */
export type NodeCounters = Readonly<Record<(typeof COUNTER_KEYS)[number], number>>;

/** An element of `nodes_info()`. */
export interface NodeEntry {
  readonly number: number;
  readonly status: string;
  readonly committed: number;
  readonly stored: number;
  readonly zone: number;
  readonly name: string;
  readonly port: number;
  /** The connection to it, in words; null for this node, and without one. */
  readonly stream: string | null;
}

/** A member as the leader of a group knows it. */
export interface MemberPosition {
  /** Its number. */
  readonly node: number;
  /** Index up to which its log is known to hold what the leader's does, durably. */
  readonly match: number;
  /** The way it is sent entries: `probe` while it is found out what it has, `replicate`, or `snapshot`. */
  readonly state: string;
}

/** An element of `groups_info()`: one Raft group as this node knows it. */
export interface GroupEntry {
  readonly scope: string;
  readonly role: 'leader' | 'follower' | 'learner';
  /** Number of the member that leads; null for none that this node knows. */
  readonly leader: number | null;
  /** Log index up to which the state of this node is. */
  readonly applied: number;
  /** Numbers of the members that vote, and of those that only listen. */
  readonly voters: readonly number[];
  readonly learners: readonly number[];
  /** The Raft term, and the log: what is known to be committed, and the last entry. Null where the log is not open. */
  readonly term: number | null;
  readonly commit: number | null;
  readonly last: number | null;
  /** On the leader, the other members; null on others. */
  readonly members: readonly MemberPosition[] | null;
}

/** The fields of `level_info()`, see `admin/level.ts`. */
export interface LevelEntry {
  /** The level in force. */
  readonly level: number;
  /** The highest that the software of this node knows. */
  readonly known: number;
  /** Names of the members that are not known to know that one too. */
  readonly waitsFor: readonly string[];
}

/** The level, and what people should know of how the nodes are set up. */
export interface ClusterEntry extends LevelEntry {
  /** In words; empty when all is well. */
  readonly warnings: readonly string[];
}

/** Backups that a node takes by itself, at most. */
export const BACKUPS_MAX = 100;

/** When and where a node takes a backup. */
export interface BackupOrder {
  /** Path of the files, with variables. */
  readonly template: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** When the first one is due, in Unix seconds; 0 for now. */
  readonly start: number;
  /** Seconds from one to the next; 0 for a single one. */
  readonly repeat: number;
  /** Files that are kept. */
  readonly maxFiles: number;
}

/** An element of `backups_info()`. */
export interface BackupInfo extends Omit<BackupOrder, 'start'> {
  readonly id: number;
  /** Unix seconds; `pending` when it is due; null when no further one is taken. */
  readonly nextRun: number | 'pending' | null;
  /** The outcome of the last one: code 0 for success. */
  readonly result: { readonly message: string; readonly code: number } | null;
  /** The backups that went well and are there, the oldest first. */
  readonly files: readonly string[];
}

/** The backups that a node takes by itself. */
export interface BackupsView {
  /** Gives the id. */
  add(order: BackupOrder): number;
  /** False when there is none of this id. */
  remove(id: number, deleteFiles: boolean): boolean;
  all(): readonly BackupInfo[];
}

/** A backup that is to take the place of everything, by the function `restore`. */
export interface RestoreOrder {
  /** Path of the file, below the folder of backups of the node that was asked. */
  readonly file: string;
  /** True if the caller is the only user then, with all privileges everywhere. */
  readonly takesAccess: boolean;
  readonly takesTasks: boolean;
}

/** The backups that could be restored from this node. */
export interface RestoresView {
  /**
   * Looks at a file, as far as that takes no time.
   *
   * @throws QueryError bad_data_err when it is not there, or no backup
   */
  check(file: string): void;
}

/** A module as it is on a node. */
export interface ModuleLook {
  /** In words; `running` when it can be called, or will be. */
  readonly status: string;
  /** Path of the started file below the folder of all modules; null where its folder was not found. */
  readonly file: string | null;
  /** Null for none, or one that is not valid. */
  readonly manifest: ModuleManifest | null;
  /** Requests in flight. */
  readonly tasks: number;
  /** Unexpected ends since it was last started on purpose. */
  readonly restarts: number;
}

export interface ModulesView {
  /** True if this node runs code that was deployed. */
  readonly deploys: boolean;
  look(id: number): ModuleLook;
  /** Begins to start the process of a module anew. */
  restart(id: number): void;
}

/** The runs on this node of what has one name in one scope. */
interface FiguresEntry {
  readonly scope: string;
  readonly figures: RunFigures;
  /** When the last was answered, Unix seconds. */
  readonly last: number;
}

/** An element of `queries_info()`. */
export interface QueryFigures extends FiguresEntry {
  /** See `shapeOf` of the language. */
  readonly shape: string;
}

/** An element of `procedure_stats()`. */
export interface ProcedureFigures extends FiguresEntry {
  readonly name: string;
}

/** An element of `connections_info()`: a connection, or those of HTTP from one network. */
export interface ConnectionEntry {
  /** Null for those of HTTP. */
  readonly id: number | null;
  readonly transport: string;
  /** Null where it is not known. */
  readonly address: string | null;
  /** Null for nobody: before a login, and for those of HTTP, where each request says whose it is. */
  readonly user: string | null;
  /** When it began, Unix seconds; null for those of HTTP. */
  readonly since: number | null;
  /** Requests that are not answered; null for those of HTTP. */
  readonly requests: number | null;
  readonly count: number;
}

/** An element of `requests_info()`. */
export interface RequestEntry {
  readonly id: number;
  /** The name by which the log knows it. */
  readonly request: string | null;
  /** True if code of it runs, or is to go on; else it waits. */
  readonly isRunning: boolean;
  /** The kind of thing that it waits for. */
  readonly waitsFor: string | null;
  readonly ageMs: number;
  readonly ranMs: number;
  readonly user: string;
  readonly address: string | null;
  /** The node that forwarded it; null for none. */
  readonly from: string | null;
  readonly scope: string;
  /** `query`, `run`, or another kind of request, such as `emit`. */
  readonly kind: string;
  /** The beginning of its text, as far as it holds no literals, or the name of its procedure or event. */
  readonly text: string;
}

/** A series of measures, a value for each step: null where nothing came. */
export interface HistorySeries {
  readonly name: string;
  /** The label among several of that name; null for the only one. */
  readonly part: string | null;
  readonly isFloat: boolean;
  readonly values: readonly (number | null)[];
}

/** Something that explains a change of the figures. */
export interface HistoryMark {
  /** Unix seconds. */
  readonly at: number;
  readonly kind: 'start' | 'election' | 'backup';
  /** In words. */
  readonly text: string;
}

export interface MetricsHistory {
  readonly stepSeconds: number;
  /** When each step ended, Unix seconds, the oldest first. */
  readonly times: readonly number[];
  /** Entries of one name stand beside each other. */
  readonly series: readonly HistorySeries[];
  readonly marks: readonly HistoryMark[];
}

export interface NodeView {
  readonly backups: BackupsView;
  readonly restores: RestoresView;
  /** Undefined for a node that has nothing to do with modules. */
  readonly modules?: ModulesView | undefined;
  info(): NodeInfo;
  nodes(): readonly NodeEntry[];
  /**
   * Gathered one by one, as they are asked for. Null where the node has to find out first how far its logs are: the call ends with
   * `positions` then.
   */
  groups(): Iterable<GroupEntry> | null;
  level(): ClusterEntry;
  counters(): NodeCounters;
  /** The queries that ran longest of late come first; their number is limited. */
  queries(): readonly QueryFigures[];
  procedures(): readonly ProcedureFigures[];
  /** Bytes of a collection on the disk of this node, as of half a minute ago at most; null where that is not known yet. */
  collectionBytes(id: number): number | null;
  connections(): readonly ConnectionEntry[];
  /** The requests that are not answered, the longest under way first; gathered one by one, as they are asked for. */
  requests(): Iterable<RequestEntry>;
  /** @throws QueryError lookup_err where there is none, operation_err where it can't be cancelled */
  cancelRequest(id: number | bigint): void;
  /** The steps that ended later than so many Unix seconds. */
  history(since: number): MetricsHistory;
  /** Begins anew with counters, and with the figures of queries and procedures. */
  resetCounters(): void;
  /** Sets the level of the log: 0 is everything, 4 only what ends the node. */
  setLogLevel(level: number): void;
  /**
   * Sets a setting of this node, until it is started again.
   *
   * @param value as in a configuration file
   * @throws QueryError lookup_err for one that is not there, operation_err for one that takes a restart, value_err
   */
  setConfig(name: string, value: string): void;
  /** Begins to stop this node in an orderly way; again is no harm. */
  shutDown(): void;
  /** Begins to give what this node leads to another member, or to any (null). */
  handOver(to: MemberInfo | null): void;
  /** Why no node can be asked to join; null when one can. */
  invitationProblem(): string | null;
  /** True if a text is the secret that the nodes of the cluster prove to each other. */
  isClusterSecret(secret: string): boolean;
  /** Why a member can't be removed now; null when it can. */
  removalProblem(member: MemberInfo): string | null;
}
