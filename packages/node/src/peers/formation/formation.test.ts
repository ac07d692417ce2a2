import { MemoryDisk } from '@althing/storage';
import { afterEach, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { newIdentity } from '../../base/identity.js';
import { ClusterFile } from '../../between/cluster-record.js';
import type { JoinAnswer, Joiner } from '../../between/protocol.js';
import { freePorts } from '../../testing/free-ports.js';
import { within } from '../../testing/until.js';
import { Transport } from '../transport.js';
import { Formation, type FormationOptions, invite, RemovedError } from './formation.js';

const running: Member[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((member) => member.stop()));
});

describe('nodes with real connections', () => {
  test('found one cluster of all, in any order, and know it again after a restart', async () => {
    const ports = await freePorts(3);
    const members = ports.map((port) => new Member(port, ports));
    for (const member of [...members].reverse()) await member.start();
    const records = await formed(members);
    expect(new Set(records.map(({ clusterId }) => Buffer.from(clusterId).toString('hex'))).size).toBe(1);
    expect(records[0]?.founders?.map(({ port }) => port)).toEqual([...ports].sort((a, b) => a - b));

    await members[0]?.stop();
    await members[0]?.start();
    expect(await members[0]?.formation.formed).toEqual(records[0]);
  });

  test('do not found anything while one is missing, and say which', async () => {
    const ports = await freePorts(3);
    const members = ports.slice(0, 2).map((port) => new Member(port, ports));
    for (const member of members) await member.start();
    await within(members[0]!.logged(`localhost:${ports[2]}`), 'a word on the missing node');
    expect(members.every(({ isFormed }) => !isFormed)).toBe(true);
    const third = new Member(ports[2]!, ports);
    await third.start();
    await formed([...members, third]);
  });

  test('nodes on a full disk wait until what they found can be noted', async () => {
    const [port] = await freePorts(1);
    const member = new Member(port!, []);
    let writes = 0;
    // The first write counts the starts; two attempts to note the cluster have no room.
    member.disk.fault = ({ kind }) => {
      if (kind !== 'write') return undefined;
      writes += 1;
      return writes === 2 || writes === 3 ? { kind: 'error', errno: 'ENOSPC' } : undefined;
    };
    const delay: FormationOptions['delay'] = (_ms, callback) => {
      setImmediate(callback);
      return () => {};
    };
    await member.start({ delay });
    await within(member.logged('no room'), 'a word on the disk');
    const [record] = await formed([member]);
    expect(writes).toBe(4);
    await member.stop();
    await member.start();
    expect(await member.formation.formed).toEqual(record);
  });

  test('join the cluster that is there, by way of its leader', async () => {
    const ports = await freePorts(3);
    const [alone, leader, joiner] = ports.map((port) => new Member(port, port === ports[2] ? ports : []));
    await alone!.start();
    await leader!.start({ identity: alone!.identity });
    const [record] = await formed([alone!]);
    alone!.answerToJoin = () => ({ kind: 'redirect', host: 'localhost', port: ports[1]! });
    const joiners: Joiner[] = [];
    leader!.answerToJoin = (who) => {
      joiners.push(who);
      return joiners.length === 1 ? { kind: 'wait', reason: 'not yet' } : { kind: 'accepted' };
    };
    // The second node shall not be found by the list itself.
    await joiner!.start({ expected: [`localhost:${ports[0]}`, `localhost:${ports[2]}`] });
    const [joined] = await formed([joiner!]);
    expect(joined).toEqual({ clusterId: record?.clusterId, founders: null });
    expect(joiners[0]).toEqual({
      level: 2,
      nodeId: joiner!.identity.nodeId,
      name: 'localhost',
      host: 'localhost',
      port: ports[2],
    });
  });

  test('nodes that wait for an invitation join the node that invites them; one that belongs to a cluster declines', async () => {
    const ports = await freePorts(2);
    const [member, guest] = ports.map((port) => new Member(port, []));
    await member!.start();
    await guest!.start({ waitForInvitation: true });
    const [record] = await formed([member!]);
    const places = ports.map((port) => ({ host: 'localhost', port }));
    expect(await invite(member!.ask, places[1]!, places[0]!, 3)).toEqual({ problem: null });
    expect((await formed([guest!]))[0]?.clusterId).toEqual(record?.clusterId);
    expect(await invite(member!.ask, places[1]!, places[0]!, 3)).toEqual({
      problem: 'the node belongs to a cluster',
      node: expect.any(Number),
    });
  });

  test('nodes that were removed are told so', async () => {
    const ports = await freePorts(2);
    const [member, former] = ports.map((port) => new Member(port, port === ports[1] ? ports : []));
    await member!.start();
    member!.answerToJoin = () => ({ kind: 'removed' });
    await former!.start();
    await expect(within(former!.formation.formed, 'the answer')).rejects.toThrow(RemovedError);
  });

  test('found nothing when their lists differ, and say so', async () => {
    const ports = await freePorts(3);
    const one = new Member(ports[0]!, ports.slice(0, 2));
    const two = new Member(ports[1]!, ports);
    await one.start();
    await two.start();
    await within(one.logged('has another setting "cluster"'), 'a word on the other list');
    expect(one.isFormed || two.isFormed).toBe(false);
  });
});

