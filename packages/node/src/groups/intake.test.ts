import { ByteWriter, type Preparation, RootGroup } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { nothing } from '../between/membership.js';
import type { Event } from '../between/protocol.js';
import { encodeEntry, plainHead } from './entry.js';
import { Intake } from './intake.js';
import { Replica } from './replica.js';
import { SessionTable } from './session-table.js';

const GROUP = 2;

/** Slices that the entries need which are prepared next, one number each; those behind them need none. */
let slices: number[];
/** Callbacks of the next turn of the event loop. */
let turns: (() => void)[];
let seen: string[];
let replica: Replica;
let intake: Intake;

beforeEach(() => {
  slices = [];
  turns = [];
  seen = [];
  replica = new Replica(new RootGroup(), new SessionTable(), nothing(), {
    collectionsChanged: () => {},
    roomEvents: () => {},
  });
  const preparation = {
    *of() {
      for (let left = slices.shift() ?? 0; left > 0; left--) yield;
    },
  };
  intake = new Intake(replica, {
    preparation: preparation as unknown as Preparation,
    soon: (work) => turns.push(work),
    failed: (error) => seen.push(String(error)),
    handle: (event) => take(event),
    noteTime: (time) => seen.push(`change of ${time}`),
    taken: (index) => seen.push(`taken to ${index}`),
    delayChanged: () => seen.push(intake.isDelayed ? 'delayed' : 'on time'),
  });
});

/** Handles an event as a session does. */
function take(event: Event): void {
  if (intake.keeps(event)) return;
  if (event.kind === 'entries') intake.take(event);
  else seen.push(event.kind);
}

function turn(): void {
  for (const work of turns.splice(0)) work();
}

/** Entries from one index to another, and one of Raft's own behind them. */
function entries(from: number, to: number): Event {
  const indexes = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return {
    kind: 'entries',
    group: GROUP,
    entries: indexes.map((index) => ({ ...place(index), payload: payloadOf(index) })),
    last: place(to + 1),
  };
}

function place(index: number) {
  return { index, term: 5, hash: index * 10 };
}

function payloadOf(time: number): Uint8Array {
  return encodeEntry(plainHead(time), new Uint8Array(0), new ByteWriter()).slice();
}

const READ: Event = { kind: 'read', group: GROUP, id: 1, index: 1 };
const LEADING: Event = { kind: 'leading', group: GROUP, epoch: 9 };

describe('entries', () => {
  test('are applied at once where all that they are about is in memory', () => {
    take(entries(1, 2));
    expect(seen).toEqual(['change of 1', 'change of 2', 'taken to 3']);
    expect(turns).toEqual([]);
  });

  test('entries that need more than a slice are applied some turns later, and those before them at once', () => {
    slices = [0, 2];
    take(entries(1, 3));
    expect(seen).toEqual(['change of 1', 'delayed']);
    expect(replica.applied.index).toBe(1);
    turn();
    expect(intake.isDelayed).toBe(true);
    turn();
    expect(seen.slice(2)).toEqual(['change of 2', 'change of 3', 'taken to 4', 'on time']);
    expect(replica.applied.index).toBe(4);
    expect(intake.isDelayed).toBe(false);
    expect(turns).toEqual([]);
  });

  test('entries that are delayed hold back what is behind them, in order, but for answers to questions', () => {
    slices = [1, 0, 1];
    take(entries(1, 1));
    for (const event of [entries(3, 3), READ, entries(5, 5), LEADING]) take(event);
    expect(seen).toEqual(['delayed', 'read']);
    turn();
    expect(seen.slice(2)).toEqual([
      ...['change of 1', 'taken to 2', 'on time'],
      ...['change of 3', 'taken to 4', 'delayed'],
    ]);
    turn();
    expect(seen.slice(8)).toEqual(['change of 5', 'taken to 6', 'on time', 'leading']);
  });

  test('entries that are delayed wait while the session stands still, and go on behind that in one row of turns', () => {
    slices = [3];
    take(entries(1, 1));
    intake.pause();
    take(READ);
    turn();
    turn();
    expect(turns).toEqual([]);
    expect(intake.endPause()).toBe(true);
    intake.goOn();
    intake.pause();
    expect(intake.endPause()).toBe(true);
    intake.goOn();
    expect(turns.length).toBe(1);
    for (let i = 0; i < 3; i++) turn();
    expect(seen).toEqual(['delayed', 'change of 1', 'taken to 2', 'on time', 'read']);
  });

  test('entries that fail in a turn of their own end the node, and nothing behind them is handled', () => {
    slices = [1];
    take(entries(1, 1));
    replica.moveTo = () => {
      throw new Error('damaged');
    };
    take(LEADING);
    turn();
    take(entries(3, 3));
    expect(seen).toEqual(['delayed', 'change of 1', 'Error: damaged']);
    expect([intake.isDelayed, turns]).toEqual([true, []]);
  });

  test('entries of a session that is over are never applied', () => {
    slices = [1];
    take(entries(1, 1));
    take(LEADING);
    intake.abandon();
    turn();
    expect(seen).toEqual(['delayed']);
    expect(turns).toEqual([]);
  });
});

test('events are kept until each pause has ended', () => {
  intake.pause();
  intake.pause();
  take(entries(1, 1));
  take(LEADING);
  expect(intake.endPause()).toBe(false);
  expect(intake.endPause()).toBe(true);
  expect(seen).toEqual([]);
  intake.goOn();
  expect(seen).toEqual(['change of 1', 'taken to 2', 'leading']);
});
