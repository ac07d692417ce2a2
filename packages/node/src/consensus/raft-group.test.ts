import { LogStore, MemoryDisk } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import {
  decodeMessage,
  encodeMessage,
  type InstallSnapshot,
  type Membership,
  type Message,
  membershipOf,
} from 'raft-ts';
import { decodeMembership, encodeMembership, genesis, nothing } from '../between/membership.js';
import type { Applied, Event, NodeId } from '../between/protocol.js';
import { ExitCode } from '../config/exit-codes.js';
import { LostTailError } from './log-fit.js';
import { LogWriter } from './log-writer.js';
import { RaftGroup } from './raft-group.js';

const GROUP = 5;
const IDENTITY = new Uint8Array(16);

/** Nodes with one group each, which hear each other. */
class Cluster {
  readonly nodes = new Map<NodeId, Node>();

  /** Nodes that begin a group together; the first of them leads. */
  static of(...ids: readonly [NodeId, ...NodeId[]]): Promise<Cluster> {
    return new Cluster().begin(ids);
  }

  async begin(ids: readonly [NodeId, ...NodeId[]]): Promise<this> {
    const origin = genesis(ids, IDENTITY);
    for (const id of [...ids].reverse()) await this.add(id, origin);
    this.node(ids[0]).group.start(true);
    await this.settle();
    return this;
  }

  async add(id: NodeId, applied: Applied): Promise<Node> {
    const node = new Node(id, this);
    this.nodes.set(id, node);
    await node.open(applied);
    return node;
  }

  node(id: NodeId): Node {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`there is no node ${id}`);
    return node;
  }

  /** Lets disks and messages do what is under way. */
  async settle(): Promise<void> {
    for (let i = 0; i < 300; i++) await Promise.resolve();
  }

  async tick(times = 1): Promise<void> {
    for (let i = 0; i < times; i++) {
      for (const node of this.nodes.values()) node.tick();
      await this.settle();
    }
  }
}

/** One node: its disk, its group, and what that says to the engine side. */
class Node {
  disk = new MemoryDisk();
  group!: RaftGroup;
  log!: LogStore;
  events: Event[] = [];
  /** The error that ended the group. */
  error: unknown = null;
  /** Snapshots that it was to send. */
  readonly snapshots: InstallSnapshot[] = [];
  isDown = false;
  private epochs = 0;

  constructor(
    private readonly id: NodeId,
    private readonly cluster: Cluster,
  ) {}

  /** Starts a process that has what its disk has, and a state that stands at `applied`. */
  async open(applied: Applied): Promise<void> {
    this.log = await LogStore.open(this.disk.attach(), { segmentBytes: 64 * 1024 });
    const { log } = this;
    this.isDown = false;
    const ignored = (): void => {};
    const writer = new LogWriter(log, {
      full: ignored,
      room: ignored,
      writing: ignored,
      written: ignored,
      failed: (error) => {
        this.error ??= error;
      },
    });
    // As the host does: a log that knows nothing begins behind the state.
    const { index, term, hash } = applied;
    if (log.view(GROUP).hardState === undefined && index > 0) {
      const reset = { kind: 'reset', group: GROUP, index, term, hash } as const;
      writer.append([reset, { kind: 'hardState', group: GROUP, term, vote: 0, commit: index }], () => {});
      await this.cluster.settle();
    }
    this.group = new RaftGroup(
      GROUP,
      {
        nodeId: this.id,
        view: (group) => log.view(group),
        writer,
        options: { electionTicks: 10 },
        observe: () => ({}),
        watch: () => undefined,
        random: () => this.id,
        nextEpoch: () => ++this.epochs,
        emit: (event) => this.events.push(event),
        answer: () => undefined,
        transmit: (_group, messages) => this.transmit(messages),
        hasRoom: () => true,
        sendSnapshot: (_group, message) => this.snapshots.push(message),
        cut: () => this.group.noteCut(),
        isUp: () => true,
        wake: () => undefined,
        guarded: (work) => work(),
      },
      applied,
    );
    this.group.start(false);
  }

  /** The process ends without a goodbye; what was durable stays. */
  kill(): void {
    this.isDown = true;
    this.group.drop();
    this.disk.kill();
    this.events = [];
  }

  receive(message: Message): void {
    if (this.isDown || this.error !== null) return;
    try {
      this.group.step(message);
    } catch (error) {
      this.error = error;
    }
  }

  tick(): void {
    if (!this.isDown && this.error === null) this.group.tick();
  }

  /** The epoch that was told of last. */
  get epoch(): number {
    const leading = this.events.findLast((event) => event.kind === 'leading');
    if (leading?.kind !== 'leading') throw new Error(`node ${this.id} was not told that it leads`);
    return leading.epoch;
  }

