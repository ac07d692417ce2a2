/** Fields that a change added to a type which was taken back, and the records of instances that had them. */
import { describe, expect, test } from '@jest/globals';
import { Life } from '../testing/life.js';

const INSTANCES = "set_type('Q', {n: 'int'}); .qs = range(3).map(|i| Q{n: i});";

/** A collection with three instances of a type, on disk. */
function withInstances(): Life {
  const life = new Life();
  life.query(INSTANCES, true);
  save(life);
  return life;
}

function save(life: Life): void {
  life.commit();
  life.begin();
  life.finish(true);
}

/** Adds a field, and looks at it as a start finds it, and as whoever evicted everything does. */
function expectFresh(life: Life, definition: string, value: unknown): void {
  life.query('.other = 1;', true);
  save(life);
  life.evict();
  life.query(`mod_type('Q', 'add', 'z', ${definition});`, true);
  life.commit();
  expect(life.harness.run('.qs.map(|x| x.z)')).toEqual([value, value, value]);
  life.look();
  life.restart();
  expect(life.harness.run('.qs.map(|x| x.z)')).toEqual([value, value, value]);
  life.look();
}

describe('a field that a change added which was taken back', () => {
  const added: readonly (readonly [string, string])[] = [
    ['a number', "'int', 7"],
    ['a nillable value', "'str?'"],
    ['a list of things', "'[]', [{}]"],
    ['a set', "'{}', set({})"],
    ['a room', "'room'"],
    ['an instance', "'Q?', .qs[0]"],
    ['a large text', "'str', L"],
    ['a list in pieces', "'[int]', range(3000)"],
  ];

  test.each(added)('does not come back as the next one: %s', (_, definition) => {
    const life = withInstances();
    life.query(`mod_type('Q', 'add', 'z', ${definition}); .qs.each(|x| { x.z; x.n += 1; }); raise('stop');`);
    expectFresh(life, "'str', 'text'", 'text');
  });

  test('does not come back where no nil may be', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', '[]', [{}]); .qs.each(|x| { x.n += 1; }); raise('stop');");
    expectFresh(life, "'[int]'", []);
  });

  test('does not come back when a leader lost several changes', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', 'int', 7);", true);
    life.query(".qs.each(|x| { x.n += x.z; }); mod_type('Q', 'add', 'y', 'int', 8);", true);
    life.query(".qs.each(|x| { x.n += x.y; }); mod_type('Q', 'del', 'z');", true);
    life.query('.qs.each(|x| { x.n += x.y; });', true);
    life.depose(4);
    expectFresh(life, "'str', 'text'", 'text');
  });

  test('does not come back when the next leader gave its id to another one', () => {
    const [old, next] = [withInstances(), withInstances()];
    old.query("mod_type('Q', 'add', 'z', 'int', 7);", true);
    old.query('.qs.each(|x| { x.n += x.z; });', true);
    old.depose(2);
    save(old);
    old.group.apply(next.harness.effects("mod_type('Q', 'add', 'z', 'str', 'text');"));
    old.evict();
    expect(old.harness.run('.qs.map(|x| [x.n, x.z])')).toEqual([0, 1, 2].map((n) => [n, 'text']));
  });

  test('does not come back from a callback that failed for one instance', () => {
    const life = withInstances();
    life.query("try(mod_type('Q', 'add', 'z', 'int', |x| x.n == 2 ? raise('no') : 7));", true);
    expectFresh(life, "'str', 'text'", 'text');
  });

  test('does not give its id again on the same node', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', 'int', 7); raise('stop');");
    life.query("mod_type('Q', 'add', 'z', 'int', 8);", true);
    expect(life.group.store.schema.typeNamed('Q')?.def?.fields.map(({ id }) => id)).toEqual([0, 2]);
  });

  test('does not give its id again when the loss of the type was taken back since', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', 'int', 7); raise('stop');");
    life.query("del_type('Q'); raise('stop');");
    life.query("mod_type('Q', 'add', 'z', 'int', 8);", true);
    expect(life.group.store.schema.typeNamed('Q')?.def?.fields.map(({ id }) => id)).toEqual([0, 2]);
  });

  test('stays where only its loss is taken back', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', 'int', 7);", true);
    life.commit();
    life.query("mod_type('Q', 'del', 'z'); .qs.each(|x| { x.n += 1; });", true);
    life.depose(1);
    life.query('.qs.each(|x| { x.n += x.z; });', true);
    save(life);
    life.restart();
    expect(life.harness.run('.qs.map(|x| [x.n, x.z])')).toEqual([0, 1, 2].map((n) => [n + 7, 7]));
  });
});

describe('values of a field that was dropped', () => {
  const kept = ({ group }: Life): number | undefined =>
    group.store.schema.typeNamed('Q')?.rescue?.deref()?.values.size;
  const touch = '.qs.map(|x| x.id());';

  test('are kept only until the change can not be taken back any more', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'del', 'n');", true);
    life.query('.other = 1;', true);
    life.harness.run(touch);
    // Given that only what came before is committed
    life.group.settle(life.group.changeCount - 2);
    expect(kept(life)).toBe(3);
    life.commit();
    expect(kept(life)).toBeUndefined();
  });

  test('are not kept where a change comes that is committed', () => {
    const [life, leader] = [withInstances(), withInstances()];
    life.group.apply(leader.harness.effects("mod_type('Q', 'del', 'n');"));
    life.harness.run(touch);
    expect(kept(life)).toBeUndefined();
  });

  test('come back when the later of two changes is lost, and the earlier one is committed', () => {
    const life = withInstances();
    life.query("mod_type('Q', 'add', 'z', 'int', 7); mod_type('Q', 'add', 'y', 'int', 8);", true);
    life.commit();
    life.query("mod_type('Q', 'del', 'y');", true);
    life.query("mod_type('Q', 'del', 'z');", true);
    life.harness.run(touch);
    life.group.settle(life.group.changeCount - 1);
    life.depose(1);
    expect(life.harness.run('.qs.map(|x| [x.n, x.z])')).toEqual([0, 1, 2].map((n) => [n, 7]));
  });
});
