import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../../testing/index.js';
import { NativeCounts } from './native-counts.js';
import { EVENTS_DELAY_MS, Outgoing } from './outgoing.js';
import { EVENT_ID, PackageType } from './package.js';
import { openGate } from './testing.js';
import type { Wire } from './wire.js';

const BODY = Buffer.of(0x80);

/** Packages that leave, as `TYPE:ID`, one list for each moment of the clock. */
function begin() {
  const clock = new ManualClock();
  const sent = new Map<number, string[]>();
  let releases = 0;
  const wire: Wire = {
    address: '192.0.2.1',
    transport: 'tcp',
    unsent: 0,
    sent: 0,
    send: (type, id) => {
      const now = sent.get(clock.now()) ?? [];
      now.push(id === EVENT_ID ? `${type}` : `${type}:${id}`);
      sent.set(clock.now(), now);
    },
    pause: () => {},
    resume: () => {},
    end: () => {},
    destroy: () => {},
  };
  const outgoing = new Outgoing(
    wire,
    { counts: new NativeCounts(), clock, gate: openGate({}, clock) },
    () => (releases += 1),
  );
  const join = (id: number): void => {
    outgoing.requestBegins();
    outgoing.answer(PackageType.DATA, id, BODY);
    outgoing.holdEvents();
    outgoing.event(PackageType.ROOM_JOIN, BODY);
  };
  return { clock, outgoing, join, writes: () => [...sent], releases: () => releases };
}

describe('events behind the answer to a JOIN', () => {
  test('leave later than it, in a write of their own and in order', () => {
    const { clock, outgoing, join, writes, releases } = begin();
    clock.pass(5);
    join(1);
    clock.pass(10);
    outgoing.event(PackageType.ROOM_EMIT, BODY);
    clock.pass(EVENTS_DELAY_MS);
    outgoing.event(PackageType.ROOM_EMIT, BODY);
    expect(writes()).toEqual([
      [5, ['18:1']],
      [5 + EVENTS_DELAY_MS, ['6', '8']],
      [15 + EVENTS_DELAY_MS, ['8']],
    ]);
    expect([releases(), clock.pending, outgoing.unsent]).toEqual([1, 0, 0]);
  });

  test('events of another JOIN wait for as long behind its answer', () => {
    const { clock, join, writes } = begin();
    join(1);
    clock.pass(20);
    join(2);
    clock.pass(100);
    expect(writes()).toEqual([
      [0, ['18:1']],
      [20, ['18:2']],
      [EVENTS_DELAY_MS, ['6']],
      [20 + EVENTS_DELAY_MS, ['6']],
    ]);
  });

  test('come before the answer to the request that they come from, and answers keep their order', () => {
    const { clock, outgoing, join, writes } = begin();
    join(1);
    outgoing.requestBegins();
    outgoing.answer(PackageType.DATA, 2, BODY);
    outgoing.requestBegins();
    outgoing.event(PackageType.ROOM_EMIT, BODY);
    outgoing.answer(PackageType.OK, 3, null);
    outgoing.requestBegins();
    outgoing.answer(PackageType.DATA, 4, BODY);
    outgoing.transmit(PackageType.PONG, 5, null);
    clock.pass(100);
    outgoing.requestBegins();
    outgoing.answer(PackageType.DATA, 6, BODY);
    expect(writes()).toEqual([
      [0, ['18:1', '18:2', '16:5']],
      [EVENTS_DELAY_MS, ['6', '8', '17:3', '18:4']],
      [100, ['18:6']],
    ]);
  });

  test('come before the answer to a LEAVE, also where they came before it', () => {
    const { clock, outgoing, join, writes } = begin();
    join(1);
    outgoing.event(PackageType.ROOM_DELETE, BODY);
    outgoing.requestBegins(true);
    outgoing.answer(PackageType.DATA, 2, BODY);
    clock.pass(100);
    expect(writes()).toEqual([
      [0, ['18:1']],
      [EVENTS_DELAY_MS, ['6', '9', '18:2']],
    ]);
  });

  test('count as unsent, and leave with the end of the connection', () => {
    const { clock, outgoing, join, writes } = begin();
    join(1);
    expect(outgoing.unsent).toBe(8 + BODY.length);
    outgoing.flush();
    outgoing.close();
    expect(writes()).toEqual([[0, ['18:1', '6']]]);
    expect([outgoing.unsent, clock.pending]).toEqual([0, 0]);
  });
});
