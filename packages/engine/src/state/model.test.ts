/**
 * Random queries against a simple model. After each one the state must be what the model says, keep its rules, and be
 * the same on a node that only applied the effects, on one that had to read its things from disk first, and after the
 * change was taken back and made again.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Outcome } from '../calls/call.js';
import { CollectionModel } from '../testing/collection-model.js';
import { Harness } from '../testing/harness.js';
import {
  brokenRules,
  copyMeta,
  newGroup,
  reopened,
  savedRecords,
  sourceOf,
  stateLines,
} from '../testing/state-lines.js';
import { Preparation } from './preparation.js';
import { takeBack } from './transaction.js';

const seed = Number(process.env.ALTHING_TEST_SEED);

/** Choices for the operations of one query. */
const query = fc.tuple(
  fc.integer({ min: 1, max: 4 }),
  fc.array(fc.nat(10_000), { minLength: 8, maxLength: 60 }),
);

describe(`random queries (seed ${seed})`, () => {
  const harness = new Harness();
  const lazy = new Harness();

  test('the state is what the model says, wherever and however it came about', () => {
    fc.assert(
      fc.property(fc.array(query, { minLength: 1, maxLength: 14 }), (queries) => {
        const model = new CollectionModel();
        harness.reopen({ read: () => undefined }).create();
        const replica = newGroup();
        for (const [operations, choices] of queries) {
          const { code, fails } = model.query(operations, chooserOf(choices));
          const before = stateLines(harness.collection);
          const records = savedRecords(harness.collection);

          // A query that ends in an error changes nothing.
          harness.error(`${code}; raise('stop')`);
          expectSame(code, stateLines(harness.collection), before);
          expectSame(code, brokenRules(harness.collection), []);
          // Ids that were taken back are passed over: what is compared begins with the same.
          harness.collection.store.idFloor = 0;

          // The same query where nothing is in memory yet, and where it is.
          const unloaded = lazy.reopen(sourceOf(records));
          copyMeta(harness.collection, unloaded);
          const elsewhere = lazy.outcome(code);
          const outcome = harness.outcome(code);
          if (outcome.kind === (fails ? 'value' : 'error')) throw new Error(`${code}: ${messageOf(outcome)}`);
          const after = stateLines(harness.collection);
          expectSame(code, after, model.lines());
          expectSame(code, brokenRules(harness.collection), []);
          expectSame(code, stateLines(unloaded), after);
          expectSame(code, brokenRules(unloaded), []);
          if (outcome.kind !== 'value' || elsewhere.kind !== 'value') continue;
          expectSame(code, answerOf(elsewhere), answerOf(outcome));

          // A leader that is deposed takes the change back.
          takeBack(outcome.change?.undo ?? []);
          expectSame(code, stateLines(harness.collection), before);
          expectSame(code, brokenRules(harness.collection), []);
          harness.collection.store.idFloor = 0;
          const again = harness.outcome(code);
          expectSame(code, answerOf(again), answerOf(outcome));
          expectSame(code, stateLines(harness.collection), after);

          // Other nodes repeat the effects, on things that are in memory or not.
          if (outcome.change !== null) {
            const { effects } = outcome.change;
            const follower = reopened(replica, records);
            const prepared = reopened(replica, records);
            for (const _ of new Preparation(1).of(prepared, effects) ?? []);
            for (const node of [replica, follower, prepared]) node.apply(effects);
            for (const node of [follower, prepared]) {
              expectSame(code, stateLines(node), after);
              expectSame(code, brokenRules(node), []);
            }
          }
          expectSame(code, stateLines(replica), after);
          expectSame(code, brokenRules(replica), []);

          // A saved state can be read again.
          const read = reopened(harness.collection, savedRecords(harness.collection));
          expectSame(code, stateLines(read), after);
          expectSame(code, brokenRules(read), []);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** As `toEqual`, which takes long even when there is nothing to tell. */
function expectSame(code: string, actual: readonly string[], expected: readonly string[]): void {
  if (actual.join('\n') !== expected.join('\n')) expect([code, ...actual]).toEqual([code, ...expected]);
}

function chooserOf(choices: readonly number[]): (limit: number) => number {
  let next = 0;
  return (limit) => {
    const choice = choices[next % choices.length] ?? 0;
    next += 1;
    // Later rounds through the choices give others.
    return (choice + Math.floor(next / choices.length)) % limit;
  };
}

function messageOf(outcome: Outcome): string {
  return outcome.kind === 'error' ? outcome.error.message : 'no error';
}

function answerOf(outcome: Outcome): string[] {
  if (outcome.kind !== 'value') return [messageOf(outcome)];
  return [hex(outcome.change?.effects ?? null), hex(outcome.result)];
}

function hex(data: string | Uint8Array | null): string {
  return data === null ? 'nothing' : Buffer.from(data).toString('hex');
}
