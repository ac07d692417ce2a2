import { expect, test } from '@jest/globals';
import { TailCache } from './tail-cache.js';

const MAX_BYTES = 8 * 100;

/** So many bytes, each of which tells its position. */
function bytesAt(position: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (position + at) & 255);
}

/** Writes of these lengths, one behind the other from a position on; the end of the last. */
function write(cache: TailCache, segment: number, position: number, ...lengths: number[]): number {
  let at = position;
  for (const length of lengths) {
    cache.added(segment, at, bytesAt(at, length));
    at += length;
  }
  return at;
}

test('bytes are given as they were written, from wherever they lie in one page', () => {
  const cache = new TailCache(MAX_BYTES);
  write(cache, 1, 512, 30, 30, 30, 30);
  expect(cache.read(1, 512, 90)).toEqual(Buffer.from(bytesAt(512, 90)));
  expect(cache.read(1, 550, 20)).toEqual(Buffer.from(bytesAt(550, 20)));
  expect(cache.endAt(1, 601)).toBe(602);
  // The fourth write has a page of its own: it had no room in the first.
  expect(cache.read(1, 602, 30)).toEqual(Buffer.from(bytesAt(602, 30)));
  expect(cache.endAt(1, 602)).toBe(632);
  expect(cache.read(1, 600, 10)).toBeUndefined();
});

test('an entry that is not there is not given', () => {
  const cache = new TailCache(MAX_BYTES);
  expect(cache.read(1, 512, 8)).toBeUndefined();
  const end = write(cache, 3, 512, 40);
  write(cache, 4, 512, 40);
  for (const [segment, position] of [
    [2, 512],
    [5, 512],
    [3, 511],
    [3, end],
    [4, 552],
  ] as const) {
    expect(cache.read(segment, position, 1)).toBeUndefined();
    expect(cache.endAt(segment, position)).toBeUndefined();
  }
  expect(cache.read(3, 512, 41)).toBeUndefined();
  expect(cache.read(4, 512, 40)).toEqual(Buffer.from(bytesAt(512, 40)));
});

test('the oldest goes where the bound is passed, and what was given of it stays as it is', () => {
  const cache = new TailCache(MAX_BYTES);
  let at = write(cache, 1, 512, 90);
  const given = cache.read(1, 512, 90);
  for (let i = 0; i < 50; i++) {
    at = write(cache, 1, at, 90);
    expect(cache.bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(cache.read(1, at - 90, 90)).toEqual(Buffer.from(bytesAt(at - 90, 90)));
  }
  expect(cache.read(1, 512, 90)).toBeUndefined();
  expect(given).toEqual(Buffer.from(bytesAt(512, 90)));
});

test('a write that is larger than a page has one of its own, and one beyond the bound has none', () => {
  const cache = new TailCache(MAX_BYTES);
  const end = write(cache, 1, 512, 50, 500);
  expect(cache.read(1, 562, 500)).toEqual(Buffer.from(bytesAt(562, 500)));
  const beyond = write(cache, 1, end, MAX_BYTES + 1);
  expect(cache.read(1, end, 1)).toBeUndefined();
  expect(cache.bytes).toBeLessThanOrEqual(MAX_BYTES);
  write(cache, 1, beyond, 20);
  expect(cache.read(1, beyond, 20)).toEqual(Buffer.from(bytesAt(beyond, 20)));
  const none = new TailCache(0);
  write(none, 1, 512, 8);
  expect([none.bytes, none.read(1, 512, 8)]).toEqual([0, undefined]);
});

test('a page that has room ends before a write that was too large to be kept', () => {
  const cache = new TailCache(MAX_BYTES);
  const end = write(cache, 1, 512, 30);
  const behind = write(cache, 1, end, MAX_BYTES + 1);
  const last = write(cache, 1, behind, 20);
  expect(cache.endAt(1, 512)).toBe(end);
  expect(cache.read(1, end, 20)).toBeUndefined();
  expect(cache.read(1, behind, 20)).toEqual(Buffer.from(bytesAt(behind, 20)));
  expect(cache.endAt(1, behind)).toBe(last);
});

test('a page that has room ends before bytes that were never handed over, and with its segment', () => {
  const cache = new TailCache(MAX_BYTES);
  write(cache, 1, 512, 30);
  write(cache, 1, 550, 20);
  write(cache, 2, 570, 20);
  expect(cache.read(1, 542, 8)).toBeUndefined();
  expect(cache.read(1, 550, 20)).toEqual(Buffer.from(bytesAt(550, 20)));
  expect(cache.read(1, 570, 1)).toBeUndefined();
  expect(cache.read(2, 570, 20)).toEqual(Buffer.from(bytesAt(570, 20)));
});
