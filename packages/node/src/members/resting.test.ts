import { LEVEL_NEWEST } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Membership, membershipOf } from 'raft-ts';
import { backgroundClock } from '../base/clock.js';
import type { NodeId } from '../between/protocol.js';
import { CallKind } from '../calls/calls.js';
import type { Hello } from './hello.js';
import { PeerTable } from './peer-table.js';
import { Resting } from './resting.js';
import type { RootSession } from './root-session.js';
import { memberOf, rootOf } from './testing.js';

const SELF = 100;
const OTHER = 101;
const BOTH = membershipOf([SELF, OTHER]);
const RESTS = membershipOf([OTHER], [SELF]);
const HELLO: Hello = {
  name: 'node-1',
  host: 'node-1.example',
  port: 9220,
  status: 'READY',
  committed: 40,
  stored: 30,
  level: LEVEL_NEWEST,
  zone: 0,
};

/** Long enough for a rest that is to come, and short enough to wait for one that must not come. */
const REST_MS = 5000;
const VAIN_MS = 100;

let world: World;

beforeEach(() => {
  world = new World();
});

describe('a node that stops where two vote', () => {
  test('asks the leader, and waits until all groups go on without it', async () => {
    const rest = world.rest();
    await world.whenAsked();
    world.root.membership = RESTS;
    expect(await isOver(rest)).toBe(false);
    world.collections = [RESTS];
    await rest;
    expect(new Set(world.asked)).toEqual(new Set([OTHER]));
  });

  test('asks nobody where it is alone, three vote, or nobody can be reached', async () => {
    world.root.membership = membershipOf([SELF]);
    await world.rest();
    world.root.membership = membershipOf([SELF, OTHER, 102]);
    await world.rest();
    world.root.membership = BOTH;
    world.link(false);
    world.now += 1000;
    await world.rest();
    expect(world.asked).toEqual([]);
  });

  test('asks again what was refused, and what came to nothing', async () => {
    world.refusals = 2;
    const rest = world.rest();
    await world.whenAsked(4);
    world.root.membership = RESTS;
    world.collections = [RESTS];
    await rest;
  });

  test('waits for the groups also when the answer was lost', async () => {
    world.refusals = 1;
    const rest = world.rest();
    await world.whenAsked();
    world.root.membership = RESTS;
    expect(await isOver(rest)).toBe(false);
    world.collections = [RESTS];
    await rest;
  });

  test('asks behind a break of the connection', async () => {
    world.link(false);
    const rest = world.rest();
    expect(await isOver(rest)).toBe(false);
    world.link(true);
    await world.whenAsked();
    world.root.membership = RESTS;
    world.collections = [RESTS];
    await rest;
  });

  test('waits for groups that it does not know yet', async () => {
    world.collections = null;
    const rest = world.rest();
    await world.whenAsked();
    world.root.membership = RESTS;
    expect(await isOver(rest)).toBe(false);
    world.collections = [RESTS];
    await rest;
  });

  test('stops in the end though nobody agreed', async () => {
    world.refusals = Number.POSITIVE_INFINITY;
    await world.rest(VAIN_MS);
    expect(world.asked).not.toEqual([]);
  });
});

describe('a leader', () => {
  beforeEach(() => {
    world.root.leading = true;
    world.peers.noteHello(OTHER, HELLO);
  });

  test('lets a member rest, and takes it for one that stops until it is there anew and says otherwise', () => {
    expect(world.resting.isStopping(OTHER)).toBe(false);
    expect(world.resting.allow(OTHER)).toEqual({ action: 'rest', node: OTHER });
    expect(world.resting.isStopping(OTHER)).toBe(true);

    // The connection may break while the member still stops.
    world.link(false);
    world.link(true);
    expect(world.resting.isStopping(OTHER)).toBe(true);
    world.peers.noteHello(OTHER, { ...HELLO, status: 'SHUTTING_DOWN' });
    expect(world.resting.isStopping(OTHER)).toBe(true);

    world.link(false);
    world.link(true);
    world.peers.noteHello(OTHER, { ...HELLO, status: 'SYNCHRONIZING' });
    expect(world.resting.isStopping(OTHER)).toBe(false);
  });

  test('a leader that takes a question in behind the end of its connection still knows the next start for what it is', () => {
    world.link(false);
    world.resting.allow(OTHER);
    world.link(true);
    world.peers.noteHello(OTHER, HELLO);
    expect(world.resting.isStopping(OTHER)).toBe(false);
  });

  test('lets nobody rest where it does not lead, one votes, or three do', () => {
    world.root.membership = RESTS;
    expect(() => world.resting.allow(SELF)).toThrow('one of two');
    world.root.membership = membershipOf([SELF, OTHER, 102]);
    expect(() => world.resting.allow(OTHER)).toThrow('one of two');
    world.root.membership = BOTH;
    world.root.leading = false;
    expect(() => world.resting.allow(OTHER)).toThrow('does not lead');
  });
});

/** One of two nodes, which are connected; the other one leads. */
class World {
  readonly state = rootOf(memberOf(0), memberOf(1));
  readonly root = {
    leading: false,
    leader: OTHER,
    membership: BOTH,
    hasUncommitted: false,
    refusal: () => null,
    propose: () => undefined,
  };
  collections: readonly Membership[] | null = [BOTH];
  readonly peers = new PeerTable({ now: () => this.now });
  readonly asked: NodeId[] = [];
  /** The number of questions from now on that are refused. */
  refusals = 0;
  now = 1_000_000;
  readonly resting: Resting;

  constructor() {
    this.link(true);
    this.resting = new Resting({
      self: SELF,
      root: () => this.state,
      session: (): RootSession => this.root,
      memberships: () => this.collections,
      peers: this.peers,
      calls: { call: (to, kind) => this.call(to, kind) },
      clock: backgroundClock,
    });
  }

  rest(ms = REST_MS): Promise<void> {
    return this.resting.rest(ms);
  }

  link(up: boolean): void {
    this.peers.noteLink(OTHER, up, '1.0.0');
    this.resting?.linkChanged(OTHER);
  }

  async whenAsked(times = 1): Promise<void> {
    const had = this.asked.length;
    while (this.asked.length < had + times) await moment();
  }

  private async call(to: NodeId, kind: CallKind): Promise<Uint8Array> {
    expect(kind).toBe(CallKind.Rest);
    this.asked.push(to);
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error('other changes are under way');
    }
    return new Uint8Array(0);
  }
}

function moment(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** True if it ends by itself before long. */
async function isOver(work: Promise<void>): Promise<boolean> {
  return await Promise.race([work.then(() => true), moment(VAIN_MS).then(() => false)]);
}