  propose(...texts: string[]): void {
    this.group.propose(
      this.epoch,
      texts.map((text) => Buffer.from(text)),
    );
  }

  /** The changes that came as entries, in their order. */
  get entries(): string[] {
    return this.events.flatMap((event) =>
      event.kind === 'entries' ? event.entries.map(({ payload }) => Buffer.from(payload).toString()) : [],
    );
  }

  /** The number of its own proposals that it was told as committed. */
  get committed(): number {
    return this.events.reduce((sum, event) => sum + (event.kind === 'committed' ? event.count : 0), 0);
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  private transmit(messages: readonly Message[]): void {
    for (const message of messages) {
      const bytes = encodeMessage(message);
      queueMicrotask(() => this.cluster.nodes.get(message.to)?.receive(decodeMessage(bytes)));
    }
  }
}

/** The state that a node would have stored when it holds everything that the leader has committed. */
function positionOf(node: Node): Applied {
  const { commitIndex, membership } = node.group.status();
  node.group.mark(node.epoch, 99);
  const marked = node.events.findLast((event) => event.kind === 'marked');
  if (marked?.kind !== 'marked' || marked.applied.index !== commitIndex)
    throw new Error('not all is committed');
  expect(decodeMembership(marked.applied.membership)).toEqual(membership);
  return marked.applied;
}

describe('proposals', () => {
  test('are told to the leader as committed, and come as entries everywhere else, in their order', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    leader.propose('a', 'b');
    leader.propose('c');
    await cluster.settle();
    await cluster.tick(2);
    expect([leader.committed, leader.entries]).toEqual([3, []]);
    for (const id of [2, 3]) expect(cluster.node(id).entries).toEqual(['a', 'b', 'c']);
  });

  test('proposals of an epoch that is over are dropped, and marks there are lost', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    leader.group.propose(leader.epoch + 1, [Buffer.from('of another epoch')]);
    leader.group.mark(leader.epoch + 1, 7);
    await cluster.settle();
    await cluster.tick(2);
    expect(leader.events).toContainEqual({ kind: 'mark_lost', group: GROUP, id: 7 });
    expect(cluster.node(2).entries).toEqual([]);
  });

  test('proposals that are not committed when the leadership goes come as entries, if they take effect after all', async () => {
    // Given a leader whose followers can not be reached,
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    for (const id of [2, 3]) cluster.node(id).isDown = true;
    leader.propose('a');
    await cluster.settle();
    expect(leader.committed).toBe(0);
    // when it must take back what is not committed, and they can be reached again,
    leader.group.suspend();
    expect(leader.kinds()).toContain('suspended');
    for (const id of [2, 3]) cluster.node(id).isDown = false;
    await cluster.tick(3);
    // then the change comes as an entry, and the leader leads on in another epoch.
    expect(leader.entries).toEqual(['a']);
    leader.group.applied(leader.group.status().commitIndex);
    expect(leader.kinds().at(-1)).toBe('leading');
  });
});

describe('a restart', () => {
  test('gives everything behind the state that is stored once more, and nothing before', async () => {
    const cluster = await Cluster.of(1);
    const node = cluster.node(1);
    node.propose('a', 'b');
    await cluster.settle();
    const stored = positionOf(node);
    node.propose('c');
    await cluster.settle();
    node.kill();
    await node.open(stored);
    await cluster.settle();
    expect(node.entries).toEqual(['c']);
    expect(node.kinds().at(-1)).toBe('leading');
  });

  test('a follower that lags gets after a restart what it missed', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const follower = cluster.node(3);
    follower.kill();
    cluster.node(1).propose('a', 'b');
    await cluster.settle();
    await follower.open(genesis([1, 2, 3], IDENTITY));
    await cluster.tick(3);
    expect(follower.entries).toEqual(['a', 'b']);
  });
});

describe('a disk that lied', () => {
  test('ends the group with code 4 when the leader tells of what is lost, and the others go on', async () => {
    // Given a follower that has acknowledged two entries which its disk has lost,
    const cluster = await Cluster.of(1, 2, 3);
    const [leader, liar] = [cluster.node(1), cluster.node(3)];
    await cluster.tick(2);
    const before = copyOf(liar.disk);
    leader.propose('a', 'b');
    await cluster.settle();
    const promised = leader.group.status().lastIndex;
    liar.kill();
    liar.disk = before;
    // when it comes back, in the same term,
    await liar.open(genesis([1, 2, 3], IDENTITY));
    expect(liar.group.status().lastIndex).toBe(promised - 2);
    await cluster.tick();
    // then it ends and tells what is missing; more changes are committed without it.
    expect(liar.error).toBeInstanceOf(LostTailError);
    expect(liar.error).toMatchObject({
      exitCode: ExitCode.DataDamaged,
      message: expect.stringContaining(`ends with entry ${promised - 2} here`),
    });
    leader.propose('c');
    await cluster.tick(2);
    expect([leader.committed, cluster.node(2).entries]).toEqual([3, ['a', 'b', 'c']]);
  });
});

