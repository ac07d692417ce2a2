/**
 * The table of settings. Parsing, checking,
 * `--help`, `--print-config` and docs/configuration.md all come from it: a new setting is one entry here.
 *
 * A key is written as in a configuration file; its unit, where it has one, stands last. `http_api_port` is
 * the environment variable `SERVICE_HTTP_API_PORT`, the flag `--http-api-port` and the field `httpApiPort` of
 * `Config`. A secret has no flag (a command line can be seen by others) and instead a second spelling,
 * `KEY_file`, which names a file that holds it.
 *
 * Long because: it is a table, one entry after the other.
 */
import { isIP } from 'node:net';
import { isHostName, isLoopback } from './address.js';
import {
  address,
  choice,
  duration,
  durationOrNone,
  flag,
  hostName,
  hosts,
  integer,
  type Kind,
  networks,
  origins,
  path,
  peers,
  port,
  size,
  text,
} from './kinds.js';
import type { ProcessMemory } from './memory.js';

/** One setting. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** The default; `undefined`: none. */
  readonly default: Default<T> | undefined;
  /** Meaning, and behaviour at the limit: one sentence or two, for people. */
  readonly doc: string;
  /** Never printed, and also readable from a file. */
  readonly secret: boolean;
}

/** A default: a value, or what the machine and other settings make of it. */
export type Default<T> =
  | { readonly value: T }
  | { readonly words: string; readonly of: (context: DefaultContext) => T };

/** The values that a default may depend on. */
export interface DefaultContext {
  readonly hostName: string;
  /** Whether other nodes are named in `cluster`. */
  readonly clustered: boolean;
  readonly memory: ProcessMemory;
}

interface WithDefault<T> extends Setting<T> {
  readonly default: Default<T>;
}

interface WithoutDefault<T> extends Setting<T> {
  readonly default: undefined;
}

const MiB = 1024 ** 2;

const listeners = {
  listen_client_port: setting(
    port(),
    9200,
    'Port of the native protocol, which the client libraries of ThingsDB speak, over TCP; with TLS where `tls_cert_file` is set and `client_tls` says so. 0 disables it.',
  ),
  pipe_client_name: optional(
    path(),
    'Path of a Unix socket for the native protocol, which only the user of the process may open (mode 0600). One that was left behind is replaced.',
  ),
  ws_port: setting(
    port(),
    0,
    'Port of the native protocol over WebSocket, any path. 0 disables it. The HTTP API serves it as well, at `/@ws`.',
  ),
  ws_cert_file: optional(
    path(),
    'Certificate (PEM) with its chain: with it and the key `ws_port` speaks TLS (wss).',
  ),
  ws_key_file: optional(path(), 'Private key (PEM) of the certificate of `ws_port`.'),
  client_tls: setting(
    flag(),
    false,
    'Whether `listen_client_port` speaks TLS, with `tls_cert_file` and `tls_key_file`; where `tls_api_client_ca_file` is set clients need a certificate.',
  ),
  client_proxy_protocol: setting(
    flag(),
    false,
    'Whether connections to `listen_client_port` from `trusted_proxies` begin with a header of the PROXY protocol (version 1 or 2), which says where they come from; those without it are closed then. Not together with `client_tls`.',
  ),
  ip_support: setting(
    choice('all', 'ipv4only', 'ipv6only'),
    'all',
    'Which addresses the native protocol is served on: with `all` the address `::` takes IPv4, too, with `ipv6only` it does not.',
  ),
  http_api_port: setting(port(), 9210, 'Port of the HTTP API, where clients send queries. 0 disables it.'),
  http_status_port: setting(
    port(),
    9230,
    'Port for health checks and metrics (`/healthy`, `/ready`, `/started`, `/leader`, `/status`, `/metrics`); it needs no credentials and shows no data. 0 disables it.',
  ),
  listen_node_port: setting(port(), 9220, 'Port on which the nodes of a cluster talk to each other.'),
  bind_client_addr: setting(
    address(),
    '127.0.0.1',
    'Address that the HTTP API, the native protocol and the status port bind to. With any address beyond loopback a first start needs `admin_password`, and no user with privileges may have the password `pass`.',
  ),
  bind_node_addr: setting(address(), '127.0.0.1', 'Address that the node port binds to.'),
};

