import { describe, expect, test } from '@jest/globals';
import { Paths, parsePath } from './path.js';

const DIGEST = 'ab'.repeat(32);

describe('paths of the API', () => {
  const root = { kind: 'scope', scope: { kind: 'thingsdb' } };
  const node = (id: number | null) => ({ kind: 'scope', scope: { kind: 'node', id } });
  const collection = (name: string) => ({ kind: 'scope', scope: { kind: 'collection', name } });
  const unknown = { kind: 'unknown' };
  const malformed = { kind: 'malformed' };

  test.each(['/t', '/thingsdb', '/@t', '/@thingsdb', '/%74', '/%40t'])('%s is the root scope', (path) => {
    expect(parsePath(path)).toEqual(root);
  });

  test.each([
    ['/n', null],
    ['/node', null],
    ['/.node', null],
    ['/@n', null],
    ['/@node', null],
    ['/@n:', null],
    ['/node/', null],
    ['/node/0', 0],
    ['/node/2', 2],
    ['/n/007', 7],
    ['/.node/63', 63],
    ['/@node:3', 3],
  ])('%s is a node', (path, id) => {
    expect(parsePath(path)).toEqual(node(id));
  });

  test.each([
    ['//stuff', 'stuff'],
    ['/stuff', 'stuff'],
    ['/@:stuff', 'stuff'],
    ['/@c:stuff', 'stuff'],
    ['/@collection:stuff', 'stuff'],
    ['/c/stuff', 'stuff'],
    ['/collection/stuff', 'stuff'],
    ['/%2Fstuff', 'stuff'],
    ['//st%75ff', 'stuff'],
    ['//t', 't'],
    ['//node', 'node'],
    ['/th', 'th'],
    ['/nod', 'nod'],
    ['/collection', 'collection'],
    ['/T', 'T'],
    [`//${'x'.repeat(255)}`, 'x'.repeat(255)],
    ['/__proto__', '__proto__'],
  ])('%s is a collection', (path, name) => {
    expect(parsePath(path)).toEqual(collection(name));
  });

  test.each([
    '//',
    '///',
    '/t/',
    '/thingsdb/x',
    '/@',
    '/@:',
    '/@c:',
    '/@/stuff',
    '/:stuff',
    '/collection:stuff',
    '//stuff/',
    '//../stuff',
    '//stuff/../t',
    '/./t',
    '/..',
    '/%2e%2e/t',
    '/%252Fstuff',
    '//stuff%00',
    '//st%20uff',
    '//st%C3%BCff',
    '//stuff\u00e9',
    '/node/64',
    '/node/-1',
    '/@node:99999999999999999999',
    `//${'x'.repeat(256)}`,
    `//${'x'.repeat(65_536)}`,
  ])('%.40s is nothing', (path) => {
    expect(parsePath(path)).toEqual(unknown);
  });

  test.each(['', 'stuff', '*', 'http://host//stuff', '/%', '/%2', '/%zz', '/%C0%AF', '/%FF', '//stuff%'])(
    '%s is malformed',
    (path) => {
      expect(parsePath(path)).toEqual(malformed);
    },
  );

  test('/ is the welcome page', () => {
    expect(parsePath('/')).toEqual({ kind: 'root' });
  });

  test.each([
    ['/@backup', { transfer: 'backup' }],
    ['/@export/stuff', { transfer: 'export', collection: 'stuff' }],
    ['/@import/st%75ff', { transfer: 'import', collection: 'stuff', tasks: 'none', digest: null }],
    [
      '/@import/stuff/import_tasks',
      { transfer: 'import', collection: 'stuff', tasks: 'of importer', digest: null },
    ],
    [
      '/@import/stuff/owned_tasks',
      { transfer: 'import', collection: 'stuff', tasks: 'of owners', digest: null },
    ],
    [`/@import/stuff/${DIGEST}`, { transfer: 'import', collection: 'stuff', tasks: 'none', digest: DIGEST }],
    [
      `/@import/stuff/owned_tasks/${DIGEST}`,
      { transfer: 'import', collection: 'stuff', tasks: 'of owners', digest: DIGEST },
    ],
  ])('%s is a transfer', (path, transfer) => {
    expect(parsePath(path)).toEqual({ kind: 'transfer', ...transfer });
  });

  test.each([
    '/@export',
    '/@export/',
    '/@import/~1.ab.stuff',
    '/@import//stuff',
    '/@backup/stuff',
    '/@import/stuff/',
    '/@import/stuff/tasks',
    `/@import/stuff/${DIGEST.slice(1)}`,
    `/@import/stuff/${DIGEST}/import_tasks`,
    `/@export/stuff/${DIGEST}`,
    '/@export/stuff/import_tasks',
    '/@import/import_tasks/',
  ])('%s is none', (path) => {
    expect(parsePath(path)).toEqual(unknown);
  });
});

test('paths that are remembered are read as before, however many there are', () => {
  const paths = new Paths();
  const all = ['/@backup', '/', '%', '/~', '/t', '/n', ...Array.from({ length: 1100 }, (_, i) => `//c${i}`)];
  for (let round = 0; round < 2; round++) {
    for (const path of all) {
      expect(paths.parse(path)).toEqual(parsePath(path));
      expect(paths.parse(path)).toEqual(parsePath(path));
    }
  }
});
