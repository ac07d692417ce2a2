import { type DiskFault, type DiskOperation, LogStore, MemoryDisk } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { membershipOf, type RaftOptions, type Status } from 'raft-ts';
import { encodeMembership, genesis, nothing } from '../between/membership.js';
import { type Applied, type Command, type Event, ROOT_GROUP } from '../between/protocol.js';
import { GroupHost } from './group-host.js';

const GROUP = 5;
const SEGMENT_BYTES = 64 * 1024;

/** One node on a disk in memory: what it is told, and what it says. */
class Bench {
  disk: MemoryDisk;
  host!: GroupHost;
  log!: LogStore;
  events: Event[] = [];
  /** Another node that messages reach. */
  other: Bench | null = null;
  private fault: DiskFault | undefined;

  constructor(
    capacityBytes = Number.POSITIVE_INFINITY,
    private readonly nodeId = 1,
  ) {
    const fault = ({ kind }: DiskOperation): DiskFault | undefined =>
      kind === 'write' || kind === 'sync' ? this.fault : undefined;
    this.disk = new MemoryDisk({ capacityBytes, fault });
  }

  async start(lowDiskBytes = 0, raft: Partial<RaftOptions> = {}): Promise<this> {
    this.log = await LogStore.open(this.disk.attach(), { segmentBytes: SEGMENT_BYTES });
    this.host = new GroupHost({
      nodeId: this.nodeId,
      log: this.log,
      raft,
      random: () => 7,
      emit: (event) => this.events.push(event),
      answer: () => undefined,
      transmit: (group, messages) => {
        for (const message of messages) queueMicrotask(() => this.other?.host.receive(group, message));
      },
      isUp: () => this.other !== null,
      logTail: 0,
      lowDiskBytes,
    });
    return this;
  }

  send(command: Command): void {
    this.host.handle(command);
  }

  open(applied = ORIGIN, isNew = true, campaign = true): void {
    this.send({ kind: 'open', group: GROUP, applied, isNew, campaign });
  }

  propose(epoch: number, ...texts: string[]): void {
    this.send({ kind: 'propose', group: GROUP, epoch, payloads: texts.map((text) => Buffer.from(text)) });
  }

  status(): Status {
    const status = this.host.status(GROUP);
    if (status === undefined) throw new Error('the group is not open');
    return status;
  }

  /** Lets a disk in memory do what it was asked for. */
  async settle(): Promise<void> {
    for (let i = 0; i < 200; i++) await Promise.resolve();
  }

  /** The messages since the last call, in short. */
  take(): string[] {
    return this.events.splice(0).map(brief);
  }

  /** The epoch in which the node leads, as it said last. */
  async leads(): Promise<number> {
    await this.settle();
    const leading = this.events.findLast((event) => event.kind === 'leading');
    this.events = [];
    if (leading?.kind !== 'leading') throw new Error('the node does not lead');
    return leading.epoch;
  }

  failWrites(fault: DiskFault | undefined): void {
    this.fault = fault;
  }

  /** Ends the process, without any goodbye. */
  kill(): void {
    this.disk.kill();
    this.events = [];
  }
}

const ORIGIN = genesis([1], new Uint8Array(16));

function brief(event: Event): string {
  switch (event.kind) {
    case 'leading':
      return `leading ${event.epoch}`;
    case 'committed':
      return `committed ${event.count}`;
    case 'entries':
      return `entries ${event.entries.map(({ payload }) => Buffer.from(payload).toString()).join(' ')}`.trim();
    case 'disk':
      return `disk ${event.level}`;
    case 'marked':
      return `marked ${event.id} at ${event.applied.index}`;
    case 'mark_lost':
      return `mark ${event.id} lost`;
    case 'failed':
      return `failed ${event.failure.exitCode}`;
    default:
      return event.kind;
  }
}

