import { LINK_SIZES } from '@althing/node/parts';
import type { RaftOptions } from 'raft-ts';
import type { DiskQuality } from './machine.js';
import type { FaultKind } from './nemesis.js';
import type { NetworkQuality } from './network.js';
import { Draw } from './random.js';
import type { LinkQuality } from './sending-line.js';

/** Everything that differs from seed to seed: sizes, speeds, and how bad the world is. */
export interface Swarm {
  readonly nodes: number;
  readonly tickMs: number;
  readonly electionTicks: number;
  readonly raft: Partial<RaftOptions>;
  readonly logTail: number;
  readonly segmentBytes: number;
  readonly logCacheBytes: number;
  readonly checkpointMs: number;
  readonly checkpointBytes: number;
  /** Time that the encoding of a thing for a checkpoint takes, in milliseconds. */
  readonly thingMs: number;
  readonly chunkBytes: number;
  readonly slabBytes: number;
  readonly smallCache: boolean;
  readonly collectsGarbage: boolean;
  /** Mean time of a message between the two threads, in milliseconds. */
  readonly threadMs: number;
  /** Silence of the engine thread after which a node gives its leaderships away. */
  readonly engineSilenceMs: number;
  /** True if nodes that lead many groups give some away. */
  readonly balances: boolean;
  /** Time that a node must be gone before another one takes its place. */
  readonly replaceAfterMs: number;
  readonly stateCheckIntervalMs: number;
  /** Time that a request may take, in milliseconds. */
  readonly waitMs: number;
  readonly disk: DiskQuality;
  readonly network: NetworkQuality;
  readonly link: LinkQuality;
  /** True if leaders answer reads by a lease, which real nodes do not. */
  readonly lease: boolean;
  readonly clients: number;
  /** True if a user comes and goes who is let in and locked out. */
  readonly guests: boolean;
  /** True if sessions are begun, renewed and ended. */
  readonly sessions: boolean;
  /** Mean time between two operations of a client. */
  readonly clientMs: number;
  /** Clients of the native protocol, and the mean time between two things that one does. */
  readonly sockets: number;
  readonly socketMs: number;
  /** Mean time of a piece on its way to or from them, in milliseconds. */
  readonly socketDelayMs: number;
  /** Bytes that are sent to one that does not read, and those that wait then before its session is ended. */
  readonly socketWindowBytes: number;
  readonly unsentEventsMax: number;
  /** The length of the time of faults. */
  readonly faultsMs: number;
  /** Mean time between two faults. */
  readonly faultMs: number;
  readonly faults: readonly (readonly [FaultKind, number])[];
}

