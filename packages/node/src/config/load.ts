/**
 * Makes a checked configuration of a file, the environment and the command line. A flag wins over the
 * environment, the environment over the file, the file over the default. Every source is checked in the same
 * way, also where another one wins, and all problems are reported at once.
 */
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import { nearest } from '@althing/language';
import { isLoopback } from './address.js';
import { parseFile } from './file.js';
import { type ProcessMemory, processMemory } from './memory.js';
import { ConfigurationError, type ConfigurationProblem, shown } from './problem.js';
import { rules } from './rules.js';
import type { DefaultContext, Setting } from './setting.js';
import {
  type Config,
  fieldOf,
  flagOf,
  isSettingKey,
  type SettingKey,
  settingKeys,
  settings,
  variableOf,
} from './settings.js';
import { foreignKeys, sharedKeys, startVariables } from './thingsdb-keys.js';

/** Where a configuration comes from. */
export interface ConfigurationInput {
  /** Path of the configuration file; without it there is none. */
  readonly path?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values of command line flags, by key. */
  readonly flags?: ReadonlyMap<SettingKey, string>;
  /** Reads a file as UTF-8; throws when it can't. For tests; default: the file system. */
  readonly readFile?: (path: string) => string;
  /** Given by tests; default: the machine's. */
  readonly hostName?: string;
  /** Given by tests; default: that of this process. */
  readonly memory?: ProcessMemory;
  /** The manner of a program that stands for another one; default: our own. */
  readonly manner?: ConfigurationManner;
}

/** The way in which a program reads its settings that stands for another one, whose users know it so. */
export interface ConfigurationManner {
  /**
   * Its defaults where they are not ours, as texts.
   *
   * @param isLocal whether only clients on this machine can reach the node
   */
  readonly defaults: (isLocal: boolean) => ReadonlyMap<SettingKey, string>;
  /**
   * True if unknown keys of the file, and values of `sharedKeys` in the file and the environment that do not fit, are
   * passed over with a warning.
   */
  readonly isLenient: boolean;
}

/** A configuration, checked, with what there is to say about it. */
export interface LoadedConfig {
  readonly config: Config;
  /** Where each value comes from, for people, such as `SERVICE_HTTP_API_PORT` or `default`. */
  readonly sources: ReadonlyMap<SettingKey, string>;
  /** Settings that were ignored, one line each. */
  readonly warnings: readonly string[];
}

/** Longest configuration file and secret file that is read. */
const fileSizeMax = 1024 ** 2;

/**
 * Reads and checks a configuration.
 *
 * @throws {ConfigurationError} with all problems
 */
export function loadConfig(input: ConfigurationInput): LoadedConfig {
  const { manner } = input;
  const reader = new Reader(input.readFile ?? readSmallFile, manner?.isLenient ?? false);
  const layers = [
    reader.flags(input.flags ?? new Map()),
    reader.environment(input.environment),
    reader.file(input.path),
  ];
  const found = new Map<SettingKey, Found>();
  const take = (layer: Layer, key: SettingKey): void => {
    const value = reader.valueIn(layer, key);
    if (value !== undefined && !found.has(key)) found.set(key, value);
  };
  for (const key of settingKeys) for (const layer of layers) take(layer, key);
  const defaults = manner?.defaults(isLocal(found.get('bind_client_addr')?.value)) ?? new Map();
  const own = reader.defaults(defaults);
  for (const key of defaults.keys()) take(own, key);
  const context: DefaultContext = {
    hostName: input.hostName ?? hostname(),
    clustered: isNonEmptyList(found.get('cluster')?.value),
    memory: input.memory ?? processMemory(),
    processors: availableParallelism(),
  };
  const sources = new Map<SettingKey, string>();
  const fields: Record<string, unknown> = {};
  for (const key of settingKeys) {
    const value = found.get(key);
    sources.set(key, value === undefined ? DEFAULT : value.source);
    fields[fieldOf(key)] = value === undefined ? reader.defaultOf(key, context) : value.value;
  }
  if (reader.problems.length > 0) throw new ConfigurationError(reader.problems);
  // Every field of `Config` was set above, by the kind or the default of its own entry in the table.
  const config = Object.freeze(fields) as Config;
  for (const rule of rules) {
    if (rule.holds(config)) continue;
    const now = rule.keys.map((key) => `${key} = ${plain(key, fields[fieldOf(key)])} (${sources.get(key)})`);
    reader.problems.push({ key: rule.keys[0]!, message: `${rule.must}; now ${now.join(', ')}` });
  }
  if (reader.problems.length > 0) throw new ConfigurationError(reader.problems);
  return { config, sources, warnings: reader.warnings };
}

