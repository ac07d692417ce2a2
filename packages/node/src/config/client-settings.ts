/** Settings of what clients meet: ports, limits of queries and requests, users. */
import {
  address,
  choice,
  duration,
  durationOrNone,
  flag,
  hosts,
  integer,
  networks,
  origins,
  path,
  port,
  size,
} from './kinds.js';
import { derived, optional, setting } from './setting.js';

const MiB = 1024 ** 2;

export const listeners = {
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
    'Port for health checks and metrics (`/healthy`, `/ready`, `/started`, `/leader`, `/status`, `/metrics`); it needs no credentials and shows no data, but for `/cancel`, which takes a token. 0 disables it.',
  ),
  listen_node_port: setting(port(), 9220, 'Port on which the nodes of a cluster talk to each other.'),
  bind_client_addr: setting(
    address(),
    '127.0.0.1',
    'Address that the HTTP API, the native protocol and the status port bind to. With any address beyond loopback a first start needs `admin_password`, and no user with privileges may have the password `pass`.',
  ),
  bind_node_addr: setting(address(), '127.0.0.1', 'Address that the node port binds to.'),
};

export const queries = {
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

export const snapshots = {
  snapshot_threads: derived(
    integer(0, 64),
    '1 on up to 4 processors, else 2',
    ({ processors }) => (processors > 4 ? 2 : 1),
    'Queries with the consistency `snapshot` that run at a time, each in a thread of its own; one of a user at a time, and 16 wait. 0: there are none.',
  ),
  snapshot_duration_limit_ms: setting(
    duration(1000, 86_400_000),
    600_000,
    'Longest time that a query with the consistency `snapshot` may run.',
  ),
  snapshot_memory_limit_mb: derived(
    size('MB', 64, 65_536),
    '1024, or a quarter of the memory of the process if that is less',
    ({ memory }) => Math.min(1024, Math.max(64, Math.floor(memory.totalMb / 4))),
    'Memory of each such thread, beside that of the node; a query that takes more is a `max_quota_err`.',
  ),
  snapshot_kept_mb: setting(
    size('MB', 64, 16_777_216),
    8192,
    'What may be written to the disk while such a query runs, which keeps all that is overwritten; beyond it the query ends with a `max_quota_err`.',
  ),
};

export const http = {
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
    'Origins of web pages that may use the HTTP API and `ws_port` from a browser, such as `https://app.example.com`. They get the headers for it (CORS); a request with an `Origin` that is neither listed nor the place that it is sent to gets status 403, as does one without that says `Sec-Fetch-Site: cross-site` or `same-site`, except for pages and their files.',
  ),
  console: setting(
    choice('on', 'production', 'read_only', 'off'),
    'on',
    'The [web console](console.md), which the HTTP API serves at `/@console/`. `production`: its pages say that this is production, and change nothing until somebody switches that off in a window. `read_only`: they change nothing. `off`: nothing of it is served.',
  ),
  max_connection_age_ms: setting(
    durationOrNone(1000, 86_400_000),
    600_000,
    'How old a client connection gets, so that load spreads again after nodes were restarted or added: from 70 % of it on a connection ends with an answer that says `Connection: close`, at the latest with the first one behind it. 0: connections do not age.',
  ),
  request_memory_limit_mb: setting(
    size('MB', 1, 65_536),
    256,
    'Most memory for request bodies that are still coming in and for answers that clients do not take, all together; beyond it requests get status 503, and connections with unread answers are closed. Up to 64 KiB of each may take a sixteenth more, so that a few large ones do not keep small ones out.',
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

export const sockets = {
  login_timeout_ms: setting(
    duration(100, 600_000),
    10_000,
    'How long a connection of the native protocol may take to log in; then it is closed.',
  ),
};

export const users = {
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
  session_idle_ms: setting(
    duration(1000, 2_592_000_000),
    1_800_000,
    'How long a session lasts that is not renewed. The leader of the root scope decides.',
  ),
  session_max_ms: setting(
    duration(1000, 2_592_000_000),
    43_200_000,
    'How long a session lasts at most, however often it is renewed.',
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
