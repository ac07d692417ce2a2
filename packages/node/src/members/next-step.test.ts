import type { MemberInfo } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import {
  changedMembership,
  changeOf,
  changeProblem,
  MAX_VOTERS,
  type Membership,
  membershipOf,
  membersOf,
  NO_MEMBERS,
  seeded,
} from 'raft-ts';
import { votersWanted } from '../between/membership.js';
import { type ClusterPicture, type NextStep, nextStep } from './next-step.js';
import { memberOf } from './testing.js';

const SELF = 100;

function step(members: readonly MemberInfo[], membership: Membership, more: Partial<ClusterPicture> = {}) {
  return nextStep({
    self: SELF,
    members: new Map(members.map((member) => [member.nodeId, member])),
    membership,
    memberships: () => [membership],
    isReadyToGo: () => true,
    wasJustAsked: () => true,
    isUp: () => true,
    isLost: () => false,
    isStopping: () => false,
    ...more,
  });
}

const THREE = [memberOf(0), memberOf(1), memberOf(2)];
const LEAVING = memberOf(1, { leaving: true });

describe('the next step of the leader', () => {
  test('is none when Raft has the members of the list', () => {
    expect(step(THREE, membershipOf([100, 101, 102]))).toBeNull();
    expect(step(THREE, { ...membershipOf([100, 101], [102]), promote: [102] })).toBeNull();
  });

  test('is none before there is a list: what Raft begins with is not to be undone', () => {
    expect(step([], membershipOf([100, 101, 102]))).toBeNull();
  });

  test('is none while a change is under way', () => {
    const joint = { ...membershipOf([100]), outgoing: [100, 101] };
    expect(step(THREE, joint)).toBeNull();
  });

  test('is to add who is missing, one after another', () => {
    expect(step(THREE, membershipOf([100]))).toEqual(change({ action: 'addLearner', node: 101 }));
    expect(step(THREE, membershipOf([100, 101]))).toEqual(change({ action: 'addLearner', node: 102 }));
  });

  test('gives a member that rested its vote back when it is there again, and not while it still stops', () => {
    const resting = membershipOf([100], [101]);
    const two = [memberOf(0), memberOf(1)];
    expect(step(two, resting)).toEqual(change({ action: 'addLearner', node: 101 }));
    expect(step(two, resting, { isUp: () => false })).toBeNull();
    expect(step(two, resting, { isStopping: () => true })).toBeNull();
    expect(step(two, { ...resting, promote: [101] })).toBeNull();
  });

  test('keeps the number of voters odd and at most seven: who is one too many is a learner', () => {
    const four = [...THREE, memberOf(3)];
    const many = Array.from({ length: 9 }, (_none, number) => memberOf(number));
    const ids = many.map(({ nodeId }) => nodeId);

    expect(step(four, membershipOf([100, 101, 102]))).toEqual(change({ action: 'rest', node: 103 }));
    expect(step(four, membershipOf([100, 101, 102], [103]))).toBeNull();
    // With a fifth both come to vote.
    const five = [...four, memberOf(4)];
    expect(step(five, membershipOf([100, 101, 102], [103]))).toEqual(
      change({ action: 'addLearner', node: 104 }),
    );
    expect(step(five, { ...membershipOf([100, 101, 102], [103, 104]), promote: [104] })).toEqual(
      change({ action: 'addLearner', node: 103 }),
    );
    expect(step(four, membershipOf([100, 101, 102, 103]))).toEqual(change({ action: 'rest', node: 103 }));
    expect(step(many, membershipOf(ids.slice(0, 7)))).toEqual(change({ action: 'rest', node: 107 }));
    expect(step(many, membershipOf(ids.slice(0, 7), ids.slice(7)))).toBeNull();
  });

  test('lets a learner vote in the place of a voter that is lost, and of none that is away for a moment', () => {
    const four = [...THREE, memberOf(3)];
    const present = membershipOf([100, 101, 102], [103]);
    const down = (...nodes: number[]) => ({
      isUp: (node: number) => !nodes.includes(node),
      isLost: (node: number) => nodes.includes(node),
    });

    expect(step(four, present, { isUp: (node) => node !== 101 })).toBeNull();
    // The learner gets a vote first: the lost one may be back when another one goes for good.
    expect(step(four, present, down(101))).toEqual(change({ action: 'addLearner', node: 103 }));
    const promoting = { ...membershipOf([100, 101, 102], [103]), promote: [103] };
    expect(step(four, promoting, down(101))).toBeNull();
    expect(step(four, membershipOf([100, 101, 102, 103]), down(101))).toEqual(
      change({ action: 'rest', node: 101 }),
    );
    // With nobody to take its place a voter stays one.
    expect(step(THREE, membershipOf([100, 101, 102]), down(101))).toBeNull();
    expect(step(four, present, down(101, 103))).toBeNull();
    // A lost member that was to vote soon is no voter to be.
    const promoted = { ...membershipOf([100, 102], [101, 103]), promote: [103] };
    expect(step(four, promoted, down(103))).toEqual(change({ action: 'rest', node: 103 }));
  });

  test('replaces a lost node in one change', () => {
    const members = [memberOf(0), LEAVING, memberOf(2), memberOf(1, { nodeId: 7 })];

    expect(step(members, membershipOf([100, 101, 102]))).toEqual(
      change({ action: 'remove', node: 101 }, { action: 'addLearner', node: 7 }),
    );
  });

  test('asks a node to give away what it leads before it removes it', () => {
    const members = [memberOf(0), LEAVING, memberOf(2)];
    const present = membershipOf([100, 101, 102]);

    expect(step(members, present, { isReadyToGo: () => false })).toEqual({ kind: 'ask_handover', node: 101 });
    expect(step(members, present)).toEqual(change({ action: 'remove', node: 101 }));
  });

  test('waits while those who would stay could not go on by themselves', () => {
    const members = [memberOf(0), LEAVING, memberOf(2)];
    const present = membershipOf([100, 101, 102]);
    const only = (...nodes: number[]) => ({ isUp: (node: number) => nodes.includes(node) });

    expect(step(members, present, only(101))).toEqual({ kind: 'wait', node: 101 });
    expect(step(members, present, only(102))).toEqual(change({ action: 'remove', node: 101 }));
    expect(step([memberOf(0), LEAVING], membershipOf([100, 101]), only())).toEqual(
      change({ action: 'remove', node: 101 }),
    );
    expect(step(members, membershipOf([100, 102], [101]), only())).toEqual(
      change({ action: 'remove', node: 101 }),
    );
  });

  test('removes who is not in the list', () => {
    expect(step(THREE, membershipOf([100, 101, 102], [9]))).toEqual(change({ action: 'remove', node: 9 }));
  });

  test('is to let another one lead when it leaves itself', () => {
    const members = [memberOf(0, { leaving: true }), memberOf(1)];
    expect(step(members, membershipOf([100, 101]))).toEqual({ kind: 'step_down' });
  });

  test('takes a node from the list when no group has it any more, and no sooner', () => {
    const members = [memberOf(0), LEAVING];
    const alone = membershipOf([100]);
    const both = membershipOf([100, 101]);

    expect(step(members, alone, { memberships: () => [both] })).toBeNull();
    expect(step(members, alone, { memberships: () => null })).toBeNull();
    expect(step(members, alone, { memberships: () => [alone, NO_MEMBERS] })).toBeNull();
    // It was out of reach when the root group let it go, came back, and leads the other group.
    const wasJustAsked = (): boolean => false;
    expect(step(members, alone, { memberships: () => [both], wasJustAsked })).toEqual({
      kind: 'ask_handover',
      node: LEAVING.nodeId,
    });
    expect(step(members, alone, { memberships: () => [alone] })).toEqual({
      kind: 'forget',
      members: [LEAVING],
    });
  });
});

