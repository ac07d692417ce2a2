import { describe, expect, test } from '@jest/globals';
import { changeOf } from './change.js';
import { genesisOf } from './genesis.js';
import { changedMembership, membershipOf, NO_MEMBERS } from './membership.js';

describe('the beginning of a group', () => {
  test('is the same for the same members and identity, and no other', () => {
    const one = genesisOf(membershipOf([1, 2, 3]), Uint8Array.of(1));
    expect(genesisOf(membershipOf([3, 2, 1]), Uint8Array.of(1))).toEqual(one);
    expect(genesisOf(membershipOf([1, 2, 4]), Uint8Array.of(1)).snapshot.hash).not.toBe(one.snapshot.hash);
    expect(genesisOf(membershipOf([1, 2, 3]), Uint8Array.of(2)).snapshot.hash).not.toBe(one.snapshot.hash);
    expect(one.snapshot).toMatchObject({ index: 1, term: 1 });
    expect(one.hardState).toEqual({ term: 1, vote: 0, commit: 1 });
  });

  test('needs voters, and only one set of them', () => {
    expect(() => genesisOf(NO_MEMBERS, new Uint8Array(0))).toThrow('begins with voters');
    const change = changeOf({ action: 'addVoter', node: 2 }, { action: 'remove', node: 1 });
    const joint = changedMembership(membershipOf([1]), change);
    expect(() => genesisOf(joint, new Uint8Array(0))).toThrow('joint');
  });
});
