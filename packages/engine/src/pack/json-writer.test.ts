import { expect, test } from '@jest/globals';
import { JsonWriter } from './json-writer.js';

/** A list of objects, whose keys are the same in each. */
function written(keys: readonly string[], times: number): string {
  const writer = new JsonWriter();
  writer.beginArray();
  for (let i = 0; i < times; i++) {
    writer.beginMap();
    for (const [n, key] of keys.entries()) {
      writer.key(key);
      writer.int(n);
    }
    writer.endMap();
  }
  writer.endArray();
  return writer.take();
}

test('keys stand in objects as they are, however many and whichever were written before', () => {
  const special = ['', '"', '\\', '\n', 'ü', '😀', '__proto__', 'x'.repeat(100)];
  const many = Array.from({ length: 1500 }, (_, i) => `key${i}`);
  for (const keys of [special, many, special]) {
    const one = `{${keys.map((key, n) => `${JSON.stringify(key)}:${n}`).join(',')}}`;
    expect(written(keys, 3)).toBe(`[${one},${one},${one}]`);
  }
});

test('a key comes before values of all kinds', () => {
  const writer = new JsonWriter();
  writer.beginMap();
  writer.key('list');
  writer.beginArray();
  writer.endArray();
  writer.key('text');
  writer.longStr('a"', () => {});
  writer.key('map');
  writer.beginMap();
  writer.key('list');
  writer.nil();
  writer.endMap();
  writer.key('last');
  writer.float(1);
  writer.endMap();
  expect(writer.take()).toBe('{"list":[],"text":"a\\"","map":{"list":null},"last":1.0}');
});
