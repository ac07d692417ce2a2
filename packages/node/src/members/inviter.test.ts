import type { Invitation } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Command } from '../between/protocol.js';
import { Inviter } from './inviter.js';

const INVITATION: Invitation = { number: 3, host: 'new.example', port: 9220 };

let now: number;
let sent: Command[];
let failed: string[];
let inviter: Inviter;

beforeEach(() => {
  now = 0;
  sent = [];
  failed = [];
  let id = 0;
  inviter = new Inviter({
    send: (command) => sent.push(command),
    nextId: () => ++id,
    clock: { now: () => now },
    random: () => 0,
    failed: ({ number }, problem) => failed.push(`${number}: ${problem}`),
  });
});

/** Lets some time go by while an invitation is open. */
function wait(ms: number, ...invitations: readonly Invitation[]): void {
  now += ms;
  inviter.work(new Map(invitations.map((each) => [each.number, each])));
}

describe('an invitation', () => {
  test('is sent at once, and not again before there is an answer', () => {
    wait(0, INVITATION);
    wait(600_000, INVITATION);

    expect(sent).toEqual([
      { kind: 'invite', id: 1, number: 3, host: 'new.example', port: 9220, secret: null },
    ]);
  });

  test('is repeated soon, then with growing pauses, but not longer ones than two minutes', () => {
    const pauses: number[] = [];
    wait(0, INVITATION);
    for (let i = 1; i <= 19; i++) {
      inviter.answered(i, 'nothing listens there');
      const asked = now;
      while (sent.length === i) wait(500, INVITATION);
      pauses.push((now - asked) / 1000);
    }
    expect(pauses).toEqual([...Array(10).fill(1), 2, 4, 8, 16, 32, 64, 120, 120, 120]);
  });

  test('says why the node does not come, once for each reason', () => {
    wait(0, INVITATION);
    inviter.answered(1, 'nothing listens there');
    wait(1000, INVITATION);
    inviter.answered(2, 'nothing listens there');
    wait(2000, INVITATION);
    inviter.answered(3, 'it has another secret');

    expect(failed).toEqual(['3: nothing listens there', '3: it has another secret']);
  });

  test('is forgotten when it is called off; a late answer does no harm', () => {
    wait(0, INVITATION);
    wait(0);
    inviter.answered(1, null);

    wait(0, { ...INVITATION });
    expect(sent).toHaveLength(2);
  });
});