describe('a group of one node', () => {
  test('leads at once, commits what is proposed in order, and finds its place', async () => {
    const bench = await new Bench().start();
    bench.open();
    const epoch = await bench.leads();
    bench.propose(epoch, 'a', 'b');
    bench.propose(epoch, 'c');
    bench.send({ kind: 'mark', group: GROUP, epoch, id: 9 });
    await bench.settle();
    const said = bench.take();
    expect(said.filter((text) => text.startsWith('committed')).join(' + ')).toMatch(/^committed [1-3]/);
    expect(sumOf(said)).toBe(3);
    // The first entry is genesis, the second the one with which a leader begins.
    expect(said.at(-1)).toBe('marked 9 at 5');
  });

  test('gives what it committed as entries after it was killed, and then leads in a new epoch', async () => {
    const bench = await new Bench().start();
    bench.open();
    bench.propose(await bench.leads(), 'a', 'b');
    await bench.settle();
    bench.kill();
    await bench.start();
    bench.open();
    await bench.settle();
    const said = bench.take();
    expect(said.filter((text) => text.startsWith('entries')).join(' ')).toMatch(/a.*b/);
    expect(said.at(-1)).toMatch(/^leading/);
  });

  test('takes nothing that was proposed in an epoch that is over', async () => {
    const bench = await new Bench().start();
    bench.open();
    const epoch = await bench.leads();
    bench.propose(epoch + 1, 'of another one');
    bench.propose(epoch - 1, 'of the one before');
    bench.send({ kind: 'mark', group: GROUP, epoch: epoch - 1, id: 3 });
    await bench.settle();
    expect(bench.take()).toEqual(['mark 3 lost']);
  });
});

describe('more than is taken', () => {
  test.each([
    ['one by one', [['a'], ['b'], ['c']]],
    ['together', [['a', 'b', 'c']]],
  ])('%s suspends the leader, and it leads again when more would be taken, not before', async (_, parts) => {
    // Given a leader that lets two changes be under way,
    const bench = await new Bench().start(0, { maxPendingEntries: 2 });
    bench.open();
    const epoch = await bench.leads();
    // when one more comes
    for (const texts of parts) bench.propose(epoch, ...texts);
    // then what was taken comes as entries; as long as the state does not hold them, the next change would be
    // refused.
    await bench.settle();
    bench.host.tick();
    expect(bench.take().join()).toMatch(/^suspended,entries a(,entries)? b$/);
    bench.send({ kind: 'applied', group: GROUP, index: 4 });
    expect(bench.take()).toEqual([expect.stringMatching(/^leading/)]);
  });
});

describe('a full disk', () => {
  /** Fills the log until the node says that there is no room. */
  async function filled(bench: Bench): Promise<{ readonly epoch: number; readonly sent: number }> {
    bench.open();
    const epoch = await bench.leads();
    let sent = 0;
    while (!bench.events.some(({ kind }) => kind === 'suspended')) {
      bench.propose(epoch, 'x'.repeat(SEGMENT_BYTES / 4));
      sent += 1;
      if (sent > 1000) throw new Error('the disk is never full');
      await bench.settle();
    }
    return { epoch, sent };
  }

  test('suspends the leader at once; with room what waited comes as entries, nothing is lost or doubled, and it leads again', async () => {
    // Given a node whose log has no room left,
    const bench = await new Bench(5 * SEGMENT_BYTES).start(1000);
    const { epoch, sent } = await filled(bench);
    const committed = sumOf(bench.take());
    expect(committed).toBeLessThan(sent);
    // when more is proposed meanwhile it is dropped: the engine side takes it back.
    bench.propose(epoch, 'too late');
    await bench.settle();
    expect(bench.take()).toEqual([]);
    // Looking in vain changes nothing.
    bench.host.noteFree(0);
    await bench.settle();
    expect(bench.take().filter((text) => !text.startsWith('disk'))).toEqual([]);

    // When there is room,
    bench.disk.capacityBytes = Number.POSITIVE_INFINITY;
    bench.host.noteFree(1_000_000);
    await bench.settle();
    // then what was accepted before takes effect, once, and a new epoch begins.
    const said = bench.take();
    const entries =
      said
        .filter((text) => text.startsWith('entries'))
        .join(' ')
        .match(/x+/g) ?? [];
    expect(committed + entries.length).toBe(sent);
    expect(said.join(' ')).not.toContain('too late');
    expect(said).toContainEqual(expect.stringMatching(/^leading/));
    expect(Number(/leading (\d+)/.exec(said.join())?.[1])).toBeGreaterThan(epoch);
    expect(bench.host.diskLevel).toBe('ok');
  });

  test('a full disk that was never freed before the process ended still has what was acknowledged', async () => {
    const bench = await new Bench(5 * SEGMENT_BYTES).start();
    await filled(bench);
    const committed = sumOf(bench.take());
    bench.kill();
    bench.disk.capacityBytes = Number.POSITIVE_INFINITY;
    await bench.start();
    bench.open();
    await bench.settle();
    const entries = bench.take().join(' ').match(/x+/g) ?? [];
    expect(entries.length).toBeGreaterThanOrEqual(committed);
  });

  test('is announced before it is full', async () => {
    const bench = await new Bench().start(1000);
    bench.host.noteFree(5000);
    bench.host.noteFree(999);
    expect(bench.take()).toEqual(['disk low']);
  });
});

