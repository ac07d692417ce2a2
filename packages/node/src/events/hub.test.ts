import type { RoomEvent, Sender } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { Hub } from './hub.js';
import { type Listener, Push } from './listener.js';

const ROOM = 7;
const [FIRST, SECOND] = [11, 12];

/** A hub, and which users may be in rooms of which collections: as `USER COLLECTION`. */
function begin() {
  const forbidden = new Set<string>();
  const hub = new Hub({
    nodeId: 1,
    incarnation: 1000,
    nameOf: (collection) => `c${collection}`,
    mayJoin: (collection, userId) => !forbidden.has(`${userId} ${collection}`),
    listening: () => {},
  });
  const listen = (id: number, userId: number, ...collections: number[]) => {
    const pushed: Push[] = [];
    const listener: Listener = { id, userId, push: (type) => pushed.push(type), gap: () => {} };
    for (const collection of collections) hub.join(listener, collection, [ROOM]);
    pushed.length = 0;
    return { listener, pushed };
  };
  return { hub, forbidden, listen };
}

function emitted(except: Sender | null): RoomEvent {
  return { kind: 'emit', room: ROOM, name: 'x', args: Uint8Array.of(0x90), except };
}

test.each([
  ['the one joined first', FIRST, SECOND],
  ['the one joined last', SECOND, FIRST],
])('a listener that loses the right in one collection, %s, stays in the others', (_, lost, kept) => {
  const { hub, forbidden, listen } = begin();
  const { listener, pushed } = listen(1, 5, FIRST, SECOND);
  forbidden.add(`5 ${lost}`);
  hub.recheck();
  expect([hub.isIn(listener, lost), hub.isIn(listener, kept)]).toEqual([false, true]);
  expect(pushed).toEqual([Push.LEAVE]);
});

test('a listener that loses the right takes those of the same user along, and no others', () => {
  const { hub, forbidden, listen } = begin();
  const [one, same, other] = [listen(1, 5, FIRST), listen(2, 5, FIRST), listen(3, 6, FIRST)];
  forbidden.add(`5 ${FIRST}`);
  hub.recheck();
  expect([one, same, other].map(({ listener }) => hub.isIn(listener, FIRST))).toEqual([false, false, true]);
});

test('an event for peers is kept from the one connection that sent it, of this start of this node', () => {
  const { hub, listen } = begin();
  const [sender, peer] = [listen(3, 5, FIRST), listen(4, 5, FIRST)];
  const heardBy = (except: Sender | null): number[] => {
    hub.tellAll(FIRST, [emitted(except)]);
    return [sender, peer].map(({ pushed }) => pushed.splice(0).length);
  };
  expect(heardBy({ node: 1, start: 1000, connection: 3 })).toEqual([0, 1]);
  // The numbers of connections begin anew on each node, and at each start.
  expect(heardBy({ node: 2, start: 1000, connection: 3 })).toEqual([1, 1]);
  expect(heardBy({ node: 1, start: 999, connection: 3 })).toEqual([1, 1]);
  expect(heardBy(null)).toEqual([1, 1]);
});