const node = {
  storage_path: setting(
    path(),
    './data',
    'Folder that holds all data; created when missing. One process at a time can use it.',
  ),
  node_name: derived(
    hostName(),
    'the host name',
    ({ hostName }) => (isHostName(hostName) && !/^\d+$/.test(hostName) ? hostName : 'localhost'),
    'Name of this node, by which the other nodes reach it.',
  ),
  zone: setting(
    integer(0, 255),
    0,
    'Number of the place where this node stands, for people: `node_info()` and `nodes_info()` show it.',
  ),
  admin_password: secret(
    text(1, 127),
    'Password of the user `admin`, used on the first start only, when the data folder is still empty. Where `bind_client_addr` is not a loopback address it must have 8 characters at least, at every start.',
  ),
  log_level: setting(
    choice('debug', 'info', 'warning', 'error', 'critical'),
    'info',
    'The least severe messages to log.',
  ),
  log_format: setting(
    choice('auto', 'json', 'text'),
    'auto',
    'One JSON object a line, or text for people; `auto` is text on a terminal, else JSON.',
  ),
  audit_log_file: optional(
    path(),
    'File for the audit log: logins, users and privileges, members, collections, backups. SIGHUP opens it anew. Without one these are lines of the log, with `audit: true`.',
  ),
  slow_request_ms: setting(
    duration(0, 600_000),
    1000,
    'Requests whose code runs longer are told in the log; 0 tells of none.',
  ),
  drain_delay_ms: derived(
    duration(0, 60_000),
    '0 alone, 3000 in a cluster',
    (context) => (context.clustered ? 3000 : 0),
    'How long a node that was told to stop keeps serving while it reports that it is not ready, so that load balancers turn away.',
  ),
  shutdown_timeout_ms: setting(
    duration(1000, 600_000),
    45_000,
    'How long a stop may take in all; then what still runs is cut off.',
  ),
};

const queries = {
  code_size_limit: setting(
    size('bytes', 1024, 64 * MiB),
    MiB,
    'Longest code of one query; longer code is a `bad_data_err`.',
  ),
  query_duration_limit_ms: setting(
    duration(10, 600_000),
    1000,
    'Longest time that one query may run. A query that takes longer ends with an error and changes nothing.',
  ),
  query_memory_limit_mb: derived(
    size('MB', 16, 65_536),
    '512, or half of the heap if that is less',
    ({ memory }) => Math.min(512, Math.max(16, Math.floor(memory.heapMb / 2))),
    'Most memory that the values of one query may take; more is a `max_quota_err`.',
  ),
  result_size_limit: setting(
    size('bytes', 64, 256 * MiB),
    20 * MiB,
    'Largest result of one query; a larger one is an error with code -6.',
  ),
  value_size_limit: setting(
    size('bytes', 64 * 1024, 256 * MiB),
    32 * MiB,
    'Longest str or bytes value; a longer one is a `max_quota_err`.',
  ),
  nesting_limit: setting(
    integer(500, 5000),
    500,
    'How deep lists and things may nest in MessagePack that clients send; deeper is a `bad_data_err`. JSON has a fixed limit of 127.',
  ),
  program_cache_mb: setting(
    size('MB', 1, 4096),
    32,
    'Memory for the parsed form of queries that come again.',
  ),
};