describe('the end of a node', () => {
  test('an error of a sync, with code 1: nothing is acknowledged, and nothing is said any more', async () => {
    const bench = await new Bench().start();
    bench.open();
    const epoch = await bench.leads();
    bench.failWrites({ kind: 'error', errno: 'EIO' });
    bench.propose(epoch, 'a');
    await bench.settle();
    expect(bench.take()).toEqual(['failed 1']);
    bench.failWrites(undefined);
    bench.propose(epoch, 'b');
    bench.host.tick();
    await bench.settle();
    expect(bench.take()).toEqual([]);
  });

  test.each([
    ['the log is missing', { ...ORIGIN, index: 7 }, false],
    ['the log ends before the state', { ...ORIGIN, index: 70 }, true],
    ['the log is another one', { ...ORIGIN, index: 3, hash: 12345 }, true],
  ] satisfies [string, Applied, boolean][])(
    'a state that does not fit: %s, with code 4',
    async (_, applied, hasLog) => {
      const bench = await new Bench().start();
      if (hasLog) {
        bench.open();
        bench.propose(await bench.leads(), 'a', 'b', 'c');
        await bench.settle();
        bench.kill();
        await bench.start();
      }
      bench.open(applied, false);
      await bench.settle();
      const failed = bench.events.find(({ kind }) => kind === 'failed');
      expect(bench.take()).toEqual(['failed 4']);
      if (failed?.kind !== 'failed') throw new Error('no failure');
      expect(failed.failure.message).toMatch(/do not fit together.*backup/s);
    },
  );
});

test('a state that another node sent may be ahead of the log: it was killed before the log was made anew', async () => {
  const bench = await new Bench().start();
  bench.open(nothing());
  await bench.settle();
  bench.kill();
  await bench.start();
  bench.events = [];
  bench.open({ ...ORIGIN, index: 7, term: 2, membership: membershipOfAnother() }, false);
  await bench.settle();
  expect(bench.take()).not.toContain('failed 4');
  expect(bench.log.view(GROUP)).toMatchObject({ firstIndex: 8, lastIndex: 7 });
});

test('a state that another node sent may end where the log ends, with another entry: that one goes', async () => {
  const bench = await new Bench().start();
  bench.open();
  bench.propose(await bench.leads(), 'a', 'b', 'c');
  await bench.settle();
  const { lastIndex: index, term } = bench.status();
  bench.kill();
  await bench.start();
  bench.open({ ...ORIGIN, index, term: term + 1, membership: membershipOfAnother() }, false);
  await bench.settle();
  expect(bench.take()).not.toContain('failed 4');
  expect(bench.log.view(GROUP)).toMatchObject({ firstIndex: index + 1, lastIndex: index });
  expect(bench.log.view(GROUP).term(index)).toBe(term + 1);
});

