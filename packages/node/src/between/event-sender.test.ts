import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { EventSender } from './event-sender.js';
import { Packing, packCommand, unpackEvents } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

let clock: ManualClock;
let sender: EventSender;
/** When messages left, and what was in them. */
let left: { readonly at: number; readonly kinds: readonly string[] }[];

beforeEach(() => {
  clock = new ManualClock();
  left = [];
  sender = new EventSender({
    clock,
    signals: new SharedArrayBuffer(Signals.BYTES),
    post: (parcel) => {
      const kinds: string[] = [];
      unpackEvents(parcel, ({ kind }) => kinds.push(kind));
      left.push({ at: clock.now(), kinds });
    },
  });
  clock.pass(1000);
});

function entriesOf(bytes: number): Event {
  const entry = { index: 1, term: 3, hash: 0, payload: new Uint8Array(bytes) };
  return { kind: 'entries', group: 1, entries: [entry], last: { index: 1, term: 3, hash: 0 } };
}

const FEW = entriesOf(100);

/** Emits an event, and lets time pass. */
async function emit(event: Event, ms: number): Promise<void> {
  sender.emit(event);
  await pass(ms);
}

async function pass(ms: number): Promise<void> {
  await Promise.resolve();
  for (let i = 0; i < ms; i++) {
    clock.pass(1);
    await Promise.resolve();
  }
}

function command(given: Command): void {
  const packing = new Packing<Command>();
  packCommand(packing, given);
  sender.receive(packing.take().parcel, () => undefined);
}

const times = (): number[] => left.map(({ at }) => at);

test('events wait until the engine thread is there, and travel together', async () => {
  await emit(FEW, 0);
  await emit({ kind: 'stopped' }, 0);
  expect(left).toEqual([]);
  sender.open();
  expect(left).toEqual([{ at: 1000, kinds: ['entries', 'stopped'] }]);
});

describe('entries that stream in', () => {
  beforeEach(() => sender.open());

  test('go at once after a pause, and then together', async () => {
    for (let i = 0; i < 10; i++) await emit(FEW, 1);
    await pass(102);
    await emit(FEW, 100);
    expect(times()).toEqual([1000, 1004, 1008, 1012, 1112]);
    expect(left[1]?.kinds).toHaveLength(3);
  });

  test('go with any other event, in order', async () => {
    await emit(FEW, 1);
    await emit(FEW, 1);
    await emit({ kind: 'read', group: 1, id: 1, index: 1 }, 1);
    expect(left.at(-1)).toEqual({ at: 1002, kinds: ['entries', 'read'] });
    await emit(FEW, 20);
    expect(times()).toEqual([1000, 1002, 1006]);
  });

  test('go at once while the engine thread may wait for them', async () => {
    await emit(FEW, 0);
    command({ kind: 'read', group: 1, id: 1 });
    await pass(1);
    await emit(FEW, 98);
    await emit(FEW, 1);
    await emit(FEW, 0);
    command({ kind: 'applied', group: 1, index: 1 });
    command({ kind: 'propose', group: 1, epoch: 1, payloads: [] });
    await pass(10);
    expect(times()).toEqual([1000, 1001, 1099, 1103]);
  });

  test('go at once when there is much', async () => {
    await emit(FEW, 1);
    await emit(entriesOf(40_000), 0);
    await emit(entriesOf(40_000), 0);
    expect(times()).toEqual([1000, 1001]);
  });
});
