/** The settings in force for a command, each with its source. */

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { nonEmpty, UsageError } from '../input.js';
import type { Io } from '../io.js';
import { messageOf } from '../system-error.js';
import { type Profile, readProfile } from './profile.js';
import { CLIENT_SETTINGS, type ClientSetting, variableOf } from './settings.js';

/** The first place that sets something wins. */
export type Place = 'flag' | 'variable' | 'profile' | 'default';

export interface Resolved {
  readonly setting: ClientSetting;
  /** Null when nothing sets it, and it has no default. */
  readonly value: string | null;
  readonly place: Place;
  /** The place as people know it: the flag, the variable, the file with its section. */
  readonly source: string;
}

export type ResolvedSettings = ReadonlyMap<string, Resolved>;

/**
 * @throws {UsageError} for a configuration file that is wrong
 */
export function resolveSettings(command: Command, io: Io): ResolvedSettings {
  const profile = readProfile(io.environment);
  return new Map(CLIENT_SETTINGS.map((setting) => [setting.key, resolve(setting, command, io, profile)]));
}

function resolve(setting: ClientSetting, command: Command, io: Io, profile: Profile): Resolved {
  const { key, option, fallback } = setting;
  if (option !== null && command.getOptionValueSource(option) === 'cli') {
    const flag = command.options.find((each) => each.attributeName() === option)?.long ?? option;
    return { setting, value: String(command.getOptionValue(option)), place: 'flag', source: flag };
  }
  const variable = variableOf(setting);
  const fromEnvironment = nonEmpty(io.environment[variable]);
  if (fromEnvironment !== undefined)
    return { setting, value: fromEnvironment, place: 'variable', source: variable };
  const fromProfile = profile.values.get(key);
  if (fromProfile !== undefined)
    return { setting, value: fromProfile, place: 'profile', source: profile.source };
  return { setting, value: fallback, place: 'default', source: 'default' };
}

/** The identity that logs in. A null password has to be asked for. */
export type Identity =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'user'; readonly user: string; readonly password: string | null };

const PLACES: readonly Place[] = ['flag', 'variable', 'profile'];

/**
 * The identity of the first place that has one. Of a token and a user of one place the token counts; a user and password within the URL
 * count when no place has one.
 *
 * @throws {UsageError} without any, for a file that can't be read, and for a token that can't be one
 */
export function identityOf(settings: ResolvedSettings): Identity {
  for (const place of PLACES) {
    const at = (key: string): string | undefined => {
      const found = settings.get(key);
      return found?.place === place ? (found.value ?? undefined) : undefined;
    };
    const tokenFile = at('token_file');
    const token = at('token') ?? (tokenFile === undefined ? undefined : secretIn(tokenFile));
    if (token !== undefined) {
      if (!/^[\x21-\x7e]+$/.test(token))
        throw new UsageError('a token has no blanks and only ASCII characters');
      return { kind: 'token', token };
    }
    const user = at('user');
    if (user !== undefined) return userOf(user, settings);
  }
  const [first] = urlsOf(settings);
  if (first !== undefined && first.username !== '') {
    const user = decodeURIComponent(first.username);
    return { kind: 'user', user, password: decodeURIComponent(first.password) || passwordOf(settings) };
  }
  throw new UsageError(
    'who are you? Give --user NAME or --token TOKEN, set ALTHING_TOKEN, or write a profile (althing config --help)',
  );
}

function userOf(text: string, settings: ResolvedSettings): Identity {
  const colon = text.indexOf(':');
  if (colon < 0) return { kind: 'user', user: text, password: passwordOf(settings) };
  return { kind: 'user', user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function passwordOf(settings: ResolvedSettings): string | null {
  const password = settings.get('password')?.value ?? null;
  const file = settings.get('password_file')?.value ?? null;
  return password ?? (file === null ? null : secretIn(file));
}

/**
 * The nodes, with the credentials that their URLs may hold.
 *
 * @throws {UsageError}
 */
export function urlsOf(settings: ResolvedSettings): URL[] {
  const text = settings.get('url')?.value ?? '';
  return text.split(',').map((part) => {
    const trimmed = part.trim();
    const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
      throw new UsageError(
        `${JSON.stringify(withoutCredentials(trimmed))} is no URL; write it like http://127.0.0.1:9210`,
      );
    }
    return url;
  });
}

/** A connection string as it may be shown: without user and password. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/(:\/\/)[^/,@]*@/g, '$1');
}

/** Seconds of a day: nobody waits longer for an answer. */
const TIMEOUT_S_MAX = 86_400;

/** In milliseconds. @throws {UsageError} */
export function timeoutOf(settings: ResolvedSettings): number {
  const value = settings.get('timeout')?.value ?? '';
  const seconds = Number(value);
  if (seconds > 0 && seconds <= TIMEOUT_S_MAX) return seconds * 1000;
  throw new UsageError(
    `the timeout must be a number of seconds up to ${TIMEOUT_S_MAX}, not ${JSON.stringify(value)}`,
  );
}

/** True if requests are to change nothing. @throws {UsageError} */
export function isReadOnly(settings: ResolvedSettings): boolean {
  const { value = null, source = '' } = settings.get('read_only') ?? {};
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`${source} must be true or false, not ${JSON.stringify(value)}`);
}

function secretIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`can't read ${path}: ${messageOf(error)}`);
  }
}

const MASK = '********';

/** A value as it may be shown. */
export function shownValue({ setting, value }: Resolved): string {
  if (value === null) return '';
  if (setting.isSecret) return MASK;
  if (setting.key === 'url') return withoutCredentials(value);
  return setting.key === 'user' ? value.replace(/:.*$/s, `:${MASK}`) : value;
}
