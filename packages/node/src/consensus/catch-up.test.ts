/** A node comes back that lacks something of each of many groups: group hosts and connections are real. */
import { LogStore, MemoryDisk } from '@althing/storage';
import { afterEach, expect, test } from '@jest/globals';
import { genesisOf, membershipOf, type RaftOptions } from 'raft-ts';
import { encodeMembership } from '../between/membership.js';
import type { Applied } from '../between/protocol.js';
import { FrameKind } from '../peers/frames.js';
import { Links } from '../peers/links.js';
import { introduce, TestNode } from '../peers/testing.js';
import { until } from '../testing/until.js';
import { GroupHost } from './group-host.js';

const GROUPS = 300;
/** Together more than the transport takes as one frame. */
const PAYLOAD = Buffer.alloc(300 * 1024, 'x');
const TICK_MS = 50;
/** What is in the entries is the same, and hashing it takes a test most of its time. */
const RAFT: Partial<RaftOptions> = { electionTicks: 10, hashPayload: ({ length }) => length };

/** A node that leads, and one that only follows. */
const ORIGIN = originOf(membershipOf([1], [2]));

class Side {
  readonly node: TestNode;
  readonly host: GroupHost;
  /** The largest frame of Raft that left, in bytes, and how many were refused. */
  largest = 0;
  refused = 0;
  /** The most that waited to be sent, in bytes. */
  mostWaiting = 0;
  private readonly timer: NodeJS.Timeout;
  private readonly leading = new Set<number>();

  static async start(nodeId: number): Promise<Side> {
    const log = await LogStore.open(new MemoryDisk().attach(), { cacheBytes: 1024 });
    const links: { now: Links | null } = { now: null };
    const node = await TestNode.start(nodeId, {
      onFrame: (from, kind, payload) => links.now?.frame(from, kind, payload),
      onLow: (to) => links.now?.roomFor(to),
    });
    return new Side(nodeId, node, log, links);
  }

  private constructor(nodeId: number, node: TestNode, log: LogStore, own: { now: Links | null }) {
    this.node = node;
    const { transport } = node;
    const links = new Links({
      sender: {
        send: (to, kind, payload, bulk) => {
          const sent = transport.send(to, kind, payload, bulk);
          if (!sent && transport.isUp(to)) this.refused += 1;
          if (kind === FrameKind.RAFT) this.largest = Math.max(this.largest, payload.length);
          this.mostWaiting = Math.max(this.mostWaiting, transport.waiting(to, 'all'));
          return sent;
        },
        waiting: (to, which) => transport.waiting(to, which),
      },
      emit: () => {},
      receive: (group, message) => this.host.receive(group, message),
      unsent: (group, to) => this.host.unsent(group, to),
      room: (group, to) => this.host.roomFor(group, to),
      malformed: (_, problem) => {
        throw new Error(problem);
      },
    });
    own.now = links;
    this.host = new GroupHost({
      nodeId,
      log,
      raft: RAFT,
      random: () => 7,
      emit: (event) => {
        if (event.kind === 'failed') throw new Error(event.failure.message);
        if (event.kind !== 'leading') return;
        this.leading.add(event.group);
        const { group, epoch } = event;
        this.host.handle({ kind: 'propose', group, epoch, payloads: [PAYLOAD] });
      },
      transmit: (group, messages) => links.transmit(group, messages),
      hasRoom: (group, to) => links.hasRoom(group, to),
      isUp: (other) => transport.isUp(other),
      logTail: 0,
      lowDiskBytes: 0,
    });
    this.timer = setInterval(() => this.host.tick(), TICK_MS);
  }

  openAll(): void {
    for (let group = 1; group <= GROUPS; group++) {
      this.host.handle({ kind: 'open', group, applied: ORIGIN, isNew: true, campaign: false });
    }
  }

  /** Groups in which the one proposal, which is behind an entry that says nothing, is committed here. */
  get committed(): number {
    const ids = Array.from({ length: GROUPS }, (_, i) => i + 1);
    return ids.filter((group) => (this.host.status(group)?.commitIndex ?? 0) >= ORIGIN.index + 2).length;
  }

  close(): Promise<void> {
    clearInterval(this.timer);
    return this.node.close();
  }
}

const sides: Side[] = [];
afterEach(async () => {
  for (const side of sides.splice(0)) await side.close();
});

test('gets it in frames that are not too large, a little at a time, and hears heartbeats meanwhile', async () => {
  const leader = await Side.start(1);
  sides.push(leader);
  leader.openAll();
  await until(() => leader.committed === GROUPS, 'everything is written');

  const follower = await Side.start(2);
  sides.push(follower);
  follower.openAll();
  introduce(leader.node, follower.node);
  await until(() => follower.committed === GROUPS, 'the other node has everything', 60_000);

  expect(leader.refused).toBe(0);
  expect(leader.largest).toBeLessThan(1024 * 1024 + 2 * PAYLOAD.length);
  expect(leader.mostWaiting).toBeLessThan(8 * 1024 * 1024);
  // Whoever hears no heartbeat for long looks for another leader, and is a down node for the other.
  expect(leader.node.changes).toEqual(['up 2']);
  expect(follower.node.changes).toEqual(['up 1']);
}, 90_000);

function originOf(membership: ReturnType<typeof membershipOf>): Applied {
  const { snapshot } = genesisOf(membership, new Uint8Array(16));
  const { index, term, hash } = snapshot;
  return { index, term, hash, membership: encodeMembership(snapshot.membership) };
}
