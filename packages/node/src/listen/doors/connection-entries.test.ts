import type { ConnectionEntry } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { connectionEntries } from './connection-entries.js';

const tcp: ConnectionEntry = {
  id: 1,
  transport: 'tcp',
  address: '192.0.2.1',
  user: 'kim',
  since: 1000,
  requests: 0,
  count: 1,
};
const socket: ConnectionEntry = { ...tcp, id: 2, transport: 'api_websocket' };
const socket6: ConnectionEntry = { ...socket, id: 3, address: '2001:db8::5' };

const http = { id: null, transport: 'http', user: null, since: null, requests: null };

test('connections of HTTP are told by network, without those that went on as WebSockets', () => {
  const byNetwork = new Map([
    ['c0000201', 4],
    ['20010db800000000', 1],
    ['7f000001', 2],
  ]);
  expect(connectionEntries([tcp, socket, socket6], 7, byNetwork)).toEqual([
    tcp,
    socket,
    socket6,
    { ...http, address: '192.0.2.1', count: 3 },
    { ...http, address: '127.0.0.1', count: 2 },
  ]);
});

test('connections of HTTP are one number where the system does not tell whose they are', () => {
  expect(connectionEntries([tcp, socket], 3, null)).toEqual([
    tcp,
    socket,
    { ...http, address: null, count: 2 },
  ]);
  expect(connectionEntries([socket], 1, null)).toEqual([socket]);
});

test('the oldest of very many connections are told', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ ...tcp, id: i + 1 }));
  const told = connectionEntries(many, 0, null);
  expect([told.length, told.at(-1)?.id]).toEqual([10_000, 10_000]);
});
