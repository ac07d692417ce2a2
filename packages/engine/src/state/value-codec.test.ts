import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../bytes.js';
import { EnumType } from '../schema/enum.js';
import { Type } from '../schema/type.js';
import { Harness } from '../testing/harness.js';
import { toIntValue } from '../value/numbers.js';
import { Room } from '../value/room.js';
import { ShapeTree } from '../value/shape.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { readValue, visitThings, writeValue } from './value-codec.js';

function encoded(value: Value): Uint8Array {
  const out = new ByteWriter();
  writeValue(out, value);
  return out.take();
}

function decoded(bytes: Uint8Array): Value {
  const input = new ByteReader(bytes);
  const shapes = new ShapeTree();
  const value = readValue(input, {
    thingOfId: (id) => new Thing(id, shapes.empty(), []),
    typeOf: (id) => new Type(id, `T${id}`),
    enumOf: (id) => new EnumType(id, `E${id}`),
    taskOf: (id) => new Task(id, null),
    roomOf: (id) => Object.assign(new Room(), { id }),
  });
  expect(input.remaining).toBe(0);
  const visitor = new ByteReader(bytes);
  visitThings(visitor, () => {});
  expect(visitor.remaining).toBe(0);
  return value;
}

describe('an int comes back as it was', () => {
  const edges = [31n, 32n, 51n, 52n, 53n, 62n, 63n]
    .flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n])
    .flatMap((int) => [int, -int])
    .filter((int) => BigInt.asIntN(64, int) === int);

  test.each([0n, 1n, -1n, ...edges])('%s', (int) => {
    const value = toIntValue(int);
    expect(decoded(encoded(value))).toBe(value);
  });

  test('whichever it is', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (int) => {
        const value = toIntValue(int);
        expect(decoded(encoded(value))).toBe(value);
      }),
    );
  });
});

// Stored values of every type, and what another node has after it applied the effects and wrote them again.
test.each([
  'nil',
  'true',
  'false',
  '4503599627370496',
  '1.5',
  '-0.0',
  'nan',
  '-inf',
  "''",
  "'é🙂 and more than twenty-four bytes of text'",
  'bytes()',
  "base64_decode('AP/+')",
  "[nil, [1, ['a', []]], {}, set({})]",
  'set({}, {a: 1})',
  '{a: {b: {}}}',
  '/a(b)\\/[c]/gims',
  "datetime('2024-02-29')",
  "timeval(-5).to('Europe/Amsterdam')",
  "err(-60, 'ü')",
  "|a, b| a + 'x  y'",
])('a stored value comes back as it was: %s', (code) => {
  const harness = new Harness();
  harness.run(`.v = ${code}`);
  const value = harness.collection.store.root.get('v');
  if (value === undefined) throw new Error('the value is stored');
  const bytes = encoded(value);
  expect(encoded(decoded(bytes))).toEqual(bytes);
});
