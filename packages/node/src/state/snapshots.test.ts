import { DiskFullError, StorageError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { encodeMessage, membershipOf } from 'raft-ts';
import { ROOT_GROUP } from '../between/protocol.js';
import { CallKind } from '../calls/calls.js';
import { LINK_SIZES } from '../peers/links.js';
import { BULK_BYTES_MAX } from '../peers/transport.js';
import { shown, TestBench } from '../testing/session-bench.js';
import { SENT_BYTES_MAX, Snapshots } from './snapshots.js';

const STUFF = 2;
const OTHER = 7;

/** The first byte of the key of a record. */
const RECORD = 0x10;

/** A node with something stored that another one needs, and what came of sending it. */
class Sender {
  readonly node = new TestBench();
  readonly damage: unknown[] = [];
  /** Questions to the other node. */
  readonly sent: Uint8Array[] = [];
  calls = 0;
  pauses = 0;
  /** The transfer that the other node takes. */
  private transfer = '';
  /** True if the other node can be reached. */
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
      calls: {
        serve: () => {},
        call: async (_to, _kind, payload, _ms, rest) =>
          this.answer(Buffer.concat([payload, rest ?? Buffer.of()])),
      },
      ensureStored: async () => {},
      replace: async () => true,
      session: () => undefined,
      clock: {
        after: (_ms, callback) => {
          this.pauses += 1;
          queueMicrotask(callback);
          return () => {};
        },
      },
      onDiskFull: () => {},
      onDamage: (error) => this.damage.push(error),
      onFailure: (error) => node.failures.push(error),
      onInstalled: () => {},
      onLost: () => {},
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
    this.sent.push(payload.slice());
    if (!this.reachable) throw new Error('it can not be reached');
    const isBegin = payload[0] === 1;
    const transfer = Buffer.from(payload.subarray(isBegin ? 2 : 1, isBegin ? 8 : 7)).toString('hex');
    if (isBegin) this.transfer = transfer;
    else if (transfer !== this.transfer) throw new Error('the transfer was given up');
    return Uint8Array.of(0);
  }
}

