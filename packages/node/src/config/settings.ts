/**
 * The table of settings. Parsing, checking, `--help`, `--print-config` and docs/configuration.md all come from it: a new setting
 * is one entry in `client-settings.ts` or `node-settings.ts`.
 *
 * A key is written as in a configuration file; its unit, where it has one, stands last. `http_api_port` is
 * the environment variable `SERVICE_HTTP_API_PORT`, the flag `--http-api-port` and the field `httpApiPort` of
 * `Config`. A secret has no flag (a command line can be seen by others) and instead a second spelling,
 * `KEY_file`, which names a file that holds it.
 */
import { http, listeners, queries, snapshots, sockets, users } from './client-settings.js';
import { cluster, modules, node, storage } from './node-settings.js';
import type { WithDefault, WithoutDefault } from './setting.js';

export const settings = {
  ...listeners,
  ...node,
  ...queries,
  ...snapshots,
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
  { title: 'Snapshot reads', keys: keysOf(snapshots) },
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

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

/** The effective configuration: a field for every setting, in camel case, checked. */
export type Config = { readonly [K in SettingKey as CamelCase<K>]: SettingValue<K> };

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

export function variableOf(key: string): string {
  return `SERVICE_${key.toUpperCase()}`;
}

export function fieldOf(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The command line flag of a key; a secret has none. */
export function flagOf(key: SettingKey): string | undefined {
  return settings[key].secret ? undefined : `--${key.replaceAll('_', '-')}`;
}

function keysOf(part: Partial<Settings>): readonly SettingKey[] {
  return Object.keys(part).filter(isSettingKey);
}
