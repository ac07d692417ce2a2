/** Instances that are not stored when their type changes or goes: as they are stored later, and while changes are taken back. */
import { describe, expect, test } from '@jest/globals';
import { Life } from '../testing/life.js';

function save(life: Life): void {
  life.commit();
  life.begin();
  life.finish(true);
}

describe('an instance that is not stored when its type goes', () => {
  const DELETED =
    "set_type('Q', {n: 'int'}); x = Q{n: 1}; y = {q: [Q{n: 2}]}; .l = []; .l.push(5); del_type('Q');";
  const stored: readonly string[] = [
    '.x = x',
    '.x = y',
    '.x = [x, x]',
    '.x = set(x)',
    '.l.push(x); .l.push(y.q[0])',
    '.t = task(datetime(), |t, q| q.n, [x])',
    "set_enum('E', {A: x})",
  ];

  test.each(stored)('is stored as a plain thing: %s', (statement) => {
    const life = new Life();
    life.query(`${DELETED} ${statement};`, true);
    life.look();
    save(life);
    life.restart();
    life.look();
  });

  test.each(["[Q{n: 1}, del_type('Q')][0]", "[Q{n: 1}, del_type('Q')]", "{q: Q{n: 1}, d: del_type('Q')}"])(
    'is stored as a plain thing where only an unfinished expression holds it: %s',
    (expression) => {
      const life = new Life();
      life.query(`set_type('Q', {n: 'int'}); .x = ${expression};`, true);
      life.look();
      save(life);
      life.restart();
      life.look();
    },
  );

  test('is plain from then on, and no instance of a later type of the name', () => {
    const life = new Life();
    life.query(
      "set_type('Q', {n: 'int'}); x = Q{n: 1}; del_type('Q'); set_type('Q', {s: 'str'}); .x = x; .types = [type(x), type(Q{})];",
      true,
    );
    life.look();
    expect(life.harness.run('[.types, .x.n, type_count("Q")]')).toEqual([['thing', 'Q'], 1, 0]);
  });

  test.each([
    '[Q{n: 1, l: [1]}, MOD, MOD_LIST][0]',
    '{a: Q{n: 1, l: [1]}, b: MOD, c: MOD_LIST}.a',
    'first(Q{n: 1, l: [1]}, MOD, MOD_LIST)',
  ])(
    'is stored with values that its type accepts where only an unfinished expression holds it: %s',
    (text) => {
      const life = new Life();
      const expression = text
        .replace('MOD_LIST', "mod_type('Q', 'mod', 'l', '[str]', |q| ['a'])")
        .replace('MOD', "mod_type('Q', 'mod', 'n', 'str', |q| 'a')");
      life.query(
        `set_type('Q', {n: 'int', l: '[int]'}); first = |a, b, c| a; k = Q{n: 2, l: [2]}; .x = ${expression}; .k = k;`,
        true,
      );
      life.look();
      expect(life.harness.run('[.x.n, .x.l, .k.n, .k.l]')).toEqual(['', [], 'a', ['a']]);
      save(life);
      life.restart();
      life.look();
    },
  );

  test('is stored with the defaults of fields that came since', () => {
    const life = new Life();
    life.query(
      `set_type('Q', {n: 'int'}); x = {q: [Q{n: 1}]}; mod_type('Q', 'add', 'r', 'room'); .x = x;`,
      true,
    );
    life.look();
    save(life);
    life.restart();
    life.look();
    expect(life.harness.run('type(.x.q[0].r)')).toBe('room');
  });

  test('gets no default while a change is taken back, whatever that would be made of', () => {
    const life = new Life();
    life.query("set_enum('E', {A: 1}); set_type('Q', {n: 'int'});", true);
    life.commit();
    life.query(".o = 1; x = Q{n: 1}; try(mod_type('Q', 'add', 'z', 'E', |q| [1])); x.n;", true);
    life.depose(1);
    life.look();
    expect(life.harness.run('Q{n: 3}.n')).toBe(3);
  });
});
