import { type Change, ErrorCode, LEVEL_FIRST, QueryError, takeBack } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { changedMembership, changeOf, type Membership, membershipOf } from 'raft-ts';
import { backgroundClock } from '../base/clock.js';
import type { Founder } from '../between/cluster-record.js';
import type { Command, Event, JoinAnswer, NodeId } from '../between/protocol.js';
import { CallError, type CallHandler, CallKind } from '../calls/calls.js';
import type { Respond } from '../groups/request.js';
import { encodeHello, type Hello } from './hello.js';
import { Members } from './members.js';
import type { RootSession } from './root-session.js';
import { LEVEL_NEXT, memberOf, rootOf } from './testing.js';

const SELF = 100;
const JOINER = { nodeId: 7, name: 'new', host: 'new.example', port: 9220, level: 2 };
const HELLO: Hello = {
  name: 'node-1',
  host: 'node-1.example',
  port: 9220,
  status: 'READY',
  committed: 40,
  stored: 30,
  level: 2,
  zone: 9,
};

let world: World;

beforeEach(() => {
  world = new World();
});

describe('nodes that the consensus thread connects to', () => {
  test('are the founders until there is a list, then its members, told again whenever it changes', () => {
    world = new World({ root: rootOf(), founders: [memberOf(0), memberOf(1)] });
    world.members.rootChanged();
    world.root.putMember(memberOf(0));
    world.root.putMember(memberOf(2));
    world.members.rootChanged();
    world.members.rootChanged();
    world.root.putMember(memberOf(2, { host: 'elsewhere' }));
    world.members.tick();

    const told = world.sent('peers').map(({ peers }) => peers.map(({ nodeId, host }) => `${nodeId} ${host}`));
    expect(told).toEqual([
      ['100 node-0.example', '101 node-1.example'],
      ['100 node-0.example', '102 node-2.example'],
      ['100 node-0.example', '102 elsewhere'],
    ]);
  });

  test('is nobody new on a node that joins, until it has the list', () => {
    world = new World({ root: rootOf(), founders: null });
    world.members.rootChanged();
    world.members.tick();
    expect(world.sent('peers')).toEqual([]);
  });

  test('are those of another state after a snapshot, though it changed as often', () => {
    world.members.rootChanged();
    world.root = rootOf(memberOf(0), memberOf(1), memberOf(5));
    world.members.rootChanged();
    expect(world.sent('peers')).toHaveLength(2);
  });
});

describe('a node that asks to join', () => {
  test('is accepted when it is in the list for good, and then gets into the root group', () => {
    const answer = world.ask();
    expect(world.root.members.has(JOINER.nodeId)).toBe(true);
    expect(answer()).toBeNull();
    expect(world.sent('change_membership')).toEqual([]);

    world.session.commit();

    expect(answer()).toEqual({ kind: 'accepted' });
    // Three vote already, and a fourth voter would make nothing safer.
    expect(world.sent('change_membership').map(({ steps }) => steps)).toEqual([
      [{ action: 'rest', node: JOINER.nodeId }],
    ]);
  });

  test('a node that asks again meanwhile gets the same answer', () => {
    const first = world.ask();
    const second = world.ask();
    expect(world.session.pending).toBe(1);

    world.session.commit();

    expect([first(), second()]).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
  });

  test('waits when the leader lost its leadership before that', () => {
    const answer = world.ask();
    world.session.lose();

    expect(answer()).toEqual({ kind: 'wait', reason: expect.any(String) });
    expect(world.root.members.has(JOINER.nodeId)).toBe(false);
    expect(world.sent('change_membership')).toEqual([]);
  });

  test('waits while other changes are not committed: what is in the list may go again', () => {
    world.ask();
    const answer = world.ask({ ...JOINER, nodeId: 8, name: 'other', host: 'other.example' });
    expect(answer()).toEqual({ kind: 'wait', reason: expect.any(String) });
  });

  test('is sent to the leader', () => {
    world.session.leading = false;
    world.session.leader = 101;
    expect(world.ask()()).toEqual({ kind: 'redirect', host: 'node-1.example', port: 9220 });

    world.session.leader = 0;
    expect(world.ask()()).toEqual({ kind: 'wait', reason: expect.any(String) });
  });

  test('takes the place of a lost one of its name', () => {
    world.down(101);
    world.now += 60_000;
    const answer = world.ask({ ...JOINER, name: 'node-1' });
    world.session.commit();

    expect(answer()).toEqual({ kind: 'accepted' });
    expect(world.root.memberByNumber(1)?.nodeId).toBe(JOINER.nodeId);
    expect(world.sent('change_membership').map(({ steps }) => steps)).toEqual([
      [
        { action: 'remove', node: 101 },
        { action: 'addLearner', node: JOINER.nodeId },
      ],
    ]);
    world.takeMembership();
    world.session.commit();
    expect([...world.root.members.keys()]).toEqual([100, 102, JOINER.nodeId]);
  });

  test('gets the number of its invitation, which is done with then', () => {
    world.root.putInvitation({ number: 9, host: JOINER.host, port: JOINER.port });
    const answer = world.ask();
    world.session.commit();

    expect(answer()).toEqual({ kind: 'accepted' });
    expect(world.root.members.get(JOINER.nodeId)?.number).toBe(9);
    expect(world.root.invitations.size).toBe(0);
  });
});

