/** The contract of the calls: what they answer, and what they refuse from a host that breaks it. */
import { describe, expect, test } from '@jest/globals';
import { RaftAssertionError } from './assert.js';
import { changeOf, encodeChange, MAX_CHANGE_CONTEXT_BYTES } from './change.js';
import type { RaftConfig } from './config.js';
import { genesisOf } from './genesis.js';
import { chainEntry, murmur3 } from './hash.js';
import { membershipOf } from './membership.js';
import { MemoryLog } from './memorylog.js';
import type { Message } from './messages.js';
import { RaftNode } from './node.js';
import { Cluster } from './testing/cluster.js';
import type { TraceEvent } from './trace.js';
import type { Entry } from './types.js';

function alone(options: Partial<RaftConfig> = {}): { node: RaftNode; log: MemoryLog } {
  const membership = membershipOf([1]);
  const { snapshot, hardState } = genesisOf(membership, new Uint8Array(0));
  const log = new MemoryLog();
  log.reset(snapshot);
  return {
    node: new RaftNode({ id: 1, log, hardState, applied: 1, membership, random: 1, ...options }),
    log,
  };
}

/** Does everything that there is to do. */
function work(node: RaftNode, log: MemoryLog): void {
  while (node.hasReady()) {
    const { write, committed } = node.ready();
    if (write !== null) {
      log.append(write.entries);
      node.persisted(write);
    }
    if (committed.length > 0) node.applied(committed[committed.length - 1]!.index);
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a node', () => {
  test('a node of a group of one elects itself, commits, and answers reads', () => {
    const { node, log } = alone();
    expect([node.id, node.role, node.leader, node.quiesced]).toEqual([1, 'follower', 0, false]);
    expect(node.campaign()).toBe(true);
    expect(node.campaign()).toBe(true);
    work(node, log);
    expect([node.role, node.leader, node.term, node.commitIndex]).toEqual(['leader', 1, 3, 2]);
    expect(node.campaign()).toBe(false);
    expect(node.propose([bytes('a'), bytes('b')])).toEqual({
      status: 'accepted',
      firstIndex: 3,
      lastIndex: 4,
      term: 3,
    });
    work(node, log);
    expect(node.readIndex('mine')).toEqual({ status: 'accepted' });
    expect(node.ready().reads).toEqual([{ outcome: 'ready', context: 'mine', index: 4 }]);
    expect(node.hasReady()).toBe(false);
    const { write, messages, committed, reads, soft, membership } = node.ready();
    expect([write, messages, committed, reads, soft, membership]).toEqual([null, [], [], [], null, null]);
  });

  test('hands out entries for a member only while its host has room for them', () => {
    let hasRoom = false;
    const membership = membershipOf([1], [2]);
    const { node, log } = alone({ membership, hasRoom: () => hasRoom });
    const sent: string[] = [];
    const take = (): void => {
      while (node.hasReady()) {
        const { write, committed, messages } = node.ready();
        for (const each of messages) if (each.kind === 'append') sent.push(each.entries.length.toString());
        if (write !== null) log.append(write.entries);
        if (write !== null) node.persisted(write);
        if (committed.length > 0) node.applied(committed[committed.length - 1]!.index);
      }
    };
    node.campaign();
    take();
    // It asks where the logs agree, and leads without the learner.
    expect(sent.splice(0)).toEqual(['0']);
    const agreed = { index: 1, rejected: false, hintIndex: 0, hintTerm: 0, recovering: false };
    node.step({ kind: 'appendResponse', from: 2, to: 1, term: node.term, ...agreed });
    node.propose([bytes('a')]);
    take();
    expect(sent.splice(0).every((entries) => entries === '0')).toBe(true);
    hasRoom = true;
    node.roomFor(2);
    node.roomFor(7);
    take();
    expect(sent).toEqual(['2']);
  });

  test('takes up from what it left on its disk', () => {
    const { node, log } = alone();
    node.campaign();
    work(node, log);
    node.propose([bytes('a')]);
    work(node, log);
    const again = new RaftNode({
      id: 1,
      log,
      hardState: { term: 2, vote: 1, commit: 2 },
      applied: 2,
      membership: membershipOf([1]),
      random: 1,
    });
    expect(again.status()).toMatchObject({
      lastIndex: 3,
      commitIndex: 2,
      appliedIndex: 2,
      term: 2,
      role: 'follower',
    });
    for (let tick = 0; tick < 25 && again.role !== 'leader'; tick += 1) {
      again.tick();
      work(again, log);
    }
    expect(again.status()).toMatchObject({ role: 'leader', commitIndex: 4, appliedIndex: 4, term: 3 });
    expect(again.status().lastElection).toMatchObject({ reason: 'timeout' });
  });

  test('refuses proposals that are empty or too large', () => {
    const { node, log } = alone({ maxProposalBytes: 10, maxPendingEntries: 2 });
    node.campaign();
    work(node, log);
    expect(node.propose([])).toMatchObject({ status: 'dropped', reason: 'empty' });
    expect(node.propose([new Uint8Array(11)])).toMatchObject({ status: 'dropped', reason: 'too_large' });
    expect(node.propose([bytes('a'), bytes('b'), bytes('c')])).toMatchObject({ reason: 'too_large' });
    const change = {
      ...changeOf({ action: 'addLearner', node: 2, promote: false }),
      context: new Uint8Array(70_000),
    };
    expect(change.context.byteLength).toBeGreaterThan(MAX_CHANGE_CONTEXT_BYTES);
    expect(node.proposeChange(change)).toMatchObject({ status: 'dropped', reason: 'context_too_large' });
  });

  test('takes proposals while it leads, hands over to nobody, and has room for one more', () => {
    const { node, log } = alone({ maxPendingEntries: 2 });
    expect(node.takesProposals).toBe(false);
    node.campaign();
    work(node, log);
    expect(node.takesProposals).toBe(true);
    node.propose([bytes('a'), bytes('b')]);
    expect(node.takesProposals).toBe(false);
    work(node, log);
    expect(node.takesProposals).toBe(true);
  });

  test('limits the reads that wait, at the leader and at a follower', () => {
    const cluster = new Cluster({
      seed: 1,
      membership: membershipOf([1, 2]),
      options: { maxPendingReads: 1 },
    });
    for (const id of [1, 2]) cluster.add(id, membershipOf([1, 2]));
    elect(cluster);
    const [leader, follower] = [cluster.host(1).node, cluster.host(2).node];
    expect(leader.readIndex('a').status).toBe('accepted');
    expect(leader.readIndex('b')).toEqual({ status: 'dropped', reason: 'overloaded' });
    expect(follower.readIndex('c').status).toBe('accepted');
    expect(follower.readIndex('d')).toEqual({ status: 'dropped', reason: 'overloaded' });
    const question: Message = { kind: 'readIndex', from: 2, to: 1, term: leader.term, id: 7 };
    expect(leader.step(question)).toMatchObject({ status: 'ignored' });
  });

  test('notices a host that breaks the contract', () => {
    const { node, log } = alone();
    node.campaign();
    const { write } = node.ready();
    expect(write).not.toBeNull();
    expect(() => node.persisted({ sequence: 99, term: 2 })).toThrow(RaftAssertionError);
    expect(() => node.applied(2)).toThrow('not handed out');
    expect(() => node.applied(Number.NaN)).toThrow('no index');
    expect(() => node.snapshotInstalled(5)).toThrow('No such snapshot');
    expect(() => node.compacted(7)).toThrow('still needed');
    expect(() => new RaftNode({ ...config(log), hardState: { term: 0, vote: 0, commit: 1 } })).toThrow(
      'ahead of the term',
    );
  });

  test('reports about members that are unknown, or made by followers, change nothing', () => {
    const { node, log } = alone();
    node.reportUnreachable(9);
    node.reportSnapshot(9, true);
    node.campaign();
    work(node, log);
    node.reportUnreachable(9);
    node.reportSnapshot(9, true);
    expect(node.status().peers).toEqual([]);
  });

  test('a snapshot waits for the host to have one, and for the member to be heard', () => {
    const cluster = new Cluster({ seed: 1, membership: membershipOf([1, 2]) });
    for (const id of [1, 2]) cluster.add(id, membershipOf([1, 2]));
    elect(cluster);
    const { node, disk } = cluster.host(1);
    cluster.crash(2);
    cluster.add(3, { ...membershipOf([]), voters: [] });
    const snapshot = disk.log.snapshot();
    disk.log.snapshot = () => null;
    node.proposeChange(changeOf({ action: 'addLearner', node: 3, promote: false }));
    cluster.restart(2);
    settle(cluster);
    expect(node.status().peers.find((peer) => peer.node === 3)).toMatchObject({
      state: 'probe',
      paused: true,
    });
    disk.log.snapshot = () => snapshot;
    cluster.tick(1);
    settle(cluster);
    expect(cluster.host(3).machine.index).toBe(3);
  });

  test('the reply to a message of a node that is no member, or no leader, is to ignore it', () => {
    const cluster = new Cluster({ seed: 1, membership: membershipOf([1, 2]) });
    for (const id of [1, 2]) cluster.add(id, membershipOf([1, 2]));
    elect(cluster);
    const { node } = cluster.host(1);
    const { term } = node;
    const response = { index: 1, rejected: false, hintIndex: 0, hintTerm: 0, recovering: false };
    const reasonOf = (each: Message): unknown => {
      const result = cluster.host(each.to).node.step(each);
      return result.status === 'ok' ? 'ok' : result.reason;
    };
    expect(reasonOf({ kind: 'appendResponse', from: 9, to: 1, term, ...response })).toBe('not_a_member');
    expect(reasonOf({ kind: 'heartbeatResponse', from: 9, to: 1, term, round: 0 })).toBe('not_a_member');
    expect(reasonOf({ kind: 'heartbeatResponse', from: 1, to: 2, term, round: 0 })).toBe('not_leader');
    expect(reasonOf({ kind: 'appendResponse', from: 1, to: 2, term, ...response })).toBe('not_leader');
    expect(reasonOf({ kind: 'readIndex', from: 1, to: 2, term, id: 1 })).toBe('not_leader');
    expect(reasonOf({ kind: 'propose', from: 1, to: 2, term, payloads: [bytes('x')] })).toBe('not_leader');
    expect(reasonOf({ kind: 'propose', from: 2, to: 1, term, payloads: [] })).toBe('proposal_dropped');
    expect(reasonOf({ kind: 'timeoutNow', from: 2, to: 1, term })).toBe('two_leaders');
    const vote = { granted: true, commit: 0, commitTerm: 0 };
    expect(reasonOf({ kind: 'voteResponse', from: 9, to: 2, term, ...vote })).toBe('not_candidate');
    cluster.host(2).node.campaign();
    const { attempt } = attemptOf(cluster);
    expect(reasonOf({ kind: 'preVoteResponse', from: 9, to: 2, term: term + 1, attempt, ...vote })).toBe(
      'not_a_member',
    );
  });

  test('a transfer to a member that can not campaign comes to nothing', () => {
    const cluster = new Cluster({ seed: 1, membership: membershipOf([1, 2], [3]) });
    for (const id of [1, 2, 3]) cluster.add(id, membershipOf([1, 2], [3]));
    elect(cluster);
    const { term } = cluster.host(1).node;
    expect(cluster.host(3).node.step({ kind: 'timeoutNow', from: 1, to: 3, term })).toMatchObject({
      reason: 'not_promotable',
    });
    expect(cluster.host(1).node.transferLeadership(2).status).toBe('accepted');
    expect(cluster.host(1).node.transferLeadership(2)).toMatchObject({ reason: 'in_progress', leader: 1 });
  });

  test('waking a node that is awake changes nothing', () => {
    const { node, log } = alone();
    node.campaign();
    work(node, log);
    node.wake();
    node.leaderSilent();
    expect(node.hasReady()).toBe(false);
    expect(node.quiesce()).toBe(true);
    expect(node.canQuiesce()).toBe(false);
    node.tick();
    expect(node.status().ticks).toBe(0);
    node.wake();
    node.tick();
    expect(node.status().ticks).toBe(1);
  });
});