const http = {
  request_size_limit: setting(
    size('bytes', 1024, 256 * MiB),
    16 * MiB,
    'Largest body of a request; a larger one gets status 413.',
  ),
  max_connections: setting(
    integer(1, 1_000_000),
    10_000,
    'Most client connections at a time; further ones are closed at once. Fewer where the process may not open that many files (`ulimit -n`), with a warning in the log.',
  ),
  max_connections_per_address: setting(
    integer(1, 1_000_000),
    4000,
    'Most client connections at a time from one address, or one network of 64 bits in IPv6; `trusted_proxies` are not counted.',
  ),
  trusted_proxies: setting(
    networks(256),
    [],
    'Addresses of load balancers and networks of them, such as `10.0.0.0/8`, that are believed what they say of the address of a client, by `X-Forwarded-For` or by the PROXY protocol (version 2, without TLS). Failed logins are slowed down by that address, and the audit log has it.',
  ),
  http_allowed_hosts: setting(
    hosts(256),
    [],
    'Names and addresses by which clients may call the HTTP API and `ws_port`, and on loopback the status port, besides `localhost`, loopback addresses and `node_name`; a request with another `Host` gets status 421. Checked where `bind_client_addr` is a loopback address, so that no web page can reach the node by a name that it lets point there, and elsewhere if this is set. `*`: any name.',
  ),
  http_allowed_origins: setting(
    origins(256),
    [],
    'Origins of web pages that may use the HTTP API and `ws_port` from a browser, such as `https://app.example.com`. They get the headers for it (CORS); a request with an `Origin` that is neither listed nor the place that it is sent to gets status 403.',
  ),
  max_connection_age_ms: setting(
    durationOrNone(1000, 86_400_000),
    600_000,
    'How old a client connection gets, so that load spreads again after nodes were restarted or added: from 70 % of it on a connection ends with an answer that says `Connection: close`, at the latest with the first one behind it. 0: connections do not age.',
  ),
  request_memory_limit_mb: setting(
    size('MB', 1, 65_536),
    256,
    'Most memory for request bodies that are still coming in and for answers that clients do not take, all together; beyond it requests get status 503, and connections with unread answers are closed.',
  ),
  body_timeout_ms: setting(
    duration(100, 600_000),
    30_000,
    'How long the body of a request may take to arrive; then the request fails with status 408.',
  ),
  request_queue_limit: setting(
    integer(1, 1_000_000),
    10_000,
    'Most requests that may wait at a time; further ones get status 429.',
  ),
  request_timeout_ms: setting(
    duration(100, 600_000),
    10_000,
    'How long a request may wait for a leader, for other nodes, for the log, or for its turn behind slow queries. Then it gets status 503 if nothing was changed, or 504 if that is not known.',
  ),
};

const sockets = {
  login_timeout_ms: setting(
    duration(100, 600_000),
    10_000,
    'How long a connection of the native protocol may take to log in; then it is closed.',
  ),
};

const modules = {
  enable_modules: setting(
    choice('off', 'local', 'deploy'),
    'off',
    'Which programs this node runs as modules: none, those that operators put into the folders of `modules_path`, or also code that `deploy_module()` gave to the cluster. Who has CHANGE on `@thingsdb` decides then what runs with the rights of this process.',
  ),
  modules_path: optional(
    path(),
    'Folder with the folders of the modules, one for each; by default `modules` below `storage_path`.',
  ),
  python_interpreter: setting(text(1, 1024), 'python3', 'Program that modules ending with `.py` are run by.'),
  module_timeout: setting(
    integer(0, 86_400),
    600,
    'Seconds after which a request that a module has not answered fails with `cancelled_err`; 0 for never. The answer to the client comes within `request_timeout_ms` in any case.',
  ),
  module_answer_limit_mb: setting(
    size('MB', 1, 1024),
    64,
    'Largest answer of a module, in MB; one that sends a larger one is ended and started again.',
  ),
  wait_for_modules: setting(
    flag(),
    false,
    'Whether this node serves only when all modules are configured, or can not be started; after two minutes it serves in any case.',
  ),
};

