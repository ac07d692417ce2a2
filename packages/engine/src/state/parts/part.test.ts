import { expect, test } from '@jest/globals';
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { Harness } from '../../testing/harness.js';
import { PersistedCollection } from '../../testing/persisted.js';
import { Closure } from '../../value/closure.js';
import { ShapeTree } from '../../value/shape.js';
import { CollectionGroup } from '../collection-group.js';
import { perform } from '../effect.js';
import { EMPTY_SOURCE, RecordKind } from '../records.js';
import { Transaction } from '../transaction.js';
import { claim, type GroupPart, GroupParts } from './part.js';
import { ProcedureEffect, type Procedures } from './procedures.js';

function partWith(kinds: readonly RecordKind[]): GroupPart {
  const nothing = (): void => {};
  return { effects: [], kinds, load: nothing, clear: nothing, contents: () => null };
}

test('no two parts have the same kind of records, and no two effects of a group the same code', () => {
  const part = partWith([RecordKind.TYPE]);
  expect(() => new GroupParts([part, partWith([RecordKind.TYPE])])).toThrow('have the number 0');
  expect(() => claim(new Map([[2, 'one']]), 2, 'another')).toThrow('have the number 2');
});

test('a part is found by its kinds of records', () => {
  const parts = new GroupParts([partWith([RecordKind.TYPE]), partWith([RecordKind.ENUM])]);
  const [, second] = parts;
  expect(parts.ofKind(RecordKind.ENUM)).toEqual({ kind: RecordKind.ENUM, part: second });
  expect(parts.ofKind(RecordKind.THING)).toBeUndefined();
});

test('a group refuses effects and records that none of its parts has', () => {
  const group = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  expect(() => group.apply(Uint8Array.of(0xff))).toThrow('unknown effect 255');
  expect(() => group.loadRecord(RecordKind.USER, 1, new Uint8Array())).toThrow('unexpected record of kind 5');
});

test('every effect of every part reads something: one of which nothing is read would be skipped', () => {
  const { root } = new Harness().engine;
  const collection = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  const effects = [...root.parts, ...collection.parts].flatMap((part) => part.effects);
  expect(effects.length).toBeGreaterThan(25);
  for (const effect of effects) {
    expect(() => effect.repeat(new ByteReader(new Uint8Array()))).toThrow(FormatError);
  }
});

test('an effect that a query makes is the same on a follower, taken back, and read from a checkpoint', () => {
  const leader = new PersistedCollection();
  const follower = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  follower.create();
  const { PUT, DELETE, RENAME } = ProcedureEffect;
  const edit = (work: (transaction: Transaction, procedures: Procedures) => void): Transaction => {
    const transaction = new Transaction(leader.group.store, true, new ByteWriter(), () => {});
    work(transaction, leader.group.procedures);
    return transaction;
  };
  const a = { name: 'a', createdAt: 0, durationMs: null, closure: new Closure('|x| x', null, '|x| x') };

  follower.apply(edit((change, all) => perform(change, PUT, all, a)).finish() ?? new Uint8Array());
  follower.apply(edit((change, all) => perform(change, RENAME, all, 'a', 'b')).finish() ?? new Uint8Array());
  expect(names(leader.group)).toEqual(['b']);
  expect(names(follower)).toEqual(['b']);

  const taken = edit((change, all) => {
    perform(change, PUT, all, { ...a, name: 'c' });
    perform(change, DELETE, all, { name: 'b' });
  });
  expect(names(leader.group)).toEqual(['c']);
  taken.rollback();
  expect(names(leader.group)).toEqual(['b']);

  leader.checkpoint();
  leader.reopen();
  expect(names(leader.group)).toEqual(['b']);
  expect(leader.group.procedures.byName.get('b')?.closure.text).toBe('|x| x');
  expect(leader.group.procedures.contents()).toBe("the procedure 'b'");
});

function names({ procedures }: CollectionGroup): string[] {
  return [...procedures.byName.keys()];
}
