import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { parseScope, parseScopePath } from './scope-name.js';

const root = { kind: 'thingsdb' };
const node = (id: number | string | null) => ({ kind: 'node', id });
const collection = (name: string) => ({ kind: 'collection', name });

describe('a scope as functions take it', () => {
  test.each([
    ['@t', root],
    ['@th', root],
    ['/thingsdb', root],
    ['/th', root],
    ['@n', node(null)],
    ['/nod', node(null)],
    ['@node:', node(null)],
    ['@n:007', node(7)],
    ['/node/63', node(63)],
    ['@node:node0', node('node0')],
    ['/n/althing-0.althing-headless', node('althing-0.althing-headless')],
    ['@n:10.0.0.5', node('10.0.0.5')],
    ['@n:fd00::5', node('fd00::5')],
    ['@:stuff', collection('stuff')],
    ['//stuff', collection('stuff')],
    ['/c/stuff', collection('stuff')],
  ])('%s, in the notation of the language', (text, scope) => {
    expect(parseScope(text)).toEqual(scope);
  });

  test.each([
    ['.node', node(null)],
    ['.node/2', node(2)],
    ['/.node', node(null)],
    ['/.node/2', node(2)],
    ['/@t', root],
    ['/@thingsdb', root],
    ['/@n', node(null)],
    ['/@node:3', node(3)],
    ['/@node:node0', node('node0')],
    ['.node/node0', node('node0')],
    ['/@:stuff', collection('stuff')],
    ['/@collection:stuff', collection('stuff')],
    ['/stuff', collection('stuff')],
  ])('%s, as in a URL path', (text, scope) => {
    expect(parseScope(text)).toEqual(scope);
  });

  test.each([
    '',
    '@',
    '/',
    '.',
    'stuff',
    '.stuff',
    '.nod',
    '.node/64',
    '@x',
    '@/stuff',
    '/:stuff',
    '@:',
    '//',
    '@t:',
    '/t/',
    '@n:64',
    '@n:-1',
    '/n/a/b',
    '@n:a b',
    '/@',
  ])('%s is none', (text) => {
    expect(() => parseScope(text)).toThrow('is no scope');
  });

  test.each([
    ['stuff', '"stuff" is no scope: write //stuff for a collection, /t for @thingsdb, /n for this node'],
    ['', '"" is no scope: write //NAME for a collection'],
    ['@x', '"@x" is no scope: write //NAME for a collection'],
  ])('the error for %p tells what was given and the way out', (text, message) => {
    expect(() => parseScope(text)).toThrow(message);
  });

  test('every spelling of a path is taken', () => {
    const paths = [
      '/t',
      '/thingsdb',
      '/@t',
      '/n',
      '/node',
      '/.node',
      '/@n',
      '/node/2',
      '/@node:2',
      '//stuff',
      '/stuff',
    ];
    for (const path of paths) expect(parseScope(path)).toEqual(parseScopePath(path));
  });
});

test('privileges are given and taken under any spelling', () => {
  const harness = new Harness();
  const at = { scope: 'thingsdb' } as const;
  harness.run("new_user('anna'); nil;", at);
  const access = () => harness.run("user_info('anna').load().access;", at);
  for (const [scope, name] of [
    ['.node', '@node'],
    ['/@thingsdb', '@thingsdb'],
    ['/stuff', '@collection:stuff'],
    ['/@:stuff', '@collection:stuff'],
  ]) {
    expect(harness.run(`grant('${scope}', 'anna', WATCH);`, at)).toBeNull();
    expect(access()).toEqual([{ scope: name, privileges: 'JOIN' }]);
    expect(harness.run(`revoke('${scope}', 'anna', WATCH);`, at)).toBeNull();
    expect(access()).toEqual([]);
  }
});
