import { describe, expect, test } from '@jest/globals';
import { membershipOf } from 'raft-ts';
import type { Joiner } from '../between/protocol.js';
import { decideJoin, type JoinDecision, type JoinSituation } from './join-decision.js';
import { LEVEL_NEXT, memberOf, rootOf } from './testing.js';

const SELF = 100;

/** The leader is node 0, of three that are all up. */
function situation(more: Partial<JoinSituation> = {}): JoinSituation {
  return {
    self: SELF,
    root: rootOf(memberOf(0), memberOf(1), memberOf(2)),
    membership: membershipOf([100, 101, 102]),
    isUp: () => true,
    downFor: () => 0,
    replaceAfterMs: 60_000,
    ...more,
  };
}

const NEWCOMER = { nodeId: 7, name: 'new', host: 'new.example', port: 9220 };

/** A node that says nothing else knows the level that the software of this test knows. */
const decide = (joiner: Omit<Joiner, 'level'> & Partial<Joiner>, met: JoinSituation): JoinDecision =>
  decideJoin({ level: 2, ...joiner }, met);

/** Comes with the name of node 1, and nothing else of it. */
const NAMESAKE = { ...NEWCOMER, name: 'node-1' };

/** Node 1 is down for some time. */
const lost = (downMs: number): Partial<JoinSituation> => ({
  isUp: (node) => node !== 101,
  downFor: (node) => (node === 101 ? downMs : 0),
});

describe('a node that wants to join', () => {
  test('is admitted with the next number', () => {
    expect(decide(NEWCOMER, situation())).toEqual({
      kind: 'admit',
      member: { ...NEWCOMER, number: 3, leaving: false },
      replaces: null,
      invitation: null,
    });
  });

  test('is accepted when it is in the list already', () => {
    const { nodeId, name, host, port } = memberOf(2);
    expect(decide({ nodeId, name, host, port }, situation())).toEqual({ kind: 'accepted' });
  });

  test('is told when it was removed, or is about to be', () => {
    const removed = { ...membershipOf([100, 101, 102]), removed: [7] };
    expect(decide(NEWCOMER, situation({ membership: removed }))).toEqual({ kind: 'removed' });

    const root = rootOf(memberOf(0), { ...memberOf(3), ...NEWCOMER, leaving: true });
    expect(decide(NEWCOMER, situation({ root }))).toEqual({ kind: 'removed' });
  });

  test('waits until the list of members is there', () => {
    expect(decide(NEWCOMER, situation({ root: rootOf() })).kind).toBe('wait');
  });

  test('waits while there is no healthy majority: one more would not make it better', () => {
    expect(decide(NEWCOMER, situation({ isUp: () => false })).kind).toBe('wait');
    expect(decide(NEWCOMER, situation({ isUp: (node) => node === 101 })).kind).toBe('admit');
  });

  test('is refused when its software does not know the level of the cluster', () => {
    const root = rootOf(memberOf(0), memberOf(1), memberOf(2));
    expect(decide(NEWCOMER, situation({ root })).kind).toBe('admit');
    root.writeLevel(LEVEL_NEXT);
    root.confirmLevel();

    expect(decide({ ...NEWCOMER, level: LEVEL_NEXT }, situation({ root })).kind).toBe('admit');
    expect(decide(NEWCOMER, situation({ root }))).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(`level ${LEVEL_NEXT}`),
    });
  });

  test('is refused with the address of another', () => {
    const { host, port } = memberOf(1);
    const decision = decide({ ...NEWCOMER, host, port }, situation());
    expect(decision).toEqual({ kind: 'refused', reason: expect.stringContaining('node 1') });
  });

  test('is refused with a name or address that makes no sense', () => {
    for (const odd of [
      { name: '' },
      { name: 'a b' },
      { host: 'x'.repeat(300) },
      { port: 0 },
      { port: 70_000 },
    ]) {
      expect([odd, decide({ ...NEWCOMER, ...odd }, situation()).kind]).toEqual([odd, 'refused']);
    }
  });

  test('is refused when there are as many as there can be', () => {
    const root = rootOf(...Array.from({ length: 64 }, (_, number) => memberOf(number)));
    expect(decide(NEWCOMER, situation({ root })).kind).toBe('refused');
  });
});

describe('an invitation', () => {
  test('is that which the node names, whatever its address is called, and whichever answer came first', () => {
    const root = rootOf(memberOf(0), memberOf(1), memberOf(2));
    root.putInvitation({ number: 5, host: '10.0.0.9', port: 9220 });
    root.putInvitation({ number: 6, host: 'other.example', port: 9220 });
    const decision = decide({ ...NEWCOMER, invitation: 5 }, situation({ root }));
    expect(decision).toMatchObject({ kind: 'admit', member: { number: 5 }, invitation: { number: 5 } });
  });

  const INVITATION = { number: 5, host: 'new.example', port: 9220 };

  test('gives its number to the node at its address', () => {
    const { root } = situation();
    root.putInvitation({ number: 4, host: 'other.example', port: 9220 });
    root.putInvitation(INVITATION);

    const decision = decide(NEWCOMER, situation({ root }));

    expect(decision).toMatchObject({ kind: 'admit', member: { number: 5 }, invitation: INVITATION });
  });

  test('an invitation that another node accepted is not taken by one that comes uninvited', () => {
    const { root } = situation();
    root.putInvitation(INVITATION);
    const uninvited = { ...NEWCOMER, host: '10.0.0.7' };

    expect(decide(uninvited, situation({ root }))).toMatchObject({
      member: { number: 6 },
      invitation: null,
    });
  });

  test('an invitation that was called off lets nobody in', () => {
    expect(decide({ ...NEWCOMER, invitation: 5 }, situation())).toEqual({
      kind: 'refused',
      reason: expect.stringContaining('called off'),
    });
  });
});

describe('a node with the name of a member', () => {
  test('waits while that one is up', () => {
    expect(decide(NAMESAKE, situation())).toEqual({
      kind: 'wait',
      reason: expect.stringContaining('is up'),
    });
    const nameOfLeader = { ...NEWCOMER, name: 'node-0' };
    expect(decide(nameOfLeader, situation({ isUp: () => false, downFor: () => 1e9 })).kind).toBe('wait');
  });

  test('waits until that one is surely gone, and is told how long', () => {
    const decision = decide(NAMESAKE, situation(lost(59_000)));
    expect(decision).toEqual({ kind: 'wait', reason: expect.stringContaining('in 1 s') });
  });

  test('takes its place then, and its number', () => {
    expect(decide(NAMESAKE, situation(lost(60_000)))).toEqual({
      kind: 'admit',
      member: { ...NAMESAKE, number: 1, leaving: false },
      replaces: memberOf(1),
      invitation: null,
    });
  });

  test('may have its address as well', () => {
    const { name, host, port } = memberOf(1);
    const decision = decide({ nodeId: 7, name, host, port }, situation(lost(60_000)));
    expect(decision).toMatchObject({ kind: 'admit', replaces: { number: 1 } });
  });

  test('waits when the others have no majority', () => {
    const alone: Partial<JoinSituation> = { isUp: () => false, downFor: () => 1e9 };
    expect(decide(NAMESAKE, situation(alone)).kind).toBe('wait');
  });

  test('waits while that one is being removed', () => {
    const root = rootOf(memberOf(0), memberOf(1, { leaving: true }), memberOf(2));
    expect(decide(NAMESAKE, situation({ root, ...lost(1e9) })).kind).toBe('wait');
  });
});
