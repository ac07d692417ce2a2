import { describe, expect, test } from '@jest/globals';
import type { Append, Message } from 'raft-ts';
import { type RaftFrame, RaftFrames, readRaftFrame } from './frames.js';

const SIZES = { frameBytes: 1000, bulkBytes: 500 };

describe('frames of Raft', () => {
  test('hold messages of several groups, in order', () => {
    const frames = new RaftFrames(SIZES, () => false);
    frames.add(3, [beat(2), append(2, 1, 10)]);
    frames.add(4, [beat(2)]);
    frames.add(3, [beat(2)]);
    expect(taken(frames)).toEqual(['2: 3 heartbeat, 3 append 1, 4 heartbeat, 3 heartbeat']);
    expect(taken(frames)).toEqual([]);
    expect(frames.bytesFor(2)).toBe(0);
  });

  test('are closed once they are large enough, and no message is cut', () => {
    const frames = new RaftFrames({ ...SIZES, bulkBytes: 10_000 }, () => false);
    frames.add(3, [append(2, 1, 600), append(2, 2, 600), append(2, 3, 5000), append(2, 4, 10)]);
    expect(frames.bytesFor(2)).toBeGreaterThan(6000);
    expect(taken(frames)).toEqual(['2: 3 append 1, 3 append 2', '2: 3 append 3', '2: 3 append 4']);
  });

  test('frames with large appends yield to others, which later appends of their group do not pass', () => {
    let isWaiting = false;
    const frames = new RaftFrames(SIZES, () => isWaiting);
    frames.add(3, [append(2, 1, 600), append(2, 2, 10), beat(2)]);
    frames.add(4, [append(2, 1, 10)]);
    expect(taken(frames)).toEqual(['2: 3 heartbeat, 4 append 1', '2 bulk: 3 append 1, 3 append 2']);
    isWaiting = true;
    frames.add(3, [append(2, 3, 10)]);
    expect(taken(frames)).toEqual(['2 bulk: 3 append 3']);
    isWaiting = false;
    frames.add(3, [append(2, 4, 10)]);
    expect(taken(frames)).toEqual(['2: 3 append 4']);
  });

  test('leave large appends out that come again while they wait, again and again', () => {
    let isWaiting = false;
    const frames = new RaftFrames(SIZES, () => isWaiting);
    /** The number of times the same append comes until it is sent. */
    const untilSent = (): number => {
      for (let times = 1; times < 100; times++) {
        frames.add(3, [append(2, 1, 600)]);
        if (taken(frames).length > 0) return times;
      }
      return 100;
    };
    expect(untilSent()).toBe(1);
    expect(untilSent()).toBe(1);
    isWaiting = true;
    expect(Array.from({ length: 5 }, untilSent)).toEqual([8, 16, 32, 64, 64]);
    frames.refused(2, 3);
    expect(untilSent()).toBe(1);
    frames.add(4, [append(2, 1, 600)]);
    frames.add(3, [append(2, 2, 600)]);
    expect(taken(frames)).toEqual(['2 bulk: 4 append 1, 3 append 2']);
    expect(untilSent()).toBe(1);
    expect(untilSent()).toBe(8);
    frames.forget(2);
    expect(untilSent()).toBe(1);
  });

  test('tell of which groups they hold entries', () => {
    const frames = new RaftFrames(SIZES, () => false);
    frames.add(3, [beat(2), append(2, 1, 10)]);
    frames.add(4, [beat(2)]);
    const all: RaftFrame[] = [];
    frames.take((frame) => all.push(frame));
    expect(all.map(({ entriesOf }) => entriesOf)).toEqual([[3]]);
  });
});

function beat(to: number): Message {
  return { kind: 'heartbeat', from: 1, to, term: 1, commit: 0, round: 0 };
}

function append(to: number, index: number, bytes: number): Append {
  const entry = { index, term: 1, kind: 'normal', payload: new Uint8Array(bytes), hash: 0 } as const;
  const place = { prevIndex: index - 1, prevTerm: 1, prevHash: 0 };
  return { kind: 'append', from: 1, to, term: 1, ...place, commit: 0, entries: [entry], notice: false };
}

/** Frames as texts; each message is the one that was put in. */
function taken(frames: RaftFrames): string[] {
  const texts: string[] = [];
  frames.take(({ to, bytes, isBulk }) => {
    const messages: string[] = [];
    readRaftFrame(bytes, (group, message) => {
      const index = message.kind === 'append' ? ` ${message.entries[0]?.index}` : '';
      messages.push(`${group} ${message.kind}${index}`);
    });
    texts.push(`${to}${isBulk ? ' bulk' : ''}: ${messages.join(', ')}`);
  });
  return texts;
}
