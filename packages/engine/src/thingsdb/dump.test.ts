/** Values that ThingsDB holds and that can't be the same here: what becomes of them is a promise of docs/from-thingsdb.md. */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { writeThingsdbDump } from './dump-writer.js';

/** A dump whose root has the property `n`, with a value in hexadecimal. */
function dumpOf(value: string, rootId = '01'): string {
  return `93cd05dca5312e392e33924d81a12c93cd4000${rootId}81a16e${value}`;
}

/** The dump of what code makes. */
function written(code: string): string {
  const db = new Harness({ evicts: false });
  db.run(code);
  return Buffer.from(writeThingsdbDump(db.collection, '1.9.3', () => {}).bytes).toString('hex');
}

/** The same, in which some bytes are others of the same number. */
function changed(code: string, from: string, to: string): string {
  const dump = written(code);
  expect(dump).toContain(from);
  return dump.replace(from, to);
}

/** The collection that comes of a dump. */
function imported(dump: string): Harness {
  const db = new Harness({ evicts: false });
  db.run('import(d);', { vars: { d: Uint8Array.from(Buffer.from(dump, 'hex')) } });
  return db;
}

/** The error of a dump, by name and message, which changed nothing. */
function refusal(dump: string): string {
  const db = new Harness({ evicts: false });
  const { code, message } = db.failure('import(d);', {
    vars: { d: Uint8Array.from(Buffer.from(dump, 'hex')) },
  });
  expect(db.run('[.len(), types_info().len()];')).toEqual([0, 0]);
  return `${code} ${message}`;
}

describe('contents of a dump of ThingsDB', () => {
  test('a str that is no UTF-8 comes as bytes, and is refused where a property takes text only', () => {
    expect(imported(dumpOf('a2fffe')).run('.n;')).toEqual(Uint8Array.of(0xff, 0xfe));
    const typed = changed("set_type('T', {s: 'str'}); .t = T{s: 'wxyz'};", 'a47778797a', 'a4fffefffe');
    expect(refusal(typed)).toMatch(/^-53 .*at byte \d+: /);
  });

  test('a length of a text counts characters, and one of another length is refused with its place', () => {
    const code = "set_type('T', {s: 'str<3:5>'}); .t = T{s: 'wxyz'};";
    expect(imported(changed(code, '7778797a', '77c3a479')).run('.t.s;')).toBe('wäy');
    expect(refusal(changed(code, '7778797a', 'c3a4c3a4'))).toMatch(/^-53 .*at byte \d+: /);
  });

  test('a root with another id than 1 gets that, and all others keep theirs', () => {
    const db = imported(dumpOf('81a12c93cd40000781a16ec0', '05'));
    expect(db.run('[.id(), .n.id(), try(thing(5)).code()];')).toEqual([1, 7, -54]);
  });

  test('a pattern that can not be matched in bounded time is refused with its place', () => {
    const dump = changed('.r = /a(bc)/;', '61286263', '61283f52');
    expect(refusal(dump)).toMatch(/^-53 .*at byte \d+: a regular expression that can not be read/);
  });

  test('members of a set come in the order of the dump', () => {
    const db = imported(written('.a = {n: 1}; .b = {n: 2}; .c = {n: 3}; .s = set(.c, .a, .b);'));
    expect(db.run('.s.map(|x| x.n);')).toEqual([3, 1, 2]);
  });

  test('lists nest to 500 levels, and things without limit', () => {
    expect(imported(dumpOf(`${'91'.repeat(500)}90`)).run('.n.len();')).toBe(1);
    expect(refusal(dumpOf(`${'91'.repeat(501)}90`))).toMatch(
      /^-53 .*at byte \d+: lists are nested more than/,
    );
    const things = Array.from(
      { length: 2000 },
      (_, i) => `81a12c93cd4000cd${(i + 2).toString(16).padStart(4, '0')}81a16e`,
    );
    expect(imported(dumpOf(`${things.join('')}c0`)).run('thing(2001).n;')).toBe(null);
  });
});
