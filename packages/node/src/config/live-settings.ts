/** Settings that can change while the node runs: of a file that is read again, and of `set_config`. */
import { isDeepStrictEqual } from 'node:util';
import { nearest } from '@althing/language';
import { plain } from './load.js';
import { cacheProblem, processMemory } from './memory.js';
import { rules } from './rules.js';
import { type Config, fieldOf, isSettingKey, type SettingKey, settingKeys, settings } from './settings.js';

/** The keys of these settings: limits, the log, the cache, and intervals. */
export const LIVE_KEYS: readonly SettingKey[] = [
  'log_level',
  'slow_request_ms',
  'query_duration_limit_ms',
  'query_memory_limit_mb',
  'value_size_limit',
  'result_size_limit',
  'code_size_limit',
  'max_users',
  'max_tokens_per_user',
  'max_collections',
  'max_procedures',
  'max_tasks',
  'session_idle_ms',
  'session_max_ms',
  'cache_size_mb',
  'checkpoint_interval_ms',
  'checkpoint_size_mb',
  'garbage_interval_ms',
  'state_check_interval_ms',
];

/** A setting that can not be set so. */
export class SettingRefusal {
  constructor(
    readonly kind: 'unknown' | 'fixed' | 'value',
    readonly message: string,
  ) {}
}

/** The settings that differ in a configuration that was read again: those that changed, and those that take a restart. */
export interface Reloaded {
  readonly changed: readonly SettingKey[];
  /** Keys of settings that take a restart. */
  readonly fixed: readonly SettingKey[];
}

export class LiveSettings {
  /** The settings as they are at any time: whoever keeps this object reads present values. */
  readonly config: Config;
  private readonly changed: (() => void)[] = [];
  /** The values that were read last, by which it is seen what a file changed since. */
  private read: ReadonlyMap<string, unknown>;

  /** @param started the configuration that the node started with */
  constructor(private readonly started: Config) {
    this.read = valuesOf(started);
    this.config = { ...started };
  }

  /** An object whose fields are read from the settings, and read again with each change. */
  follow<T extends object>(read: (config: Config) => T): T {
    const followed = read(this.config);
    this.changed.push(() => Object.assign(followed, read(this.config)));
    return followed;
  }

  /** Takes over what changed in a configuration since it was read last. */
  reload(next: Config): Reloaded {
    const before = this.read;
    this.read = valuesOf(next);
    const differing = settingKeys.filter((key) => {
      const field = fieldOf(key);
      return !isDeepStrictEqual(before.get(field), this.read.get(field));
    });
    const changed = differing.filter((key) => this.refusal(key, this.read.get(fieldOf(key))) === null);
    for (const key of changed) this.put(fieldOf(key), this.read.get(fieldOf(key)));
    return { changed, fixed: differing.filter((key) => !changed.includes(key)) };
  }

  /**
   * Sets one.
   *
   * @param text as in a configuration file
   * @returns its new value as a text
   * @throws SettingRefusal
   */
  set(key: string, text: string): string {
    if (!isSettingKey(key)) {
      const meant = nearest(key, settingKeys);
      throw new SettingRefusal(
        'unknown',
        `there is no setting '${key}'${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      );
    }
    const { kind } = settings[key];
    const parsed = kind.parse(text);
    if (!parsed.ok) throw new SettingRefusal('value', `${key} must be ${kind.must}`);
    const refusal = this.refusal(key, parsed.value);
    if (refusal !== null) throw refusal;
    const field = fieldOf(key);
    const broken = rules.find(
      (rule) => rule.keys.includes(key) && !rule.holds({ ...this.config, [field]: parsed.value }),
    );
    if (broken !== undefined) throw new SettingRefusal('value', broken.must);
    this.put(field, parsed.value);
    return plain(key, parsed.value);
  }

  private put(field: string, value: unknown): void {
    Object.assign(this.config, { [field]: value });
    for (const read of this.changed) read();
  }

  private refusal(key: SettingKey, value: unknown): SettingRefusal | null {
    if (!LIVE_KEYS.includes(key))
      return new SettingRefusal(
        'fixed',
        `${key} takes effect when the node is started again: set it in its configuration, and restart the node`,
      );
    // The other thread gives leaderships away when this one is silent for longer than it was told at the start.
    const most = this.started.queryDurationLimitMs;
    if (key === 'query_duration_limit_ms' && typeof value === 'number' && value > most)
      return new SettingRefusal(
        'fixed',
        `${key} can be up to ${most} while the node runs, which is what it started with: more takes a restart`,
      );
    if (key === 'cache_size_mb') {
      const problem = cacheProblem({ ...this.config, [fieldOf(key)]: value }, processMemory());
      if (problem !== null) return new SettingRefusal('value', problem);
    }
    return null;
  }
}

function valuesOf(config: Config): Map<string, unknown> {
  return new Map<string, unknown>(Object.entries(config));
}
