import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.js';
import { Bridge } from './bridge.js';
import { Packing, type Parcel, packEvent, unpackCommands } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

const committed = (count: number): Event => ({
  kind: 'committed',
  group: 1,
  count,
  last: { index: 5, term: 1, hash: 0 },
});

let bridge: Bridge;
let signals: Signals;
let port: MessagePort;

beforeEach(() => {
  const { port1, port2 } = new MessageChannel();
  const memory = new SharedArrayBuffer(Signals.BYTES);
  bridge = new Bridge({
    port: {
      post: (parcel, given) => port1.postMessage(parcel, given),
      poll: () => receiveMessageOnPort(port1)?.message,
      close: () => port1.close(),
    },
    signals: memory,
    clock: systemClock,
    soon: setImmediate,
  });
  port1.on('message', (parcel) => bridge.receive(parcel));
  signals = new Signals(memory);
  port = port2;
});

afterEach(() => {
  bridge.close();
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function propose(number: number): void {
  bridge.send({ kind: 'propose', group: 1, epoch: 1, payloads: [Uint8Array.of(number)] });
}

/**
 * What came since the last call: proposed numbers, and kinds of other commands; an array for each message.
 */
function arrived(): (number | string)[][] {
  const messages: (number | string)[][] = [];
  for (;;) {
    const message = receiveMessageOnPort(port) as { message: Parcel<Command> } | undefined;
    if (message === undefined) return messages;
    const found: (number | string)[] = [];
    unpackCommands(message.message, (command: Command) => {
      if (command.kind === 'propose') found.push(...command.payloads.map(([number]) => number ?? 0));
      else found.push(command.kind);
    });
    messages.push(found);
  }
}

function post(events: readonly Event[]): void {
  const packing = new Packing<Event>();
  for (const event of events) packEvent(packing, event);
  port.postMessage(packing.take().parcel);
}

/** What the worker does when it has events, or when something is held back. */
function tell(events: readonly Event[]): Promise<void> {
  const told = new Promise<void>((resolve) => {
    bridge.onEvent = () => resolve();
  });
  post(events);
  return events.length > 0 ? told : quiet();
}

/** As many turns as a message and what follows from it take. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn();
}

describe('proposals', () => {
  test('of one turn travel together', async () => {
    propose(1);
    propose(2);
    expect(arrived()).toEqual([]);
    await turn();
    expect(arrived()).toEqual([[1, 2]]);
  });

  test('wait for the write under way, and go before what its end tells is handled', async () => {
    signals.writing();
    propose(1);
    await turn();
    propose(2);
    await turn();
    expect(arrived()).toEqual([]);
    expect(signals.written(false)).toBe(true);
    let before: (number | string)[][] = [];
    const handled = new Promise<void>((resolve) => {
      bridge.onEvent = () => {
        before = arrived();
        resolve();
      };
    });
    post([committed(1)]);
    await handled;
    expect(before).toEqual([[1, 2]]);
  });

  test('go with those of clients that were just answered, and ask again', async () => {
    signals.writing();
    propose(1);
    await turn();
    expect(signals.written(false)).toBe(true);
    bridge.onEvent = () => [2, 3].forEach(propose);
    post([committed(4)]);
    await quiet();
    expect(arrived()).toEqual([]);
    [4, 5].forEach(propose);
    await turn();
    expect(arrived()).toEqual([[1, 2, 3, 4, 5]]);
  });

  test('do not wait long for clients that do not ask again', async () => {
    post([committed(4)]);
    await quiet();
    propose(1);
    while (arrived().length === 0) await turn();
  });

  test('wait for those before them, which are on their way to be written', async () => {
    propose(1);
    await turn();
    propose(2);
    await turn();
    expect(arrived()).toEqual([[1]]);
    // They came, and nothing is written: they were not to be taken.
    expect(signals.taken()).toBe(true);
    await tell([]);
    expect(arrived()).toEqual([[2]]);
    expect(signals.taken()).toBe(false);
  });

  test('go with any message, be it empty', async () => {
    signals.writing();
    propose(1);
    await turn();
    await tell([]);
    expect(arrived()).toEqual([[1]]);
    expect(signals.written(false)).toBe(false);
  });

  test('do not wait when there is something else to say', async () => {
    signals.writing();
    propose(1);
    bridge.send({ kind: 'read', group: 1, id: 7 });
    await turn();
    expect(arrived()).toEqual([[1, 'read']]);
  });

  test('wait for a write, or for clients that ask again, while calls and answers go', async () => {
    signals.writing();
    propose(1);
    bridge.send({ kind: 'call', to: 2, id: 7, payload: Uint8Array.of(7) });
    await turn();
    expect(arrived()).toEqual([['call']]);
    expect(signals.written(false)).toBe(true);
    bridge.onEvent = () => bridge.send({ kind: 'return', to: 2, id: 8, payload: Uint8Array.of(8) });
    post([committed(4)]);
    await quiet();
    expect(arrived()).toEqual([['return']]);
    [2, 3, 4, 5].forEach(propose);
    bridge.send({ kind: 'call', to: 2, id: 9, payload: Uint8Array.of(9) });
    await turn();
    expect(arrived()).toEqual([['call', 1, 2, 3, 4, 5]]);
  });

  test('do not wait when they are large', async () => {
    signals.writing();
    bridge.send({ kind: 'propose', group: 1, epoch: 1, payloads: [new Uint8Array(1_000_000)] });
    await turn();
    expect(arrived()).toHaveLength(1);
  });
});

describe('who waits in place', () => {
  test('sends at once, and handles the events', () => {
    signals.writing();
    propose(1);
    let isDone = false;
    bridge.onEvent = () => {
      isDone = true;
    };
    post([committed(1)]);
    bridge.waitFor(() => isDone, 10_000);
    expect(isDone).toBe(true);
    expect(arrived()).toEqual([[1]]);
  });
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
    // Another message was on its way meanwhile.
    signals.proposed();
    signals.writing();
    expect(signals.hold()).toBe(true);
    expect(signals.written(false)).toBe(true);
    expect(signals.hold()).toBe(true);
    expect(signals.taken()).toBe(true);
    expect(signals.hold()).toBe(false);
  });
});

describe('how far states are', () => {
  const applied = (group: number, index: number): Command => ({ kind: 'applied', group, index });

  function commands(): Command[] {
    const found: Command[] = [];
    for (;;) {
      const message = receiveMessageOnPort(port) as { message: Parcel<Command> } | undefined;
      if (message === undefined) return found;
      unpackCommands(message.message, (command) => found.push(command));
    }
  }

  test('goes before the next other command, the newest of each group', async () => {
    bridge.send(applied(1, 10));
    bridge.send(applied(2, 5));
    bridge.send(applied(1, 12));
    await quiet();
    expect(commands()).toEqual([]);
    bridge.send({ kind: 'read', group: 1, id: 7 });
    await turn();
    expect(commands()).toEqual([applied(1, 12), applied(2, 5), { kind: 'read', group: 1, id: 7 }]);
  });

  test('goes by itself after a while, and at once when it changes often', async () => {
    bridge.send(applied(1, 10));
    let alone = commands();
    while (alone.length === 0) {
      await turn();
      alone = commands();
    }
    expect(alone).toEqual([applied(1, 10)]);
    for (let index = 11; index < 11 + 16; index++) bridge.send(applied(1, index));
    await turn();
    expect(commands()).toEqual([applied(1, 26)]);
  });
});
