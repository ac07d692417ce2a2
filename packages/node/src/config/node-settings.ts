/** Settings of a node and its cluster: name, modules, storage, other nodes. */
import { isHostName } from './address.js';
import {
  choice,
  duration,
  durationOrNone,
  flag,
  hostName,
  integer,
  path,
  peers,
  procedures,
  size,
  text,
} from './kinds.js';
import { derived, optional, secret, setting } from './setting.js';

export const node = {
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
  metrics_procedures: setting(
    procedures(32),
    [],
    'Procedures that have calls and times of their own in `/metrics`, each as COLLECTION.PROCEDURE.',
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

export const modules = {
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

export const storage = {
  cache_size_mb: derived(
    size('MB', 8, 1_048_576),
    'a quarter of the heap; at most 256 where nothing limits the memory of the process',
    ({ memory }) => Math.min(memory.isLimited ? 1_048_576 : 256, Math.max(8, Math.floor(memory.heapMb / 4))),
    'Memory for loaded things; those that were not used for longest are dropped and read again from disk. What no checkpoint holds yet, and what a query uses, stays in memory beyond it. Where what waits takes a quarter of it a checkpoint is made before its time, and where it takes more than half of it the checkpoint has most of the time, so that whoever changes more waits: a bulk load takes about twice as much as this at most. What does not fit into the heap is refused in a container and by `set_config()`, and told elsewhere.',
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
    'Time between the end of a checkpoint and the beginning of the next, where there were changes. Changes are safe in the log before; checkpoints keep restarts short. Beside much other work a checkpoint itself takes a while; behind one that took longer than this the next one begins after a quarter of it. The longer it takes, and the more memory waits for it, the more it slows down whoever changes something, until that has a third of the time left: so changes that come faster than they can be written wait.',
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

export const cluster = {
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
