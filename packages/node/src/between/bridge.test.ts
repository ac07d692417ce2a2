import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { Bridge } from './bridge.js';
import { Packing, type Parcel, packEvent, unpackCommands } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

let bridge: Bridge;
let clock: ManualClock;
/** The consensus thread's end of the signals. */
let signals: Signals;
/** Work for the end of the turn. */
let later: (() => void)[];
/** Messages that left; in each of them proposed numbers, and kinds of other commands. */
let left: (number | string)[][];
/** Messages that have come and were not received. */
let unread: Parcel<Event>[];

beforeEach(() => {
  clock = new ManualClock();
  later = [];
  left = [];
  unread = [];
  const memory = new SharedArrayBuffer(Signals.BYTES);
  signals = new Signals(memory);
  bridge = new Bridge({
    clock,
    soon: (work) => later.push(work),
    signals: memory,
    port: {
      post: (parcel) => left.push(contentOf(parcel)),
      poll: () => unread.shift(),
      close: () => undefined,
    },
  });
});

function contentOf(parcel: Parcel<Command>): (number | string)[] {
  const content: (number | string)[] = [];
  unpackCommands(parcel, (command) => {
    if (command.kind === 'propose') content.push(...command.payloads.map(([number]) => number ?? 0));
    else if (command.kind === 'applied') content.push(`applied ${command.group}: ${command.index}`);
    else content.push(command.kind);
  });
  return content;
}

function parcelOf(...events: readonly Event[]): Parcel<Event> {
  const packing = new Packing<Event>();
  for (const event of events) packEvent(packing, event);
  return packing.take().parcel;
}

const committed = (count: number): Event => ({
  kind: 'committed',
  group: 1,
  count,
  last: { index: 5, term: 1, hash: 0 },
});

const applied = (group: number, index: number): Command => ({ kind: 'applied', group, index });

function propose(...numbers: readonly number[]): void {
  for (const number of numbers)
    bridge.send({ kind: 'propose', group: 1, epoch: 1, payloads: [Uint8Array.of(number)] });
}

/** Ends the turn of the event loop; gives what has left since the last call. */
function turn(): (number | string)[][] {
  for (const work of later.splice(0)) work();
  return left.splice(0);
}

describe('proposals', () => {
  test('proposals of one turn travel together', () => {
    propose(1, 2);
    expect(left).toEqual([]);
    expect(turn()).toEqual([[1, 2]]);
  });

  test('do not wait when there is something else to say', () => {
    signals.writing();
    propose(1);
    bridge.send({ kind: 'read', group: 1, id: 7 });
    expect(turn()).toEqual([[1, 'read']]);
  });

  test('wait while calls and answers go, and go behind them', () => {
    signals.writing();
    propose(1);
    bridge.send({ kind: 'return', to: 2, id: 8, payload: Uint8Array.of(8) });
    expect(turn()).toEqual([['return']]);
    propose(2, 3, 4);
    bridge.send({ kind: 'call', to: 2, id: 9, payload: Uint8Array.of(9) });
    signals.written(false);
    expect(turn()).toEqual([['call', 1, 2, 3, 4]]);
  });

  test('wait for the write under way, and leave before what its end tells is handled', () => {
    signals.writing();
    propose(1);
    expect(turn()).toEqual([]);
    expect(signals.written(false)).toBe(true);
    let before: (number | string)[][] = [];
    bridge.onEvent = () => {
      before = left.splice(0);
    };
    bridge.receive(parcelOf(committed(1)));
    expect(before).toEqual([[1]]);
  });

  test('wait for those before them, which are on their way to be written, and go with any message', () => {
    propose(1);
    expect(turn()).toEqual([[1]]);
    propose(2);
    expect(turn()).toEqual([]);
    // They came, and nothing is written: they were not to be taken.
    expect(signals.taken()).toBe(true);
    bridge.receive(parcelOf());
    expect(left.splice(0)).toEqual([[2]]);
    expect(signals.taken()).toBe(false);
  });

  test('do not wait when they are large', () => {
    signals.writing();
    bridge.send({ kind: 'propose', group: 1, epoch: 1, payloads: [new Uint8Array(1_000_000)] });
    expect(turn()).toHaveLength(1);
  });

  test('wait for those of clients that were just answered', () => {
    bridge.onEvent = () => propose(1, 2);
    bridge.receive(parcelOf(committed(4)));
    expect(turn()).toEqual([]);
    propose(3);
    expect(turn()).toEqual([]);
    propose(4);
    expect(turn()).toEqual([[1, 2, 3, 4]]);
  });

  test('do not wait longer than 4 ms', () => {
    bridge.receive(parcelOf(committed(4)));
    propose(1);
    clock.pass(3);
    expect(turn()).toEqual([]);
    clock.pass(1);
    expect(turn()).toEqual([[1]]);
  });

  test('leave before events are handled that nothing waits behind', () => {
    bridge.receive(parcelOf(committed(4)));
    propose(1);
    expect(turn()).toEqual([]);
    let before: (number | string)[][] = [];
    bridge.onEvent = () => {
      before = left.splice(0);
    };
    bridge.receive(parcelOf({ kind: 'read', group: 1, id: 1, index: 1 }));
    expect(before).toEqual([[1]]);
  });
});

