import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogStore, MemoryDisk, NodeDisk } from '@althing/storage';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.js';
import { newIdentity } from '../base/identity.js';
import { ClusterFile } from '../between/cluster-record.js';
import type { Event, PeerAddress } from '../between/protocol.js';
import { freePorts } from '../testing/free-ports.js';
import { until } from '../testing/until.js';
import { ConsensusSide } from './consensus-side.js';
import { PeerNetwork } from './peer-network.js';

const HOST = '127.0.0.1';
const folder = mkdtempSync(join(tmpdir(), 'althing-peer-network-'));
const open: Side[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((side) => side.close()));
  rmSync(folder, { recursive: true, force: true });
});

type Side = ConsensusSide<PeerNetwork>;

interface Member {
  readonly side: Side;
  readonly address: PeerAddress;
  readonly events: Event[];
}

async function start(
  port: number,
  expected: readonly string[],
  secret = 'secret of the tests',
): Promise<Member> {
  const identity = newIdentity();
  const events: Event[] = [];
  const path = mkdtempSync(`${folder}-node-`);
  const options = {
    identity,
    name: HOST,
    version: '0.0.0',
    protocolVersions: { min: 1, max: 5 },
    level: 1,
    folder: path,
    expected,
    waitForInvitation: false,
    secret,
    tls: null,
    encryption: 'auto',
    bind: { address: HOST, port },
    heartbeatMs: 50,
    electionTimeoutMs: 500,
  } as const;
  const file = await ClusterFile.open(await NodeDisk.make(path), Date.now());
  const log = await LogStore.open(new MemoryDisk().attach(), { segmentBytes: 64 * 1024 });
  const side = new ConsensusSide(
    {
      nodeId: identity.nodeId,
      raft: {},
      tickMs: 50,
      engineSilenceMs: 1000,
      logTail: 0,
      lowDiskBytes: 0,
      diskLookMs: 1000,
    },
    {
      clock: systemClock,
      disk: { log, look: async () => {} },
      line: { emit: (event) => events.push(event), silence: () => 0, noteRoot: () => {} },
      connect: (told) => new PeerNetwork(options, file, told, () => {}),
      random: () => 7,
    },
  );
  await side.network.listen();
  open.push(side);
  return { side, address: { nodeId: identity.nodeId, host: HOST, port }, events };
}

const has = ({ events }: Member, kind: Event['kind']): boolean => events.some((event) => event.kind === kind);

async function formedPair(): Promise<[Member, Member]> {
  const ports = await freePorts(2);
  const expected = ports.map((port) => `${HOST}:${port}`);
  const [one, two] = (await Promise.all(ports.map((port) => start(port, expected)))) as [Member, Member];
  await until(() => has(one, 'formed') && has(two, 'formed'), 'both know their cluster');
  const peers = [one.address, two.address];
  for (const { side } of [one, two]) side.handle({ kind: 'peers', peers });
  await until(
    () => one.side.network.isUp(two.address.nodeId) && two.side.network.isUp(one.address.nodeId),
    'both are connected',
  );
  return [one, two];
}

describe('the other nodes', () => {
  test('found one cluster, and are known by their addresses', async () => {
    const [one, two] = await formedPair();
    expect(one.side.network.clusterId).not.toBeNull();
    expect(two.side.network.clusterId).toBe(one.side.network.clusterId);
    expect(one.side.network.addressOf(two.address.nodeId)).toBe(`${HOST}:${two.address.port}`);
    expect(one.side.network.addressOf(1)).toBeNull();
    expect([one.side.network.nameOf(two.address.nodeId), one.side.network.nameOf(1)]).toEqual([HOST, '1']);
    expect(one.side.peers).toEqual([two.address.nodeId]);
    expect(one.events).toContainEqual(
      expect.objectContaining({ kind: 'peer', node: two.address.nodeId, up: true }),
    );
  });

  test('answer calls, and those under way come back when their connection is gone', async () => {
    const [one, two] = await formedPair();
    const call = (id: number): void =>
      one.side.handle({ kind: 'call', to: two.address.nodeId, id, payload: Buffer.from('question') });
    call(7);
    await until(() => has(two, 'called'), 'the call comes');
    two.side.handle({ kind: 'return', to: one.address.nodeId, id: 7, payload: Buffer.from('answer') });
    const returned = (id: number): string | null | undefined =>
      one.events.flatMap((event) => {
        if (event.kind !== 'returned' || event.id !== id) return [];
        return [event.payload === null ? null : Buffer.from(event.payload).toString()];
      })[0];
    await until(() => returned(7) !== undefined, 'the answer comes');
    expect(returned(7)).toBe('answer');

    call(8);
    open.splice(open.indexOf(two.side), 1);
    await two.side.close();
    await until(() => returned(8) !== undefined, 'the call comes back');
    expect(returned(8)).toBeNull();
    await until(() => !one.side.network.isUp(two.address.nodeId), 'the other one is gone');
    expect(one.events).toContainEqual(
      expect.objectContaining({ kind: 'peer', node: two.address.nodeId, up: false }),
    );
  });

  test('nodes of another secret are strangers: no cluster comes of it', async () => {
    const ports = await freePorts(2);
    const expected = ports.map((port) => `${HOST}:${port}`);
    const [first = 0, second = 0] = ports;
    const one = await start(first, expected);
    const two = await start(second, expected, 'another secret');
    await until(() => one.events.some((event) => event.kind === 'log'), 'one tells of it');
    expect([has(one, 'formed'), has(two, 'formed')]).toEqual([false, false]);
  });
});
