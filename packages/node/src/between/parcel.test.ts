import { describe, expect, test } from '@jest/globals';
import { Packing, type Parcel, packCommand, packEvent, unpackCommands, unpackEvents } from './parcel.js';
import type { Command, Event } from './protocol.js';

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}

/** A parcel as the other thread gets it, and what changed hands with it. */
function sent<Message extends Command | Event>(
  packing: Packing<Message>,
): { parcel: Parcel<Message>; given: readonly ArrayBuffer[] } {
  const { parcel, given } = packing.take();
  return { parcel: structuredClone(parcel, { transfer: [...given] }), given };
}

function packed(commands: readonly Command[]): Packing<Command> {
  const packing = new Packing<Command>();
  for (const command of commands) packCommand(packing, command);
  return packing;
}

function throughCommands(packing: Packing<Command>): Command[] {
  const commands: Command[] = [];
  unpackCommands(sent(packing).parcel, (command) => commands.push(command));
  return commands;
}

function packedEvents(events: readonly Event[]): Packing<Event> {
  const packing = new Packing<Event>();
  for (const event of events) packEvent(packing, event);
  return packing;
}

function throughEvents(packing: Packing<Event>): Event[] {
  const events: Event[] = [];
  unpackEvents(sent(packing).parcel, (event) => events.push(event));
  return events;
}

describe('commands in a parcel', () => {
  test('come out as they went in, in order', () => {
    const commands: Command[] = [
      { kind: 'call', to: 5, id: 2 ** 53 - 1, payload: bytes('one') },
      { kind: 'call', to: 2 ** 48 - 1, id: 2, payload: bytes('') },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] },
      { kind: 'mark', group: 1, epoch: 2, id: 7 },
      { kind: 'return', to: 5, id: 9, payload: bytes('nine') },
      { kind: 'call', to: 5, id: 3, payload: bytes('three') },
    ];
    expect(throughCommands(packed(commands))).toEqual(commands);
  });

  test('commands that propose in a row, in one group and epoch, become one', () => {
    const packing = packed([
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('bc'), bytes('')] },
      { kind: 'mark', group: 1, epoch: 2, id: 7 },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('d')] },
      { kind: 'propose', group: 3, epoch: 2, payloads: [bytes('e')] },
    ]);
    expect(throughCommands(packing)).toEqual([
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a'), bytes('bc'), bytes('')] },
      { kind: 'mark', group: 1, epoch: 2, id: 7 },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('d')] },
      { kind: 'propose', group: 3, epoch: 2, payloads: [bytes('e')] },
    ]);
  });

  test('commands that propose keep the answers that wait for them', () => {
    const answer = { to: 5, id: 9, payload: bytes('nine') };
    const other = { to: 6, id: 8, payload: bytes('eight') };
    const packing = packed([
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('b')], answers: [answer] },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('c'), bytes('d')] },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('e')], answers: [other] },
      { kind: 'propose', group: 1, epoch: 3, payloads: [bytes('f')] },
    ]);
    expect(throughCommands(packing)).toEqual([
      {
        kind: 'propose',
        group: 1,
        epoch: 2,
        payloads: ['a', 'b', 'c', 'd', 'e'].map(bytes),
        answers: [null, answer, null, null, other],
      },
      { kind: 'propose', group: 1, epoch: 3, payloads: [bytes('f')] },
    ]);
  });

  test('commands with large payloads make the buffer grow', () => {
    const large = new Uint8Array(100_000).fill(7);
    const command: Command = { kind: 'propose', group: 1, epoch: 1, payloads: [bytes('x'), large] };
    expect(throughCommands(packed([command]))).toEqual([command]);
  });

  test('take no larger buffer along than they fill, as long as they fit into the one that is kept', () => {
    const payloads = [new Uint8Array(10_000).fill(1)];
    const { parcel } = sent(packed([{ kind: 'propose', group: 1, epoch: 2, payloads }]));
    expect(parcel.data?.buffer.byteLength).toBe(10_000 + 5 * 8);
  });

  test('commands that have a large end give its buffer away, in order with others', () => {
    const rest = new Uint8Array(100_000).fill(7);
    const commands: Command[] = [
      { kind: 'call', to: 5, id: 1, payload: bytes('one') },
      { kind: 'call', to: 5, id: 2, payload: bytes('head'), rest },
      { kind: 'call', to: 5, id: 3, payload: bytes('three') },
    ];
    const packing = packed(commands);
    const come = throughCommands(packing);
    expect(come).toEqual([
      commands[0],
      { ...commands[1], rest: new Uint8Array(100_000).fill(7) },
      commands[2],
    ]);
    expect(rest.length).toBe(0);
    expect(packing.take().given).toEqual([]);
  });

  test('commands that are all objects need no buffer, and leave nothing behind', () => {
    const packing = packed([{ kind: 'read', group: 1, id: 7 }]);
    expect(packing.isEmpty).toBe(false);
    expect(packing.take()).toEqual({ parcel: { objects: [{ kind: 'read', group: 1, id: 7 }] }, given: [] });
    expect(packing.isEmpty).toBe(true);
    expect(throughCommands(packing)).toEqual([]);
  });

  test('come behind those of the parcel before it', () => {
    const before = packed([{ kind: 'call', to: 5, id: 1, payload: bytes('one') }]).take().parcel;
    const { parcel } = packed([{ kind: 'drop', group: 4 }]).take();
    const kinds: string[] = [];
    unpackCommands({ ...parcel, before }, ({ kind }) => kinds.push(kind));
    expect(kinds).toEqual(['call', 'drop']);
  });

  test('are refused where the parcel is not what was packed', () => {
    const { parcel } = packed([
      { kind: 'drop', group: 4 },
      { kind: 'call', to: 5, id: 1, payload: bytes('one') },
    ]).take();
    const unpack = (changed: Partial<Parcel<Command>>) => (): void =>
      unpackCommands({ ...parcel, ...changed }, () => undefined);
    expect(unpack({ objects: [] })).toThrow('broken invariant: a parcel holds what it was packed with');
    expect(unpack({ objects: [...parcel.objects, ...parcel.objects] })).toThrow('every object of a parcel');
    expect(unpack({ data: parcel.data!.subarray(0, -1) })).toThrow('a payload ends within its parcel');
  });
});