describe('changes of the root group', () => {
  test('go one by one, until it has the members of the list', () => {
    world.session.membership = membershipOf([100]);
    world.members.rootChanged();
    expect(world.sent('change_membership')).toHaveLength(1);
    world.members.tick();
    expect(world.sent('change_membership')).toHaveLength(1);

    world.takeMembership();
    world.takeMembership();

    expect(world.session.membership.voters).toEqual([100, 101, 102]);
    expect(world.sent('change_membership')).toHaveLength(2);
  });

  test('are tried again after a pause when Raft refuses; the reason is told once', () => {
    world.session.membership = membershipOf([100, 101]);
    world.members.rootChanged();
    world.refuse('joint_in_force');
    world.members.tick();
    expect(world.sent('change_membership')).toHaveLength(1);

    world.wait(1000);
    world.refuse('joint_in_force');
    world.wait(1000);

    expect(world.sent('change_membership')).toHaveLength(3);
    expect(world.reports.filter((text) => text.includes('joint_in_force'))).toHaveLength(1);
  });

  test('are made by the leader only', () => {
    world.session.membership = membershipOf([100]);
    world.session.leading = false;
    world.members.rootChanged();
    world.members.tick();
    expect(world.sent('change_membership')).toEqual([]);
  });

  test('changes that this leader did not see to their end are begun anew in the next', () => {
    world.session.membership = membershipOf([100, 101]);
    world.members.rootChanged();
    world.session.leading = false;
    world.members.rootChanged();
    world.session.leading = true;
    world.members.rootChanged();
    expect(world.sent('change_membership')).toHaveLength(2);
  });
});

