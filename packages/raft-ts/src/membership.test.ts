import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeOf } from './change.js';
import {
  assertSafeStep,
  type ChangeStep,
  changedMembership,
  changeProblem,
  isJoint,
  isLearner,
  isMember,
  isRemoved,
  isValidMembership,
  isVoter,
  membershipOf,
  membersOf,
  NO_MEMBERS,
  votersChanged,
} from './membership.js';
import { majority } from './quorum.js';
import { membershipChange } from './testing/arbitraries.js';
import { MAX_LEARNERS, MAX_REMOVED, type Membership, type NodeId } from './types.js';

const v = (node: NodeId): ChangeStep => ({ action: 'addVoter', node });
const l = (node: NodeId, promote = false): ChangeStep => ({ action: 'addLearner', node, promote });
const r = (node: NodeId): ChangeStep => ({ action: 'remove', node });
const upTo = (count: number, from = 1): NodeId[] => Array.from({ length: count }, (_, at) => from + at);

describe('membership changes', () => {
  test('one voter more or less is changed directly', () => {
    const after = changedMembership(membershipOf([3, 1, 2]), changeOf(v(4)));
    expect(after).toEqual(membershipOf([1, 2, 3, 4]));
    expect(changedMembership(after, changeOf(r(1)))).toEqual({ ...membershipOf([2, 3, 4]), removed: [1] });
  });

  test('learners come, are marked for promotion, are promoted, and go', () => {
    const one = changedMembership(membershipOf([1]), changeOf(l(2, true)));
    expect(one).toMatchObject({ learners: [2], promote: [2] });
    expect(changedMembership(one, changeOf(v(2)))).toMatchObject({
      voters: [1, 2],
      learners: [],
      promote: [],
    });
    expect(changedMembership(one, changeOf(l(2)))).toMatchObject({ learners: [2], promote: [] });
    expect(changedMembership(one, changeOf(r(2)))).toMatchObject({ learners: [], removed: [2] });
  });

  test('several voters go through a joint configuration; who leaves votes until it is left', () => {
    const before = { ...membershipOf([1, 2, 3], [5]), removed: [9] };
    const joint = changedMembership(before, changeOf(v(4), v(5), r(1), l(2, true)));
    expect(joint).toEqual({
      voters: [3, 4, 5],
      outgoing: [1, 2, 3],
      learners: [],
      learnersNext: [2],
      promote: [],
      removed: [9],
      autoLeave: true,
    });
    expect(isJoint(joint) && isVoter(joint, 1) && isMember(joint, 2) && !isRemoved(joint, 1)).toBe(true);
    expect(membersOf(joint)).toEqual([1, 2, 3, 4, 5]);
    const left = changedMembership(joint, changeOf());
    expect(left).toEqual({ ...membershipOf([3, 4, 5], [2]), removed: [1, 9] });
    expect(isLearner(left, 2)).toBe(true);
  });

  test('a joint configuration can be asked for, and left by hand', () => {
    const joint = changedMembership(membershipOf([1]), {
      ...changeOf(v(2)),
      transition: 'joint',
      leave: 'explicit',
    });
    expect(joint).toMatchObject({ voters: [1, 2], outgoing: [1], autoLeave: false });
  });

  test('a change that makes no sense has a named problem', () => {
    const three = membershipOf([1, 2, 3], [4]);
    const joint = changedMembership(three, changeOf(v(5), r(1)));
    const problem = (membership: Membership, ...steps: ChangeStep[]): unknown =>
      changeProblem(membership, changeOf(...steps));
    expect(problem(three)).toBe('not_joint');
    expect(problem(joint)).toBeNull();
    expect(problem(joint, v(6))).toBe('joint_in_force');
    expect(problem({ ...three, removed: [8] }, l(8))).toBe('removed_id');
    expect(problem(three, r(7))).toBe('unknown_node');
    expect(problem(three, v(5), r(5))).toBe('duplicate_node');
    expect(problem(three, v(1))).toBe('no_effect');
    expect(problem(three, l(4))).toBe('no_effect');
    expect(problem(three, l(4, true))).toBeNull();
    expect(problem(three, r(1), r(2), r(3))).toBe('no_voters');
    expect(problem(three, ...upTo(5, 10).map(v))).toBe('too_many_voters');
    expect(problem(three, v(0))).toBe('bad_node_id');
    expect(problem(three, ...upTo(33, 10).map((node) => l(node)))).toBe('too_many_steps');
    expect(problem(membershipOf([1], upTo(MAX_LEARNERS, 2)), l(1000))).toBe('too_many_learners');
    expect(problem({ ...three, removed: upTo(MAX_REMOVED, 10) }, r(4))).toBe('too_many_removed');
  });

  test('whatever changes are made, each step is safe, and all memberships are possible', () => {
    fc.assert(
      fc.property(fc.array(membershipChange, { maxLength: 30 }), (changes) => {
        let membership = membershipOf([1, 2, 3]);
        for (const change of changes) {
          if (changeProblem(membership, change) !== null) continue;
          const next = changedMembership(membership, change);
          expect(isValidMembership(next)).toBe(true);
          assertSafeStep(membership, next);
          expect(quorumsMeet(membership, next)).toBe(true);
          membership = next;
        }
      }),
      { numRuns: 300 },
    );
  });

  test('impossible memberships are recognized', () => {
    const good: Membership = { ...membershipOf([1, 2], [3]), promote: [3], removed: [4] };
    expect(isValidMembership(good)).toBe(true);
    expect(isValidMembership(NO_MEMBERS)).toBe(true);
    const bad: Partial<Membership>[] = [
      { voters: [2, 1] },
      { voters: [1, 1] },
      { voters: [0, 1] },
      { voters: [1.5] },
      { voters: upTo(8), learners: [], promote: [], removed: [] },
      { outgoing: upTo(8, 10) },
      { voters: [], learners: [3] },
      { voters: [], learners: [], promote: [], outgoing: [1] },
      { learners: [2] },
      { learnersNext: [9] },
      { outgoing: [1, 2], learnersNext: [1] },
      { promote: [1] },
      { removed: [1] },
      { learners: upTo(MAX_LEARNERS + 1, 10), promote: [], removed: [] },
      { removed: upTo(MAX_REMOVED + 1, 10) },
    ];
    for (const each of bad) expect([each, isValidMembership({ ...good, ...each })]).toEqual([each, false]);
  });

  test('an unsafe step is a programming error', () => {
    const three = membershipOf([1, 2, 3]);
    const joint = changedMembership(three, changeOf(v(4), r(1)));
    expect(() => assertSafeStep(three, membershipOf([1, 4, 5]))).toThrow('More than one voter');
    expect(() => assertSafeStep(joint, { ...joint, autoLeave: false })).toThrow('followed by another');
    expect(() => assertSafeStep(three, { ...joint, outgoing: [1, 2] })).toThrow('forgets the old voters');
    expect(() => assertSafeStep(joint, membershipOf([2, 3]))).toThrow('changes its voters');
    expect(() => assertSafeStep({ ...three, removed: [9] }, three)).toThrow('forgotten');
    expect(() => assertSafeStep(three, { ...three, promote: [3] })).toThrow('impossible');
    expect(votersChanged([1, 2], [2, 3])).toBe(2);
  });
});

/**
 * True if every quorum of the one and every quorum of the other have a node in common, by trying all of them.
 */
function quorumsMeet(before: Membership, after: Membership): boolean {
  const all = [...new Set([...membersOf(before), ...membersOf(after)])];
  const quorumOf = (membership: Membership, set: readonly NodeId[]): boolean =>
    [membership.voters, membership.outgoing].every((half) => {
      return half.length === 0 || half.filter((node) => set.includes(node)).length >= majority(half.length);
    });
  // Two disjoint quorums exist if and only if some set and its complement both are one.
  for (let bits = 0; bits < 2 ** all.length; bits += 1) {
    const inside = all.filter((_, at) => (bits & (1 << at)) !== 0);
    const outside = all.filter((_, at) => (bits & (1 << at)) === 0);
    if (quorumOf(before, inside) && quorumOf(after, outside)) return false;
  }
  return true;
}
