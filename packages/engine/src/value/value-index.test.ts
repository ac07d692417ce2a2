import { compileRegex } from '@althing/regex';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listOf } from './containers.js';
import { equals } from './kinds.js';
import { RegexValue } from './regex-value.js';
import { Bytes, ErrorValue, Float } from './scalars.js';
import { ShapeTree } from './shape.js';
import { Thing } from './thing.js';
import type { Value } from './value.js';
import { ValueIndex } from './value-index.js';

const shapes = new ShapeTree();
const things = [new Thing(0, shapes.empty(), []), new Thing(0, shapes.empty(), [])];

const scalar = fc.oneof(
  fc.constantFrom<Value>(
    null,
    true,
    false,
    0,
    1,
    2,
    '',
    '1',
    'é',
    new Float(0),
    new Float(1),
    new Float(Number.NaN),
  ),
  fc.constantFrom<Value>(2n ** 53n, 2n ** 53n + 1n, new Float(2 ** 53), 2n ** 63n - 1n, new Float(2 ** 63)),
  fc.constantFrom<Value>(new Float(Number.POSITIVE_INFINITY), new Float(-(2 ** 53)), -(2n ** 53n)),
  fc.constantFrom<Value>(
    bytesOf('1'),
    bytesOf('é'),
    new Bytes(Uint8Array.of(0xff)),
    new Bytes(Uint8Array.of(0xff)),
  ),
  fc.constantFrom<Value>(new ErrorValue(-60, 'a'), new ErrorValue(-60, 'b'), new ErrorValue(-61, 'a')),
  fc.constantFrom<Value>(regex('a', ''), regex('a', 'i'), regex('a', '')),
  fc.constantFrom<Value>(...things),
);

const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value; list: Value }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, tie('list')),
  list: fc.array(tie('value'), { maxLength: 3 }).map((items) => listOf(items, true)),
})).value;

describe('an index of values', () => {
  // A refused value is not in it: a float may equal two integers beyond 2^53 which do not equal each other.
  test('tells what equals an earlier value that is in it', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (values) => {
        const index = new ValueIndex({ charge: () => {} });
        const added: Value[] = [];
        for (const each of values) {
          const isNew = !added.some((other) => equals(other, each));
          expect(index.add(each)).toBe(isNew);
          if (isNew) added.push(each);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('charges for values that have to be compared one by one', () => {
    let units = 0;
    const index = new ValueIndex({
      charge: (more) => {
        units += more;
      },
    });
    for (let i = 0n; i < 100n; i++) index.add(listOf([2n ** 62n + i], true));
    expect(units).toBeGreaterThan(100 * 64);
  });
});

function bytesOf(text: string): Bytes {
  return new Bytes(Buffer.from(text));
}

function regex(pattern: string, flags: string): RegexValue {
  return new RegexValue(pattern, flags, compileRegex(pattern, flags));
}
