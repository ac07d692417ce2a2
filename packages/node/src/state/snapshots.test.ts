import { StorageError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { encodeMessage, membershipOf } from 'raft-ts';
import { TestBench } from '../groups/testing.js';
import { Snapshots } from './snapshots.js';

const STUFF = 2;
const OTHER = 7;

/** The first byte of the key of a record. */
const RECORD = 0x10;

/** A node with something stored that another one needs, and what came of sending it. */
class Sender {
  readonly node = new TestBench();
  readonly damage: unknown[] = [];
  calls = 0;
  pauses = 0;
  /** The transfer that the other node takes. */
  private transfer = '';
  /** Whether the other node can be reached. */
  reachable = true;

  async start(): Promise<this> {
    await this.node.start();
    await this.node.value(STUFF, '.x = 1; .list = [1, 2, 3];');
    await this.node.checkpoint(STUFF);
    this.node.commands.length = 0;
    return this;
  }

  damageRecords(): void {
    for (const key of this.node.stateStore.keys()) {
      if (key[0] === RECORD) this.node.stateStore.flip(key, 100);
    }
  }

  /**
   * Sends the collection, so many times at once; returns which of them arrived, as the consensus side is
   * told.
   */
  async send(times = 1): Promise<boolean[]> {
    const { node } = this;
    const snapshots = new Snapshots({
      state: node.state,
      consensus: node,
      calls: { serve: () => {}, call: async (_to, _kind, payload) => this.answer(payload) },
      ensureStored: async () => {},
      replace: async () => {},
      session: () => undefined,
      delay: (_ms, callback) => {
        this.pauses += 1;
        queueMicrotask(callback);
        return () => {};
      },
      onDiskFull: () => {},
      onDamage: (error) => this.damage.push(error),
      onFailure: (error) => node.failures.push(error),
      onInstalled: () => {},
    });
    const snapshot = { index: 1, term: 1, hash: 0, membership: membershipOf([1]) };
    const message = encodeMessage({ kind: 'snapshot', from: 1, to: OTHER, term: 2, snapshot });
    for (let i = 0; i < times; i++) snapshots.send(node.session(STUFF), OTHER, message);
    await node.settle();
    return node.commands.flatMap((told) => (told.kind === 'snapshot_sent' ? [told.arrived] : []));
  }

  /** As the other node does: what begins takes the place of what came before. */
  private answer(payload: Uint8Array): Uint8Array {
    this.calls += 1;
    if (!this.reachable) throw new Error('it can not be reached');
    const isBegin = payload[0] === 1;
    const transfer = Buffer.from(payload.subarray(isBegin ? 2 : 1, isBegin ? 8 : 7)).toString('hex');
    if (isBegin) this.transfer = transfer;
    else if (transfer !== this.transfer) throw new Error('the transfer was given up');
    return Uint8Array.of(0);
  }
}

describe('a snapshot that is sent', () => {
  test('arrives when the other node took all of it', async () => {
    const sender = await new Sender().start();
    expect(await sender.send()).toEqual([true]);
    expect(sender.calls).toBeGreaterThan(1);
    expect(sender.damage).toEqual([]);
  });

  test('of a state that is damaged here is told as damage, and not tried again', async () => {
    const sender = await new Sender().start();
    sender.damageRecords();
    expect(await sender.send()).toEqual([false]);
    expect(sender.pauses).toBe(0);
    expect(sender.damage).toEqual([expect.any(StorageError)]);
  });

  test('to a node that can not be reached is tried several times, and is no damage', async () => {
    const sender = await new Sender().start();
    sender.reachable = false;
    expect(await sender.send()).toEqual([false]);
    expect(sender.calls).toBe(5);
    expect(sender.damage).toEqual([]);
  });

  test('takes the place of one to the same node that is still on its way: of both, only the later is told about', async () => {
    const sender = await new Sender().start();
    expect(await sender.send(3)).toEqual([true]);
    expect(sender.damage).toEqual([]);
  });
});