describe('the level of the cluster', () => {
  const hear = async (...levels: readonly [NodeId, number][]): Promise<void> => {
    for (const [node, level] of levels) {
      const number = node - SELF;
      const hello = { ...HELLO, name: `node-${number}`, host: `node-${number}.example`, level };
      await world.called(node, CallKind.Member, encodeHello(hello));
    }
  };

  test('is raised once all members said that they know a higher one, and holds when that is committed', async () => {
    await hear([101, LEVEL_NEXT]);
    world.members.tick();
    expect(world.session.pending).toBe(0);
    expect(world.members.overview.level()).toEqual({
      level: LEVEL_FIRST,
      known: LEVEL_NEXT,
      waitsFor: ['node-2'],
    });

    await hear([102, LEVEL_NEXT]);
    world.members.tick();
    expect(world.session.pending).toBe(1);
    expect(world.root.level).toBe(LEVEL_FIRST);

    world.session.commit();
    expect(world.root.level).toBe(LEVEL_NEXT);
    expect(world.members.overview.level()).toEqual({
      level: LEVEL_NEXT,
      known: LEVEL_NEXT,
      waitsFor: [],
    });
    world.members.tick();
    world.members.tick();
    expect(world.session.pending).toBe(0);
  });

  test('stays where one member knows no higher one', async () => {
    await hear([101, LEVEL_NEXT], [102, LEVEL_FIRST]);
    world.members.tick();
    expect(world.session.pending).toBe(0);
  });

  test('is not raised beyond what this node knows', async () => {
    await hear([101, 9], [102, 9]);
    world.members.tick();
    world.session.commit();
    expect(world.root.level).toBe(LEVEL_NEXT);
  });

  test('stays while one was not heard of lately, or is down, or is another process since', async () => {
    await hear([101, LEVEL_NEXT], [102, LEVEL_NEXT]);
    world.now += 60_000;
    world.members.tick();
    await hear([101, LEVEL_NEXT]);
    world.down(102);
    world.members.tick();
    world.event({ kind: 'peer', node: 102, up: true, version: '1.0.0' });
    world.members.tick();
    expect(world.session.pending).toBe(0);

    await hear([102, LEVEL_NEXT]);
    world.members.tick();
    expect(world.session.pending).toBe(1);
  });

  test('is raised by the leader only, when nothing else is under way', async () => {
    await hear([101, LEVEL_NEXT], [102, LEVEL_NEXT]);
    world.session.leading = false;
    world.members.tick();
    expect(world.session.pending).toBe(0);

    world.session.leading = true;
    world.ask();
    world.members.tick();
    expect(world.session.pending).toBe(1);
    world.session.commit();
    expect(world.root.level).toBe(LEVEL_FIRST);
  });

  test('is what it was when the leader loses its leadership before that is committed', async () => {
    await hear([101, LEVEL_NEXT], [102, LEVEL_NEXT]);
    world.members.tick();
    world.session.lose();
    expect(world.root.level).toBe(LEVEL_FIRST);
    expect(world.root.dirty.freeze(() => {}).records.get('9:0:0')?.value ?? null).toBeNull();
  });
});

describe('a member that is to leave', () => {
  beforeEach(() => {
    world.root.putMember(memberOf(1, { leaving: true }));
  });

  test('gives away what it leads, is removed, and forgotten when no group has it any more', async () => {
    world.collections = [membershipOf([100, 101, 102])];
    world.members.rootChanged();
    expect(world.calls).toEqual([[101, CallKind.Handover]]);
    expect(world.sent('change_membership')).toEqual([]);

    await world.answerCall();
    expect(world.sent('change_membership').map(({ steps }) => steps)).toEqual([
      [{ action: 'remove', node: 101 }],
    ]);
    world.takeMembership();
    expect(world.session.pending).toBe(0);
    expect(world.root.members.has(101)).toBe(true);

    world.collections = [membershipOf([100, 102])];
    world.members.tick();
    world.session.commit();
    expect([...world.root.members.keys()]).toEqual([100, 102]);
    expect(
      world
        .sent('peers')
        .at(-1)
        ?.peers.map(({ nodeId }) => nodeId),
    ).toEqual([100, 102]);
  });

  test('is removed all the same when it does not answer', async () => {
    world.members.rootChanged();
    await world.answerCall(new CallError('timeout', 'no answer'));
    expect(world.sent('change_membership')).toHaveLength(1);
  });

  test('is asked again, and again, while it leads groups that do not let it go', async () => {
    world.collections = [membershipOf([100, 101, 102])];
    world.members.rootChanged();
    await world.answerCall(new CallError('timeout', 'no answer'));
    world.takeMembership();
    const asked = (): number => world.calls.filter(([, kind]) => kind === CallKind.Handover).length;
    expect(asked()).toBe(1);
    for (const [ms, times] of [
      [2900, 1],
      [200, 2],
      [2900, 2],
      [200, 3],
    ] as const) {
      world.wait(ms);
      expect(asked()).toBe(times);
      // Besides that it says hello now and then.
      for (const _ of world.calls) await world.answerCall();
    }
    world.collections = [membershipOf([100, 102])];
    world.members.tick();
    world.session.commit();
    expect(world.root.members.has(101)).toBe(false);
  });

  test('is not asked when it can not be reached', () => {
    world.down(101);
    world.members.rootChanged();
    expect(world.calls).toEqual([]);
    expect(world.sent('change_membership')).toHaveLength(1);
  });

  test('stays in the list while this node does not know all groups', () => {
    world.down(101);
    world.members.rootChanged();
    world.collections = null;
    world.takeMembership();
    world.members.tick();
    expect(world.session.pending).toBe(0);
  });
});

