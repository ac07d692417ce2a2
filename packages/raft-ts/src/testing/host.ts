/**
 * A host in memory: what a process with a disk and a state machine does around a node, with every
 * asynchronous step (a write becomes durable, entries are applied) taken by hand.
 */
import { assert } from '../assert.js';
import type { LeaseOptions, Promised, RaftOptions } from '../config.js';
import type { StepResult } from '../core.js';
import { genesisOf } from '../genesis.js';
import { chainHash, murmur3 } from '../hash.js';
import { MemoryLog } from '../memorylog.js';
import type { Message } from '../messages.js';
import { RaftNode } from '../node.js';
import type { RandomSource } from '../random.js';
import type { Ready } from '../readying.js';
import type { TraceEvent } from '../trace.js';
import type { Entry, HardState, Index, Membership, MembershipAt, NodeId, SnapshotMeta } from '../types.js';
import type { Write } from '../writes.js';
import type { RaftNodeClass } from './plant.js';

/** A state machine whose state is a hash over everything that was applied to it. */
export interface MachineState {
  readonly index: Index;
  readonly hash: number;
  /** Chain hash and term of the entry at `index`, for snapshots. */
  readonly entryTerm: number;
  readonly entryHash: number;
  readonly membership: MembershipAt;
}

/** The part of a host that survives a crash. */
export interface Disk {
  log: MemoryLog;
  hardState: HardState;
  /** The state machine as last checkpointed. */
  checkpoint: MachineState;
}

export interface HostOptions {
  readonly id: NodeId;
  readonly disk: Disk;
  readonly random: RandomSource;
  readonly options?: Partial<RaftOptions>;
  readonly lease?: LeaseOptions;
  /** A core with planted bugs; the sound one by default. */
  readonly nodeClass?: RaftNodeClass;
  readonly promised?: Promised;
  readonly trace?: (event: TraceEvent) => void;
  /** Stands for the content of snapshots that hosts transfer. */
  readonly contents: Contents;
}

/** States of machines by the index and chain hash of their snapshot. */
export type Contents = Map<string, MachineState>;

/** A unit of work for the state machine, in order. */
type Work =
  | {
      readonly kind: 'apply';
      readonly entries: readonly Entry[];
      readonly memberships: readonly MembershipAt[];
    }
  | { readonly kind: 'install'; readonly snapshot: SnapshotMeta };

/** A disk on which nothing was ever written, or what a group with this membership begins with. */
export function freshDisk(membership: Membership): Disk {
  const log = new MemoryLog();
  if (membership.voters.length === 0) {
    const checkpoint = {
      index: 0,
      hash: 0,
      entryTerm: 0,
      entryHash: 0,
      membership: { index: 0, membership },
    };
    return { log, hardState: { term: 0, vote: 0, commit: 0 }, checkpoint };
  }
  const { snapshot, hardState } = genesisOf(membership, new Uint8Array(16));
  log.reset(snapshot);
  const { index, term: entryTerm, hash: entryHash } = snapshot;
  return {
    log,
    hardState,
    checkpoint: { index, hash: 0, entryTerm, entryHash, membership: { index, membership } },
  };
}

export class Host {
  readonly node: RaftNode;
  readonly disk: Disk;
  /** Writes under way, oldest first. */
  writes: Write[] = [];
  machine: MachineState;
  private work: Work[] = [];
  private readonly contents: Contents;

  constructor(readonly setup: HostOptions) {
    const { id, disk, random, options, lease, nodeClass: Node = RaftNode, promised, trace, contents } = setup;
    this.disk = disk;
    this.machine = disk.checkpoint;
    this.contents = contents;
    // The empty state that a group begins with may be sent as a snapshot, too.
    if (disk.checkpoint.index > 0) this.offer(disk.checkpoint);
    this.node = new Node({
      ...options,
      id,
      log: disk.log,
      hardState: disk.hardState,
      applied: disk.checkpoint.index,
      membership: disk.checkpoint.membership.membership,
      random,
      ...(lease === undefined ? {} : { lease }),
      ...(promised === undefined ? {} : { promised }),
      ...(trace === undefined ? {} : { trace }),
    });
  }

