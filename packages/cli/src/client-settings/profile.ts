/**
 * The configuration file of the command line: `$XDG_CONFIG_HOME/althing/config.ini`, a section for each profile.
 *
 *     file    = *line
 *     line    = blank / comment / "[" name "]" / key "=" value
 *     comment = ("#" / ";") text
 *
 * Keys are those of `settings.ts`. What stands before the first section belongs to the profile `default`.
 */

import { readFileSync, statSync } from 'node:fs';
import { nearest } from '@althing/language';
import { UsageError } from '../input.js';
import { codeOf, messageOf } from '../system-error.js';
import { CLIENT_SETTINGS, type ClientSetting } from './settings.js';

export const DEFAULT_PROFILE = 'default';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Profile {
  /** As it is shown: the file, and the name of the section. */
  readonly source: string;
  readonly values: ReadonlyMap<string, string>;
}

const NO_PROFILE: Profile = { source: '', values: new Map() };

/** Where the file lies; null without a home. */
export function configPath({
  ALTHING_CONFIG: given,
  XDG_CONFIG_HOME: config,
  HOME: home,
}: Environment): string | null {
  if (given !== undefined && given !== '') return given;
  if (config?.startsWith('/')) return `${config}/althing/config.ini`;
  return home === undefined || home === '' ? null : `${home}/.config/althing/config.ini`;
}

/**
 * The profile that the environment names, else `default`.
 *
 * @throws {UsageError} for a file that is named and not there, a profile that is named and not in it, unknown keys, lines that are
 *   neither, and secrets in a file that others may read
 */
export function readProfile(environment: Environment): Profile {
  const name = environment.ALTHING_PROFILE;
  const path = configPath(environment);
  const text = path === null ? null : textOf(path, environment.ALTHING_CONFIG !== undefined);
  if (path === null || text === null) {
    if (name === undefined || name === '') return NO_PROFILE;
    throw new UsageError(`there is no configuration file ${path ?? ''} for ALTHING_PROFILE=${name}`);
  }
  const profiles = parseProfiles(path, text);
  const wanted = name === undefined || name === '' ? DEFAULT_PROFILE : name;
  const values = profiles.get(wanted);
  if (values === undefined) {
    if (wanted === DEFAULT_PROFILE) return NO_PROFILE;
    const known = [...profiles.keys()].join(', ');
    throw new UsageError(`${path} has no profile [${wanted}]: it has ${known === '' ? 'none' : known}`);
  }
  const secret = CLIENT_SETTINGS.find(({ key, isSecret }) => isSecret && values.has(key));
  if (secret !== undefined && isReadByOthers(path)) {
    throw new UsageError(`${path} holds a ${secret.key} and others may read it: chmod 600 ${path}`);
  }
  return { source: `${path} [${wanted}]`, values };
}

/** @throws {UsageError} */
export function parseProfiles(path: string, text: string): Map<string, Map<string, string>> {
  const profiles = new Map<string, Map<string, string>>();
  let section = DEFAULT_PROFILE;
  for (const [index, raw] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const place = `${path} line ${index + 1}`;
    const heading = /^\[\s*([^\]]+?)\s*\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading;
      if (!profiles.has(section)) profiles.set(section, new Map());
      continue;
    }
    const [, key, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`${place} is not of the form "key = value"`);
    if (!KEYS.has(key)) throw new UsageError(`${place}: ${unknownKey(key)}`);
    const values = profiles.get(section) ?? new Map<string, string>();
    if (values.has(key)) throw new UsageError(`${place}: ${key} was set in [${section}] already`);
    profiles.set(section, values.set(key, value));
  }
  return profiles;
}

const KEYS: ReadonlyMap<string, ClientSetting> = new Map(CLIENT_SETTINGS.map((each) => [each.key, each]));

function unknownKey(key: string): string {
  const meant = nearest(key, KEYS.keys());
  const way = meant === undefined ? `known are ${[...KEYS.keys()].join(', ')}` : `did you mean ${meant}?`;
  return `there is no setting ${JSON.stringify(key)}; ${way}`;
}

function textOf(path: string, isNamed: boolean): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = codeOf(error) === 'ENOENT';
    if (isAbsent && !isNamed) return null;
    throw new UsageError(`can't read ${path}: ${messageOf(error)}`);
  }
}

function isReadByOthers(path: string): boolean {
  return (statSync(path).mode & 0o077) !== 0;
}