describe('a snapshot', () => {
  /** A leader that has cut its log, and a node that has nothing and needs a snapshot. */
  async function newcomer(): Promise<{ cluster: Cluster; leader: Node; node: Node; stored: Applied }> {
    const cluster = await Cluster.of(1);
    const leader = cluster.node(1);
    leader.propose('a', 'b');
    await cluster.settle();
    leader.group.checkpointed(positionOf(leader), 0, positionOf(leader).index);
    await cluster.settle();
    const node = await cluster.add(4, nothing());
    leader.group.change(1, [{ action: 'addLearner', node: 4 }]);
    await cluster.tick(3);
    return { cluster, leader, node, stored: positionOf(leader) };
  }

  test('is what a node needs that is behind the log; later entries come once it is the state', async () => {
    const { cluster, leader, node } = await newcomer();
    const [message] = leader.snapshots;
    if (message === undefined) throw new Error('no snapshot was sent');
    const { index, term, hash, membership } = message.snapshot;
    node.group.snapshotArrived(message);
    expect(node.events).toContainEqual({ kind: 'install', group: GROUP, index });
    // Until the state is there, nothing is written to the log.
    await cluster.settle();
    expect(node.log.view(GROUP).lastIndex).toBe(0);

    node.group.installed({ index, term, hash, membership: encodeMembership(membership) });
    leader.group.tell((raft) => raft.reportSnapshot(4, true));
    await cluster.settle();
    leader.propose('c');
    await cluster.tick(3);
    expect(node.entries).toEqual(['c']);
    expect(node.log.view(GROUP).firstIndex).toBe(index + 1);
  });

  test('hides what was never committed, and what the disk still has of a leader that was deposed, until it is written', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    leader.propose('a');
    await cluster.settle();
    const { commitIndex, term, membership } = leader.group.status();
    for (const other of [2, 3]) cluster.node(other).kill();
    leader.propose('lost', 'lost');
    await cluster.settle();
    const read = (): unknown => leader.group.readPart(commitIndex, 20, 1e6);
    // Others may have committed something else at the same indexes.
    expect(read()).toMatchObject({ entries: [], last: { index: commitIndex } });
    expect(leader.group.readPart(commitIndex + 1, 20, 1e6)).toBeNull();
    const snapshot = { index: 20, term: term + 1, hash: 7, membership };
    leader.group.snapshotArrived({ kind: 'snapshot', from: 2, to: 1, term: term + 1, snapshot });
    expect(read()).toBeNull();
    leader.group.installed({ ...snapshot, membership: encodeMembership(membership) });
    expect(read()).toBeNull();
    await cluster.settle();
    expect(read()).toMatchObject({ before: null, oldest: { index: 20 }, entries: [] });
  });

  test('lets what is to be written meanwhile wait: a term that is newer is noted behind it', async () => {
    const { cluster, leader, node } = await newcomer();
    const [message] = leader.snapshots as [InstallSnapshot];
    node.group.snapshotArrived(message);
    const term = message.term + 1;
    node.receive({ kind: 'heartbeat', from: 1, to: 4, term, commit: 0, round: 1 });
    await cluster.settle();
    expect(node.log.view(GROUP).hardState?.term ?? 0).toBeLessThan(term);
    const { index, hash, membership } = message.snapshot;
    const applied = { index, term: message.snapshot.term, hash, membership: encodeMembership(membership) };
    node.group.installed(applied);
    await cluster.settle();
    expect(node.log.view(GROUP)).toMatchObject({ lastIndex: index, hardState: { term } });
  });

  test('a snapshot that nobody asked for, or that comes twice, is refused', async () => {
    const { cluster, leader, node } = await newcomer();
    const [message] = leader.snapshots as [InstallSnapshot];
    node.group.snapshotArrived(message);
    node.events = [];
    node.group.snapshotArrived(message);
    expect(node.kinds()).toEqual(['install_refused']);

    const { index, term, hash, membership } = message.snapshot;
    const wrong = { index: index + 1, term, hash, membership: encodeMembership(membership) };
    expect(() => node.group.installed(wrong)).toThrow('only a snapshot that was asked for');
    await cluster.settle();
  });

  test('a snapshot that did not arrive is sent again', async () => {
    const { cluster, leader } = await newcomer();
    expect(leader.snapshots).toHaveLength(1);
    leader.group.tell((raft) => raft.reportSnapshot(4, false));
    await cluster.tick(3);
    expect(leader.snapshots).toHaveLength(2);
  });
});

