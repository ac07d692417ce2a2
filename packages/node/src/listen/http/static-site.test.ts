import { describe, expect, test } from '@jest/globals';
import { type StaticAnswer, StaticFiles, type StaticRequest } from './static-site.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const files = new StaticFiles({
  base: '/@site/',
  entrances: ['/', '/site'],
  files: [
    {
      path: '',
      type: 'text/html',
      etag: '"a"',
      headers: [['Cache-Control', 'no-cache']],
      plain: bytes('plain'),
      gzip: bytes('gzip'),
      br: bytes('br'),
    },
  ],
});

function ask(path: string, headers: Partial<StaticRequest> = {}): StaticAnswer | null {
  return files.answer(path, { accept: '*/*', acceptEncoding: '', ifNoneMatch: '', ...headers });
}

const bodyOf = (acceptEncoding: string): string =>
  new TextDecoder().decode(ask('/@site/', { acceptEncoding })?.body);

test('a file goes out in the best form that the browser takes', () => {
  expect(bodyOf('gzip, deflate, br, zstd')).toBe('br');
  expect(bodyOf('gzip;q=1.0, br;q=0')).toBe('gzip');
  expect(bodyOf('GZIP')).toBe('gzip');
  expect(bodyOf('brotli, gzipped')).toBe('plain');
  expect(bodyOf('')).toBe('plain');
  expect(ask('/@site/', { acceptEncoding: 'br' })?.headers).toEqual([
    ['ETag', '"a"'],
    ['Vary', 'Accept-Encoding'],
    ['Cache-Control', 'no-cache'],
    ['Content-Encoding', 'br'],
  ]);
});

test('a file that the browser has is not sent again', () => {
  for (const ifNoneMatch of ['"a"', '"x", W/"a"', '*']) {
    expect(ask('/@site/', { ifNoneMatch })).toMatchObject({ status: '304 Not Modified', body: bytes('') });
  }
  expect(ask('/@site/', { ifNoneMatch: '"x"' })?.status).toBe('200 OK');
});

describe('a browser that navigates', () => {
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  test.each(['/', '/site', '/@site'])('is sent on from %s, by a relative address', (path) => {
    expect(ask(path, html)).toMatchObject({
      status: '302 Found',
      headers: [
        ['Location', '@site/'],
        ['Cache-Control', 'no-cache'],
      ],
    });
  });

  test('is told apart from a program by the page that it asks for by name', () => {
    expect(ask('/')).toBeNull();
    expect(ask('/site')).toBeNull();
  });

  test('finds nothing else', () => {
    for (const path of ['/@sites/', '/other']) expect(ask(path, html)).toBeNull();
  });

  test('is told that a file of another version is not here, and keeps no copy of that', () => {
    for (const path of ['/@site/other', '/@site/../'])
      expect(ask(path)).toMatchObject({ status: '404 Not Found', headers: [['Cache-Control', 'no-cache']] });
  });
});
