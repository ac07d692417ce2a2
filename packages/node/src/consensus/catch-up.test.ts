/** A node comes back that lacks something of each of many groups: consensus sides and connections are real. */
import { LogStore, MemoryDisk } from '@althing/storage';
import { afterEach, expect, test } from '@jest/globals';
import { genesisOf, membershipOf, type RaftOptions } from 'raft-ts';
import { systemClock } from '../base/clock.js';
import { encodeMembership } from '../between/membership.js';
import type { Applied, Event } from '../between/protocol.js';
import { FrameKind } from '../peers/frames.js';
import { TestNode } from '../peers/testing.js';
import { until } from '../testing/until.js';
import { ConsensusSide } from './consensus-side.js';
import type { Network, NetworkEvents } from './network.js';

const GROUPS = 300;
/** Together more than the transport takes as one frame. */
const PAYLOAD = Buffer.alloc(300 * 1024, 'x');
const TICK_MS = 50;
/** Entries have the same contents, and hashing them takes a test most of its time. */
const RAFT: Partial<RaftOptions> = { electionTicks: 10, hashPayload: ({ length }) => length };

/** A node that leads, and one that only follows. */
const ORIGIN = originOf(membershipOf([1], [2]));

class Side {
  readonly consensus: ConsensusSide;
  /** The largest frame of Raft that left, in bytes, and how many were refused. */
  largest = 0;
  refused = 0;
  /** The most that waited to be sent, in bytes. */
  mostWaiting = 0;

  static async start(nodeId: number): Promise<Side> {
    const log = await LogStore.open(new MemoryDisk().attach(), { cacheBytes: 1024 });
    // The network says nothing before its side is there.
    let events: NetworkEvents | null = null;
    const changes: string[] = [];
    const node = await TestNode.start(nodeId, {
      onFrame: (from, kind, payload) => events?.frame(from, kind, payload),
      onLow: (to) => events?.low(to),
      onBroke: (to) => events?.broke(to),
      onPeer: (to, state) => {
        changes.push(`${state} ${to}`);
        events?.peer(to, state === 'up', '');
      },
    });
    return new Side(nodeId, node, changes, log, (told) => {
      events = told;
    });
  }

  private constructor(
    nodeId: number,
    readonly node: TestNode,
    /** `up 2`, `down 2`. */
    readonly changes: string[],
    log: LogStore,
    listen: (events: NetworkEvents) => void,
  ) {
    const settings = {
      nodeId,
      raft: RAFT,
      tickMs: TICK_MS,
      engineSilenceMs: 1000,
      logTail: 0,
      lowDiskBytes: 0,
      diskLookMs: 1000,
      balances: false,
    };
    this.consensus = new ConsensusSide(settings, {
      clock: systemClock,
      disk: { log, look: () => Promise.resolve() },
      line: { emit: (event) => this.take(event), silence: () => 0, noteRoot: () => {} },
      connect: (events) => {
        listen(events);
        return this.network();
      },
      random: () => 7,
    });
  }

  private network(): Network {
    const { transport } = this.node;
    return {
      send: (to, kind, payload, bulk) => {
        const sent = transport.send(to, kind, payload, bulk);
        if (!sent && transport.isUp(to)) this.refused += 1;
        if (kind === FrameKind.RAFT) this.largest = Math.max(this.largest, payload.length);
        this.mostWaiting = Math.max(this.mostWaiting, transport.waiting(to, 'all'));
        return sent;
      },
      waiting: (to, which) => transport.waiting(to, which),
      isUp: (other) => transport.isUp(other),
      isWell: (other) => transport.isWell(other),
      setMembers: (members, gone) => transport.setPeers(members, gone),
      invite: async () => ({ problem: 'nobody is invited' }),
      renewTls: () => {},
      close: () => this.node.close(),
    };
  }

  /** Takes what the engine side would be told. */
  private take(event: Event): void {
    if (event.kind === 'failed') throw new Error(event.failure.message);
    if (event.kind === 'log' && event.level === 'error') throw new Error(event.message);
    if (event.kind !== 'leading') return;
    const { group, epoch } = event;
    this.consensus.handle({ kind: 'propose', group, epoch, payloads: [PAYLOAD] });
  }

  openAll(): void {
    for (let group = 1; group <= GROUPS; group++) {
      this.consensus.handle({ kind: 'open', group, applied: ORIGIN, isNew: true, campaign: false });
    }
  }

  /** Groups in which the one proposal, which is behind an entry that says nothing, is committed here. */
  get committed(): number {
    const ids = Array.from({ length: GROUPS }, (_, i) => i + 1);
    return ids.filter((group) => (this.consensus.host.status(group)?.commitIndex ?? 0) >= ORIGIN.index + 2)
      .length;
  }

  close(): Promise<void> {
    return this.consensus.close();
  }
}

/** Tells each of them where both are. */
function introduce(...known: readonly Side[]): void {
  const peers = known.map(({ node }) => node.address);
  for (const { consensus } of known) consensus.handle({ kind: 'peers', peers });
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
  introduce(leader, follower);
  await until(() => follower.committed === GROUPS, 'the other node has everything', 60_000);

  expect(leader.refused).toBe(0);
  expect(leader.largest).toBeLessThan(1024 * 1024 + 2 * PAYLOAD.length);
  expect(leader.mostWaiting).toBeLessThan(8 * 1024 * 1024);
  // Whoever hears no heartbeat for long looks for another leader, and is a down node for the other.
  expect(leader.changes).toEqual(['up 2']);
  expect(follower.changes).toEqual(['up 1']);
});

function originOf(membership: ReturnType<typeof membershipOf>): Applied {
  const { snapshot } = genesisOf(membership, new Uint8Array(16));
  const { index, term, hash } = snapshot;
  return { index, term, hash, membership: encodeMembership(snapshot.membership) };
}