describe('events in a parcel', () => {
  test('come out as they went in, in order', () => {
    const last = { index: 4, term: 2, hash: 2 ** 32 - 1 };
    const events: Event[] = [
      { kind: 'called', from: 3, id: 1, payload: bytes('a call') },
      { kind: 'called', from: 4, id: 9, payload: bytes('') },
      {
        kind: 'entries',
        group: 2,
        last,
        entries: [
          { index: 3, term: 1, hash: 76, payload: bytes('x') },
          { index: 4, term: 2, hash: 77, payload: bytes('yz') },
        ],
      },
      { kind: 'entries', group: 0, last, entries: [], membership: bytes('members') },
      { kind: 'returned', id: 5, payload: null },
      { kind: 'returned', id: 6, payload: bytes('an answer') },
      { kind: 'leading', group: 2, epoch: 8 },
      { kind: 'called', from: 3, id: 2, payload: bytes('another') },
    ];
    expect(throughEvents(packedEvents(events))).toEqual(events);
  });

  test('take no larger buffer along than their payloads', () => {
    const large = new Uint8Array(1_000_000);
    const { given } = packedEvents([
      { kind: 'called', from: 1, id: 1, payload: large.subarray(0, 10) },
    ]).take();
    expect(given.map(({ byteLength }) => byteLength)).toEqual([4 * 8 + 10]);
  });

  test('events that give a buffer back hand it over', () => {
    const buffer = new ArrayBuffer(100_000);
    expect(throughEvents(packedEvents([{ kind: 'given_back', buffer }]))).toEqual([
      { kind: 'given_back', buffer: expect.any(ArrayBuffer) },
    ]);
    expect(buffer.byteLength).toBe(0);
  });

  test('events whose payload has a buffer of its own hand that over, in order with others', () => {
    const own = new ArrayBuffer(100_000);
    const events: Event[] = [
      { kind: 'called', from: 1, id: 1, payload: bytes('one') },
      { kind: 'called', from: 1, id: 2, payload: new Uint8Array(own, 3), own },
      { kind: 'called', from: 2, id: 3, payload: bytes('three') },
    ];
    expect(throughEvents(packedEvents(events))).toEqual([
      events[0],
      { kind: 'called', from: 1, id: 2, payload: new Uint8Array(100_000 - 3) },
      events[2],
    ]);
    expect(own.byteLength).toBe(0);
  });
});

test('a part of the log comes out as it went in', () => {
  const at = (index: number) => ({ index, term: 2, hash: 0xfedcba98 });
  const part = {
    before: at(4),
    oldest: at(1),
    last: at(9),
    entries: [
      { ...at(5), payload: bytes('five') },
      { ...at(8), payload: bytes('') },
    ],
  };
  const events: Event[] = [
    { kind: 'log_read', group: 3, id: 7, part },
    { kind: 'log_read', group: 3, id: 8, part: null },
    { kind: 'log_read', group: 3, id: 9, part: { ...part, before: null, entries: [] } },
  ];
  // Payloads are views of what was sent.
  const plain = (read: readonly Event[]): string =>
    JSON.stringify(read, (key, value) => (key === 'payload' ? Buffer.from(value).toString('hex') : value));
  expect(plain(throughEvents(packedEvents(events)))).toEqual(plain(events));
});
