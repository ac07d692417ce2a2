/** Keys and variables of ThingsDB: those that mean the same here, and those that are understood only. */
import type { SettingKey } from './settings.js';

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