const users = {
  credential_cache_ms: setting(
    duration(0, 3_600_000),
    60_000,
    'How long a password that was right is remembered in memory, so that its slow check is done once. Changing it takes effect at once all the same. 0 checks every time.',
  ),
  login_backoff_ms: setting(
    duration(0, 60_000),
    100,
    'How long a user and address have to wait after a failed login; doubled with every further failure.',
  ),
  login_backoff_limit_ms: setting(
    duration(0, 3_600_000),
    30_000,
    'The longest wait after failed logins; attempts before its end get status 429.',
  ),
  max_users: setting(integer(1, 1_000_000), 10_000, 'Most users; one more is a `max_quota_err`.'),
  max_tokens_per_user: setting(
    integer(1, 100_000),
    129,
    'Most tokens of one user; one more is a `max_quota_err`.',
  ),
  max_collections: setting(integer(1, 100_000), 1000, 'Most collections; one more is a `max_quota_err`.'),
  max_procedures: setting(
    integer(1, 1_000_000),
    10_000,
    'Most procedures of one scope; one more is a `max_quota_err`.',
  ),
  max_tasks: setting(integer(1, 100_000), 500, 'Most tasks of one scope; one more is a `max_quota_err`.'),
};

const storage = {
  cache_size_mb: derived(
    size('MB', 8, 1_048_576),
    'a quarter of the heap; at most 256 where nothing limits the memory of the process',
    ({ memory }) => Math.min(memory.isLimited ? 1_048_576 : 256, Math.max(8, Math.floor(memory.heapMb / 4))),
    'Memory for loaded things; those that were not used for longest are dropped and read again from disk. What no checkpoint holds yet, and what a query uses, stays in memory beyond it. Where what waits takes a quarter of it a checkpoint is made before its time, and where it takes more than half of it the checkpoint has most of the time. What does not fit into the heap is refused in a container, and told elsewhere.',
  ),
  garbage_interval_ms: setting(
    duration(100, 86_400_000),
    60_000,
    'Shortest time between two searches of a collection for things that refer to each other while nothing else refers to them.',
  ),
  state_check_interval_ms: setting(
    durationOrNone(1000, 86_400_000),
    300_000,
    'Time between two comparisons of what the members of a cluster hold of a collection that changes. 0 for none.',
  ),
  checkpoint_interval_ms: setting(
    duration(100, 3_600_000),
    5000,
    'Time between the end of a checkpoint and the beginning of the next, where there were changes. Changes are safe in the log before; checkpoints keep restarts short. Beside much other work a checkpoint itself takes a while; behind one that took longer than this the next one begins after a quarter of it. The longer it takes, and the more memory waits for it, the more it slows down whoever changes something, until that has a fifth of the time left: so changes that come faster than they can be written wait.',
  ),
  checkpoint_size_mb: setting(
    size('MB', 1, 65_536),
    32,
    'Amount of changes after which a checkpoint is made before its time.',
  ),
  backup_path: setting(
    path(),
    './backups',
    'Folder for the backups that `new_backup()` orders; they lie in it or below, whatever their template says, and `restore()` reads them there. Created when needed. `/`: anywhere; what is no absolute path is below the working folder of the process then.',
  ),
  backup_interval_ms: setting(
    durationOrNone(60_000, 2_592_000_000),
    0,
    'How often each node takes a backup by itself, without an order by `new_backup()`. The nodes take turns within that time, so all are to have the same. Files lie in `standing` below `backup_path`. 0 for none.',
  ),
  backup_keep: setting(integer(1, 10_000), 7, 'How many of these backups a node keeps.'),
  log_segment_mb: setting(size('MB', 1, 1024), 64, 'Size of one file of the log, allocated in advance.'),
  disk_reserve_mb: setting(
    size('MB', 0, 1_048_576),
    64,
    'Space kept aside on the disk. When the disk is full, changes are refused and the reserve is used to recover; less than 32 may not suffice for that.',
  ),
};

