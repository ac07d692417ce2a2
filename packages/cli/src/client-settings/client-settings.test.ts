import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { addConnectionOptions } from '../connection.js';
import { FakeIo } from '../testing.js';
import {
  identityOf,
  isReadOnly,
  type ResolvedSettings,
  resolveSettings,
  shownValue,
  timeoutOf,
  urlsOf,
} from './resolve.js';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
  file = join(folder, 'config.ini');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function resolved(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  profile = '',
): ResolvedSettings {
  writeFileSync(file, profile, { mode: 0o600 });
  const command = addConnectionOptions(new Command('test')).action(() => {});
  command.parse([...args], { from: 'user' });
  return resolveSettings(command, new FakeIo({ ALTHING_CONFIG: file, ...environment }));
}

describe('the source of a setting', () => {
  test.each([
    [[], {}, '', 'http://127.0.0.1:9210', 'default'],
    [[], {}, 'url = http://file:1', 'http://file:1', 'config.ini [default]'],
    [[], { ALTHING_URL: 'http://variable:1' }, 'url = http://file:1', 'http://variable:1', 'ALTHING_URL'],
    [['--url', 'http://flag:1'], { ALTHING_URL: 'http://variable:1' }, '', 'http://flag:1', '--url'],
    [
      [],
      { ALTHING_PROFILE: 'far' },
      '[far]\nurl = http://far:1\n[near]\nurl = http://near:1',
      'http://far:1',
      'config.ini [far]',
    ],
  ])('%j %j %j', (args, environment, profile, value, source) => {
    const url = resolved(args, environment, profile).get('url');
    expect(url?.value).toBe(value);
    expect(url?.source.replace(`${folder}/`, '')).toBe(source);
  });
});

describe('credentials', () => {
  test.each([
    [['--token', 'abc'], { ALTHING_USER: 'ann' }, '', { kind: 'token', token: 'abc' }],
    [['--user', 'ann:pass'], { ALTHING_TOKEN: 'abc' }, '', { kind: 'user', user: 'ann', password: 'pass' }],
    [[], { ALTHING_USER: 'ann', ALTHING_TOKEN: 'abc' }, '', { kind: 'token', token: 'abc' }],
    [[], { ALTHING_USER: 'ann' }, 'token = abc', { kind: 'user', user: 'ann', password: null }],
    [
      [],
      { ALTHING_USER: 'ann', ALTHING_PASSWORD: 'a:b' },
      '',
      { kind: 'user', user: 'ann', password: 'a:b' },
    ],
    [['--user', 'ann:a:b'], {}, '', { kind: 'user', user: 'ann', password: 'a:b' }],
    [[], { ALTHING_URL: 'http://ann:p%40ss@db:1' }, '', { kind: 'user', user: 'ann', password: 'p@ss' }],
  ])('%j %j %j', (args, environment, profile, identity) => {
    expect(identityOf(resolved(args, environment, profile))).toEqual(identity);
  });

  test('secrets are read from files', () => {
    writeFileSync(join(folder, 'token'), 'abc\n');
    expect(identityOf(resolved([], { ALTHING_TOKEN_FILE: join(folder, 'token') }))).toEqual({
      kind: 'token',
      token: 'abc',
    });
    writeFileSync(join(folder, 'password'), 'secret\n');
    expect(
      identityOf(resolved(['--user', 'ann'], { ALTHING_PASSWORD_FILE: join(folder, 'password') })),
    ).toEqual({
      kind: 'user',
      user: 'ann',
      password: 'secret',
    });
  });

  test.each([
    [[], {}, 'who are you'],
    [['--token', 'a b'], {}, 'no blanks'],
    [[], { ALTHING_TOKEN_FILE: '/dev/null/token' }, "can't read /dev/null/token"],
  ])('%j %j is refused: %s', (args, environment, message) => {
    expect(() => identityOf(resolved(args, environment))).toThrow(message);
  });
});

describe('faults of a file', () => {
  test.each([
    ['urll = x', 'did you mean url?'],
    ['nonsense = x', 'known are url, token'],
    ['just words', 'line 1 is not of the form "key = value"'],
    ['url = a\nurl = b', 'line 2: url was set in [default] already'],
  ])('%j: %s', (profile, message) => {
    expect(() => resolved([], {}, profile)).toThrow(message);
  });

  test('secrets in a file that others may read are refused', () => {
    const settings = (): ResolvedSettings => {
      chmodSync(file, 0o644);
      return resolveSettings(addConnectionOptions(new Command('test')), new FakeIo({ ALTHING_CONFIG: file }));
    };
    writeFileSync(file, 'token = abc');
    expect(settings).toThrow(`chmod 600 ${file}`);
    writeFileSync(file, 'url = http://db:1');
    expect(settings().get('url')?.value).toBe('http://db:1');
  });

  test('a profile or a file that is named has to be there', () => {
    expect(() => resolved([], { ALTHING_PROFILE: 'far' }, '[near]\nurl = http://db')).toThrow(
      'no profile [far]: it has near',
    );
    expect(() => resolved([], { ALTHING_CONFIG: join(folder, 'other') })).toThrow("can't read");
  });
});

describe('values', () => {
  test('a connection string is a list of URLs, and its credentials are not shown', () => {
    const settings = resolved(['--url', 'https://ann:secret@db-1:9210/path, https://db-2:9210']);
    expect(urlsOf(settings).map(({ host, pathname }) => host + pathname)).toEqual([
      'db-1:9210/path',
      'db-2:9210/',
    ]);
    const url = settings.get('url');
    expect(url && shownValue(url)).toBe('https://db-1:9210/path, https://db-2:9210');
    expect(() => urlsOf(resolved(['--url', 'thingsdb://ann:secret@db']))).toThrow(
      '"thingsdb://db" is no URL',
    );
  });

  test('secrets are masked', () => {
    const settings = resolved(['--user', 'ann:secret'], {
      ALTHING_PASSWORD: 'secret',
      ALTHING_TOKEN: 'secret',
    });
    expect([...settings.values()].map(shownValue).join()).not.toContain('secret');
  });

  test('a flag, a variable or a profile says whether requests may change something', () => {
    expect(isReadOnly(resolved([], {}, ''))).toBe(false);
    expect(isReadOnly(resolved(['--read-only'], { ALTHING_READ_ONLY: 'false' }, ''))).toBe(true);
    expect(isReadOnly(resolved([], { ALTHING_READ_ONLY: 'true' }, 'read_only = false'))).toBe(true);
    expect(isReadOnly(resolved([], {}, 'read_only = true'))).toBe(true);
    expect(() => isReadOnly(resolved([], { ALTHING_READ_ONLY: 'yes' }, ''))).toThrow(
      'ALTHING_READ_ONLY must be',
    );
  });

  test.each(['0', '-1', 'soon', '86401', ''])('a timeout of %j is refused', (value) => {
    expect(() => timeoutOf(resolved([], {}, `timeout = ${value}`))).toThrow('number of seconds');
  });
});
