import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../bytes.js';
import { readValue, visitThings, writeValue } from '../state/value-codec.js';
import { Harness } from '../testing/harness.js';
import { compare } from './compare.js';
import { listOf } from './containers.js';
import { toText } from './convert.js';
import { bytesOfValue, eachThing, equals, isTruthy } from './kinds.js';
import type { Member } from './member.js';
import type { Room } from './room.js';
import { Tag } from './tag.js';
import type { Thing } from './thing.js';
import { tagOf, typeName, type Value } from './value.js';
import { ValueIndex } from './value-index.js';

/** The engine's description of a value. A kind that is added here is seen to be written, read and passed over. */
interface Sample {
  /** Makes the value; `.x` is a stored thing, `E` an enum, `T` a type. */
  readonly code: string;
  readonly type: string;
  readonly isTruthy: boolean;
  /** Undefined for what has none. */
  readonly text: string | undefined;
  readonly isOrdered: boolean;
  readonly things: number;
  /** Members of enums and rooms. */
  readonly others: number;
}

const NO_REFERENCES = { things: 0, others: 0 };

/** Futures and modules are left out: they become nil wherever they are put. */
const SAMPLES: Readonly<Record<Exclude<Tag, typeof Tag.FUTURE | typeof Tag.MODULE>, Sample>> = {
  [Tag.NIL]: { code: 'nil', type: 'nil', isTruthy: false, text: 'nil', isOrdered: false, ...NO_REFERENCES },
  [Tag.BOOL]: { code: 'true', type: 'bool', isTruthy: true, text: 'true', isOrdered: true, ...NO_REFERENCES },
  [Tag.INT]: { code: '0', type: 'int', isTruthy: false, text: '0', isOrdered: true, ...NO_REFERENCES },
  [Tag.FLOAT]: { code: '0.0', type: 'float', isTruthy: false, text: '0', isOrdered: true, ...NO_REFERENCES },
  [Tag.STR]: { code: "'a'", type: 'str', isTruthy: true, text: 'a', isOrdered: true, ...NO_REFERENCES },
  [Tag.BYTES]: {
    code: "bytes('')",
    type: 'bytes',
    isTruthy: false,
    text: '',
    isOrdered: true,
    ...NO_REFERENCES,
  },
  [Tag.REGEX]: {
    code: '/a+/i',
    type: 'regex',
    isTruthy: true,
    text: '/a+/i',
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.DATETIME]: {
    code: 'datetime(0)',
    type: 'datetime',
    isTruthy: true,
    text: '1970-01-01T00:00:00Z',
    isOrdered: true,
    ...NO_REFERENCES,
  },
  [Tag.TIMEVAL]: {
    code: 'timeval(0)',
    type: 'timeval',
    isTruthy: true,
    text: '1970-01-01T00:00:00Z',
    isOrdered: true,
    ...NO_REFERENCES,
  },
  [Tag.ERROR]: {
    code: "err(-60, 'x')",
    type: 'error',
    isTruthy: false,
    text: 'x',
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.CLOSURE]: {
    code: '|a|a',
    type: 'closure',
    isTruthy: true,
    text: '|a| a',
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.LIST]: {
    code: '[.x, 1.5, [E{ONE}, .x]]',
    type: 'list',
    isTruthy: true,
    text: undefined,
    isOrdered: false,
    things: 2,
    others: 1,
  },
  [Tag.TUPLE]: {
    code: '[[.x]][0]',
    type: 'tuple',
    isTruthy: true,
    text: undefined,
    isOrdered: false,
    things: 1,
    others: 0,
  },
  [Tag.SET]: {
    code: 'set(.x, .t)',
    type: 'set',
    isTruthy: true,
    text: undefined,
    isOrdered: false,
    things: 2,
    others: 0,
  },
  [Tag.THING]: {
    code: '.t',
    type: 'T',
    isTruthy: true,
    text: 'T:3',
    isOrdered: false,
    things: 1,
    others: 0,
  },
  [Tag.MPDATA]: {
    code: "type_info('T')",
    type: 'mpdata',
    isTruthy: true,
    text: undefined,
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.MEMBER]: {
    code: 'E{ONE}',
    type: 'E',
    isTruthy: true,
    text: '1',
    isOrdered: false,
    things: 0,
    others: 1,
  },
  [Tag.WRAP]: {
    code: '.t.wrap()',
    type: '<T>',
    isTruthy: true,
    text: '<T>:3',
    isOrdered: false,
    things: 1,
    others: 0,
  },
  [Tag.ANONYMOUS]: {
    code: "&{a: 'int'}",
    type: '<anonymous>',
    isTruthy: true,
    text: '<anonymous>',
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.TASK]: {
    code: 'task(datetime(2050, 1, 1), || nil)',
    type: 'task',
    isTruthy: true,
    text: 'task:4',
    isOrdered: false,
    ...NO_REFERENCES,
  },
  [Tag.ROOM]: {
    code: 'room()',
    type: 'room',
    isTruthy: true,
    text: 'room:4',
    isOrdered: false,
    things: 0,
    others: 1,
  },
};