describe('the progress of states', () => {
  test('goes at the end of the turn, in the order of commands', () => {
    bridge.send(applied(1, 10));
    bridge.send(applied(2, 5));
    bridge.send({ kind: 'read', group: 1, id: 7 });
    bridge.send(applied(1, 13));
    expect(turn()).toEqual([['applied 1: 10', 'applied 2: 5', 'read', 'applied 1: 13']]);
    bridge.send(applied(1, 14));
    expect(turn()).toEqual([['applied 1: 14']]);
  });

  test('does not leave with proposals that events bring about and that wait', () => {
    bridge.send(applied(1, 10));
    bridge.onEvent = () => propose(1);
    bridge.receive(parcelOf(committed(4)));
    expect(turn()).toEqual([]);
    clock.pass(4);
    expect(turn()).toEqual([['applied 1: 10', 1]]);
  });

  test('waits with proposals that wait for the write under way', () => {
    signals.writing();
    propose(1);
    bridge.send(applied(1, 10));
    expect(turn()).toEqual([]);
    signals.written(false);
    bridge.receive(parcelOf());
    expect(left.splice(0)).toEqual([[1, 'applied 1: 10']]);
  });
});

test('commands that wait leave at once for a thread that waits in place, and the events are handled', () => {
  let isDone = false;
  bridge.onEvent = () => {
    isDone = true;
  };
  propose(1);
  unread.push(parcelOf(committed(1)));
  bridge.waitFor(() => isDone, 10_000);
  expect(isDone).toBe(true);
  expect(left).toEqual([[1]]);
});

describe('signals', () => {
  test('a hold is lost on nobody: either side sees the other, whoever is first', () => {
    expect(signals.hold()).toBe(false);
    signals.writing();
    expect(signals.hold()).toBe(true);
    // One of two writes is done: the engine thread can be told, and may hold on.
    expect(signals.written(true)).toBe(true);
    expect(signals.written(true)).toBe(false);
    expect(signals.hold()).toBe(true);
    signals.release();
    expect(signals.written(false)).toBe(false);
    expect(signals.hold()).toBe(false);
  });

  test('a hold begins with what is on its way, and its write goes on with it', () => {
    signals.proposed();
    expect(signals.hold()).toBe(true);
    signals.writing();
    expect(signals.taken()).toBe(false);
    expect(signals.hold()).toBe(true);
    expect(signals.written(false)).toBe(true);
    signals.proposed();
    expect(signals.hold()).toBe(true);
    expect(signals.taken()).toBe(true);
    expect(signals.hold()).toBe(false);
  });
});
