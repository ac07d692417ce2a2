import { LogStore, MemoryDisk } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { genesis } from '../between/membership.js';
import { type Event, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { GroupHost } from './group-host.js';

const ELECTION_TICKS = 10;
const GROUPS = [ROOT_GROUP, 5, 6];
const IDS = [1, 2, 3];

/** Three hosts, each with the same groups, whose messages arrive at those that are up. */
class Trio {
  readonly hosts = new Map<NodeId, GroupHost>();
  readonly down = new Set<NodeId>();
  /** Messages that were sent since the last look. */
  sent = 0;
  private readonly disks = new Map<NodeId, MemoryDisk>();
  private readonly events = new Map<NodeId, Event[]>();

  async start(): Promise<this> {
    for (const id of IDS) await this.startNode(id);
    await this.ticks(6 * ELECTION_TICKS);
    return this;
  }

  async startNode(nodeId: NodeId): Promise<void> {
    const isNew = !this.disks.has(nodeId);
    const disk = this.disks.get(nodeId) ?? new MemoryDisk();
    this.disks.set(nodeId, disk);
    const events: Event[] = [];
    this.events.set(nodeId, events);
    const host = new GroupHost({
      nodeId,
      log: await LogStore.open(disk.attach(), { segmentBytes: 64 * 1024 }),
      raft: { electionTicks: ELECTION_TICKS },
      random: () => nodeId * 7,
      emit: (event) => events.push(event),
      answer: () => undefined,
      transmit: (group, messages) => {
        for (const message of messages) {
          this.sent += 1;
          queueMicrotask(() => {
            const isLost = this.down.has(nodeId) || this.down.has(message.to);
            if (!isLost) this.hosts.get(message.to)?.receive(group, message);
          });
        }
      },
      isUp: (node) => !this.down.has(node),
      logTail: 0,
      lowDiskBytes: 0,
    });
    this.hosts.set(nodeId, host);
    for (const group of GROUPS) {
      const applied = genesis(IDS, Uint8Array.of(group));
      host.handle({ kind: 'open', group, applied, isNew, campaign: false });
    }
  }

  async ticks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) {
      for (const [id, host] of this.hosts) if (!this.down.has(id)) host.tick();
      for (let i = 0; i < 100; i++) await Promise.resolve();
      this.apply();
    }
  }

  /** Committed entries of every node become its state at once. */
  private apply(): void {
    for (const [id, events] of this.events) {
      for (const event of events.splice(0)) {
        if (event.kind !== 'entries') continue;
        this.hosts.get(id)?.handle({ kind: 'applied', group: event.group, index: event.last.index });
      }
    }
  }

  /** A node dies; the others find out. */
  kill(node: NodeId): void {
    this.down.add(node);
    for (const [id, host] of this.hosts) if (!this.down.has(id)) host.peerDown(node);
  }

  host(node: NodeId): GroupHost {
    const host = this.hosts.get(node);
    if (host === undefined) throw new Error(`there is no node ${node}`);
    return host;
  }

  /** The node that leads all groups, and the two others. */
  get order(): readonly [NodeId, NodeId, NodeId] {
    const leader = IDS.find((node) => this.leads(node) === GROUPS.length) ?? 0;
    const [second = 0, third = 0] = IDS.filter((node) => node !== leader);
    return [leader, second, third];
  }

  /** The number of messages that a while costs. */
  async messagesOf(ticks: number): Promise<number> {
    this.sent = 0;
    await this.ticks(ticks);
    return this.sent;
  }

  leads(node: NodeId): number {
    return GROUPS.filter((group) => this.host(node).status(group)?.role === 'leader').length;
  }
}

describe('idle groups', () => {
  test('sleep, and sleep on when a follower dies: nothing is sent, and nobody wakes', async () => {
    const trio = await new Trio().start();
    const [leader, other, dead] = trio.order;
    expect(IDS.map((node) => trio.host(node).isCalm)).toEqual([true, true, true]);

    trio.kill(dead);
    expect(await trio.messagesOf(5 * ELECTION_TICKS)).toBe(0);
    expect([trio.leads(leader), trio.host(leader).isCalm, trio.host(other).isCalm]).toEqual([
      GROUPS.length,
      true,
      true,
    ]);
  });

  test('elect another leader when theirs dies, and then sleep beside it', async () => {
    const trio = await new Trio().start();
    const [dead, second, third] = trio.order;

    trio.kill(dead);
    await trio.ticks(6 * ELECTION_TICKS);
    expect(trio.leads(second) + trio.leads(third)).toBe(GROUPS.length);
    expect(await trio.messagesOf(5 * ELECTION_TICKS)).toBe(0);
    expect([trio.host(second).isCalm, trio.host(third).isCalm]).toEqual([true, true]);
  });

  test('wake for a node that is back without an election, and sleep again when it has everything', async () => {
    const trio = await new Trio().start();
    const [leader, , dead] = trio.order;
    trio.kill(dead);
    await trio.ticks(2 * ELECTION_TICKS);
    const terms = GROUPS.map((group) => trio.host(leader).status(group)?.term);

    await trio.startNode(dead);
    trio.down.delete(dead);
    await trio.ticks(2);
    expect(GROUPS.map((group) => trio.host(dead).status(group)?.leader)).toEqual([leader, leader, leader]);
    await trio.ticks(2 * ELECTION_TICKS);
    expect(GROUPS.map((group) => trio.host(dead).status(group)?.term)).toEqual(terms);
    expect(IDS.map((node) => trio.host(node).isCalm)).toEqual([true, true, true]);
  });

  test('wake when no majority is left, so that nobody leads them', async () => {
    const trio = await new Trio().start();
    const [leader, second, third] = trio.order;

    trio.kill(second);
    expect(trio.leads(leader)).toBe(GROUPS.length);
    trio.kill(third);
    await trio.ticks(2 * ELECTION_TICKS);
    expect(trio.leads(leader)).toBe(0);
  });
});
