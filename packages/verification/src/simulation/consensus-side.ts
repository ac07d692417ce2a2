/** The consensus thread of a simulated process: that of a real one, on a simulated clock, disk and network. */

import {
  ConsensusSide,
  type Event,
  type EventSender,
  type GroupId,
  joinedClock,
  logChainHash,
} from '@althing/node/parts';
import type { LogStore, LogView } from '@althing/storage';
import type { Message, TraceEvent } from 'raft-ts';
import { Connections, type ConnectionsOptions } from './connections.js';
import type { Machine } from './machine.js';
import type { Planted } from './mutants.js';
import type { Draw } from './random.js';
import type { Swarm } from './swarm.js';
import type { Thread } from './thread.js';
import { Violation } from './watcher.js';

export interface SimulatedConsensusOptions
  extends Pick<
    ConnectionsOptions,
    'now' | 'send' | 'nodes' | 'heard' | 'invite' | 'onReached' | 'onFailure'
  > {
  readonly machine: Machine;
  readonly thread: Thread;
  readonly swarm: Swarm;
  readonly draw: Draw;
  readonly planted: Planted;
  readonly emit: (event: Event) => void;
  /** It is told when a write of the log begins, and when one is done. */
  readonly line: Pick<EventSender, 'writing' | 'written'>;
  /** The time for which the engine thread has done nothing, in milliseconds. */
  readonly engineSilence: () => number;
  /** Called when the core of a group begins, with what is on the disk. */
  readonly onBegin: (group: GroupId) => void;
  readonly onTrace: (group: GroupId, event: TraceEvent) => void;
  readonly onTransmit: (group: GroupId, messages: readonly Message[]) => void;
}

export interface SimulatedConsensus {
  readonly side: ConsensusSide<Connections>;
  readonly log: LogStore;
}

/** Time between two looks at the room on the disk, in milliseconds. */
const DISK_LOOK_MS = 300;

export async function openConsensus(options: SimulatedConsensusOptions): Promise<SimulatedConsensus> {
  const { machine, swarm, planted, now, thread, draw, emit, engineSilence } = options;
  const log = await planted.storage.LogStore.open(machine.logDisk.attach(), {
    segmentBytes: swarm.segmentBytes,
    cacheBytes: swarm.logCacheBytes,
    storeId: machine.logId,
    chainHash: logChainHash,
  });
  checkDurable(machine, log);
  let isCalm = (): boolean => false;
  // The clock of a real node's consensus thread, on the simulated one.
  const clock = joinedClock(
    { now, after: (ms, work) => thread.after(ms, work), every: (ms, work) => thread.every(ms, work) },
    { isCalm: () => isCalm(), ms: 2 * swarm.tickMs },
  );
  const lease = { clock_ms: now, tick_ms: swarm.tickMs };
  const side = new ConsensusSide(
    {
      nodeId: machine.nodeId,
      raft: { ...swarm.raft, electionTicks: swarm.electionTicks },
      tickMs: swarm.tickMs,
      engineSilenceMs: swarm.engineSilenceMs,
      logTail: swarm.logTail,
      lowDiskBytes: 1,
      diskLookMs: DISK_LOOK_MS,
      linkSizes: planted.node.has('frames_not_cut')
        ? { ...swarm.link, frameBytes: Number.POSITIVE_INFINITY }
        : swarm.link,
      balances: swarm.balances,
    },
    {
      clock,
      wake: clock.wake,
      disk: { log, look: async (note) => note(machine.logRoom) },
      line: {
        emit,
        writing: () => options.line.writing(),
        written: (more) => options.line.written(more),
        silence: engineSilence,
        noteRoot: () => {},
      },
      connect: (events) =>
        new Connections(
          {
            ...options,
            nodeId: machine.nodeId,
            quality: swarm.link,
            lookMs: swarm.tickMs,
            silenceMs: swarm.tickMs * swarm.electionTicks,
          },
          events,
        ),
      random: () => draw.bits(),
      onlooker: {
        observe: (group) => {
          options.onBegin(group);
          return {
            nodeClass: planted.raft,
            trace: (event) => options.onTrace(group, event),
            ...(swarm.lease ? { lease } : {}),
          };
        },
        transmitting: options.onTransmit,
        held: () => options.onReached('entries are held back for want of room'),
      },
    },
  );
  isCalm = () => {
    if (side.isCalm) options.onReached('a consensus side rests between ticks');
    return side.isCalm;
  };
  return { side, log };
}

/** A disk that lied has lost a vote. No node can notice that, so it is no part of what is tried here. */
export class LostVoteError extends Error {}

/** The newest term that a log knows, and the vote there. */
export function voteIn(view: LogView | undefined): string {
  const { term = 0, vote = 0 } = view?.hardState ?? {};
  return `${vote} in ${term}`;
}

/**
 * Checks that all that was durable when the last process ended is there, or the log refuses to be opened. Where a disk lied, entries may
 * be gone.
 */
function checkDurable({ name, durable, hasLied }: Machine, log: LogStore): void {
  for (const [group, { index, term, vote }] of durable) {
    const { lastIndex } = log.view(group);
    if (hasLied) {
      if (voteIn(log.view(group)) !== vote)
        throw new LostVoteError(`${name} has lost a vote in group ${group}`);
      continue;
    }
    const lastTerm = log.view(group).term(lastIndex) ?? 0;
    if (lastTerm > term || (lastTerm === term && lastIndex >= index)) continue;
    throw new Violation('I5', `${name} had ${index} entries of group ${group}, and has ${lastIndex}`);
  }
}
