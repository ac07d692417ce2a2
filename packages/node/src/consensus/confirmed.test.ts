import { LogStore, MemoryDisk } from '@althing/storage';
import { expect, test } from '@jest/globals';
import type { Message } from 'raft-ts';
import { genesis } from '../between/membership.js';
import { type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { GroupHost } from './group-host.js';

const ELECTION_TICKS = 10;

/** Node 1 of three that can be reached as long as they are `up`; they agree with everything. */
class Trio {
  readonly up = new Set<NodeId>([2, 3]);
  private host!: GroupHost;
  private sent: Message[] = [];

  static async open(): Promise<Trio> {
    const trio = new Trio();
    const log = await LogStore.open(new MemoryDisk().attach(), { segmentBytes: 64 * 1024 });
    trio.host = new GroupHost({
      nodeId: 1,
      log,
      raft: { electionTicks: ELECTION_TICKS },
      random: () => 7,
      emit: () => {},
      answer: () => undefined,
      transmit: (_group, messages) => trio.sent.push(...messages),
      isUp: (node) => trio.up.has(node),
      logTail: 0,
      lowDiskBytes: 0,
    });
    const applied = genesis([1, 2, 3], new Uint8Array(16));
    trio.host.handle({ kind: 'open', group: ROOT_GROUP, applied, isNew: true, campaign: true });
    return trio;
  }

  get isConfirmed(): boolean {
    return this.host.isConfirmed(ROOT_GROUP);
  }

  /** Lets nodes answer for some ticks; the silent ones get nothing. */
  async pass(ticks: number, answering: readonly NodeId[]): Promise<void> {
    for (let tick = 0; tick < ticks; tick++) {
      this.host.tick();
      for (let turn = 0; turn < 20; turn++) {
        await new Promise(setImmediate);
        for (const message of this.sent.splice(0)) {
          const answer = answering.includes(message.to) ? answerTo(message) : null;
          if (answer !== null) this.host.receive(ROOT_GROUP, answer);
        }
      }
    }
  }
}

function answerTo(message: Message): Message | null {
  const { from: to, to: from, term } = message;
  const envelope = { from, to, term };
  switch (message.kind) {
    case 'preVote':
      return {
        ...envelope,
        kind: 'preVoteResponse',
        attempt: message.attempt,
        granted: true,
        commit: 0,
        commitTerm: 0,
      };
    case 'vote':
      return { ...envelope, kind: 'voteResponse', granted: true, commit: 0, commitTerm: 0 };
    case 'append': {
      const index = message.prevIndex + message.entries.length;
      return {
        ...envelope,
        kind: 'appendResponse',
        index,
        rejected: false,
        hintIndex: 0,
        hintTerm: 0,
        recovering: false,
      };
    }
    case 'heartbeat':
      return { ...envelope, kind: 'heartbeatResponse', round: message.round };
    default:
      return null;
  }
}

test('a leader is confirmed while a majority is heard of, and can be reached', async () => {
  const trio = await Trio.open();
  expect(trio.isConfirmed).toBe(false);
  await trio.pass(5, [2, 3]);
  expect(trio.isConfirmed).toBe(true);
  trio.up.delete(3);
  expect(trio.isConfirmed).toBe(true);
  trio.up.delete(2);
  expect(trio.isConfirmed).toBe(false);
});

test('connections alone confirm nobody', async () => {
  const trio = await Trio.open();
  // The third one never has everything, so the group does not fall silent.
  await trio.pass(5, [2]);
  expect(trio.isConfirmed).toBe(true);
  await trio.pass(2 * ELECTION_TICKS, []);
  expect(trio.isConfirmed).toBe(false);
});
