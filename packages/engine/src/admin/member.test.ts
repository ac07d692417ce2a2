import { describe, expect, test } from '@jest/globals';
import { ByteWriter } from '../bytes.js';
import { RecordKind } from '../state/records.js';
import { takeBack, type Undo } from '../state/transaction.js';
import { bootstrap } from './bootstrap.js';
import { rootLines } from './describe.js';
import type { MemberInfo } from './member.js';
import { RootEditor } from './root-editor.js';
import { RootGroup } from './root-group.js';

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

const FIRST = member(281_474_976_710_655, 0, 'first');
const SECOND = member(77, 1, 'second');

describe('members of the cluster', () => {
  test('a new cluster begins with its founders, and so does its collection', () => {
    const root = founded();

    expect([...root.members.values()]).toEqual([FIRST, SECOND]);
    expect(root.nextNumber).toBe(2);
    expect(root.collectionsByName.get('stuff')?.members).toEqual([FIRST.nodeId, SECOND.nodeId]);
  });

  test('are found by their names, and by the first part of one where that is enough', () => {
    const root = new RootGroup();
    bootstrap(root, 1, PASSWORD, [
      member(1, 0, 'a.x'),
      member(2, 1, 'b.x'),
      member(3, 2, 'b.y'),
      member(4, 3, 'b'),
    ]);
    const numberOf = (name: string): number | undefined => root.memberByName(name)?.number;
    expect([numberOf('a.x'), numberOf('a'), numberOf('b.y'), numberOf('b')]).toEqual([0, 0, 2, 3]);
    expect([numberOf('x'), numberOf('a.'), numberOf('')]).toEqual([undefined, undefined, undefined]);
    change(root, (editor) => editor.deleteMember(member(4, 3, 'b')));
    expect(numberOf('b')).toBeUndefined();
  });

  test('another node comes to the same by the effects', () => {
    const leader = new RootGroup();
    const { effects } = bootstrap(leader, 1, PASSWORD, [FIRST, SECOND]);
    const follower = new RootGroup();

    follower.apply(effects);
    follower.apply(
      change(leader, (editor) => editor.putMember({ ...SECOND, leaving: true, port: 9999 })).effects,
    );
    follower.apply(change(leader, (editor) => editor.deleteMember(FIRST)).effects);

    expect([...follower.members.values()]).toEqual([{ ...SECOND, leaving: true, port: 9999 }]);
    expect(follower.members).toEqual(leader.members);
    expect(follower.collections).toEqual(leader.collections);
    expect(follower.nextNumber).toBe(2);
  });

  test('a checkpoint brings members back, and the number that comes next', () => {
    const root = founded();
    const third = member(5, 2, 'third');
    change(root, (editor) => editor.putMember(third));
    change(root, (editor) => editor.deleteMember(third));

    const loaded = stored(root);

    expect(loaded.members).toEqual(root.members);
    expect(loaded.collections).toEqual(root.collections);
    expect(loaded.nextNumber).toBe(3);
  });

  test('a change that does not take effect is taken back', () => {
    const root = founded();

    const added = change(root, (editor) => editor.putMember(member(5, 2, 'third')));
    expect(root.nextNumber).toBe(3);
    takeBack(added.undo);
    takeBack(change(root, (editor) => editor.putMember({ ...FIRST, leaving: true })).undo);
    takeBack(change(root, (editor) => editor.deleteMember(SECOND)).undo);

    expect(root.members).toEqual(founded().members);
    expect(root.nextNumber).toBe(2);
  });

  test('every change tells that they are others now', () => {
    const root = founded();
    const before = root.membersVersion;

    change(root, (editor) => editor.putMember({ ...FIRST, host: 'elsewhere' }));
    const between = root.membersVersion;
    change(root, (editor) => editor.deleteMember(FIRST));

    expect(between).toBeGreaterThan(before);
    expect(root.membersVersion).toBeGreaterThan(between);
  });

  test('a snapshot leaves nothing of what was there before', () => {
    const root = founded();
    change(root, (editor) => {
      editor.putInvitation({ number: 2, host: 'third.example', port: 9220 });
      editor.setAccess('node', 1, 31);
    });
    root.restoring = 'backup.tar';
    const empty = new RootGroup();

    root.clear();

    expect(rootLines(root)).toEqual(rootLines(empty));
    expect([root.usersByName, root.collectionsByName]).toEqual([empty.usersByName, empty.collectionsByName]);
  });

  test('a number means the member that stays, where one takes the place of another', () => {
    const root = founded();
    const replacement = member(5, SECOND.number, 'second');

    change(root, (editor) => {
      editor.putMember({ ...SECOND, leaving: true });
      editor.putMember(replacement);
    });

    expect(root.memberByNumber(SECOND.number)).toEqual(replacement);
    expect(root.memberByNumber(0)).toEqual(FIRST);
    expect(root.memberByNumber(9)).toBeUndefined();
  });
});

function member(nodeId: number, number: number, name: string): MemberInfo {
  return { nodeId, number, name, host: `${name}.example`, port: 9220, leaving: false };
}

function founded(): RootGroup {
  const root = new RootGroup();
  bootstrap(root, 1, PASSWORD, [FIRST, SECOND]);
  return root;
}

function change(
  root: RootGroup,
  edit: (editor: RootEditor) => void,
): { readonly effects: Uint8Array; readonly undo: readonly Undo[] } {
  const effects = new ByteWriter();
  const undo: Undo[] = [];
  edit(
    new RootEditor(root, { effects, tally: null, chargeStep: () => {}, onUndo: (step) => undo.push(step) }),
  );
  return { effects: effects.take(), undo };
}

/** The state that the next start finds. */
function stored(root: RootGroup): RootGroup {
  const loaded = new RootGroup();
  const changes = root.dirty.freeze(() => {});
  for (const record of changes.records.values()) {
    if (record.value !== null) loaded.loadRecord(record.kind, record.id, record.value);
  }
  loaded.loadRecord(RecordKind.META, 0, root.encodeMeta());
  return loaded;
}
