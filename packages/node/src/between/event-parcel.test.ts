import { expect, test } from '@jest/globals';
import { packEvents, unpackEvents } from './event-parcel.js';
import type { Event } from './protocol.js';

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}

function through(events: readonly Event[]): Event[] {
  const result: Event[] = [];
  unpackEvents(structuredClone(packEvents(events)), (event) => result.push(event));
  return result;
}

test('events come out as they went in, in order', () => {
  const place = { index: 4, term: 2, hash: 77 };
  const events: Event[] = [
    { kind: 'called', from: 3, id: 1, payload: bytes('a call') },
    { kind: 'called', from: 4, id: 9, payload: bytes('') },
    {
      kind: 'entries',
      group: 2,
      last: place,
      entries: [
        { index: 3, term: 1, hash: 76, payload: bytes('x') },
        { index: 4, term: 2, hash: 77, payload: bytes('yz') },
      ],
    },
    { kind: 'entries', group: 0, last: place, entries: [], membership: bytes('members') },
    { kind: 'returned', id: 5, payload: null },
    { kind: 'returned', id: 6, payload: bytes('an answer') },
    { kind: 'leading', group: 2, epoch: 8 },
    { kind: 'called', from: 3, id: 2, payload: bytes('another') },
  ];
  expect(through(events)).toEqual(events);
});

test('a payload takes no larger buffer along', () => {
  const large = new Uint8Array(1_000_000);
  const parcel = packEvents([{ kind: 'called', from: 1, id: 1, payload: large.subarray(0, 10) }]);
  expect(parcel.data?.buffer.byteLength).toBe(10);
});

test('without payloads there is no buffer', () => {
  const events: Event[] = [
    { kind: 'read', group: 1, id: 7, index: 3 },
    { kind: 'returned', id: 5, payload: null },
  ];
  expect('data' in packEvents(events)).toBe(false);
  expect(through(events)).toEqual(events);
});

test('a buffer that is given back changes hands', () => {
  const buffer = new ArrayBuffer(100_000);
  const parcel = packEvents([{ kind: 'given_back', buffer }]);
  expect(parcel.given).toEqual([buffer]);
  const { given, ...rest } = parcel;
  const come = structuredClone(rest, { transfer: [...given] });
  expect(come.events).toEqual([{ kind: 'given_back', buffer: expect.any(ArrayBuffer) }]);
  expect(buffer.byteLength).toBe(0);
});

test('a payload in a buffer of its own is not copied, and comes in order with others', () => {
  const own = new ArrayBuffer(100_000);
  const payload = new Uint8Array(own, 3);
  const events: Event[] = [
    { kind: 'called', from: 1, id: 1, payload: bytes('one') },
    { kind: 'called', from: 1, id: 2, payload, own },
    { kind: 'called', from: 2, id: 3, payload: bytes('three') },
  ];
  const parcel = packEvents(events);
  expect(parcel.given).toEqual([own]);
  expect(parcel.data?.length).toBe('one'.length + 'three'.length);
  expect(through(events)).toEqual([events[0], { kind: 'called', from: 1, id: 2, payload }, events[2]]);
});