  get id(): NodeId {
    return this.setup.id;
  }

  get isApplying(): boolean {
    return this.work.length > 0;
  }

  step(message: Message): StepResult {
    return this.node.step(message);
  }

  /** Fetches what is ready: its write goes to the disk queue, its entries to the state machine's. */
  ready(): Ready {
    const ready = this.node.ready();
    if (ready.write !== null) this.writes.push(ready.write);
    if (ready.committed.length > 0) {
      this.work.push({ kind: 'apply', entries: ready.committed, memberships: ready.committedMemberships });
    }
    return ready;
  }

  /** The oldest `count` writes reach the disk; one acknowledgement stands for all of them. */
  persist(count = this.writes.length): readonly Message[] {
    const done = this.writes.splice(0, count);
    const last = done[done.length - 1];
    if (last === undefined) return [];
    for (const write of done) {
      this.write(write);
      if (write.snapshot !== null) this.work.push({ kind: 'install', snapshot: write.snapshot });
    }
    return this.node.persisted(last);
  }

  /** The state machine does its oldest piece of work. */
  applyNext(): readonly Entry[] {
    const work = this.work.shift();
    if (work === undefined) return [];
    if (work.kind === 'install') {
      this.install(work.snapshot);
      return [];
    }
    for (const entry of work.entries) {
      const changed = work.memberships.find(({ index }) => index === entry.index);
      this.machine = applied(this.machine, entry, changed ?? this.machine.membership);
    }
    this.node.applied(this.machine.index);
    return work.entries;
  }

  /** Everything that was applied becomes durable. */
  checkpoint(): void {
    if (this.machine.index > this.disk.checkpoint.index) this.disk.checkpoint = this.machine;
  }

  /** Makes a snapshot of what is checkpointed, and drops the log up to it, but for `keep` entries. */
  compact(keep: number): void {
    const { log, checkpoint } = this.disk;
    // A snapshot is on the disk that the state machine is yet to be switched to.
    if (checkpoint.index === 0 || checkpoint.index > this.machine.index) return;
    log.offerSnapshot(this.offer(checkpoint));
    const upTo = Math.min(checkpoint.index - keep, log.lastIndex());
    if (upTo < log.firstIndex()) return;
    log.compact(upTo);
    this.node.compacted(upTo);
  }

  /** Makes the content of a snapshot available to other hosts. */
  offer(state: MachineState): SnapshotMeta {
    this.contents.set(`${state.index}/${state.entryHash}`, state);
    const { index, entryTerm: term, entryHash: hash, membership } = state;
    return { index, term, hash, membership: membership.membership };
  }

  /**
   * The process dies: the first `survivors` of the writes under way are on the disk, without anybody having
   * been told.
   */
  crash(survivors: number): Disk {
    for (const write of this.writes.slice(0, survivors)) this.write(write);
    this.writes = [];
    return this.disk;
  }

  /** Log, hard state and state machine change in one step. */
  private write(write: Write): void {
    const { disk } = this;
    if (write.snapshot !== null) {
      disk.log.reset(write.snapshot);
      disk.checkpoint = this.content(write.snapshot);
    }
    disk.log.append(write.entries);
    if (write.hardState !== null) disk.hardState = write.hardState;
  }

  private install(snapshot: SnapshotMeta): void {
    const state = this.content(snapshot);
    if (state.index > this.machine.index) this.machine = state;
    this.node.snapshotInstalled(snapshot.index);
  }

  private content({ index, hash }: SnapshotMeta): MachineState {
    const state = this.contents.get(`${index}/${hash}`);
    assert(state !== undefined, 'A snapshot without content', index);
    return state;
  }
}

function applied(state: MachineState, entry: Entry, membership: MembershipAt): MachineState {
  assert(entry.index === state.index + 1, 'Applied out of order', entry.index, state.index);
  const hash = chainHash(state.hash, entry.index, entry.term, entry.kind, entry.payload, murmur3);
  return { index: entry.index, hash, entryTerm: entry.term, entryHash: entry.hash, membership };
}