/** The source of values that nobody gave. */
const DEFAULT = 'default';

/** Prefix of the sources of flags. */
const FROM_FLAG = 'from --';

/** Prefix of the variables of ThingsDB. They count where there is none of ours for the same setting. */
const THINGSDB = 'THINGSDB_';

/** A value as it would be written in a file; a secret is masked, no value is empty. */
export function plain(key: SettingKey, value: unknown): string {
  if (value === undefined || value === null) return '';
  const setting: Setting<unknown> = settings[key];
  return setting.secret ? '********' : setting.kind.format(value);
}

/** Texts of one source, by key; secrets also under `KEY_file`. */
type Layer = ReadonlyMap<string, { readonly text: string; readonly source: string }>;

interface Found {
  readonly value: unknown;
  readonly source: string;
}

class Reader {
  readonly problems: ConfigurationProblem[] = [];
  readonly warnings: string[] = [];

  constructor(
    private readonly readFile: (path: string) => string,
    private readonly isLenient: boolean,
  ) {}

  defaults(texts: ReadonlyMap<SettingKey, string>): Layer {
    return new Map([...texts].map(([key, text]) => [key, { text, source: DEFAULT }] as const));
  }

  flags(flags: ReadonlyMap<SettingKey, string>): Layer {
    return new Map(
      [...flags].map(
        ([key, text]) => [key, { text, source: `from ${flagOf(key) ?? 'the command line'}` }] as const,
      ),
    );
  }

  environment(variables: Readonly<Record<string, string | undefined>>): Layer {
    const layer = new Map<string, { text: string; source: string }>();
    const keys = new Map(knownKeys().map((key) => [variableOf(key), key]));
    for (const [variable, text] of Object.entries(variables)) {
      if (text === undefined) continue;
      const key = keys.get(variable);
      if (key !== undefined)
        layer.set(key, { text: isSecret(key) ? text : text.trim(), source: `from ${variable}` });
      else if (variable.startsWith('SERVICE_')) this.unknownVariable(variable);
    }
    for (const [variable, text] of Object.entries(variables)) {
      if (text === undefined || !variable.startsWith(THINGSDB) || startVariables.has(variable)) continue;
      const key = variable.slice(THINGSDB.length).toLowerCase();
      if (!sharedKeys.has(key)) this.thingsdbVariable(variable);
      else if (!layer.has(key)) layer.set(key, { text: text.trim(), source: `from ${variable}` });
    }
    return layer;
  }

  file(path: string | undefined): Layer {
    const layer = new Map<string, { text: string; source: string }>();
    if (path === undefined) return layer;
    let content: string;
    try {
      content = this.readFile(path);
    } catch (error) {
      this.problems.push({ message: `can't read the file ${shown(path)}: ${reasonOf(error)}` });
      return layer;
    }
    const { entries, problems } = parseFile(path, content);
    this.problems.push(...problems);
    const known = new Set(knownKeys());
    for (const { key, value, line } of entries.values()) {
      if (known.has(key)) layer.set(key, { text: value, source: `from ${path} line ${line}` });
      else this.unknownKey(key, path, line);
    }
    return layer;
  }