describe('this node itself', () => {
  test('lets another one lead when it is to leave, once at a time', () => {
    world.root.putMember(memberOf(0, { leaving: true }));
    world.members.rootChanged();
    world.members.tick();
    expect(world.sent('hand_over')).toHaveLength(1);
    expect(world.sent('hand_over')[0]).toMatchObject({ group: null, to: 0, stay: false });

    world.event({ kind: 'handed_over', id: world.sent('hand_over')[0]?.id ?? 0, left: 1 });
    world.wait(1000);
    expect(world.sent('hand_over')).toHaveLength(2);
  });

  test('gives away what it leads when the leader asks for that', async () => {
    const answered = world.called(101, CallKind.Handover, new Uint8Array(0));
    const [command] = world.sent('hand_over');
    expect(command).toMatchObject({ group: null, to: 0, stay: false });

    world.event({ kind: 'handed_over', id: command?.id ?? 0, left: 0 });

    expect(await answered).toHaveLength(0);
  });

  test('answers only when its clients had time to turn away', async () => {
    let depart = (): void => {};
    world.departure = new Promise((resolve) => {
      depart = resolve;
    });
    let isAnswered = false;
    const answered = world.called(101, CallKind.Handover, new Uint8Array(0)).then(() => {
      isAnswered = true;
    });
    world.event({ kind: 'handed_over', id: world.sent('hand_over')[0]?.id ?? 0, left: 0 });
    await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    depart();
    await answered;
  });

  test('does so for no stranger', async () => {
    await expect(world.called(9, CallKind.Handover, new Uint8Array(0))).rejects.toThrow('members');
  });

  test('gives away what it leads when a user asks for that, and stays', () => {
    world.members.handOver(memberOf(2));
    world.members.handOver(null);
    expect(world.sent('hand_over')).toMatchObject([
      { to: 102, stay: true },
      { to: 0, stay: true },
    ]);
  });
});

describe('why a node can not be removed', () => {
  test('is that it is the last one', () => {
    world = new World({ root: rootOf(memberOf(0)) });
    expect(world.members.removalProblem(memberOf(0))).toContain('last');
  });

  test('is that the others could not go on', () => {
    expect(world.members.removalProblem(memberOf(1))).toBeNull();
    expect(world.members.removalProblem(memberOf(0))).toBeNull();

    world.down(102);

    expect(world.members.removalProblem(memberOf(1))).toContain('1 of the 2');
    expect(world.members.removalProblem(memberOf(2))).toBeNull();
  });
});