describe('step by step', () => {
  const seed = Number(process.env.ALTHING_TEST_SEED);
  const NUMBERS = 12;
  const rounds = 300 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

  test(`the groups come to have the members of the list, whatever it is (seed ${seed})`, () => {
    const random = seeded(seed);
    for (let round = 0; round < rounds; round++) {
      const members = new Map<number, MemberInfo>();
      for (let number = 0; number < NUMBERS; number++) {
        if (number > 0 && random() < 0.3) continue;
        members.set(100 + number, memberOf(number, { leaving: number > 0 && random() < 0.3 }));
      }
      const began = Array.from({ length: NUMBERS }, (_none, number) => 100 + number).filter(
        (node) => node === SELF || random() < 0.5,
      );
      let root = membershipOf(began.slice(0, MAX_VOTERS), began.slice(MAX_VOTERS));
      // The group of a collection comes behind.
      let collection = root;
      const done: NextStep[] = [];
      for (;;) {
        const after = collection;
        const isReadyToGo = (node: number) =>
          done.some((each) => each.kind === 'ask_handover' && each.node === node);
        const next = nextStep({
          self: SELF,
          members,
          membership: root,
          memberships: () => [after],
          isReadyToGo,
          wasJustAsked: isReadyToGo,
          isUp: () => true,
          isLost: () => false,
          isStopping: () => false,
        });
        if (next === null && collection === root) break;
        if (next === null) collection = root;
        else {
          done.push(next);
          if (next.kind === 'change') root = changed(root, next);
          if (next.kind === 'forget') for (const { nodeId } of next.members) members.delete(nodeId);
        }
        expect(done.length).toBeLessThan(60);
      }
      const staying = [...members.values()].map(({ nodeId }) => nodeId).sort((a, b) => a - b);
      expect(membersOf(root)).toEqual(staying);
      expect(root.voters.length).toBe(votersWanted(staying.length));
      expect([...members.values()].some(({ leaving }) => leaving)).toBe(false);
    }
  });

  /** The membership after a change, with those promoted that were to be. */
  function changed(membership: Membership, { steps }: Extract<NextStep, { kind: 'change' }>): Membership {
    const all = changeOf(
      ...steps.map(({ action, node }) =>
        action === 'remove'
          ? { action, node }
          : ({ action: 'addLearner', node, promote: action === 'addLearner' } as const),
      ),
    );
    expect(changeProblem(membership, all)).toBeNull();
    let next = changedMembership(membership, all);
    if (next.outgoing.length > 0) next = changedMembership(next, changeOf());
    for (const node of next.promote) next = changedMembership(next, changeOf({ action: 'addVoter', node }));
    return next;
  }
});

function change(...steps: Extract<NextStep, { kind: 'change' }>['steps']): NextStep {
  return { kind: 'change', steps };
}
