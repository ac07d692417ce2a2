import { describe, expect, test } from '@jest/globals';
import { decodeMembership, genesis } from '../between/membership.js';
import { Handover, type MovableGroup } from './handover.js';

const SLOW_TICKS = 5;

/** A group that this node leads, and how often it was to be given away. */
class Led implements MovableGroup {
  readonly role = 'leader';
  readonly members = decodeMembership(genesis([1, 2, 3], new Uint8Array(16)).membership);
  outrunTicks = 0;
  transferTo = 0;
  transfers = 0;

  transfer(to: number): boolean {
    if (this.transferTo !== 0) return false;
    this.transfers += 1;
    this.transferTo = to === 0 ? 2 : to;
    return true;
  }
}

describe('leaderships', () => {
  test('move away from a disk that has lacked for long what others have, group by group', () => {
    const [slow, other] = [new Led(), new Led()];
    const groups = new Map([
      [0, slow],
      [1, other],
    ]);
    const handover = new Handover({
      groups,
      awake: [...groups.values()],
      isUp: () => true,
      slowTicks: SLOW_TICKS,
      emit: () => {},
    });

    slow.outrunTicks = SLOW_TICKS - 1;
    handover.tick();
    expect([slow.transfers, other.transfers]).toEqual([0, 0]);

    slow.outrunTicks = SLOW_TICKS;
    handover.tick();
    expect([slow.transfers, other.transfers]).toEqual([1, 0]);

    // While it is under way, nothing more is asked for.
    handover.tick();
    expect(slow.transfers).toBe(1);
  });

  test('go to the next node that leads few where the one that leads least votes in none of the groups', () => {
    const groups = new Map([...Array(4).keys()].map((id) => [id, new Led()]));
    const handover = new Handover({
      groups,
      awake: [...groups.values()],
      isUp: () => true,
      slowTicks: SLOW_TICKS,
      emit: () => {},
    });
    const moved = (): number[] => [...groups.values()].map(({ transferTo }) => transferTo);

    const learner = 9;
    handover.balance(
      new Map([
        [learner, 0],
        [2, 3],
        [3, 1],
      ]),
    );

    expect(moved()).toEqual([3, 0, 0, 0]);
  });
});