describe('hellos', () => {
  test('go to every member that can be reached, every other second; to say the same again, every sixth', () => {
    world.down(102);
    world.wait(2000);
    world.calls.length = 0;
    world.committed += 1;
    world.wait(1000);
    expect(world.calls).toEqual([]);

    world.wait(1000);

    expect(world.calls).toEqual([[101, CallKind.Member]]);
    world.wait(2000);
    world.wait(2000);
    expect(world.calls).toHaveLength(1);
    world.wait(2000);
    expect(world.calls).toHaveLength(2);
  });

  test('tell how the others are', async () => {
    await world.called(101, CallKind.Member, encodeHello({ ...HELLO, status: 'SYNCHRONIZING' }));
    world.down(102);
    world.root.putInvitation({ number: 3, host: 'new.example', port: 1234 });

    expect(world.members.overview.entries()).toEqual([
      {
        number: 0,
        status: 'READY',
        committed: 50,
        stored: 45,
        zone: 4,
        name: 'node-0',
        port: 9220,
        stream: null,
      },
      {
        number: 1,
        status: 'SYNCHRONIZING',
        committed: 40,
        stored: 30,
        zone: 9,
        name: 'node-1',
        port: 9220,
        stream: '<node-out:1> node-1.example:9220',
      },
      {
        number: 2,
        status: 'OFFLINE',
        committed: 0,
        stored: 0,
        zone: 0,
        name: 'node-2',
        port: 9220,
        stream: null,
      },
      {
        number: 3,
        status: 'OFFLINE',
        committed: 0,
        stored: 0,
        zone: 0,
        name: 'new.example',
        port: 1234,
        stream: null,
      },
    ]);
    expect(world.members.overview.lowest()).toEqual({ committed: 40, stored: 30 });
  });

  test('a member that is deleted while it is dead is not listed from then on, one that runs until it ends', () => {
    world.down(102);
    for (const number of [1, 2]) world.root.putMember({ ...memberOf(number), leaving: true });
    const listed = () => world.members.overview.entries().map(({ number }) => number);
    expect(listed()).toEqual([0, 1]);
    world.down(101);
    expect(listed()).toEqual([0]);
  });

  test('correct the address of a member in the list', async () => {
    await world.called(101, CallKind.Member, encodeHello({ ...HELLO, host: 'moved.example', port: 999 }));
    world.session.commit();
    expect(world.root.members.get(101)).toMatchObject({ name: 'node-1', host: 'moved.example', port: 999 });
  });

  test('do not where another node leads, nor for the name of another one', async () => {
    await world.called(101, CallKind.Member, encodeHello({ ...HELLO, name: 'node-2' }));
    world.session.leading = false;
    await world.called(101, CallKind.Member, encodeHello({ ...HELLO, host: 'moved.example' }));

    expect(world.session.pending).toBe(0);
    expect(world.reports.join()).toContain('node 1 calls itself node-2');
  });

  test('hellos that make no sense are refused', async () => {
    await expect(world.called(101, CallKind.Member, Uint8Array.of(1, 2))).rejects.toThrow();
  });

  test('are not needed by the leader to correct what the list says of itself', () => {
    world = new World({ root: rootOf(memberOf(0, { host: 'before' }), memberOf(1)) });
    world.members.tick();
    world.session.commit();
    expect(world.root.members.get(SELF)?.host).toBe('node-0.example');
  });
});