test.each(Object.entries(SAMPLES))('kind %s: what the engine says of a value of it', (tag, sample) => {
  const { harness, value } = made(sample);
  const { store } = harness.collection;
  expect(tagOf(value)).toBe(Number(tag));
  expect(typeName(value)).toBe(sample.type);
  expect(isTruthy(value)).toBe(sample.isTruthy);
  expect(equals(value, value)).toBe(true);
  expect(equals(value, 'something else')).toBe(false);
  expect(textOf(value)).toBe(sample.text);
  expect(orders(value)).toBe(sample.isOrdered);
  expect(bytesOfValue(value)).toBeGreaterThanOrEqual(0);

  const things: Thing[] = [];
  const others: (Member | Room)[] = [];
  eachThing(
    value,
    (thing) => things.push(thing),
    (other) => others.push(other),
  );
  expect([things.length, others.length]).toEqual([sample.things, sample.others]);

  const out = new ByteWriter();
  writeValue(out, value);
  const bytes = out.take();
  const visited: number[] = [];
  const passed = new ByteReader(bytes);
  visitThings(passed, (id) => visited.push(id));
  expect(passed.remaining).toBe(0);
  expect(visited).toEqual(things.map(({ id }) => id));
  const input = new ByteReader(bytes);
  const read = readValue(input, store);
  expect(input.remaining).toBe(0);
  expect(tagOf(read)).toBe(Number(tag));
  const again = new ByteWriter();
  writeValue(again, read);
  expect(again.take()).toEqual(bytes);
});

test.each(Object.entries(SAMPLES))('kind %s: a client gets something', (_, sample) => {
  const { harness } = made(sample);
  const code = sample.type === 'tuple' ? '.v[0]' : '.v';
  expect(harness.run(code)).toBeDefined();
});

test('an index of values, and what looks for each item in turn, tell equal ones of all kinds as == does', () => {
  // Given two values of each kind that are read from the same bytes, in a list and alone
  const harness = new Harness();
  harness.run("set_enum('E', {ONE: 1}); set_type('T', {a: 'int'}); .x = {}; .t = T{};");
  const { store } = harness.collection;
  const copies = Object.values(SAMPLES).flatMap(({ code }, i) => {
    harness.run(`.v${i} = ${code};`);
    const out = new ByteWriter();
    writeValue(out, store.root.get(`v${i}`) ?? null);
    const bytes = out.take();
    return Array.from({ length: 2 }, () => readValue(new ByteReader(bytes), store));
  });
  const values = copies.flatMap((value) => [value, listOf([value], true)]);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...values), { maxLength: 60 }), (some) => {
      // When they are told apart by an index; then it is as if each was compared with all before
      const index = new ValueIndex({ charge: () => {} });
      const added: Value[] = [];
      for (const value of some) {
        const isNew = !added.some((other) => equals(other, value));
        expect([typeName(value), index.add(value)]).toEqual([typeName(value), isNew]);
        if (isNew) added.push(value);
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['tasks', 't', '.t = task(datetime(2050, 1, 1), || nil);', '.t', 'task(datetime(2051, 1, 1), || nil)'],
  ['wraps', 'w', "set_type('T', {a: 'int'}); .x = T{};", '.x.wrap()', 'T{}.wrap()'],
  ['anonymous types', 'a', 'nil;', "&{a: 'int'}", "&{b: 'int'}"],
])(
  'items that are %s are told apart as == does, in short lists and long ones',
  (_, name, setup, same, other) => {
    const db = new Harness();
    db.run(setup);
    for (const count of [3, 400]) {
      const code = `${name} = range(${count}).map(|| ${same}); ${name}.push(${other});`;
      const told = `[${name}.unique().len(), ${name}.is_unique(), [${same}].extend_unique(${name})]`;
      expect([count, db.run(`${code} ${told};`)]).toEqual([count, [2, false, 2]]);
    }
  },
);

function made(sample: Sample): { readonly harness: Harness; readonly value: Value } {
  const harness = new Harness();
  harness.run("set_enum('E', {ONE: 1}); set_type('T', {a: 'int'}); .x = {}; .t = T{};");
  const isTuple = sample.type === 'tuple';
  harness.run(isTuple ? '.v = [[.x]];' : `.v = ${sample.code};`);
  const stored = harness.collection.store.root.get('v');
  if (stored === undefined) throw new Error('the value is stored');
  if (!isTuple) return { harness, value: stored };
  let tuple: Value = null;
  if (typeof stored === 'object' && stored !== null && 'items' in stored) tuple = stored.items[0] ?? null;
  return { harness, value: tuple };
}

function textOf(value: Value): string | undefined {
  try {
    return toText(value);
  } catch {
    return undefined;
  }
}

function orders(value: Value): boolean {
  try {
    return compare(value, value) === 0;
  } catch {
    return false;
  }
}
