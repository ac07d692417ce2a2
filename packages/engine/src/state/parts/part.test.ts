import { expect, test } from '@jest/globals';
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { Harness } from '../../testing/harness.js';
import { PersistedCollection } from '../../testing/persisted.js';
import { Closure } from '../../value/closure.js';
import { ShapeTree } from '../../value/shape.js';
import { CollectionGroup } from '../collection-group.js';
import { EMPTY_SOURCE, RecordKind } from '../records.js';
import { Transaction } from '../transaction.js';
import { type GroupPart, GroupParts } from './part.js';
import { ProcedureEditor } from './procedures.js';

function partWith(effects: readonly number[], kinds: readonly RecordKind[]): GroupPart {
  const nothing = (): void => {};
  return {
    effects,
    kinds,
    apply: nothing,
    load: nothing,
    flush: nothing,
    clear: nothing,
    contents: () => null,
  };
}

test('no two parts have the same effect or kind of records', () => {
  const part = partWith([1, 2], [RecordKind.TYPE]);
  expect(() => new GroupParts([part, partWith([2], [])])).toThrow('effect or kind of records 2');
  expect(() => new GroupParts([part, partWith([3], [RecordKind.TYPE])])).toThrow(
    'effect or kind of records 0',
  );
});

test('a part is found by its effects and its kinds of records', () => {
  const parts = new GroupParts([partWith([1], [RecordKind.TYPE]), partWith([2], [RecordKind.ENUM])]);
  const [first, second] = parts;
  expect(parts.ofEffect(1)).toBe(first);
  expect(parts.ofKind(RecordKind.ENUM)).toEqual({ kind: RecordKind.ENUM, part: second });
  expect(parts.ofEffect(3)).toBeUndefined();
  expect(parts.ofKind(RecordKind.THING)).toBeUndefined();
});

test('a group refuses effects and records that none of its parts has', () => {
  const group = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  expect(() => group.apply(Uint8Array.of(0xff))).toThrow('unknown effect 255');
  expect(() => group.loadRecord(RecordKind.USER, 1, new Uint8Array())).toThrow('unexpected record of kind 5');
});

test('every part of every kind of group refuses an effect that it does not know, and reads those that are its own', () => {
  const { root } = new Harness().engine;
  const collection = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  const parts = [...root.parts, ...collection.parts];
  expect(parts.length).toBeGreaterThan(8);
  for (const part of parts) {
    for (const operation of [0x00, 0x28, 0xff]) {
      expect(() => part.apply(operation, new ByteReader(new Uint8Array(64)))).toThrow(FormatError);
    }
    // An effect of which nothing is read is one that the part skips.
    for (const operation of part.effects) {
      expect(() => part.apply(operation, new ByteReader(new Uint8Array()))).toThrow(FormatError);
    }
  }
});

test('what an editor does is the same on a follower, taken back, and read from a checkpoint', () => {
  const leader = new PersistedCollection();
  const follower = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  follower.create();
  const edit = (work: (editor: ProcedureEditor) => void): Transaction => {
    const transaction = new Transaction(leader.group.store, true, new ByteWriter(), () => {});
    work(new ProcedureEditor(leader.group.procedures, transaction));
    return transaction;
  };
  const a = { name: 'a', createdAt: 0, closure: new Closure('|x| x', null, '|x| x') };

  follower.apply(edit((editor) => editor.put(a)).finish() ?? new Uint8Array());
  follower.apply(edit((editor) => editor.rename('a', 'b')).finish() ?? new Uint8Array());
  expect(names(leader.group)).toEqual(['b']);
  expect(names(follower)).toEqual(['b']);

  const taken = edit((editor) => {
    editor.put({ ...a, name: 'c' });
    editor.delete({ ...a, name: 'b' });
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
