import { StorageError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { encodeMessage, membershipOf } from 'raft-ts';
import { Snapshots } from './snapshots.js';
import { TestBench } from './test-bench.js';

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

  /** Sends the collection; returns whether it arrived, as the consensus side is told. */
  async send(): Promise<boolean> {
    const { node } = this;
    const snapshots = new Snapshots({
      state: node.state,
      consensus: node,
      calls: {
        serve: () => {},
        call: async () => {
          this.calls += 1;
          if (!this.reachable) throw new Error('it can not be reached');
          return Uint8Array.of(0);
        },
      },
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
    snapshots.send(node.session(STUFF), OTHER, message);
    await node.settle();
    const [told] = node.commands;
    if (told?.kind !== 'snapshot_sent') throw new Error('nothing was told');
    return told.arrived;
  }
}

describe('a snapshot that is sent', () => {
  test('arrives when the other node took all of it', async () => {
    const sender = await new Sender().start();
    expect(await sender.send()).toBe(true);
    expect(sender.calls).toBeGreaterThan(1);
    expect(sender.damage).toEqual([]);
  });

  test('of a state that is damaged here is told as damage, and not tried again', async () => {
    const sender = await new Sender().start();
    sender.damageRecords();
    expect(await sender.send()).toBe(false);
    expect(sender.pauses).toBe(0);
    expect(sender.damage).toEqual([expect.any(StorageError)]);
  });

  test('to a node that can not be reached is tried several times, and is no damage', async () => {
    const sender = await new Sender().start();
    sender.reachable = false;
    expect(await sender.send()).toBe(false);
    expect(sender.calls).toBe(5);
    expect(sender.damage).toEqual([]);
  });
});
