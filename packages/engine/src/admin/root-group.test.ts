import { describe, expect, test } from '@jest/globals';
import { ByteWriter } from '../bytes.js';
import { takeBack } from '../state/transaction.js';
import type { Target } from './access-lists.js';
import { bootstrap } from './bootstrap.js';
import { changeRoot } from './root-change.js';
import { RootGroup } from './root-group.js';

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

describe('stored access', () => {
  test('is what it was after a change is taken back', () => {
    const root = new RootGroup();
    const before = root.encodeMeta();
    const { undo } = bootstrap(root, 0, PASSWORD, []);
    takeBack(undo);
    expect(root.encodeMeta()).toEqual(before);
  });

  test('does not tell what was taken back before, nor in which order access was given', () => {
    // Given a leader whose change was lost, and a follower that never saw it,
    const [leader, follower] = [new RootGroup(), new RootGroup()];
    const lost = grant(leader, 'node', 7);
    takeBack(lost.undo);
    // when both get the changes of the next leader
    for (const target of ['thingsdb', 'node'] as const) {
      const { effects } = grant(new RootGroup(), target, 7);
      for (const root of [leader, follower]) root.apply(effects);
    }
    // and one takes back that somebody lost access,
    takeBack(grant(leader, 'thingsdb', 7, null).undo);
    // then they store the same.
    expect(leader.encodeMeta()).toEqual(follower.encodeMeta());
  });

  test('is compared in its order, where an older version wrote it in another one', () => {
    const root = new RootGroup();
    for (const userId of [3, 7]) grant(root, 'node', userId);
    grant(root, 'thingsdb', 3);
    const sorted = root.encodeMeta();
    expect(RootGroup.sharedMeta(olderMeta(sorted))).toEqual(RootGroup.sharedMeta(sorted));
    expect(RootGroup.sharedMeta(sorted)).toEqual(sorted.subarray(1));
  });
});

/** Changes the access of a user as a leader does. */
function grant(
  root: RootGroup,
  target: Target,
  userId: number,
  mask: number | null = 1,
): ReturnType<typeof changeRoot> {
  return changeRoot(root, (editor) => editor.setAccess(target, userId, mask));
}

/** The same counters with access to `@node` first, its users backwards, and a list that nobody is in. */
function olderMeta(sorted: Uint8Array): Uint8Array {
  const out = new ByteWriter();
  out.varint(3);
  const NODE = Number.MAX_SAFE_INTEGER;
  const lists: readonly (readonly [number, readonly number[]])[] = [
    [NODE, [7, 3]],
    [12, []],
    [0, [3]],
  ];
  for (const [target, users] of lists) {
    out.varint(target);
    out.varint(users.length);
    for (const userId of users) {
      out.varint(userId);
      out.u8(1);
    }
  }
  const head = new RootGroup();
  head.changeCount = 3;
  const headLength = head.encodeMeta().length - 1;
  return Buffer.concat([sorted.subarray(0, headLength), out.take()]);
}
