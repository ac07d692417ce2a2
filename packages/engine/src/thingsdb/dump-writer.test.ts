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

  test('has ids of types and enums that ThingsDB takes, however many there were', () => {
    const db = new Harness({ evicts: false });
    db.run("set_type('G', {a: 'int'}); set_type('A', {n: 'int'});");
    const { typeIds, enumIds } = db.collection.store.schema;
    for (const ids of [typeIds, enumIds]) ids.idFloor = 100_000;
    db.run(
      "set_enum('E', {X: 1}); set_type('P', {e: 'E', ps: '{P}', p: 'P?', a: 'A?'}); mod_type('P', 'rel', 'ps', 'p');",
    );
    db.run(
      ".p = P{}; .p.ps.add(P{a: A{n: 5}}); .w = {a: 1, b: 2}.wrap('G'); .r = {}; .r.restrict('P'); .s = {}; .s.restrict('E'); del_type('G');",
    );
    const { bytes, problems } = writeThingsdbDump(db.collection, '1.9.3', uncharged);
    expect(problems).toEqual([]);
    const group = readThingsdbDump(bytes, uncharged);
    expect([group.store.schema.typeNamed('P')?.id, group.store.schema.enumNamed('E')?.id]).toEqual([1, 0]);
    const other = new Harness({ evicts: false });
    other.run('import(d)', { vars: { d: bytes } });
    const asks =
      "[.p.e.name(), .p.ps.one().a.n, .p.ps.one().p == .p, type(.w), .w.unwrap().b, type(try(.r.set('x', 1))), .s.restriction()]";
    expect(other.run(asks)).toEqual(db.run(asks));
  });

  test('tells what ThingsDB can not hold', () => {
    const db = new Harness({ evicts: false });
    db.run("set_type('T', {s: 'str<3:5>'}); .good = T{s: 'abc'}; .long = T{s: 'äöü'};");
    const { problems } = writeThingsdbDump(db.collection, '1.9.3', uncharged);
    expect(problems).toEqual(["thing 3: 's' has 6 bytes, and ThingsDB takes it from 3 to 5 only"]);
  });
});