const cluster = {
  cluster: setting(
    peers(64),
    [],
    'The nodes of the cluster, this one included, as `host` or `host:port`, the same on every node. Empty: this node is alone.',
  ),
  cluster_secret: secret(text(16, 1024), 'Secret that the nodes of a cluster prove to each other.'),
  peer_tls: setting(
    choice('auto', 'on', 'off'),
    'auto',
    'Where the nodes encrypt what they say to each other when they have no certificates (`tls_client_ca_file`): beyond loopback (auto), everywhere (on), or nowhere (off), which others on the network can read. The key is made of `cluster_secret`. It may be changed node by node.',
  ),
  wait_for_invitation: setting(
    flag(),
    false,
    'Whether an empty node without `cluster` waits until a cluster takes it in (`new_node()`, `althing cluster add`), instead of being a cluster of its own.',
  ),
  election_timeout_ms: setting(
    duration(100, 60_000),
    1000,
    'How long a node waits without word from its leader before it calls an election.',
  ),
  heartbeat_ms: setting(duration(10, 10_000), 100, 'Time between two heartbeats of a leader.'),
  auth_max_stale_ms: setting(
    duration(1000, 86_400_000),
    10_000,
    'How old what a node knows of users and their rights may be, when it has no word of a majority: for longer than this (and than two election timeouts) it answers every request with 503, stale reads among them, since who was locked out meanwhile would be let in.',
  ),
  replace_after_ms: setting(
    duration(1000, 86_400_000),
    60_000,
    'How long a node must not have been reachable before an empty one with its name takes its place, or a node that does not vote its vote.',
  ),
  rejoin_when_removed: setting(
    flag(),
    false,
    'Whether a node that finds out at its start that it was removed from the cluster sets its data aside, in `removed` below `storage_path`, and asks to join as a new member, instead of ending with code 4. A node that was removed while it served does so when it is started ten minutes later, or after that.',
  ),
  leave_from_ordinal_file: optional(
    path(),
    'File with a number, for a StatefulSet that is to shrink: a node whose `node_name` ends with this number or a higher one (`althing-3`, `althing-3.althing-headless`) asks its cluster to remove it when it is told to stop. It is read at that moment; an empty one says that nobody leaves.',
  ),
  tls_cert_file: optional(
    path(),
    'Certificate (PEM) of this node, with its chain: the HTTP API and the status port speak TLS with it. Files that are replaced are taken up within two seconds, or at SIGHUP.',
  ),
  tls_key_file: optional(path(), 'Private key (PEM) of the certificate.'),
  tls_client_ca_file: optional(
    path(),
    'Certificates (PEM) of the authorities that the certificates of the nodes must come from: with it the nodes talk to each other over mutual TLS.',
  ),
  tls_api_client_ca_file: optional(
    path(),
    'Certificates (PEM) of the authorities that the certificates of clients must come from: with it the HTTP API refuses who has none, and on the status port only the probes (`/healthy`, `/ready`, `/started`, `/leader`) need none. Logging in is still needed.',
  ),
};

/** All settings, by key. */
export const settings = {
  ...listeners,
  ...node,
  ...queries,
  ...http,
  ...sockets,
  ...modules,
  ...users,
  ...storage,
  ...cluster,
};

/** The keys of the settings, grouped for people. */
export const sections: readonly { readonly title: string; readonly keys: readonly SettingKey[] }[] = [
  { title: 'Listeners', keys: keysOf(listeners) },
  { title: 'Node', keys: keysOf(node) },
  { title: 'Queries', keys: keysOf(queries) },
  { title: 'HTTP', keys: keysOf(http) },
  { title: 'Native protocol', keys: keysOf(sockets) },
  { title: 'Modules', keys: keysOf(modules) },
  { title: 'Users and quotas', keys: keysOf(users) },
  { title: 'Storage', keys: keysOf(storage) },
  { title: 'Cluster', keys: keysOf(cluster) },
];

export type Settings = typeof settings;
export type SettingKey = keyof Settings;

/** The keys in the order of the table. */
export const settingKeys: readonly SettingKey[] = sections.flatMap((section) => section.keys);

/** Whether a text is the key of a setting. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

/** The effective configuration: a field for every setting, in camel case, checked. */
export type Config = { readonly [K in SettingKey as CamelCase<K>]: SettingValue<K> };

/** The value of a setting. */
export type SettingValue<K extends SettingKey> =
  Settings[K] extends WithDefault<infer T>
    ? T
    : Settings[K] extends WithoutDefault<infer T>
      ? T | undefined
      : never;

/** `http_api_port` to `httpApiPort`. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/**
 * Relations between settings that the settings alone can't state: the keys that they are about and what has
 * to hold.
 */
