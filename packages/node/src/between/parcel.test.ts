import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { buffersOf, ParcelPacker, postedOf, unpack } from './parcel.js';
import type { Command } from './protocol.js';

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}

function unpacked(packer: ParcelPacker): Command[] {
  const commands: Command[] = [];
  unpack(packer.take(), (command) => commands.push(command));
  return commands;
}

describe('parcel', () => {
  test('calls and returns in a row travel together, in order with other commands', () => {
    const packer = new ParcelPacker();
    const commands: Command[] = [
      { kind: 'call', to: 5, id: 1, payload: bytes('one') },
      { kind: 'call', to: 6, id: 2, payload: bytes('') },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] },
      { kind: 'return', to: 5, id: 9, payload: bytes('nine') },
      { kind: 'call', to: 5, id: 3, payload: bytes('three') },
    ];
    for (const command of commands) packer.add(command);
    expect(unpacked(packer)).toEqual(commands);
  });

  test('proposals of one group and epoch travel together, in order with other commands', () => {
    const packer = new ParcelPacker();
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] });
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('bc'), bytes('')] });
    packer.add({ kind: 'mark', group: 1, epoch: 2, id: 7 });
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('d')] });
    packer.add({ kind: 'propose', group: 3, epoch: 2, payloads: [bytes('e')] });
    expect(unpacked(packer)).toEqual([
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a'), bytes('bc'), bytes('')] },
      { kind: 'mark', group: 1, epoch: 2, id: 7 },
      { kind: 'propose', group: 1, epoch: 2, payloads: [bytes('d')] },
      { kind: 'propose', group: 3, epoch: 2, payloads: [bytes('e')] },
    ]);
  });

  test('answers travel with the proposals that they wait for', () => {
    const packer = new ParcelPacker();
    const answer = { to: 5, id: 9, payload: bytes('nine') };
    const other = { to: 6, id: 8, payload: bytes('eight') };
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('a')] });
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('b')], answers: [answer] });
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('c'), bytes('d')] });
    packer.add({ kind: 'propose', group: 1, epoch: 2, payloads: [bytes('e')], answers: [other] });
    packer.add({ kind: 'propose', group: 1, epoch: 3, payloads: [bytes('f')] });
    expect(unpacked(packer)).toEqual([
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

  test('large payloads make the buffer grow', () => {
    const packer = new ParcelPacker();
    const large = new Uint8Array(100_000).fill(7);
    packer.add({ kind: 'propose', group: 1, epoch: 1, payloads: [bytes('x'), large] });
    const [command] = unpacked(packer);
    expect(command).toEqual({ kind: 'propose', group: 1, epoch: 1, payloads: [bytes('x'), large] });
  });

  test('a large call gives the buffer of its end away, in order with others', () => {
    const packer = new ParcelPacker();
    const rest = new Uint8Array(100_000).fill(7);
    const commands: Command[] = [
      { kind: 'call', to: 5, id: 1, payload: bytes('one') },
      { kind: 'call', to: 5, id: 2, payload: bytes('head'), rest },
      { kind: 'call', to: 5, id: 3, payload: bytes('three') },
    ];
    for (const command of commands) packer.add(command);
    const parcel = packer.take();
    const buffers = buffersOf(parcel);
    expect(buffers).toContain(rest.buffer);
    const { port1, port2 } = new MessageChannel();
    try {
      port1.postMessage(postedOf(parcel), buffers);
      const come: Command[] = [];
      unpack(receiveMessageOnPort(port2)?.message, (command) => come.push(command));
      expect(come).toEqual([
        commands[0],
        { ...commands[1], rest: new Uint8Array(100_000).fill(7) },
        commands[2],
      ]);
      expect(rest.length).toBe(0);
    } finally {
      port1.close();
    }
    expect(buffersOf(packer.take())).toEqual([]);
  });

  test('without payloads has no buffer', () => {
    const packer = new ParcelPacker();
    packer.add({ kind: 'read', group: 1, id: 7 });
    const parcel = packer.take();
    expect(postedOf(parcel)).toEqual({ commands: [{ kind: 'read', group: 1, id: 7 }] });
    expect(Object.keys(postedOf(parcel))).toEqual(['commands']);
    expect(buffersOf(parcel)).toEqual([]);
  });

  test('is empty after it was taken', () => {
    const packer = new ParcelPacker();
    packer.add({ kind: 'drop', group: 4 });
    expect(packer.isEmpty).toBe(false);
    expect(unpacked(packer)).toEqual([{ kind: 'drop', group: 4 }]);
    expect(packer.isEmpty).toBe(true);
    expect(unpacked(packer)).toEqual([]);
  });
});