function formed(members: readonly Member[]): Promise<Awaited<Formation['formed']>[]> {
  return within(Promise.all(members.map(({ formation }) => formation.formed)), 'the cluster is formed');
}

/** A node as far as it is needed for this: transport, formation and a disk in memory. */
class Member {
  readonly identity = newIdentity();
  formation!: Formation;
  answerToJoin: (joiner: Joiner) => JoinAnswer = () => ({ kind: 'accepted' });
  isFormed = false;
  readonly disk = new MemoryDisk();
  private readonly expected: readonly string[];
  private transport!: Transport;
  private readonly messages: string[] = [];
  private listeners: (() => void)[] = [];

  constructor(
    private readonly port: number,
    ports: readonly number[],
  ) {
    this.expected = ports.map((port) => `localhost:${port}`);
  }

  get ask(): FormationOptions['ask'] {
    return (host, port, question, timeoutMs) => this.transport.ask(host, port, question, timeoutMs);
  }

  async start(options: Partial<FormationOptions> = {}): Promise<void> {
    const { port, identity } = this;
    const file = await ClusterFile.open(this.disk, Date.now());
    const address = { host: 'localhost', port };
    this.transport = new Transport({
      self: {
        nodeId: identity.nodeId,
        name: 'localhost',
        incarnation: file.incarnation,
        version: '0',
        ...address,
      },
      bind: { address: '127.0.0.1', port },
      secret: 'a secret of the cluster',
      tls: null,
      heartbeatMs: 50,
      silenceMs: 500,
      log: () => {},
      onFrame: () => {},
      onPeer: () => {},
      onAsk: (question, answer) => this.formation.question(question, answer),
      onRemoved: () => {},
      onSuperseded: () => {},
    });
    await this.transport.listen();
    this.formation = new Formation({
      identity,
      name: 'localhost',
      level: 2,
      address,
      expected: this.expected,
      store: file,
      ask: this.ask,
      askToJoin: async (joiner) => this.answerToJoin(joiner),
      log: (_, message) => this.note(message),
      now: () => performance.now(),
      delay: (ms, callback) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
      random: seeded(Number(process.env.ALTHING_TEST_SEED) + this.expected.indexOf(`localhost:${port}`)),
      ...options,
    });
    this.formation.formed.then(
      () => {
        this.isFormed = true;
      },
      () => {},
    );
    running.push(this);
  }

  async stop(): Promise<void> {
    this.formation.close();
    await this.transport.close();
  }

  /** Resolves when something with this text was logged. */
  async logged(text: string): Promise<void> {
    while (!this.messages.some((message) => message.includes(text))) {
      await new Promise<void>((resolve) => this.listeners.push(resolve));
    }
  }

  private note(message: string): void {
    this.messages.push(message);
    for (const listener of this.listeners.splice(0)) listener();
  }
}
