import { describe, expect, test } from '@jest/globals';
import type { Message } from 'raft-ts';
import type { Event } from '../between/protocol.js';
import { encodeNumbered, FrameKind } from './frames.js';
import { Links } from './links.js';

const SIZES = { frameBytes: 1000, bulkBytes: 500, roomBytes: 2000 };

/** The links of one node; what they send arrives at the links of others at once. */
class Bench {
  readonly links: Links;
  /** Messages, in short. */
  readonly told: string[] = [];
  readonly frames: { readonly to: number; readonly kind: number; readonly bulk: boolean }[] = [];
  readonly others = new Map<number, Bench>();
  waiting = 0;
  now = 0;

  constructor(private readonly id: number) {
    this.links = new Links({
      sender: {
        send: (to, kind, payload, bulk = false) => {
          const other = this.others.get(to);
          if (other === undefined) return false;
          this.frames.push({ to, kind, bulk });
          const bytes = payload instanceof Uint8Array ? payload : Buffer.concat(payload);
          other.links.frame(this.id, kind, bytes);
          return true;
        },
        waiting: (_to, which) => (which === 'all' ? this.waiting : 0),
      },
      sizes: SIZES,
      now: () => this.now,
      emit: (event) => this.told.push(brief(event)),
      receive: (group, { kind, from }) => this.told.push(`${group} ${kind} from ${from}`),
      unsent: (group, to) => this.told.push(`${group} unsent to ${to}`),
      room: (group, to) => this.told.push(`${group} has room for ${to}`),
      malformed: (from, problem) => this.told.push(`malformed from ${from}: ${problem}`),
    });
  }

  take(): string[] {
    return this.told.splice(0);
  }
}

function brief(event: Event): string {
  if (event.kind === 'called') return `called ${event.id} by ${event.from}: ${Buffer.from(event.payload)}`;
  if (event.kind !== 'returned') return event.kind;
  return `returned ${event.id}: ${event.payload === null ? 'nothing' : Buffer.from(event.payload)}`;
}

function pair(): [Bench, Bench] {
  const [one, two] = [new Bench(1), new Bench(2)];
  one.others.set(2, two);
  two.others.set(1, one);
  return [one, two];
}

const beat = (to: number, from = 1): Message => ({
  kind: 'heartbeat',
  from,
  to,
  term: 1,
  commit: 0,
  round: 0,
});

function append(to: number, bytes: number): Message {
  const entry = { index: 1, term: 1, kind: 'normal', payload: new Uint8Array(bytes), hash: 0 } as const;
  const place = { prevIndex: 0, prevTerm: 0, prevHash: 0 };
  return { kind: 'append', from: 1, to, term: 1, ...place, commit: 0, entries: [entry], notice: false };
}

describe('messages of groups', () => {
  test('messages of one callback travel in one frame', async () => {
    const [one, two] = pair();
    one.links.transmit(3, [beat(2)]);
    one.links.transmit(4, [beat(2), append(2, 10)]);
    expect(one.frames).toEqual([]);
    await Promise.resolve();
    expect(one.frames).toHaveLength(1);
    expect(two.take()).toEqual(['3 heartbeat from 1', '4 heartbeat from 1', '4 append from 1']);
    one.links.transmit(3, [beat(2)]);
    await Promise.resolve();
    expect(two.take()).toEqual(['3 heartbeat from 1']);
  });

  test('messages that could not be sent are told for each group with entries', async () => {
    const one = new Bench(1);
    one.links.transmit(3, [beat(2), append(2, 10)]);
    one.links.transmit(4, [beat(2)]);
    await Promise.resolve();
    expect(one.take()).toEqual(['3 unsent to 2']);
  });

  test('large ones yield to others', async () => {
    const [one] = pair();
    one.links.transmit(3, [append(2, 600), beat(2)]);
    await Promise.resolve();
    expect(one.frames.map(({ bulk }) => bulk)).toEqual([false, true]);
  });

  test('messages in the name of another node are not taken', async () => {
    const [one, two] = pair();
    one.links.transmit(3, [beat(2, 7)]);
    await Promise.resolve();
    expect(two.take()).toEqual(['malformed from 1: a message in the name of another node']);
  });

  test.each([
    ['a cut frame', FrameKind.RAFT, '0301'],
    ['a frame of no message', FrameKind.RAFT, '0301ff'],
    ['an empty call', FrameKind.CALL, ''],
    ['a call that is cut, behind none', FrameKind.CALLS, '010501'],
    ['answers without their numbers', FrameKind.RETURNS, 'ffff'],
    ['a kind that nobody knows', 99, ''],
  ])('%s is told, and does no harm', (_what, kind, bytes) => {
    const bench = new Bench(1);
    bench.links.frame(2, kind, Buffer.from(bytes, 'hex'));
    expect(bench.take()).toEqual([expect.stringMatching(/^malformed from 2: /)]);
  });
});