describe('the membership', () => {
  test('changes everywhere at the same entry, and who asked is told', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    leader.group.change(8, [{ action: 'remove', node: 3 }]);
    await cluster.tick(3);
    expect(leader.events).toContainEqual({ kind: 'membership_answer', group: GROUP, id: 8, problem: null });
    const changes = [1, 2].map((id) =>
      cluster.node(id).events.flatMap((event) => (event.kind === 'membership' ? [event] : [])),
    );
    expect(changes[0]).toHaveLength(1);
    expect(changes[1]).toEqual(changes[0]);
    expect(leader.group.members).toEqual(without([1, 2], 3));
  });

  test('is changed by the leader only, and what can not be is told with the reason', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const [leader, follower] = [cluster.node(1), cluster.node(2)];
    follower.group.change(1, [{ action: 'remove', node: 3 }]);
    leader.group.change(2, [{ action: 'remove', node: 77 }]);
    for (const [node, id] of [
      [follower, 1],
      [leader, 2],
    ] as const) {
      const problem = expect.stringMatching(/./);
      expect(node.events).toContainEqual({ kind: 'membership_answer', group: GROUP, id, problem });
    }
    await cluster.tick(2);
    expect(leader.group.members.voters).toEqual([1, 2, 3]);
  });

  test('follows that of another group, but removes nobody whom the others need', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const { group } = cluster.node(1);
    const other = without([1, 2], 3);
    // Without 3, and with 2 out of reach, nobody could go on.
    group.follow(other, () => false);
    await cluster.tick(2);
    expect(group.members.voters).toEqual([1, 2, 3]);
    group.follow(other, () => true);
    await cluster.tick(2);
    expect(group.members.voters).toEqual([1, 2]);
    // A leader that has to go says so.
    expect(group.follow(without([2], 1, 3), () => true)).toBe(false);
  });

  test('the leadership goes to who is named, and the old leader is told who leads', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    expect(leader.group.transfer(3, () => true)).toBe(true);
    // Calls that are done in part come first.
    const giving = leader.events.find((event) => event.kind === 'giving_away');
    if (giving?.kind !== 'giving_away') throw new Error('the engine side was not told');
    await cluster.tick(2);
    expect(leader.group.leader).toBe(1);
    leader.group.released(giving.epoch);
    await cluster.tick(2);
    expect([1, 2, 3].map((id) => cluster.node(id).group.leader)).toEqual([3, 3, 3]);
    expect(cluster.node(3).kinds()).toContain('leading');
    expect(cluster.node(1).events).toContainEqual(expect.objectContaining({ kind: 'following', leader: 3 }));
  });

  test('the leadership goes without a word of the engine side when that takes too long', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    expect(cluster.node(1).group.transfer(0, () => true)).toBe(true);
    await cluster.tick(9);
    expect(cluster.node(1).group.leader).toBe(1);
    await cluster.tick(3);
    expect(cluster.node(1).group.leader).not.toBe(1);
  });

  test('a leadership that nobody takes is kept, and the engine side is told', async () => {
    const cluster = await Cluster.of(1, 2, 3);
    const leader = cluster.node(1);
    expect(leader.group.transfer(3, () => true)).toBe(true);
    cluster.node(3).isDown = true;
    leader.group.released(1);
    await cluster.tick(9);
    expect(leader.kinds()).not.toContain('kept');
    await cluster.tick(3);
    expect(leader.kinds()).toContain('kept');
    expect([1, 2].map((id) => cluster.node(id).group.leader)).toEqual([1, 1]);
    // Raft takes changes again.
    leader.propose('a');
    await cluster.tick();
    expect(cluster.node(2).entries).toEqual(['a']);
  });
});

/** A disk with what another one holds now. */
function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  for (const name of disk.names) copy.overwrite(name, disk.content(name));
  return copy;
}

/** These voters are left, and those were removed. */
function without(voters: readonly NodeId[], ...removed: readonly NodeId[]): Membership {
  return { ...membershipOf(voters), removed };
}

test('followers are told of a commit without a tick and without another change, also where one change follows the other', async () => {
  const cluster = await Cluster.of(1, 2, 3);
  const told: string[] = [];
  for (const text of ['a', 'b', 'c']) {
    cluster.node(1).propose(text);
    await cluster.settle();
    told.push(text);
    for (const id of [2, 3]) expect(cluster.node(id).entries).toEqual(told);
  }
});
