import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../testing/index.js';
import { EVENT_ID, HEADER_BYTES, PackageType } from './package.js';
import { SocketWire } from './socket-wire.js';
import { SLICE_BYTES, WritePacer } from './write-pacer.js';

const LONG = Buffer.alloc(4 * 1024 * 1024, 7);

let server: Server;
let near: Socket;
let far: Socket;

beforeEach(async () => {
  server = createServer((socket) => {
    near = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const accepted = once(server, 'connection');
  far = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  far.pause();
  await accepted;
});
afterEach(() => {
  far.destroy();
  near.destroy();
  server.close();
});

/** Reads all that comes from now on. */
function reading(): { bytes: number } {
  const read = { bytes: 0 };
  far.on('data', (chunk) => {
    read.bytes += chunk.length;
  });
  far.resume();
  return read;
}

test('a long package is handed over slice by slice, and arrives whole', async () => {
  const wire = new SocketWire(near, 'there', () => {}, new WritePacer());
  let drained = 0;
  wire.onDrained = () => (drained += 1);
  for (let i = 0; i < 4; i++) wire.send(PackageType.ROOM_EMIT, EVENT_ID, LONG);
  wire.flush();
  const total = 4 * (HEADER_BYTES + LONG.length);
  expect(near.bytesWritten).toBeLessThanOrEqual(SLICE_BYTES);
  expect([wire.unsent - near.writableLength + near.bytesWritten, drained]).toEqual([total, 0]);
  const read = reading();
  await until(() => read.bytes === total, 'all arrives');
  await until(() => wire.unsent === 0 && drained > 0, 'it is known that all was taken');
});

test('a long package waits for a turn that has time for it', () => {
  const turns: (() => void)[] = [];
  const pacer = new WritePacer((work) => turns.push(work));
  while (pacer.takes(SLICE_BYTES));
  const wire = new SocketWire(near, 'there', () => {}, pacer);
  wire.send(PackageType.ROOM_EMIT, EVENT_ID, LONG);
  wire.flush();
  expect(near.bytesWritten).toBe(0);
  turns.shift()?.();
  expect(near.bytesWritten).toBeGreaterThan(0);
});

test('the end of a connection comes behind what was sent', async () => {
  const wire = new SocketWire(near, 'there', () => {}, new WritePacer());
  wire.send(PackageType.DATA, 1, LONG);
  wire.end(Buffer.from('farewell'));
  wire.send(PackageType.DATA, 2, LONG);
  const read = reading();
  await once(far, 'end');
  expect(read.bytes).toBe(HEADER_BYTES + LONG.length + 8);
});