describe('room for entries', () => {
  test('ends with what waits, and comes back for the groups that were held, in their order', () => {
    const [one] = pair();
    expect(one.links.hasRoom(3, 2)).toBe(true);
    one.waiting = SIZES.roomBytes;
    for (const group of [5, 3, 5, 4]) expect(one.links.hasRoom(group, 2)).toBe(false);
    one.waiting = 0;
    one.links.roomFor(2);
    expect(one.take()).toEqual(['5 has room for 2', '3 has room for 2', '4 has room for 2']);
    one.links.roomFor(2);
    expect(one.take()).toEqual([]);
  });

  test('counts what is collected and not sent yet', () => {
    const [one] = pair();
    one.links.transmit(3, [append(2, SIZES.roomBytes)]);
    expect([one.links.hasRoom(3, 2), one.links.hasRoom(3, 9)]).toEqual([false, true]);
  });

  test('is asked for anew after a connection broke', () => {
    const [one] = pair();
    one.waiting = SIZES.roomBytes;
    one.links.hasRoom(3, 2);
    one.links.peerDown(2);
    one.links.roomFor(2);
    expect(one.take()).toEqual([]);
  });
});

describe('long calls', () => {
  const long = (text: string): Buffer => Buffer.from(text.padEnd(500, '.'));
  const call = (bench: Bench, id: number, to = 2): void =>
    bench.links.call({ kind: 'call', to, id, payload: long('question') });
  const answer = (bench: Bench, id: number): void =>
    bench.links.return({ kind: 'return', to: 1, id, payload: long('answer') });

  test('come back with the answer, once', () => {
    const [one, two] = pair();
    call(one, 7);
    expect(two.take()).toEqual([`called 7 by 1: ${long('question')}`]);
    answer(two, 7);
    answer(two, 7);
    expect(one.take()).toEqual([`returned 7: ${long('answer')}`]);
  });

  test('come back at once when the node can not be reached', () => {
    const one = new Bench(1);
    call(one, 7);
    expect(one.take()).toEqual(['returned 7: nothing']);
  });

  test('under way come back without an answer when their connection breaks, and no others', () => {
    const [one, two] = pair();
    one.others.set(3, new Bench(3));
    call(one, 7);
    call(one, 8, 3);
    one.links.peerDown(2);
    expect(one.take()).toEqual(['returned 7: nothing']);
    // A late answer is nobody's.
    answer(two, 7);
    expect(one.take()).toEqual([]);
  });

  test('are answered by the node that was asked, and by no other', () => {
    const [one] = pair();
    call(one, 7);
    one.links.frame(3, FrameKind.RETURN, encodeNumbered(7, Buffer.from('forged')));
    expect(one.take()).toEqual([]);
  });
});