export const rules: readonly Rule[] = [
  {
    keys: ['heartbeat_ms', 'election_timeout_ms'],
    must: 'heartbeat_ms must be at most a third of election_timeout_ms',
    holds: (config) => config.heartbeatMs * 3 <= config.electionTimeoutMs,
  },
  {
    keys: ['cluster', 'cluster_secret'],
    must: 'cluster needs cluster_secret (or cluster_secret_file), the same on all nodes',
    holds: (config) => config.cluster.length === 0 || config.clusterSecret !== undefined,
  },
  {
    keys: ['admin_password', 'bind_client_addr'],
    must: 'admin_password must have 8 characters at least where bind_client_addr is open to a network',
    holds: (config) =>
      isLoopback(config.bindClientAddr) ||
      config.adminPassword === undefined ||
      config.adminPassword.length >= PASSWORD_LENGTH_MIN,
  },
  {
    keys: ['tls_cert_file', 'tls_key_file'],
    must: 'tls_cert_file and tls_key_file must be set together',
    holds: (config) => (config.tlsCertFile === undefined) === (config.tlsKeyFile === undefined),
  },
  {
    keys: ['tls_client_ca_file', 'tls_cert_file'],
    must: 'tls_client_ca_file needs tls_cert_file and tls_key_file',
    holds: (config) => config.tlsClientCaFile === undefined || config.tlsCertFile !== undefined,
  },
  {
    keys: ['tls_api_client_ca_file', 'tls_cert_file'],
    must: 'tls_api_client_ca_file needs tls_cert_file and tls_key_file',
    holds: (config) => config.tlsApiClientCaFile === undefined || config.tlsCertFile !== undefined,
  },
  {
    keys: ['wait_for_invitation', 'cluster', 'cluster_secret'],
    must: 'wait_for_invitation needs a cluster_secret, and no cluster',
    holds: (config) =>
      !config.waitForInvitation || (config.clusterSecret !== undefined && config.cluster.length === 0),
  },
  {
    keys: ['login_backoff_ms', 'login_backoff_limit_ms'],
    must: 'login_backoff_ms must not exceed login_backoff_limit_ms',
    holds: (config) => config.loginBackoffMs <= config.loginBackoffLimitMs,
  },
  {
    keys: ['drain_delay_ms', 'shutdown_timeout_ms'],
    must: 'drain_delay_ms must be below shutdown_timeout_ms',
    holds: (config) => config.drainDelayMs < config.shutdownTimeoutMs,
  },
  {
    keys: ['code_size_limit', 'request_size_limit'],
    must: 'code_size_limit must not exceed request_size_limit',
    holds: (config) => config.codeSizeLimit <= config.requestSizeLimit,
  },
  {
    keys: ['request_size_limit', 'request_memory_limit_mb'],
    must: 'request_size_limit must not exceed request_memory_limit_mb',
    holds: (config) => config.requestSizeLimit <= config.requestMemoryLimitMb * MiB,
  },
  {
    keys: ['result_size_limit', 'request_memory_limit_mb'],
    must: 'result_size_limit must not exceed request_memory_limit_mb',
    holds: (config) => config.resultSizeLimit <= config.requestMemoryLimitMb * MiB,
  },
  {
    keys: ['ws_cert_file', 'ws_key_file'],
    must: 'ws_cert_file and ws_key_file must be set together',
    holds: (config) => (config.wsCertFile === undefined) === (config.wsKeyFile === undefined),
  },
  {
    keys: ['client_tls', 'tls_cert_file'],
    must: 'client_tls needs tls_cert_file and tls_key_file',
    holds: (config) => !config.clientTls || config.tlsCertFile !== undefined,
  },
  {
    keys: ['client_proxy_protocol', 'trusted_proxies', 'client_tls'],
    must: 'client_proxy_protocol needs trusted_proxies, and no client_tls',
    holds: (config) => !config.clientProxyProtocol || (config.trustedProxies.length > 0 && !config.clientTls),
  },
  {
    keys: ['ip_support', 'bind_client_addr'],
    must: 'ip_support must allow the kind of address that bind_client_addr is',
    holds: (config) =>
      config.ipSupport === 'all' || isIP(config.bindClientAddr) === (config.ipSupport === 'ipv4only' ? 4 : 6),
  },
  {
    keys: ['http_api_port', 'listen_client_port', 'ws_port', 'http_status_port', 'listen_node_port'],
    must: 'http_api_port, listen_client_port, ws_port, http_status_port and listen_node_port must be different (0 disables one)',
    holds: (config) => {
      const { httpApiPort, listenClientPort, wsPort, httpStatusPort, listenNodePort } = config;
      const ports = [httpApiPort, listenClientPort, wsPort, httpStatusPort, listenNodePort].filter(
        (p) => p !== 0,
      );
      return new Set(ports).size === ports.length;
    },
  },
];