  /**
   * The value that a layer gives to a setting, checked; undefined when it gives none. An empty text is none.
   */
  valueIn(layer: Layer, key: SettingKey): Found | undefined {
    const direct = nonEmpty(layer.get(key));
    const indirect = nonEmpty(layer.get(`${key}_file`));
    if (direct !== undefined && indirect !== undefined) {
      this.problems.push({
        key,
        message: `${key} (${direct.source}) and ${key}_file (${indirect.source}) are both set; remove one of the two`,
      });
      return undefined;
    }
    if (direct !== undefined) return this.check(key, direct.text, direct.source);
    if (indirect === undefined) return undefined;
    const source = `${indirect.source}, file ${shown(indirect.text)}`;
    try {
      return this.check(key, this.readFile(indirect.text).replace(/\r?\n$/, ''), source);
    } catch (error) {
      this.problems.push({ key, message: `${key} (${source}): can't be read: ${reasonOf(error)}` });
      return undefined;
    }
  }

  defaultOf(key: SettingKey, context: DefaultContext): unknown {
    const setting: Setting<unknown> = settings[key];
    if (setting.default === undefined) return undefined;
    if ('value' in setting.default) return setting.default.value;
    return setting.default.of(context);
  }

  private check(key: SettingKey, text: string, source: string): Found | undefined {
    const { kind, secret } = settings[key];
    const parsed = kind.parse(text);
    if (parsed.ok) return { value: parsed.value, source: source.replace(/^from /, '') };
    const value = secret ? '' : ` = ${shown(text)}`;
    const message = `${key}${value} (${source}): must be ${kind.must}`;
    if (this.isLenient && sharedKeys.has(key) && !source.startsWith(FROM_FLAG))
      this.warnings.push(`${message}; it is ignored`);
    else this.problems.push({ key, message });
    return undefined;
  }

  private unknownKey(key: string, path: string, line: number): void {
    const why = foreignKeys.get(key);
    if (why !== undefined) {
      this.warnings.push(`${key} (${path} line ${line}) is ignored: ${why}`);
      return;
    }
    const meant = nearest(key.replace(/^(SERVICE|THINGSDB)_/, ''), knownKeys());
    const hint = meant === undefined ? '"althing serve --help" lists the keys' : `did you mean ${meant}?`;
    const message = `${path} line ${line}: unknown key ${shown(key)}; ${hint}`;
    if (this.isLenient) this.warnings.push(message);
    else this.problems.push({ key, message });
  }

  private unknownVariable(variable: string): void {
    const key = variable.slice('SERVICE_'.length).toLowerCase();
    const why = foreignKeys.get(key);
    const meant = why === undefined ? nearest(key, knownKeys()) : undefined;
    if (meant !== undefined) {
      this.problems.push({
        key: meant,
        message: `${variable} is no setting; did you mean ${variableOf(meant)}?`,
      });
      return;
    }
    this.warnings.push(`the variable ${variable} is ignored: ${why ?? 'there is no such setting'}`);
  }

  private thingsdbVariable(variable: string): void {
    const key = variable.slice(THINGSDB.length).toLowerCase();
    const instead = knownKeys().includes(key)
      ? `write ${variableOf(key)}`
      : (foreignKeys.get(key) ?? 'there is no such setting');
    this.warnings.push(`the variable ${variable} is ignored: ${instead}`);
  }
}

/** The keys that may be written: those of the settings and, for secrets, of files that hold them. */
function knownKeys(): readonly string[] {
  return settingKeys.flatMap((key) => (settings[key].secret ? [key, `${key}_file`] : [key]));
}

function isSecret(key: string): boolean {
  return isSettingKey(key) && settings[key].secret;
}

function nonEmpty<T extends { readonly text: string }>(entry: T | undefined): T | undefined {
  return entry === undefined || entry.text === '' ? undefined : entry;
}

/** @param address of `bind_client_addr`; undefined for its default */
function isLocal(address: unknown): boolean {
  return typeof address !== 'string' || isLoopback(address);
}

function isNonEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function readSmallFile(path: string): string {
  if (statSync(path).size > fileSizeMax) throw new Error(`the file is larger than ${fileSizeMax} bytes`);
  return readFileSync(path, 'utf8');
}

function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  return 'message' in error ? String(error.message) : String(error);
}