describe('short calls of one callback', () => {
  const call = (bench: Bench, id: number, to = 2, text = 'question'): void =>
    bench.links.call({ kind: 'call', to, id, payload: Buffer.from(text) });
  const answer = (bench: Bench, id: number): void =>
    bench.links.return({ kind: 'return', to: 1, id, payload: Buffer.from('answer') });

  test('travel in one frame, and so do their answers', async () => {
    const [one, two] = pair();
    call(one, 7);
    call(one, 300, 2, '');
    expect(one.frames).toEqual([]);
    await Promise.resolve();
    expect(one.frames).toEqual([{ to: 2, kind: FrameKind.CALLS, bulk: false }]);
    expect(two.take()).toEqual(['called 7 by 1: question', 'called 300 by 1: ']);
    answer(two, 300);
    answer(two, 7);
    answer(two, 7);
    await Promise.resolve();
    expect(two.frames).toEqual([{ to: 1, kind: FrameKind.RETURNS, bulk: false }]);
    expect(one.take()).toEqual(['returned 300: answer', 'returned 7: answer']);
  });

  test('travel apart to different nodes, in frames that are not too large, and not with long ones', async () => {
    const [one, two] = pair();
    const three = new Bench(3);
    one.others.set(3, three);
    call(one, 1, 3);
    for (let id = 2; id <= 4; id++) call(one, id, 2, 'x'.repeat(499));
    call(one, 5, 2, 'x'.repeat(500));
    await Promise.resolve();
    expect(one.frames).toEqual([
      { to: 2, kind: FrameKind.CALLS, bulk: false },
      { to: 2, kind: FrameKind.CALL, bulk: true },
      { to: 3, kind: FrameKind.CALLS, bulk: false },
      { to: 2, kind: FrameKind.CALLS, bulk: false },
    ]);
    expect(two.take().map((told) => told.slice(0, 8))).toEqual([
      'called 2',
      'called 3',
      'called 5',
      'called 4',
    ]);
    expect(three.take()).toEqual(['called 1 by 1: question']);
  });

  test('all come back when the node can not be reached', async () => {
    const one = new Bench(1);
    call(one, 7);
    call(one, 8);
    await Promise.resolve();
    expect(one.take()).toEqual(['returned 7: nothing', 'returned 8: nothing']);
  });

  test('calls that were not sent when the connection broke are not sent, and come back once', async () => {
    const [one, two] = pair();
    call(one, 7);
    one.links.return({ kind: 'return', to: 2, id: 3, payload: Buffer.from('answer') });
    one.links.peerDown(2);
    await Promise.resolve();
    expect(one.take()).toEqual(['returned 7: nothing']);
    expect(two.take()).toEqual([]);
  });

  test('are answered by the node that was asked, and by no other', async () => {
    const [one] = pair();
    call(one, 7);
    await Promise.resolve();
    const forged = Buffer.from([7, 6, ...Buffer.from('forged')]);
    one.links.frame(3, FrameKind.RETURNS, forged);
    expect(one.take()).toEqual([]);
    one.links.frame(2, FrameKind.RETURNS, forged);
    expect(one.take()).toEqual(['returned 7: forged']);
  });
});

describe('the knowledge of nodes about each other', () => {
  test('is how many groups each leads, until its connection breaks', () => {
    const [one, two] = pair();
    one.links.tellLoad([2, 9], 12);
    expect([...two.links.leading]).toEqual([[1, 12]]);
    two.links.peerDown(1);
    expect(two.links.leading.size).toBe(0);
  });

  test('is how long the way takes, and how much went over it', () => {
    const [one, two] = pair();
    one.now = 5;
    one.links.ping([2, 9]);
    expect(one.links.traffic.get(2)).toMatchObject({ sent: 1, received: 1 });
    expect(two.links.traffic.get(1)).toMatchObject({ sent: 1, received: 1 });
    expect(one.links.traffic.has(9)).toBe(false);
  });

  test('is no time of a ping that is not under way', () => {
    const one = new Bench(1);
    one.links.frame(2, FrameKind.PONG, encodeNumbered(1, new Uint8Array(0)));
    expect(one.links.traffic.get(2)?.roundTripMs).toBeNull();
  });
});
