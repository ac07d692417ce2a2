import { describe, expect, test } from '@jest/globals';
import { ParcelPacker, unpack } from './parcel.js';
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

  test('large payloads make the buffer grow', () => {
    const packer = new ParcelPacker();
    const large = new Uint8Array(100_000).fill(7);
    packer.add({ kind: 'propose', group: 1, epoch: 1, payloads: [bytes('x'), large] });
    const [command] = unpacked(packer);
    expect(command).toEqual({ kind: 'propose', group: 1, epoch: 1, payloads: [bytes('x'), large] });
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
