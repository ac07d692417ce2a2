import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FeedFold } from '../../testing/feed-fold.js';
import { Harness, randomOf } from '../../testing/harness.js';
import { live, type Step } from '../../testing/live.js';
import { newGroup } from '../../testing/state-lines.js';
import { STATEMENTS } from '../../testing/type-statements.js';
import { SENT, SETUP } from '../../testing/type-words.js';
import { type FeedChange, WholeReplacedError } from './change.js';
import { ChangeReader } from './read-changes.js';
import { SchemaView } from './schema-view.js';

const seed = Number(process.env.ALTHING_TEST_SEED);

/**
 * The changes of a log, folded over the state at some place of it, give the state at its end: with the definitions at that place,
 * which are found by going back from those at the end.
 */
function expectFolded(log: readonly Uint8Array[], from: number): void {
  const group = newGroup();
  for (const effects of log.slice(0, from)) group.apply(effects);
  const fold = new FeedFold(group);
  const end = newGroup();
  for (const effects of log) end.apply(effects);
  const view = new SchemaView(end.store.schema);
  const reader = new ChangeReader();
  const scratch = view.copy();
  const formers = log.slice(from).flatMap((effects) => reader.formers(effects, scratch));
  for (const former of formers.toReversed()) view.goBack(former);
  for (const effects of log.slice(from)) reader.read(effects, view, (change) => fold.take(change));
  const [actual, expected] = [fold.lines(), new FeedFold(end).lines()];
  if (actual.join('\n') !== expected.join('\n')) expect(actual).toEqual(expected);
}

describe(`changes folded over a state (seed ${seed})`, () => {
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('query', 'query', 'query', 'commit', 'depose', 'mark', 'sweep', 'expire'),
    choices: fc.array(fc.nat(10_000), { minLength: 8, maxLength: 24 }),
  });

  test('give the state behind them, in lives of large values', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 10, maxLength: 25, size: 'max' }),
        fc.nat(99),
        (steps, place) => {
          const { log } = live(steps);
          expectFolded(log, Math.floor((log.length * place) / 100));
        },
      ),
      { numRuns: 3 },
    );
  });

  test('give the state behind them, whatever becomes of types and enums', () => {
    const random = randomOf(seed);
    const harness = new Harness();
    for (let run = 0; run < 12; run++) {
      harness.reopen({ read: () => undefined }).create();
      const log: Uint8Array[] = [];
      for (let i = 0; i < 60; i++) {
        const statement = STATEMENTS[Math.floor(random() * STATEMENTS.length)] as (typeof STATEMENTS)[0];
        const text =
          i === 0 ? SETUP : statement((from) => from[Math.floor(random() * from.length)] as string);
        const outcome = harness.outcome(text, { vars: SENT });
        if (outcome.kind === 'value' && outcome.change !== null) log.push(outcome.change.effects);
      }
      expectFolded(log, Math.floor(random() * log.length));
    }
  });
});

describe('the changes of a query', () => {
  const harness = new Harness();

  function changesOf(code: string): FeedChange[] {
    const view = new SchemaView(harness.collection.store.schema);
    return changesIn(harness.effects(code), view);
  }

  test('name fields as they were called then', () => {
    harness.run("set_type('P', {a: 'int', b: 'int'});");
    const before = new SchemaView(harness.collection.store.schema);
    const making = harness.effects('.p = P{a: 1, b: 2};');
    const renaming = harness.effects("mod_type('P', 'ren', 'a', 'c'); mod_type('P', 'ren', 'b', 'a');");
    const view = new SchemaView(harness.collection.store.schema);
    const reader = new ChangeReader();
    for (const former of reader.formers(renaming, view.copy()).toReversed()) view.goBack(former);
    expect(view.typeNamed('P')).toEqual(before.typeNamed('P'));
    const values = [
      ['a', 1],
      ['b', 2],
    ];
    expect(changesIn(making, view)[0]).toMatchObject({ op: 'new', values });
  });

  test('are told in the order in which they were made', () => {
    harness.run('.l = [1, 2, 3]; .t = {};');
    expect(changesOf('.l.push(4); .t.x = 5; .t.ren("x", "y"); .del("t");').map(({ op }) => op)).toEqual([
      'splice',
      'set',
      'rename',
      'del',
      'gone',
    ]);
  });

  test('end where the contents are replaced as a whole', () => {
    const from = new Harness();
    from.run('.a = {};');
    const dump = from.run('export({dump: true})');
    const to = new Harness();
    const effects = to.effects('import(dump);', { vars: { dump } });
    const view = new SchemaView(to.collection.store.schema);
    expect(() => changesIn(effects, view)).toThrow(WholeReplacedError);
  });
});

function changesIn(effects: Uint8Array, view: SchemaView): FeedChange[] {
  const changes: FeedChange[] = [];
  new ChangeReader().read(effects, view, (change) => changes.push(change));
  return changes;
}
