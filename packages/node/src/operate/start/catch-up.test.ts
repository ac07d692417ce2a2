import { expect, test } from '@jest/globals';
import { type Membership, membershipOf } from 'raft-ts';
import { backgroundClock, pause } from '../../base/clock.js';
import { catchUp } from './catch-up.js';

const NODE = 4;

/** A group of which the node knows all, and whose membership a test sets. */
class Group {
  reads = 0;

  constructor(public membership: Membership) {}

  readIndex(respond: (ok: boolean) => void): void {
    this.reads += 1;
    respond(true);
  }
}

const voting = membershipOf([1, 2, NODE]);
const resting: Membership = { ...membershipOf([1, 2, 3]), learners: [NODE] };
const learning: Membership = { ...resting, promote: [NODE] };

/** Begins to catch up, and tells whether that has ended. */
function begun(
  root: Group,
  other: Group,
): { readonly isOver: () => boolean; readonly end: () => Promise<boolean> } {
  let isOver = false;
  let isRunning = true;
  const groups = { root, all: [root, other], areServing: true };
  const outcome = catchUp(groups, NODE, () => isRunning).finally(() => {
    isOver = true;
  });
  return {
    isOver: () => isOver,
    end: () => {
      isRunning = false;
      return outcome;
    },
  };
}

test('a node that is a spare in every group has caught up', async () => {
  const { end } = begun(new Group(resting), new Group(resting));
  await pause(backgroundClock, 50);
  expect(await end()).toBe(true);
});

test('a node that votes in the root group has not caught up while it rests in another one', async () => {
  const root = new Group(learning);
  const other = new Group(resting);
  const { isOver, end } = begun(root, other);
  // The other group rested it when the root group did.
  await pause(backgroundClock, 50);
  expect(other.reads).toBe(1);
  root.membership = voting;
  await pause(backgroundClock, 50);
  expect(isOver()).toBe(false);
  other.membership = voting;
  await pause(backgroundClock, 50);
  expect(await end()).toBe(true);
});

test('a node that does not go on is told so', async () => {
  const { end } = begun(new Group(voting), new Group(learning));
  await pause(backgroundClock, 50);
  expect(await end()).toBe(false);
});
