import { describe, expect, test } from '@jest/globals';
import { type Membership, membershipOf } from 'raft-ts';
import { stepTowards } from './group-members.js';

const SELF = 1;

const step = (wanted: Membership, own: Membership, isUp = true) => stepTowards(wanted, own, SELF, () => isUp);

describe('a step of a group towards the members of another one', () => {
  test('is none where they are the same', () => {
    for (const same of [membershipOf([1, 2, 3]), membershipOf([1], [2])]) expect(step(same, same)).toBeNull();
  });

  test('adds who is missing, and removes who was removed, itself at last', () => {
    expect(step(membershipOf([1, 2, 3]), membershipOf([1, 2]))).toEqual({ action: 'addLearner', node: 3 });
    const gone = { ...membershipOf([2, 3]), removed: [1, 4] };
    expect(step(gone, membershipOf([1, 2, 3, 4]))).toEqual({ action: 'remove', node: 4 });
    expect(step(gone, membershipOf([1, 2, 3, 4]), false)).toBeNull();
    expect(step(gone, membershipOf([1, 2, 3]))).toBe('go');
  });

  test('lets one of two rest that rests there, and gives the leadership away first', () => {
    expect(step(membershipOf([1], [2]), membershipOf([1, 2]))).toEqual({ action: 'rest', node: 2 });
    expect(step(membershipOf([2], [1]), membershipOf([1, 2]))).toBe('go');
  });

  test('takes a vote where the other group took it, unless the others have no majority without it', () => {
    const wanted = membershipOf([1, 3, 4], [2]);
    expect(step(wanted, membershipOf([1, 2, 3], [4]))).toEqual({ action: 'addLearner', node: 4 });
    expect(step(wanted, { ...membershipOf([1, 2, 3], [4]), promote: [4] })).toBeNull();
    expect(step(wanted, membershipOf([1, 2, 3, 4]))).toEqual({ action: 'rest', node: 2 });
    expect(step(wanted, membershipOf([1, 2, 3, 4]), false)).toBeNull();
    expect(step(wanted, membershipOf([1, 3], [2, 4]))).toEqual({ action: 'addLearner', node: 4 });
    // Where as many vote as can, a vote is taken first.
    const seven = membershipOf([1, 2, 3, 4, 5, 6, 7], [8]);
    const other = membershipOf([1, 3, 4, 5, 6, 7, 8], [2]);
    expect(step(other, seven)).toEqual({ action: 'rest', node: 2 });
  });

  test('adds a learner of the other group as one', () => {
    expect(step(membershipOf([1, 2, 3], [4]), membershipOf([1, 2, 3]))).toEqual({ action: 'rest', node: 4 });
  });

  test('gives a member its vote back that votes there again, or is about to', () => {
    const own = membershipOf([1], [2]);
    const back = { action: 'addLearner', node: 2 };
    expect(step(membershipOf([1, 2]), own)).toEqual(back);
    expect(step({ ...membershipOf([1], [2]), promote: [2] }, own)).toEqual(back);
    expect(step(membershipOf([1, 2]), { ...own, promote: [2] })).toBeNull();
  });
});