test('a leader that is behind with applying knows who its members are: no voter becomes a learner', async () => {
  const bench = await new Bench().start();
  const other = await new Bench(Number.POSITIVE_INFINITY, 2).start();
  bench.other = other;
  other.other = bench;
  const ofBoth = { ...ORIGIN, membership: encodeMembership(membershipOf([1, 2])) };
  const open = (at: Bench, isNew: boolean): void => {
    const campaign = at === bench;
    at.send({ kind: 'open', group: ROOT_GROUP, applied: ofBoth, isNew, campaign });
    at.send({ kind: 'open', group: GROUP, applied: ORIGIN, isNew, campaign });
  };
  const follow = async (): Promise<void> => {
    for (let tick = 0; tick < 30; tick++) {
      bench.host.tick();
      await bench.settle();
    }
  };
  open(other, true);
  open(bench, true);
  await follow();
  const { membership, membershipIndex } = bench.status();
  expect(membership.voters).toEqual([1, 2]);
  bench.kill();
  // The first of the entries behind the state is handed over, the others when that one is applied.
  await bench.start(0, { maxApplyBytes: 1 });
  open(bench, false);
  await follow();
  expect(bench.status()).toMatchObject({ role: 'leader', membership, membershipIndex });
});

/** One voter, and this node as a learner. */
function membershipOfAnother(): Uint8Array {
  return encodeMembership(membershipOf([2], [1]));
}

/** The number of proposals that were told as committed. */
function sumOf(said: readonly string[]): number {
  return said.reduce((sum, text) => sum + Number(/^committed (\d+)/.exec(text)?.[1] ?? 0), 0);
}

test('a node whose disk lost what it had reported as written ends with code 4, and votes for nobody', async () => {
  const leader = await new Bench().start();
  const liar = await new Bench(Number.POSITIVE_INFINITY, 2).start();
  leader.other = liar;
  liar.other = leader;
  const ofBoth = { ...ORIGIN, membership: encodeMembership(membershipOf([1, 2])) };
  liar.open(ofBoth, true, false);
  await liar.settle();
  leader.open(ofBoth);
  const epoch = await leader.leads();
  leader.propose(epoch, 'a');
  await leader.settle();
  const lied = await copyOf(liar.disk);
  leader.propose(epoch, 'b', 'c');
  await leader.settle();
  expect(leader.take()).toContain('committed 2');
  expect(leader.status().term).toBe(liar.status().term);

  liar.kill();
  liar.disk = lied;
  await liar.start();
  liar.open(ofBoth, false, false);
  liar.take();
  for (let tick = 0; tick < 3; tick++) leader.host.tick();
  leader.propose(epoch, 'd');
  await leader.settle();
  expect(liar.take()).toContain('failed 4');
  // Nobody goes round in circles meanwhile.
  const [progress] = leader.status().peers;
  expect(progress?.match).toBe(leader.status().commitIndex);
});

