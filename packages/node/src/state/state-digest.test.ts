import { CollectionGroup, RootGroup } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { TestBench } from '../testing/session-bench.js';
import { stateDigest } from './state-digest.js';

const STUFF = 2;

const NOTHING = async (): Promise<void> => {};

/** The digest of what a node holds after some changes. */
async function digestAfter(changes: readonly string[], checkpoints: 'each' | 'last'): Promise<string> {
  const bench = await new TestBench().start();
  for (const [i, change] of changes.entries()) {
    const fails = change.includes('raise(');
    const answer = await bench.value(STUFF, change);
    if (answer.includes('error') !== fails) throw new Error(`${change}: ${answer}`);
    if (checkpoints === 'each' || i === changes.length - 1) await bench.checkpoint(STUFF);
  }
  const source = await bench.state.store.openSnapshot(STUFF);
  if (source === undefined) throw new Error('nothing is stored');
  const digest = await stateDigest(STUFF, source, NOTHING);
  await source.close();
  return digest.toString('hex');
}

const LARGE = [
  '.list = range(1100); nil;',
  '.list.splice(500, 3, "a", "b", {c: 1}, "d"); nil;',
  '.list.extend(range(4000)); .other = .list.map(|x| type(x)); nil;',
  'for (n in range(700)) .list.splice(n, 1, n, [n]); nil;',
  '.more = 1; .list.pop(); .list.shift(); nil;',
];

describe('the digest of a state', () => {
  test('does not tell when a node cut its large lists into pieces', async () => {
    expect(await digestAfter(LARGE, 'each')).toBe(await digestAfter(LARGE, 'last'));
  });

  test('does not tell when a node cut a thing of many properties into pieces', async () => {
    const many = (from: number, to: number): string =>
      `big = .big; range(${from}, ${to}).each(|i| big["k" + str(i)] = i); nil;`;
    const changes = [
      '.big = {}; nil;',
      many(0, 1500),
      'range(100, 300).each(|i| .big.del("k" + str(i))); .big.ren("k5", "last"); .big.list = range(2000); nil;',
      many(0, 3000),
    ];
    expect(await digestAfter(changes, 'each')).toBe(await digestAfter(changes, 'last'));
    expect(await digestAfter([...changes, '.big.k7 = 8;'], 'each')).not.toBe(
      await digestAfter(changes, 'each'),
    );
  });

  test('does not tell whether a list was large once', async () => {
    const changes = [...LARGE, '.list.splice(3, .list.len() - 20); nil;'];
    expect(await digestAfter(changes, 'each')).toBe(await digestAfter(changes, 'last'));
  });

  test.each([
    ['a plain thing', '.', '.'],
    ['a thing of many properties', '.o = {}; o = .o; range(1500).each(|i| o["k" + str(i)] = i); .o.', '.o.'],
  ])('does not tell of the order of a set that a failed change left: in %s', async (_what, made, place) => {
    const before = `.all = range(1100).map(|| {}); ${made}s = set(.all); nil;`;
    const failing = `${place}s.remove(.all[3], .all[700]); raise('stop');`;
    const after = `${place}s.add({}); nil;`;
    const failed = await digestAfter([before, failing, after], 'last');
    expect(failed).toBe(await digestAfter([before, after], 'last'));
    expect(failed).not.toBe(await digestAfter([before, after, `${place}s.remove(.all[3]); nil;`], 'last'));
  });

  test('does not tell in which format a node wrote the counters', () => {
    expect(CollectionGroup.sharedMeta(Uint8Array.of(1, 7, 8, 9))).toEqual(
      CollectionGroup.sharedMeta(Uint8Array.of(2, 7, 8, 9)),
    );
    const meta = new RootGroup().encodeMeta();
    const older = Uint8Array.from([1, ...meta.subarray(1)]);
    expect(RootGroup.sharedMeta(older)).toEqual(RootGroup.sharedMeta(meta));
  });

  test.each([
    ['an item', '.list[700] = 5; nil;'],
    ['an item in another place', 'x = .list.shift(); .list.push(x); nil;'],
    ['the end', '.list.pop(); nil;'],
    ['the name of a property', '.del("more"); .mora = 1; nil;'],
    ['a procedure', 'new_procedure("p", || 1); nil;'],
  ])('tells of %s', async (_what, change) => {
    const before = await digestAfter([...LARGE, '.x = 1;'], 'each');
    expect(await digestAfter([...LARGE, '.x = 1;', change], 'each')).not.toBe(before);
  });
});
