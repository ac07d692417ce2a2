import { beforeEach, describe, expect, test } from '@jest/globals';
import { EventSender } from './event-sender.js';
import { Packing, packCommand, unpackEvents } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

let sender: EventSender;
/** The engine thread's end of the signals. */
let signals: Signals;
/** The kinds of events in each message that left. */
let left: (readonly string[])[];

beforeEach(() => {
  left = [];
  const memory = new SharedArrayBuffer(Signals.BYTES);
  signals = new Signals(memory);
  sender = new EventSender({
    signals: memory,
    post: (parcel) => {
      const kinds: string[] = [];
      unpackEvents(parcel, ({ kind }) => kinds.push(kind));
      left.push(kinds);
    },
  });
});

const ENTRIES: Event = {
  kind: 'entries',
  group: 1,
  entries: [{ index: 1, term: 3, hash: 0, payload: new Uint8Array(100) }],
  last: { index: 1, term: 3, hash: 0 },
};

const STOPPED: Event = { kind: 'stopped' };

/** Ends the turn; gives what has left since the last call. */
async function turn(): Promise<(readonly string[])[]> {
  await Promise.resolve();
  return left.splice(0);
}

function command(given: Command): void {
  const packing = new Packing<Command>();
  packCommand(packing, given);
  sender.receive(packing.take().parcel, () => undefined);
}

const propose = (): void => command({ kind: 'propose', group: 1, epoch: 1, payloads: [Uint8Array.of(1)] });

test('events wait until the engine thread is there, and travel together', async () => {
  sender.emit(ENTRIES);
  sender.emit(STOPPED);
  expect(await turn()).toEqual([]);
  sender.open();
  expect(await turn()).toEqual([['entries', 'stopped']]);
});

test('events of one turn travel in one message, and each turn has its own, entries that stream in too', async () => {
  sender.open();
  sender.emit(ENTRIES);
  sender.emit(ENTRIES);
  sender.emit(STOPPED);
  expect(await turn()).toEqual([['entries', 'entries', 'stopped']]);
  for (let i = 0; i < 3; i++) {
    sender.emit(ENTRIES);
    expect(await turn()).toEqual([['entries']]);
  }
});

describe('an engine thread that holds proposals back is sent an empty message', () => {
  beforeEach(() => sender.open());

  test('an empty message comes when the write under way is done', async () => {
    sender.writing();
    expect(signals.hold()).toBe(true);
    propose();
    expect(await turn()).toEqual([]);
    sender.written(false);
    expect(await turn()).toEqual([[]]);
  });

  test('an empty message comes when what is on its way comes, and is not written', async () => {
    signals.proposed();
    expect(signals.hold()).toBe(true);
    propose();
    expect(await turn()).toEqual([[]]);
  });

  test('but not where it holds nothing', async () => {
    sender.writing();
    sender.written(false);
    propose();
    expect(await turn()).toEqual([]);
  });
});
