import { describe, expect, test } from '@jest/globals';
import { Life } from '../testing/life.js';

/** Users and groups that name each other, of whom nothing is in memory. */
function coldLife(...statements: readonly string[]): Life {
  const life = new Life();
  life.query("new_type('G'); set_type('U', {g: 'G?', n: 'int'}); set_type('G', {us: '{U}'});", true);
  for (const statement of statements) life.query(statement, true);
  life.commit();
  life.begin();
  life.finish(true);
  life.restart();
  return life;
}

describe('a relation between instances that are not in memory', () => {
  test('completes the side that lacks partners', () => {
    const life = coldLife('.gs = [G{}, G{}]; .us = range(5).map(|i| U{n: i, g: .gs[i % 2]});');
    life.query("mod_type('U', 'rel', 'g', 'us');", true);
    expect(life.harness.run('.gs.map(|g| g.us.map(|u| u.n).sort())')).toEqual([
      [0, 2, 4],
      [1, 3],
    ]);
    life.look();
  });

  test('completes the other side as well', () => {
    const life = coldLife(
      '.us = range(4).map(|i| U{n: i}); .gs = [G{us: set(.us[0], .us[2])}, G{us: set(.us[1])}];',
    );
    life.query("mod_type('U', 'rel', 'g', 'us');", true);
    expect(life.harness.run('.us.map(|u| .gs.index_of(u.g))')).toEqual([0, 1, 0, null]);
    life.look();
  });

  test('is refused where an instance would have two partners', () => {
    const life = coldLife('.us = [U{}]; .gs = range(2).map(|| G{us: set(.us[0])});');
    expect(life.harness.error("mod_type('U', 'rel', 'g', 'us');")).toBe('type_err');
    life.look();
  });
});
