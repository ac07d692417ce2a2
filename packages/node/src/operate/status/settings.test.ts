import { beforeEach, expect, test } from '@jest/globals';
import { type Config, LiveSettings, loadConfig } from '../../config/index.js';
import { engineSettings } from '../start/engine-settings.js';
import { reloadSettings, setSetting } from './settings.js';

let told: unknown[];
let live: LiveSettings;
const log = {
  level: 'info',
  info: (fields: unknown) => void told.push(fields),
  warn: (fields: unknown) => void told.push(fields),
  error: (fields: unknown) => void told.push(fields),
};

function configOf(environment: Record<string, string> = {}): Config {
  return loadConfig({ environment: { SERVICE_NODE_NAME: 'n', ...environment } }).config;
}

beforeEach(() => {
  told = [];
  log.level = 'info';
  live = new LiveSettings(configOf());
});

test('a setting that is set reaches what was made before, and the log tells of it', () => {
  const cluster = { clusterId: new Uint8Array(16), founders: [] };
  const settings = engineSettings(live, 2, { nodeId: 1, incarnation: 1, cluster });
  const { limits } = settings.engine;
  setSetting(live, log, 'query_duration_limit_ms', '50');
  setSetting(live, log, 'cache_size_mb', '64');
  setSetting(live, log, 'max_users', '3');
  expect([limits.durationMs, settings.cacheBytes, settings.engine.quotas.users]).toEqual([
    50,
    64 * 2 ** 20,
    3,
  ]);
  expect(told[0]).toEqual({ event: 'settings_changed', settings: ['query_duration_limit_ms'], value: '50' });
});

test.each([
  ['no_such', '1', -54],
  ['http_api_port', '1', -63],
  ['max_users', 'many', -60],
])('%s = %s fails with an error of queries', (key, value, code) => {
  let error: unknown;
  try {
    setSetting(live, log, key, value);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code });
  expect(told).toEqual([]);
});

test('a configuration that is read again changes the level of the log, and names what waits for a restart', () => {
  reloadSettings(live, log, () => configOf({ SERVICE_LOG_LEVEL: 'error', SERVICE_HTTP_API_PORT: '9999' }));
  expect(log.level).toBe('error');
  expect(told).toEqual([
    { event: 'settings_changed', settings: ['log_level'] },
    { event: 'settings_wait', settings: ['http_api_port'] },
  ]);
});

test('nothing is taken over from a configuration that is wrong, and the log tells why', () => {
  reloadSettings(live, log, () => configOf({ SERVICE_LOG_LEVEL: 'error', SERVICE_MAX_USERS: 'many' }));
  expect(log.level).toBe('info');
  expect(told).toEqual([{ event: 'settings_refused', error: expect.stringContaining('MAX_USERS') }]);
});