/** Of the first user's password, where others than this machine can try it; the default one is shorter. */
const PASSWORD_LENGTH_MIN = 8;

export interface Rule {
  readonly keys: readonly SettingKey[];
  readonly must: string;
  readonly holds: (config: Config) => boolean;
}

/**
 * Settings that ThingsDB has under the same key and with the same meaning: its variables set them, too, such as
 * `THINGSDB_LISTEN_CLIENT_PORT`.
 */
export const sharedKeys: ReadonlySet<string> = new Set<SettingKey>([
  'listen_client_port',
  'bind_client_addr',
  'pipe_client_name',
  'listen_node_port',
  'bind_node_addr',
  'node_name',
  'http_api_port',
  'http_status_port',
  'ws_port',
  'ws_cert_file',
  'ws_key_file',
  'ip_support',
  'storage_path',
  'log_level',
  'result_size_limit',
  'enable_modules',
  'modules_path',
  'module_timeout',
  'python_interpreter',
  'wait_for_modules',
  'zone',
]);

/** Variables of ThingsDB that stand for flags of `serve` (packages/cli/src/first-start.ts). */
export const startVariables: ReadonlySet<string> = new Set([
  'THINGSDB_INIT',
  'THINGSDB_SECRET',
  'THINGSDB_DEPLOY',
  'THINGSDB_AUTO_REBUILD',
  'THINGSDB_NODE_SECRET',
]);

/**
 * Keys of ThingsDB that Althing does not need: an existing file is understood, with a word on each.
 */
export const foreignKeys: ReadonlyMap<string, string> = new Map([
  ['gcloud_key_file', 'there are no cloud backups'],
  ['threshold_full_storage', 'checkpoints follow checkpoint_interval_ms and checkpoint_size_mb'],
  ['threshold_query_cache', 'every query is cached; see program_cache_mb'],
  ['cache_expiration_time', 'the query cache is bounded by program_cache_mb'],
  ['shutdown_period', 'see drain_delay_ms and shutdown_timeout_ms'],
  ['query_duration_warn', 'see query_duration_limit_ms'],
  ['query_duration_error', 'see query_duration_limit_ms'],
]);

/** The environment variable of a key. */
export function variableOf(key: string): string {
  return `SERVICE_${key.toUpperCase()}`;
}

/** The field of `Config` of a key. */
export function fieldOf(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The command line flag of a key; a secret has none. */
export function flagOf(key: SettingKey): string | undefined {
  return settings[key].secret ? undefined : `--${key.replaceAll('_', '-')}`;
}

function setting<T>(kind: Kind<T>, value: NoInfer<T>, doc: string): WithDefault<T> {
  return { kind, default: { value }, doc, secret: false };
}

function derived<T>(
  kind: Kind<T>,
  words: string,
  of: (context: DefaultContext) => NoInfer<T>,
  doc: string,
): WithDefault<T> {
  return { kind, default: { words, of }, doc, secret: false };
}

function optional<T>(kind: Kind<T>, doc: string): WithoutDefault<T> {
  return { kind, default: undefined, doc, secret: false };
}

function secret<T>(kind: Kind<T>, doc: string): WithoutDefault<T> {
  return { kind, default: undefined, doc, secret: true };
}

function keysOf(part: Partial<Settings>): readonly SettingKey[] {
  return Object.keys(part).filter(isSettingKey);
}