describe('a snapshot that is not made the state after all', () => {
  const SHARED = { ...ORIGIN, membership: encodeMembership(membershipOf([1], [2])) };

  /** A leader that has cut its log behind what a learner, which follows, has of it. */
  async function apart(): Promise<{
    leader: Bench;
    learner: Bench;
    state: Applied;
    sent: Applied;
    epoch: number;
  }> {
    const leader = await new Bench().start();
    const learner = await new Bench(Number.POSITIVE_INFINITY, 2).start();
    leader.other = learner;
    learner.other = leader;
    learner.open(SHARED, true, false);
    await learner.settle();
    leader.open(SHARED);
    const epoch = await leader.leads();
    leader.propose(epoch, 'a');
    await leader.settle();
    const last = learner.events.findLast((event) => event.kind === 'entries');
    if (last?.kind !== 'entries') throw new Error('the learner follows nobody');
    const state = { ...last.last, membership: SHARED.membership };
    learner.send({ kind: 'applied', group: GROUP, index: state.index });

    leader.other = null;
    leader.propose(epoch, 'b', 'c');
    leader.send({ kind: 'mark', group: GROUP, epoch, id: 1 });
    await leader.settle();
    const marked = leader.events.find((event) => event.kind === 'marked');
    if (marked?.kind !== 'marked') throw new Error('the leader can not commit');
    const { applied } = marked;
    leader.send({ kind: 'checkpointed', group: GROUP, applied, keptFrom: applied.index });
    await leader.settle();
    leader.other = learner;
    learner.take();
    return { leader, learner, state, sent: marked.applied, epoch };
  }

  /** Lets time pass until the leader sends a snapshot, and hands that over. */
  async function transfer(leader: Bench, learner: Bench): Promise<number> {
    leader.take();
    for (let tick = 0; tick < 50; tick++) {
      leader.host.tick();
      learner.host.tick();
      await leader.settle();
      const sent = leader.events.find((event) => event.kind === 'send_snapshot');
      if (sent?.kind !== 'send_snapshot') continue;
      learner.send({ kind: 'snapshot_arrived', group: GROUP, message: sent.message });
      leader.send({ kind: 'snapshot_sent', group: GROUP, to: 2, arrived: true });
      await leader.settle();
      const install = learner.events.find((event) => event.kind === 'install');
      if (install?.kind !== 'install') throw new Error('the snapshot is not wanted');
      return install.index;
    }
    throw new Error('no snapshot was sent');
  }

  test('leaves the group where it stood: the leader sends it again, and what is behind it follows', async () => {
    const { leader, learner, state, sent, epoch } = await apart();
    for (let time = 1; time <= 2; time++) {
      await transfer(leader, learner);
      learner.send({ kind: 'not_installed', group: GROUP, applied: state });
      await learner.settle();
      expect(learner.status().lastIndex).toBe(state.index);
      learner.take();
    }
    expect(await transfer(leader, learner)).toBe(sent.index);
    learner.send({ kind: 'installed', group: GROUP, applied: sent });
    await learner.settle();
    learner.take();
    leader.propose(epoch, 'd');
    await leader.settle();
    for (let tick = 0; tick < 3; tick++) leader.host.tick();
    await leader.settle();
    expect(learner.take()).toContain('entries d');
    expect([...leader.take(), ...learner.take()].filter((text) => text.startsWith('failed'))).toEqual([]);
  });

  test('keeps what had been promised before: what waited for it is written, and forgotten only with the disk', async () => {
    const { leader, learner, state } = await apart();
    await transfer(leader, learner);
    const { term } = learner.status();
    learner.send({ kind: 'not_installed', group: GROUP, applied: state });
    // Nothing is lost if the group is deleted, or the process ends, before the log goes on.
    learner.kill();
    await learner.start();
    learner.open(state, false, false);
    await learner.settle();
    expect(learner.status()).toMatchObject({ term, lastIndex: state.index });
    learner.send({ kind: 'not_installed', group: GROUP, applied: state });
    learner.send({ kind: 'drop', group: GROUP });
    await learner.settle();
    expect(learner.host.groupIds).toEqual([]);
    expect(learner.take().filter((text) => text.startsWith('failed'))).toEqual([]);
  });
});

/** A disk with what another one holds now. */
async function copyOf(disk: MemoryDisk): Promise<MemoryDisk> {
  const source = disk.attach();
  const copy = new MemoryDisk();
  const target = copy.attach();
  for (const { name } of await source.list()) {
    const from = await source.open(name);
    const to = await target.create(name, from.bytes);
    await new Promise((resolve) => to.write([Buffer.from(from.read(0, from.bytes))], 0, resolve));
    await to.close();
  }
  await target.sync();
  return copy;
}
