import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { StrangerSockets } from './stranger-sockets.js';

/** Sockets that were never connected: to destroy them is all that happens to them. */
function begin() {
  const displaced: string[] = [];
  const strangers = new StrangerSockets(256, (address) => displaced.push(address));
  const add = (address: string): Socket => {
    const socket = new Socket();
    strangers.add(socket, address);
    return socket;
  };
  return { strangers, displaced, add };
}

test('the oldest of an address gives way where it has too many, and those of others stay', () => {
  const { strangers, displaced, add } = begin();
  const [member, first, second] = [add('m'), add('a'), add('a')];
  for (let i = 0; i < 63; i++) add('a');
  expect([first.destroyed, second.destroyed, displaced]).toEqual([true, false, ['a']]);
  expect([strangers.size, member.destroyed]).toEqual([65, false]);
});

test('the oldest of the address with most gives way where there are too many in all', () => {
  const { strangers, displaced, add } = begin();
  const members = ['m', 'n'].map(add);
  for (let i = 0; i < 60; i++) for (const address of ['a', 'b', 'c', 'd']) add(address);
  for (let i = 0; i < 20; i++) add(`e${i}`);
  expect(strangers.size).toBe(256);
  expect(displaced).toHaveLength(6);
  expect(displaced.every((address) => 'abcd'.includes(address))).toBe(true);
  expect(members.map(({ destroyed }) => destroyed)).toEqual([false, false]);
});

test('a connection that ended, or proved itself, has its place no longer', () => {
  const { strangers, add } = begin();
  const [ended, proved] = [add('a'), add('a')];
  ended.emit('close');
  strangers.delete(proved);
  strangers.delete(proved);
  expect(strangers.size).toBe(0);
});
