import { ErrorCode, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { type RoutedCall, type RoutedGroup, routeCall, routeToLeader, routeToState } from './route.js';

const LED: RoutedGroup = {
  leading: true,
  proposes: true,
  leader: 0,
  readable: true,
  outage: null,
};
const FOLLOWED: RoutedGroup = {
  leading: false,
  proposes: false,
  leader: 2,
  readable: true,
  outage: null,
};
const ELECTING: RoutedGroup = { ...FOLLOWED, leader: 0 };
const NODE = { nodeId: 1, down: new Set([3]) };

const READ: RoutedCall = {
  usesState: true,
  needsLeader: false,
  isForwarded: false,
  isFresh: false,
  prefersLeader: false,
};
const DELAYED: RoutedCall = { ...READ, prefersLeader: true };
const FRESH: RoutedCall = { ...READ, isFresh: true };
const CHANGE: RoutedCall = { ...READ, needsLeader: true };
const FORWARDED: RoutedCall = { ...CHANGE, isForwarded: true };

describe('a call is routed', () => {
  test.each([
    ['to this node, whatever it is about, where there is no state', CHANGE, null, { kind: 'run' }],
    ['to this node, where its answer depends on none', { ...READ, usesState: false }, LED, { kind: 'run' }],
    [
      'behind a confirmation, where it reads a state that may lag behind',
      READ,
      FOLLOWED,
      { kind: 'confirm' },
    ],
    ['to this node at once, where it reads and this node leads', READ, LED, { kind: 'read_as_leader' }],
    [
      'behind a confirmation, where this node leads and its state lacks what it has proposed',
      READ,
      { ...LED, proposes: false },
      { kind: 'confirm' },
    ],
    ['to this node, where it reads a state that is fresh', FRESH, FOLLOWED, { kind: 'read' }],
    ['to the leader, where it reads a state that is delayed', DELAYED, FOLLOWED, { kind: 'forward', to: 2 }],
    [
      'to this node, where it reads a state that is delayed and fresh enough',
      { ...DELAYED, isFresh: true },
      FOLLOWED,
      { kind: 'read' },
    ],
    [
      'behind a confirmation, where it reads a state that is delayed and the leader can not be reached',
      DELAYED,
      { ...FOLLOWED, leader: 3 },
      { kind: 'confirm' },
    ],
    ['to this node, where it makes a change and this node leads', CHANGE, LED, { kind: 'lead' }],
    ['to the leader, where it makes a change', CHANGE, FOLLOWED, { kind: 'forward', to: 2 }],
    [
      'to the leader, though the state here is fresh',
      { ...CHANGE, isFresh: true },
      FOLLOWED,
      { kind: 'forward', to: 2 },
    ],
    ['nowhere yet, where no leader is known', CHANGE, ELECTING, { kind: 'wait' }],
    [
      'nowhere yet, where the leader can not be reached',
      CHANGE,
      { ...FOLLOWED, leader: 3 },
      { kind: 'wait' },
    ],
    [
      'nowhere yet, where this node is called the leader and does not lead',
      CHANGE,
      { ...FOLLOWED, leader: 1 },
      { kind: 'wait' },
    ],
    ['to this node, where another one forwarded it and this one leads', FORWARDED, LED, { kind: 'lead' }],
    [
      'back, where another node forwarded it and this one follows',
      FORWARDED,
      FOLLOWED,
      { kind: 'elsewhere', leader: 2 },
    ],
    [
      'back without a hint, where another node forwarded it during an election',
      FORWARDED,
      ELECTING,
      { kind: 'elsewhere', leader: 0 },
    ],
  ])('%s', (_title, call, group, expected) => {
    expect(routeCall(call, group, NODE)).toEqual(expected);
  });

  test('a call that only the leader may carry on is routed as one, whatever it reads', () => {
    expect(routeToLeader(FOLLOWED, false, NODE)).toEqual({ kind: 'forward', to: 2 });
    expect(routeToLeader(LED, true, NODE)).toEqual({ kind: 'lead' });
  });
});

describe('a request is looked at', () => {
  const outage = new QueryError(ErrorCode.NODE, 'no room');

  test.each([
    ['at once where it depends on no group', null, null],
    ['at once where the state of its group can be read', FOLLOWED, null],
    ['later where its group is not open yet', undefined, { kind: 'wait' }],
    ['later where a snapshot is on its way', { ...FOLLOWED, readable: false }, { kind: 'wait' }],
    [
      'never where the disk has no room for its state',
      { ...LED, readable: false, outage },
      { kind: 'refuse', error: outage },
    ],
  ])('%s', (_title, group, expected) => {
    expect(routeToState(group)).toEqual(expected);
  });
});
