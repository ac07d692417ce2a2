import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppliedBatch } from './applied-batch.js';
import type { Command } from './protocol.js';

let sent: Command[];
let batch: AppliedBatch;

beforeEach(() => {
  sent = [];
  batch = new AppliedBatch({ send: (command) => sent.push(command) });
});

function applied(group: number, index: number): Command {
  return { kind: 'applied', group, index };
}

describe('how far states are', () => {
  test('is told when it is asked for, the newest of each group', () => {
    batch.send(applied(1, 10));
    batch.send(applied(2, 5));
    batch.send(applied(1, 12));
    expect(sent).toEqual([]);
    batch.tell();
    expect(sent).toEqual([applied(1, 12), applied(2, 5)]);
    batch.tell();
    expect(sent).toHaveLength(2);
  });

  test('is told before any other command, so that none of them is ahead of it', () => {
    batch.send(applied(1, 10));
    const cut: Command = {
      kind: 'checkpointed',
      group: 1,
      applied: { index: 10, term: 1, hash: 0, membership: new Uint8Array(0) },
    };
    batch.send(cut);
    expect(sent).toEqual([applied(1, 10), cut]);
    batch.tell();
    expect(sent).toHaveLength(2);
  });

  test('is told at once when much was applied, or often', () => {
    batch.send(applied(1, 300));
    expect(sent).toEqual([applied(1, 300)]);
    for (let index = 301; index <= 363; index += 1) batch.send(applied(1, index));
    expect(sent).toHaveLength(1);
    batch.send(applied(1, 364));
    expect(sent.slice(1)).toEqual([applied(1, 364)]);
    batch.send(applied(1, 364 + 256));
    expect(sent.slice(2)).toEqual([applied(1, 620)]);
  });
});