describe('a follower', () => {
  const membership = membershipOf([1, 2]);
  const { snapshot, hardState } = genesisOf(membership, new Uint8Array(0));

  function follower(options: Partial<RaftConfig> = {}): RaftNode {
    const log = new MemoryLog();
    log.reset(snapshot);
    return new RaftNode({ id: 1, log, hardState, applied: 1, membership, random: 1, ...options });
  }

  function append(
    prev: { index: number; term: number; hash: number },
    commit: number,
    entries: Entry[],
  ): Message {
    const { index: prevIndex, term: prevTerm, hash: prevHash } = prev;
    return {
      kind: 'append',
      from: 2,
      to: 1,
      term: 2,
      prevIndex,
      prevTerm,
      prevHash,
      commit,
      entries,
      notice: false,
    };
  }

  test('ignores a committed change that does not fit the membership, as everybody does', () => {
    const events: TraceEvent[] = [];
    const node = follower({ trace: (event) => events.push(event) });
    const leave = chainEntry(snapshot.hash, 2, 2, 'change', encodeChange(changeOf()), murmur3);
    expect(node.step(append(snapshot, 2, [leave]))).toEqual({ status: 'ok' });
    expect(events).toContainEqual({ node: 1, type: 'change_ignored', index: 2, reason: 'not_joint' });
    expect(node.status().membership).toEqual(membership);
  });

  test('a follower that takes a snapshot does not count what was being written then as durable', () => {
    const node = follower();
    const [old, kept] = [2, 3].map((term) => {
      const entries: Entry[] = [];
      let last: { readonly hash: number } = snapshot;
      for (let index = 2; index <= 12; index += 1) {
        const entry = chainEntry(last.hash, index, term, 'normal', Uint8Array.of(term), murmur3);
        entries.push(entry);
        last = entry;
      }
      return entries;
    }) as [Entry[], Entry[]];
    node.step(append(snapshot, 1, old));
    const under = node.ready().write!;
    expect(under.entries).toHaveLength(11);

    // Another leader is elected, whose log says something else; its snapshot ends before what is being
    // written does.
    const place = kept[8]!;
    expect(place.index).toBe(10);
    const meta = { index: 10, term: 3, hash: place.hash, membership };
    node.step({ kind: 'snapshot', from: 2, to: 1, term: 3, snapshot: meta });
    expect([node.status().lastIndex, node.commitIndex]).toEqual([10, 10]);

    // The write completes only now, and entries follow that take the places of those behind the snapshot.
    // The former leader can't use any more what it is told in its own term.
    const answersOf = (messages: readonly Message[]): number[] =>
      messages.flatMap((message) =>
        message.kind === 'appendResponse' && message.term === 3 && !message.rejected ? [message.index] : [],
      );
    expect(Math.max(0, ...answersOf(node.persisted(under)))).toBeLessThanOrEqual(10);
    const { index: prevIndex, term: prevTerm, hash: prevHash } = place;
    const entries = kept.slice(9);
    node.step({
      kind: 'append',
      from: 2,
      to: 1,
      term: 3,
      prevIndex,
      prevTerm,
      prevHash,
      commit: 10,
      entries,
      notice: false,
    });
    const first = node.ready();
    expect(first.write?.snapshot).toEqual(meta);
    expect(answersOf(first.messages)).toEqual([]);
    const later = node.hasReady() ? node.ready() : null;
    expect(answersOf(later?.messages ?? [])).toEqual([]);
    const told = [...node.persisted(first.write!), ...(later?.write ? node.persisted(later.write) : [])];
    expect(answersOf(told).at(-1)).toBe(12);
  });

  test('loses acknowledgements, as a network would, when the host does not fetch them', () => {
    const node = follower({ maxOutbox: 2 });
    let last = { index: 1, term: 1, hash: snapshot.hash };
    for (let index = 2; index < 6; index += 1) {
      const entry = chainEntry(last.hash, index, 2, 'normal', new Uint8Array(1), murmur3);
      node.step(append(last, 1, [entry]));
      last = entry;
    }
    expect(node.status().outboxDropped).toBe(2);
    expect(node.persisted(node.ready().write!).length).toBe(2);
  });

  test('a follower with leases does not forget its leader on the host`s word; it wakes and waits', () => {
    const node = follower({ lease: { clock_ms: () => 0, tick_ms: 100 } });
    node.step(append(snapshot, 1, []));
    node.step({ kind: 'quiesce', from: 2, to: 1, term: 2, index: 1 });
    expect(node.quiesced).toBe(true);
    node.leaderSilent();
    expect([node.quiesced, node.leader]).toEqual([false, 2]);
  });

  test('a follower that is silent is not woken by strangers', () => {
    const node = follower();
    node.step(append(snapshot, 1, []));
    node.step({ kind: 'quiesce', from: 2, to: 1, term: 2, index: 1 });
    expect(node.step({ kind: 'wake', from: 9, to: 1, term: 2 })).toEqual({ status: 'ok' });
    expect(node.quiesced).toBe(true);
    expect(node.step({ kind: 'quiesce', from: 2, to: 1, term: 2, index: 1 })).toEqual({ status: 'ok' });
    expect(node.quiesced).toBe(true);
  });
});

function config(log: MemoryLog): RaftConfig {
  const hardState = { term: 1, vote: 0, commit: 1 };
  return { id: 1, log, hardState, applied: 1, membership: membershipOf([1]), random: 1 };
}

function elect(cluster: Cluster): void {
  cluster.host(1).node.campaign();
  settle(cluster);
  expect(cluster.host(1).node.role).toBe('leader');
}

function settle(cluster: Cluster): void {
  for (let busy = true; busy; ) {
    busy = cluster.messages.length > 0;
    for (const host of cluster.running) {
      while (host.node.hasReady()) {
        busy = true;
        cluster.ready(host.id);
      }
      cluster.persist(host.id);
      while (host.isApplying) cluster.apply(host.id);
    }
    for (let count = cluster.messages.length; count > 0; count -= 1) cluster.deliver(0);
  }
}

function attemptOf(cluster: Cluster): { attempt: number } {
  const message = cluster.ready(2).messages.find((each) => each.kind === 'preVote');
  if (message?.kind !== 'preVote') throw new Error('No pre-vote was sent');
  return message;
}