describe('a snapshot that is sent', () => {
  test('finds room on the way to a node, also beside another one and all entries that there is room for', () => {
    const { roomBytes, frameBytes } = LINK_SIZES;
    expect(roomBytes + frameBytes + SENT_BYTES_MAX).toBeLessThan(BULK_BYTES_MAX);
  });

  test('arrives when the other node took all of it', async () => {
    const sender = await new Sender().start();
    expect(await sender.send()).toEqual([true]);
    expect(sender.calls).toBeGreaterThan(1);
    expect(sender.damage).toEqual([]);
  });

  test('a snapshot of a state that is damaged here is told as damage, and not tried again', async () => {
    const sender = await new Sender().start();
    sender.damageRecords();
    expect(await sender.send()).toEqual([false]);
    expect(sender.pauses).toBe(0);
    expect(sender.damage).toEqual([expect.any(StorageError)]);
  });

  test('a snapshot to a node that can not be reached is tried several times, and is no damage', async () => {
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

/** A node to which another one sends a state of `stuff` with `.x` 1; its own has none. */
class Receiver {
  readonly node = new TestBench();
  /** Commands to the consensus side of a follower, which this one is not. */
  readonly told: { readonly kind: string; readonly applied?: { readonly index: number } }[] = [];
  index = 0;
  private transfer: readonly Uint8Array[] = [];
  /** Writes are made, and said to have had no room. */
  lies = false;

  async start(): Promise<this> {
    const sender = await new Sender().start();
    await sender.send();
    this.transfer = sender.sent;
    this.index = sender.node.state.storedIndex(STUFF);
    const { node } = this;
    const attach = node.stateStore.attach.bind(node.stateStore);
    node.stateStore.attach = () => {
      const store = attach();
      const batch: typeof store.batch = () => {
        const made = store.batch();
        const write: typeof made.write = async (options) => {
          await made.write(options);
          if (this.lies) throw new DiskFullError('the store');
        };
        return { ...made, write };
      };
      return { ...store, batch };
    };
    await node.start();
    const send = node.send.bind(node);
    node.send = (command) => {
      const { kind } = command;
      const isOfFollower = ['snapshot_arrived', 'installed', 'not_installed', 'return'].includes(kind);
      if (isOfFollower) this.told.push(command);
      else send(command);
    };
    return this;
  }

  /** Lets calls of the other node come in, all by default. */
  async receive(count = this.transfer.length): Promise<void> {
    for (const [id, call] of this.transfer.slice(0, count).entries()) {
      this.node.take({ kind: 'called', from: OTHER, id, payload: Buffer.from([CallKind.Snapshot, ...call]) });
      await this.node.settle();
    }
  }

  /** The consensus side wants it. */
  install(): void {
    this.node.take({ kind: 'install', group: STUFF, index: this.index });
  }

  /** Nothing has room from now on, or all has. */
  set isFull(isFull: boolean) {
    this.node.stateStore.fault = ({ kind }) => (isFull && kind === 'write' ? 'ENOSPC' : undefined);
    this.node.freeBytes = isFull ? 0 : 1;
  }

  /** Commands to the consensus side since the last call, but for answers. */
  outcome(): unknown[] {
    const told = this.told.splice(0).filter(({ kind }) => kind !== 'return');
    return told.map(({ kind, applied }) => (applied === undefined ? kind : [kind, applied.index]));
  }

  get value(): string {
    return shown(this.node.ask(STUFF, '.x;'));
  }
}

describe('a snapshot that comes in', () => {
  const NOTHING = 'error -54';

  test('becomes the state', async () => {
    const receiver = await new Receiver().start();
    await receiver.receive();
    receiver.install();
    await receiver.node.settle();
    expect(receiver.outcome()).toEqual(['snapshot_arrived', ['installed', receiver.index]]);
    expect([receiver.value, receiver.node.failures]).toEqual(['1', []]);
  });

  test('and finds no room when it is to become the state leaves that as it was, and ends nothing', async () => {
    const receiver = await new Receiver().start();
    const { node } = receiver;
    const before = node.session(STUFF).appliedIndex;
    await receiver.receive();
    receiver.isFull = true;
    receiver.install();
    await node.consider();
    // The outcome is not known yet: nothing is served, and nothing told.
    expect([node.session(STUFF).readable, receiver.outcome()]).toEqual([false, ['snapshot_arrived']]);
    expect([node.timesFull, node.failures]).toEqual([1, []]);

    receiver.isFull = false;
    await node.consider();
    expect(receiver.outcome()).toEqual([['not_installed', before]]);
    expect([node.session(STUFF).readable, receiver.value]).toEqual([true, NOTHING]);
    // It may come once more.
    await receiver.receive();
    receiver.install();
    await node.settle();
    expect(receiver.outcome()).toEqual(['snapshot_arrived', ['installed', receiver.index]]);
    expect([receiver.value, node.failures]).toEqual(['1', []]);
  });

  test('and was written although that was told to have had no room is the state', async () => {
    const receiver = await new Receiver().start();
    const { node } = receiver;
    await receiver.receive();
    receiver.lies = true;
    receiver.install();
    await node.settle();
    expect(receiver.outcome()).toEqual(['snapshot_arrived']);
    receiver.lies = false;
    node.freeBytes = 1;
    await node.consider();
    expect(receiver.outcome()).toEqual([['installed', receiver.index]]);
    expect([receiver.value, node.failures]).toEqual(['1', []]);
  });

  test('is lost when the state is opened again before it is the state, and can come anew', async () => {
    for (const received of [2, undefined]) {
      const receiver = await new Receiver().start();
      const { node } = receiver;
      await receiver.receive(received);
      // Something else had no room.
      receiver.isFull = true;
      await node.value('thingsdb', "new_user('iris');");
      await node.checkpoint('thingsdb');
      receiver.isFull = false;
      await node.consider();
      receiver.outcome();
      if (received === undefined) {
        receiver.install();
        await node.settle();
        expect(receiver.outcome()).toEqual([['not_installed', node.session(STUFF).appliedIndex]]);
      }
      expect(receiver.value).toBe(NOTHING);
      await receiver.receive();
      receiver.install();
      await node.settle();
      expect(receiver.outcome()).toEqual(['snapshot_arrived', ['installed', receiver.index]]);
      expect([receiver.value, node.failures]).toEqual(['1', []]);
    }
  });

  test('becomes the state before that is closed to be opened again', async () => {
    const receiver = await new Receiver().start();
    const { node } = receiver;
    await receiver.receive();
    receiver.install();
    // In each step of the installation.
    await Promise.resolve();
    await node.state.hold();
    await node.state.reopen();
    node.state.release();
    await node.settle();
    expect(receiver.outcome()).toEqual(['snapshot_arrived', ['installed', receiver.index]]);
    expect([receiver.value, node.failures]).toEqual(['1', []]);
  });

  test('a snapshot of a collection that is deleted meanwhile goes with it', async () => {
    for (const isStarted of [false, true]) {
      const receiver = await new Receiver().start();
      const { node } = receiver;
      await receiver.receive();
      await node.state.hold();
      if (isStarted) receiver.install();
      node.ask('thingsdb', "del_collection('stuff');");
      await node.travel();
      expect(node.sessions.ofGroup(STUFF)).toBeUndefined();
      node.state.release();
      await node.checkpoint('thingsdb');
      expect(receiver.outcome()).toEqual(['snapshot_arrived']);
      expect(node.state.store.groups()).toEqual([ROOT_GROUP]);
      expect([node.engine.scope(STUFF), node.failures]).toEqual([undefined, []]);
    }
  });
});
