import { isIP } from 'node:net';
import { isLoopback } from './address.js';
import type { Config, SettingKey } from './settings.js';

const MiB = 1024 ** 2;

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

/** Shortest password of the first user, where others than this machine can try it; the default one is shorter. */
const PASSWORD_LENGTH_MIN = 8;

export interface Rule {
  readonly keys: readonly SettingKey[];
  readonly must: string;
  readonly holds: (config: Config) => boolean;
}
