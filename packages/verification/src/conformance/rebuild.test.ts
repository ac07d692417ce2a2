import { expect, test } from '@jest/globals';
import { parseCases } from './cases.js';
import { RebuildLane, rebuildSkipReason } from './rebuild.js';
import type { CaseResult } from './run-case.js';

async function resultOf(steps: readonly object[]): Promise<CaseResult> {
  const [only] = parseCases('some', JSON.stringify({ area: 'some', cases: [{ name: 'a case', steps }] }));
  if (only === undefined) throw new Error('there is a case');
  return new RebuildLane().run(only);
}

test('a state is the same however it came about', async () => {
  expect(
    await resultOf([
      { code: ".a = [{x: 1.5}, 'é', [nil]]; .s = set(.a[0]); .f = |x| x + 1;", expect: 0 },
      { code: '.a.push(.a[0]); .t = {l: range(1000)};' },
      { code: ".del('s'); .t.restrict('list'); .w = datetime(5);" },
      { code: "new_procedure('p', |x| x);" },
      { run: 'p', args: [1] },
      { code: "new_user('iris'); new_collection('more');", scope: '@t' },
      { code: '.more = 1; raise()', scope: '//more' },
      { code: '.more = 2;', scope: '//more' },
      { code: "del_collection('stuff');", scope: '@t' },
    ]),
  ).toEqual({ kind: 'passed' });
});

test('also when a case ends early, with something recorded that does not come out', async () => {
  expect(await resultOf([{ code: '.a = {b: {}};', expect: 5 }, { code: '.c = 1;' }])).toEqual({
    kind: 'passed',
  });
});

test('a change behind the back of its transaction is found', async () => {
  // A list that is modified behind the back of the transaction is not in the effects.
  const lane = new RebuildLane((local) => {
    for (const group of local.collections().values()) group.store.root.put('hidden', 1);
  });
  const [only] = parseCases(
    'some',
    JSON.stringify({ area: 'some', cases: [{ name: 'a case', steps: [{ code: '.a = 1;' }] }] }),
  );
  expect(only && (await lane.run(only))).toMatchObject({ kind: 'failed', step: 'rebuilt from the log' });
});

test('cases that need more than one engine are left out', () => {
  const steps = [
    [{ code: '1', scope: '@n' }],
    [{ code: '1', as: { basic: ['iris', 'pw'] } }],
    [{ sleep: 1 }],
  ];
  const cases = parseCases(
    'some',
    JSON.stringify({ area: 'some', cases: steps.map((own, i) => ({ name: `${i}`, steps: own })) }),
  );
  expect(cases.map(rebuildSkipReason)).toEqual(['needs a node', 'another user', 'sleeps']);
});
