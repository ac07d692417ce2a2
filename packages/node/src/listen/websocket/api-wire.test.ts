import { expect, test } from '@jest/globals';
import { EVENT_ID, PackageType } from '../native/package.js';
import { WritePacer } from '../native/write-pacer.js';
import { ApiWire } from './api-sockets.js';

const LONG = Buffer.alloc(2 * 1024 * 1024);

test('a long message waits for a turn that has time for it', () => {
  const turns: (() => void)[] = [];
  const pacer = new WritePacer((work) => turns.push(work));
  let sent = 0;
  const socket = {
    getUserData: () => ({ address: '192.0.2.1' }),
    getBufferedAmount: () => 0,
    send: () => (sent += 1),
    end: () => {},
    close: () => {},
  };
  const wire = new ApiWire(socket, { onFull: () => {}, drained: () => {}, pacer });
  for (let i = 0; i < 3; i++) wire.send(PackageType.ROOM_EMIT, EVENT_ID, LONG);
  const counts = [sent];
  for (let i = 0; i < 2; i++) {
    turns.shift()?.();
    counts.push(sent);
  }
  expect(counts).toEqual([1, 2, 3]);
  expect(wire.unsent).toBe(0);
});
