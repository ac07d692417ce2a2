import { expect, test } from '@jest/globals';
import { fuzz, replay, shrunk } from './fuzz.js';
import type { FuzzProgram } from './world.js';

const seed = Number(process.env.ALTHING_TEST_SEED);
const runs = 300 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

test(`random programs leave leader and follower equal (seed ${seed})`, () => {
  const { finding, changes } = fuzz(seed, (programs) => programs < runs);
  expect(finding).toBe(null);
  expect(changes).toBeGreaterThan(10);
});

const options = { seed: 1, hotRuns: 1 };

const inCollection = (...statements: string[]): FuzzProgram => ({ scope: 'collection', statements });

test('programs can be run again', () => {
  expect(
    replay(options, [inCollection('.a = [{}]'), inCollection('.a.pop()', 'x = 1'), inCollection('raise()')]),
  ).toBe(null);
});

test.each(['{a: {}}', 'room()', 'room(); .value.set_name("hall")', 'task(datetime(2000000000), || 1)'])(
  'a leader that starts again has %s',
  (value) => {
    const others = Array.from({ length: 40 }, (_, i) => inCollection(`.n = ${i}`));
    expect(replay(options, [inCollection(`.value = ${value}`), ...others])).toBe(null);
  },
);

test('a finding is shrunk to what leads to it', () => {
  const loses = (effects: Uint8Array): boolean => Buffer.from(effects).includes('lost');
  const programs = [
    inCollection('.a = 1', 'x = 2'),
    inCollection('.b = 2'),
    inCollection('y = 3', ".lost = [1, {}]; .c = 'lost'", 'x = y', '.d = 4'),
    inCollection('.e = 5'),
  ];
  const found = replay({ ...options, loses }, programs);
  expect(found).toMatchObject({ count: 3 });
  const { wrong, programs: left } = shrunk({ wrong: '', options: { ...options, loses }, programs });
  expect(wrong).toMatch(/^the follower: /);
  expect(left).toEqual([inCollection(".lost = [1, {}]; .c = 'lost'")]);
});