describe('a node that asks to be removed', () => {
  const asked = (): Promise<Uint8Array> => world.called(102, CallKind.Leave, new Uint8Array(0));

  test('is in the list as one that leaves when it gets its answer, and then goes as any other', async () => {
    let isAnswered = false;
    const answered = asked().then(() => {
      isAnswered = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([world.root.members.get(102)?.leaving, isAnswered]).toEqual([true, false]);
    world.session.commit();
    await answered;
    expect(world.calls).toContainEqual([102, CallKind.Handover]);
    await asked();
    expect(world.session.pending).toBe(0);
  });

  test('is refused while the others could not go on, by who does not lead, and when it is no member', async () => {
    world.down(101);
    await expect(asked()).rejects.toThrow('only 1 of the 2 nodes that would stay');
    world.session.leading = false;
    await expect(asked()).rejects.toThrow('does not lead');
    await expect(world.called(7, CallKind.Leave, new Uint8Array(0))).rejects.toThrow('only members');
  });

  test('is told when the leader lost its leadership before that', async () => {
    const answer = asked();
    world.session.lose();
    await expect(answer).rejects.toThrow('could not be made');
  });

  test('asks the leader, or itself', async () => {
    const own = world.members.askToLeave(1000);
    world.session.commit();
    await own;
    expect(world.root.members.get(SELF)?.leaving).toBe(true);

    world = new World();
    world.session.leading = false;
    await expect(world.members.askToLeave(1000)).rejects.toThrow('no leader');
    world.session.leader = 101;
    const other = world.members.askToLeave(1000);
    expect(world.calls).toEqual([[101, CallKind.Leave]]);
    await world.answerCall();
    await other;
  });
});

describe('invitations', () => {
  test('are sent by the leader', () => {
    world.root.putInvitation({ number: 3, host: 'new.example', port: 1234 });
    world.session.leading = false;
    world.members.tick();
    expect(world.sent('invite')).toEqual([]);

    world.session.leading = true;
    world.members.tick();
    const [invite] = world.sent('invite');
    expect(invite).toMatchObject({ host: 'new.example', port: 1234 });

    world.event({ kind: 'invited', id: invite?.id ?? 0, problem: 'nothing listens there' });
    expect(world.reports.join()).toContain('nothing listens there');
  });

  test('end when the node there turns out to be a member already, which came by another way', () => {
    const invitation = { number: 3, host: 'another-name.example', port: 1234 };
    world.root.putInvitation(invitation);
    world.members.tick();
    const [invite] = world.sent('invite');

    const problem = 'the node belongs to a cluster';
    world.event({ kind: 'invited', id: invite?.id ?? 0, problem, node: 102 });
    world.session.commit();
    expect([...world.root.invitations.values()]).toEqual([]);
  });

  test('stay when the node there is of another cluster', () => {
    world.root.putInvitation({ number: 3, host: 'new.example', port: 1234 });
    world.members.tick();
    const [invite] = world.sent('invite');

    const problem = 'the node belongs to a cluster';
    world.event({ kind: 'invited', id: invite?.id ?? 0, problem, node: 999 });
    expect(world.root.invitations.size).toBe(1);
    expect(world.reports.join()).toContain(problem);
  });
});

interface WorldOptions {
  readonly root?: ReturnType<typeof rootOf>;
  readonly founders?: readonly Founder[] | null;
}

/**
 * Node 0 of a cluster of three, which leads; the others are up. Everything around its list of members is made
 * up.
 */
class World {
  root: ReturnType<typeof rootOf>;
  readonly session: FakeSession;
  readonly members: Members;
  readonly reports: string[] = [];
  /** Calls to other nodes that this node made. */
  readonly calls: [NodeId, CallKind][] = [];
  /** Memberships of the collections' groups. */
  collections: readonly Membership[] | null = [];
  now = 1_000_000;
  committed = 50;
  /** Time that clients take to turn away from a node that is removed. */
  departure: Promise<void> = Promise.resolve();
  private readonly commands: Command[] = [];
  private readonly handlers = new Map<CallKind, CallHandler>();
  private readonly waiting: { resolve: (answer: Uint8Array) => void; reject: (error: Error) => void }[] = [];
  private ids = 0;

  constructor({ root = rootOf(memberOf(0), memberOf(1), memberOf(2)), founders = null }: WorldOptions = {}) {
    this.root = root;
    this.session = new FakeSession([...root.members.keys()], () => this.members.rootChanged());
    this.members = new Members({
      self: { nodeId: SELF, name: 'node-0', host: 'node-0.example', port: 9220 },
      root: () => this.root,
      session: () => this.session,
      memberships: () => this.collections,
      founders,
      send: (command) => this.commands.push(command),
      calls: {
        call: (to, kind) => {
          this.calls.push([to, kind]);
          return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
        },
        serve: (kind, handler) => this.handlers.set(kind, handler),
      },
      nextId: () => ++this.ids,
      departs: () => this.departure,
      state: () => ({ status: 'READY', committed: this.committed, stored: 45, zone: 4 }),
      replaceAfterMs: 60_000,
      clock: { now: () => this.now, after: backgroundClock.after },
      random: () => 0,
      report: (_level, _event, message) => this.reports.push(message),
      changed: () => {},
    });
    for (const node of root.members.keys()) {
      if (node !== SELF) this.event({ kind: 'peer', node, up: true, version: '1.0.0' });
    }
  }

  event(event: Event): void {
    this.members.handle(event);
  }

  down(node: NodeId): void {
    this.event({ kind: 'peer', node, up: false, version: '' });
  }

  wait(ms: number): void {
    this.now += ms;
    this.members.tick();
  }

  /** The commands of a kind that were sent so far. */
  sent<K extends Command['kind']>(kind: K): Extract<Command, { readonly kind: K }>[] {
    return this.commands.filter((each): each is Extract<Command, { readonly kind: K }> => each.kind === kind);
  }

  /** Lets a node ask to join; gives a look at the answer. */
  ask(joiner = JOINER): () => JoinAnswer | null {
    const id = 1000 + this.sent('join_answer').length + this.ids++;
    this.event({ kind: 'asked_to_join', id, joiner });
    return () => this.sent('join_answer').find((each) => each.id === id)?.answer ?? null;
  }

  /** Lets the change of the membership that was asked for last take effect. */
  takeMembership(): void {
    const last = this.sent('change_membership').at(-1);
    if (last === undefined) throw new Error('no change was asked for');
    const { session } = this;
    const steps = last.steps.map(({ action, node }) =>
      action === 'remove' ? { action, node } : ({ action: 'addVoter', node } as const),
    );
    const next = changedMembership(session.membership, changeOf(...steps));
    // As on a real node, the answer comes a moment before the membership.
    this.event({ kind: 'membership_answer', group: 0, id: last.id, problem: null });
    session.membership = next.outgoing.length > 0 ? changedMembership(next, changeOf()) : next;
    this.members.tick();
  }

  refuse(problem: string): void {
    const id = this.sent('change_membership').at(-1)?.id ?? 0;
    this.event({ kind: 'membership_answer', group: 0, id, problem });
  }

  /** Another node calls this one. */
  async called(from: NodeId, kind: CallKind, payload: Uint8Array): Promise<Uint8Array> {
    const handler = this.handlers.get(kind);
    if (handler === undefined) throw new Error(`nobody serves calls of kind ${kind}`);
    return handler(from, payload);
  }

  /** Answers the oldest call of this node. */
  async answerCall(error: Error | null = null): Promise<void> {
    const call = this.waiting.shift();
    if (error === null) call?.resolve(new Uint8Array(0));
    else call?.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A root session whose log takes effect when the test says so. */
class FakeSession implements RootSession {
  leading = true;
  leader = 0;
  membership: Membership;
  private waiting: { readonly change: Change; readonly respond: Respond }[] = [];

  constructor(
    voters: readonly NodeId[],
    private readonly changed: () => void,
  ) {
    this.membership = membershipOf(voters.length > 0 ? voters : [SELF]);
  }

  get pending(): number {
    return this.waiting.length;
  }

  get hasUncommitted(): boolean {
    return this.waiting.length > 0;
  }

  refusal(): null {
    return null;
  }

  propose(change: Change, _reply: unknown, respond: Respond): void {
    this.waiting.push({ change, respond });
  }

  commit(): void {
    for (const { respond } of this.waiting.splice(0)) respond({ ok: true, result: '' });
    this.changed();
  }

  /** Loses the leadership, and with it what was not committed. */
  lose(): void {
    this.leading = false;
    const lost = this.waiting.splice(0);
    for (const { change } of lost.toReversed()) takeBack(change.undo);
    for (const { respond } of lost) respond({ ok: false, error: new QueryError(ErrorCode.NODE, 'lost') });
    this.changed();
  }
}
