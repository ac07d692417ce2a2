import { describe, expect, test } from '@jest/globals';
import { stateLines } from '../state/describe.js';
import { Harness } from '../testing/harness.js';
import { dumpSamples } from '../testing/thingsdb-samples.js';
import { readThingsdbDump } from './dump.js';
import { writeThingsdbDump } from './dump-writer.js';

const uncharged = (): void => {};

describe('a collection that is written for ThingsDB', () => {
  const samples = dumpSamples().filter(({ isRedumpEqual, name }) => isRedumpEqual || name.startsWith('05'));

  test.each(samples)('has the bytes that ThingsDB wrote: $name', ({ dump }) => {
    const group = readThingsdbDump(dump, uncharged);
    const { bytes, problems } = writeThingsdbDump(group, '1.9.3-alpha1', uncharged);
    expect(Buffer.from(bytes).toString('latin1')).toBe(Buffer.from(dump).toString('latin1'));
    expect(problems).toEqual([]);
  });

  test('is the same when it is read again', () => {
    const db = new Harness({ evicts: false });
    db.run(
      "set_type('W', {a: 'any', l: [{b: 'str', twice: |t| t.b + t.b}]}, WPO); .big = 1 << 40; .small = -(1 << 40); .w = .wrap('W');",
    );
    db.run(
      ".list = range(-200, 70000, 997); .long = range(70000).map(|| 'x').reduce(|a, b| a + b); .deep = [[[1.5], 'x'], set()];",
    );
    const { bytes, problems } = writeThingsdbDump(db.collection, '1.9.3', uncharged);
    expect(problems).toEqual([]);
    expect(stateLines(readThingsdbDump(bytes, uncharged))).toEqual(stateLines(db.collection));
  });

  test('tells what ThingsDB can not hold', () => {
    const db = new Harness({ evicts: false });
    db.run("set_type('T', {s: 'str<3:5>'}); .good = T{s: 'abc'}; .long = T{s: 'äöü'};");
    const { problems } = writeThingsdbDump(db.collection, '1.9.3', uncharged);
    expect(problems).toEqual(["thing 3: 's' has 6 bytes, and ThingsDB takes it from 3 to 5 only"]);
  });
});
