import { describe, expect, test } from '@jest/globals';
import { LIVE_KEYS, LiveSettings, SettingRefusal } from './live-settings.js';
import { loadConfig } from './load.js';
import type { Config } from './settings.js';

function configOf(environment: Record<string, string> = {}): Config {
  const required = { SERVICE_NODE_NAME: 'n' };
  return loadConfig({ environment: { ...required, ...environment } }).config;
}

function refused(work: () => unknown): SettingRefusal {
  try {
    work();
  } catch (error) {
    if (error instanceof SettingRefusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('settings of a node that runs', () => {
  test('change where whoever keeps them looks', () => {
    const live = new LiveSettings(configOf());
    const { config } = live;
    expect(config.cacheSizeMb).toBe(configOf().cacheSizeMb);
    expect(live.set('cache_size_mb', '77')).toBe('77');
    expect(live.set('garbage_interval_ms', '30s')).toBe('30000');
    expect([config.cacheSizeMb, config.garbageIntervalMs]).toEqual([77, 30_000]);
    expect({ ...config }.cacheSizeMb).toBe(77);
  });

  test.each([
    ['cache_sise_mb', '5', 'unknown', 'did you mean cache_size_mb?'],
    ['cache_size_mb', 'much', 'value', 'cache_size_mb must be'],
    ['cache_size_mb', '-1', 'value', 'cache_size_mb must be'],
    ['cache_size_mb', '1048576', 'value', 'do not fit: the JavaScript heap may take'],
    ['http_api_port', '9211', 'fixed', 'restart the node'],
    ['cluster_secret', 'x'.repeat(40), 'fixed', 'restart the node'],
    ['query_duration_limit_ms', '5000', 'fixed', 'up to 1000 while the node runs'],
  ])('%s = %s is refused', (key, text, kind, message) => {
    const live = new LiveSettings(configOf());
    const refusal = refused(() => live.set(key, text));
    expect(refusal.kind).toBe(kind);
    expect(refusal.message).toContain(message);
    expect({ ...live.config }).toEqual({ ...configOf() });
  });

  test('take over from a configuration that is read again what it changed, and tell what takes a restart', () => {
    const live = new LiveSettings(configOf({ SERVICE_MAX_USERS: '10' }));
    live.set('cache_size_mb', '77');
    const next = configOf({ SERVICE_MAX_USERS: '20', SERVICE_HTTP_API_PORT: '9999' });
    expect(live.reload(next)).toEqual({ changed: ['max_users'], fixed: ['http_api_port'] });
    expect(live.config.maxUsers).toBe(20);
    expect(live.config.httpApiPort).toBe(configOf().httpApiPort);
    // A setting that was changed otherwise, and is not in the file, stays.
    expect(live.config.cacheSizeMb).toBe(77);
    expect(live.reload(next)).toEqual({ changed: [], fixed: [] });
  });

  test('hold no secret', () => {
    expect(LIVE_KEYS.filter((key) => /secret|password/.test(key))).toEqual([]);
  });
});