export function drawSwarm(seed: number): Swarm {
  const draw = new Draw(seed, 'swarm');
  const linkDraw = new Draw(seed, 'swarm link');
  const socketDraw = new Draw(seed, 'swarm sockets');
  const pick = <Value>(...values: Value[]): Value => draw.pick(values);
  const few = pick(1, 3, 3, 3, 3, 3, 3, 3, 2, 4, 5, 5);
  // More than may vote.
  const nodes = new Draw(seed, 'many').chance(0.05) ? 8 + (seed % 2) : few;
  const lease = draw.chance(0.1);
  // Apart, so that the rest of a run is what it was before there were limits.
  const pickLink = <Value>(...values: Value[]): Value => linkDraw.pick(values);
  const rare = (weight: number): number => (draw.chance(0.4) ? 0 : weight);
  return {
    nodes,
    tickMs: pick(50, 100),
    electionTicks: pick(5, 10),
    raft: {
      preVote: draw.chance(0.85),
      checkQuorum: lease || draw.chance(0.85),
      maxMessageBytes: pick(1, 300, 100_000),
      maxMessageEntries: pick(1, 4, 1000),
      maxInflightMessages: pick(1, 4, 100),
      maxApplyBytes: pick(1, 500, 1_000_000),
      maxTailBytes: pick(1, 1_000_000),
      maxWritesInFlight: pick(1, 2, 4),
      diskStallTicks: pick(0, 10, 30),
      maxPendingEntries: pick(8, 1000, 1000),
    },
    logTail: pick(0, 0, 3, 20, 1000),
    segmentBytes: pick(8 * 1024, 32 * 1024, 128 * 1024),
    logCacheBytes: pick(1000, 1_000_000),
    checkpointMs: pick(30, 200, 1000, 5000),
    checkpointBytes: pick(300, 5000, 1_000_000),
    thingMs: new Draw(seed, 'encoding').pick([0, 0.1, 0.5, 1.5]),
    chunkBytes: pick(1024, 1024, 64 * 1024),
    slabBytes: pick(1024, 512 * 1024),
    smallCache: draw.chance(0.5),
    collectsGarbage: draw.chance(0.5),
    threadMs: pick(0.05, 0.05, 0.05, 1, 1, 10, 10, 60),
    engineSilenceMs: pick(500, 3000),
    balances: draw.chance(0.5),
    replaceAfterMs: pick(300, 2000),
    waitMs: pick(500, 3000),
    disk: { meanMs: pick(0.2, 1, 5), slowPerMille: pick(0, 0, 20), slowMs: pick(50, 400) },
    network: {
      delayMs: pick(0.3, 2, 15),
      lostPerMille: pick(0, 0, 0, 20, 100),
      doubledPerMille: pick(0, 0, 50),
      reorders: draw.chance(0.3),
    },
    link: {
      frameBytes: pickLink(300, 3000, LINK_SIZES.frameBytes),
      bulkBytes: pickLink(150, 1000, LINK_SIZES.bulkBytes),
      roomBytes: pickLink(400, 10_000, LINK_SIZES.roomBytes),
      bytesPerMs: pickLink(50, 1000, 1_000_000),
    },
    lease,
    clients: pick(2, 4, 6, 10),
    clientMs: pick(3, 10, 40, 100),
    sockets: socketDraw.pick([1, 2, 2, 3]),
    socketMs: socketDraw.pick([20, 60, 150]),
    socketDelayMs: socketDraw.pick([0.3, 2, 15]),
    socketWindowBytes: socketDraw.pick([100, 2000, 64 * 1024]),
    unsentEventsMax: socketDraw.pick([200, 3000, 4 * 1024 * 1024]),
    faultsMs: pick(2000, 4000, 8000),
    faultMs: pick(150, 400, 1000),
    faults: [
      ['crash', rare(4)],
      ['kill', rare(4)],
      ['crash_all', rare(0.5)],
      ['crash_leader', rare(4)],
      ['pause', rare(3)],
      ['pause_leader', rare(3)],
      ['pause_engine', rare(1)],
      ['isolate', rare(3)],
      ['isolate_leader', rare(3)],
      ['halves', rare(2)],
      ['one_way', rare(2)],
      ['ring', rare(1)],
      ['heal', 6],
      ['slow_disk', rare(1)],
      ['clock', rare(1)],
      ['transfer', rare(2)],
      ['wipe', draw.chance(0.7) ? 0 : 2],
      ['grow', draw.chance(0.7) ? 0 : 1],
      ['remove', draw.chance(0.7) ? 0 : 1],
      ['oust', nodes < 3 || draw.chance(0.8) ? 0 : 1],
      ['last_of_two', nodes !== 2 ? 0 : 2],
      ['shrink', nodes < 5 || draw.chance(0.5) ? 0 : 2],
      ['disk_full', draw.chance(0.7) ? 0 : 2],
      // A node that is alone has nobody who could go on in its place.
      ['state_full', draw.chance(nodes === 1 ? 0.3 : 0.7) ? 0 : 3],
      ['log_full', draw.chance(nodes === 1 ? 0.3 : 0.7) ? 0 : 3],
      ['damage', draw.chance(0.8) ? 0 : 4],
      ['churn', draw.chance(0.8) ? 0 : 3],
      ['cut_short', draw.chance(0.8) ? 0 : 4],
      ['young_leaders', draw.chance(0.8) ? 0 : 4],
      ['burdened_leaders', draw.chance(0.8) ? 0 : 4],
      ['figure_8', nodes < 3 || draw.chance(0.8) ? 0 : 10],
      ['late_answers', nodes < 3 || draw.chance(lease ? 0.2 : 0.8) ? 0 : 10],
      ['lull', nodes < 3 || draw.chance(0.8) ? 0 : 10],
      ['late_commands', nodes < 3 || draw.chance(0.8) ? 0 : 10],
      ['oversleep', nodes < 3 || draw.chance(lease ? 0.1 : 0.8) ? 0 : 10],
      ['come_back', nodes < 3 || draw.chance(0.8) ? 0 : 10],
      ['full_leader', nodes < 2 || draw.chance(0.7) ? 0 : 10],
      // Drawn apart, as what came before it is.
      ['lie', nodes < 3 || new Draw(seed, 'lies').chance(0.75) ? 0 : 4],
      ['drain', new Draw(seed, 'drains').chance(0.7) ? 0 : 4],
    ],
    guests: draw.chance(0.3),
    sessions: new Draw(seed, 'sessions').chance(0.5),
    stateCheckIntervalMs: pick(0, 200, 1000, 4000),
  };
}
