import type { LogStore } from '@althing/storage';
import {
  type Entry,
  type Message,
  RaftNode,
  type RaftOptions,
  type Ready,
  type SoftState,
  type Write,
} from 'raft-ts';
import { decodeMembership, encodeMembership } from './membership.js';
import type { Applied, CommittedEntry, Event, GroupId, Place } from './protocol.js';
import { operationsOf, RaftLog } from './raft-log.js';

/** What a group needs of the host that drives it. */
export interface GroupContext {
  readonly nodeId: number;
  readonly log: LogStore;
  readonly options: Partial<RaftOptions>;
  readonly random: () => number;
  /** Hands an event over to the engine side. */
  readonly emit: (event: Event) => void;
  /** Sends messages to other nodes. */
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /** A durable write failed. */
  readonly failed: (error: Error) => void;
}

/** One Raft group on this node: its core, its log, and what the engine side was told of it. */
export class RaftGroup {
  readonly id: GroupId;
  private readonly context: GroupContext;
  private readonly log: RaftLog;
  private readonly raft: RaftNode;
  /** Chain hashes of entries that are being written. */
  private readonly handed = new Map<number, number>();
  /** The term in which the engine side was told that it leads; 0 while it was not. */
  private leadingTerm = 0;
  /** Places that the engine side asked for, with the index that must be committed first. */
  private readonly marks: { readonly id: number; readonly index: number }[] = [];
  private membership: Uint8Array;
  /** The engine side leads again once everything up to here was handed over; null when nothing waits for that. */
  private resumeAt: number | null = null;
  private appliedIndex: number;
  private dropped = false;
  private processing = false;

  /**
   * @param applied where the state of this node stands, which is durable there
   */
  constructor(id: GroupId, context: GroupContext, applied: Applied) {
    this.id = id;
    this.context = context;
    const view = context.log.view(id);
    const membership = decodeMembership(applied.membership);
    this.log = new RaftLog(view, { ...applied, membership });
    this.membership = applied.membership;
    this.appliedIndex = applied.index;
    this.raft = new RaftNode({
      ...context.options,
      id: context.nodeId,
      log: this.log,
      hardState: view.hardState ?? { term: applied.term, vote: 0, commit: applied.index },
      applied: applied.index,
      membership,
      random: context.random,
    });
  }

  get role(): RaftNode['role'] {
    return this.raft.role;
  }

  get quiesced(): boolean {
    return this.raft.quiesced;
  }

  status(): ReturnType<RaftNode['status']> {
    return this.raft.status();
  }

  /** Begins to take part. A group of one elects itself at once. */
  start(): void {
    const { voters } = decodeMembership(this.membership);
    if (voters.length === 1 && voters[0] === this.context.nodeId) this.raft.campaign();
    this.process();
  }

  tick(): void {
    this.raft.tick();
    this.process();
  }

  step(message: Message): void {
    this.raft.step(message);
    this.process();
  }

  propose(term: number, payloads: readonly Uint8Array[]): void {
    // What was proposed in a term that is over, the engine side has taken back already or will soon.
    if (term !== this.leadingTerm) return;
    const result = this.raft.propose(payloads);
    if (result.status !== 'accepted') this.refuse();
    this.process();
  }

  mark(term: number, id: number): void {
    if (term !== this.leadingTerm) {
      this.context.emit({ kind: 'mark_lost', group: this.id, id });
      return;
    }
    this.marks.push({ id, index: this.raft.status().lastIndex });
    this.reachMarks();
  }

  read(id: number): void {
    const result = this.raft.readIndex(id);
    if (result.status === 'dropped') this.context.emit({ kind: 'read', group: this.id, id, index: null });
    this.process();
  }

  /** The state holds everything up to here. */
  applied(index: number): void {
    if (index <= this.appliedIndex) return;
    this.appliedIndex = index;
    this.raft.applied(index);
    this.process();
  }

  /** The state is durable up to here; lets the log go, but for `keep` entries. */
  async checkpointed(applied: Applied, keep: number): Promise<void> {
    this.log.checkpointed({ ...applied, membership: decodeMembership(applied.membership) });
    const upTo = applied.index - keep;
    if (upTo < this.log.firstIndex()) return;
    await this.context.log.compact(this.id, upTo);
    if (!this.dropped) this.raft.compacted(upTo);
  }

  drop(): void {
    this.dropped = true;
  }

  /** Does everything that is ready, until nothing is. */
  private process(): void {
    if (this.processing) return;
    this.processing = true;
    try {
      while (!this.dropped && this.raft.hasReady()) this.handle(this.raft.ready());
    } finally {
      this.processing = false;
    }
  }

  private handle(ready: Ready): void {
    if (ready.soft !== null) this.roleChanged(ready.soft);
    if (ready.write !== null) this.write(ready.write);
    if (ready.messages.length > 0) this.context.transmit(this.id, ready.messages);
    if (ready.committed.length > 0) this.commit(ready);
    for (const read of ready.reads) {
      const index = read.outcome === 'ready' ? read.index : null;
      this.context.emit({ kind: 'read', group: this.id, id: Number(read.context), index });
    }
  }

  private roleChanged({ role, term, leader }: SoftState): void {
    if (this.leadingTerm !== 0 && (role !== 'leader' || term !== this.leadingTerm)) this.stopLeading();
    if (role !== 'leader') this.context.emit({ kind: 'following', group: this.id, term, leader });
  }

  private stopLeading(): void {
    this.leadingTerm = 0;
    this.resumeAt = null;
    for (const { id } of this.marks.splice(0)) this.context.emit({ kind: 'mark_lost', group: this.id, id });
  }

  /**
   * A proposal that can not be taken. The engine side must take back what it did since, as if leadership was lost, and
   * gets what was proposed before as entries; then it leads again.
   */
  private refuse(): void {
    const { term, leader } = this.raft;
    this.stopLeading();
    this.context.emit({ kind: 'following', group: this.id, term, leader });
    if (this.raft.role !== 'leader') return;
    this.resumeAt = this.raft.status().lastIndex;
    if (this.resumeAt <= this.appliedIndex) this.lead(term);
  }

  private lead(term: number): void {
    this.leadingTerm = term;
    this.resumeAt = null;
    this.context.emit({ kind: 'leading', group: this.id, term });
  }

  private write(write: Write): void {
    const [first] = write.entries;
    const previous = first === undefined ? 0 : this.hashBefore(first.index);
    for (const { index, hash } of write.entries) this.handed.set(index, hash);
    const operations = operationsOf(this.id, write, previous);
    this.context.log.append(operations, (error) => {
      if (error !== undefined) {
        this.context.failed(error);
        return;
      }
      if (this.dropped) return;
      for (const { index, hash } of write.entries) {
        if (this.handed.get(index) === hash) this.handed.delete(index);
      }
      const released = this.raft.persisted(write);
      if (released.length > 0) this.context.transmit(this.id, released);
      this.process();
    });
  }

  private hashBefore(index: number): number {
    return this.handed.get(index - 1) ?? this.log.hash(index - 1);
  }

  private commit({ committed, committedMemberships }: Ready): void {
    let entries: CommittedEntry[] = [];
    let own = 0;
    let lastOwn: Place | null = null;
    let last: Place | null = null;
    const flush = (): void => {
      if (lastOwn !== null) {
        this.context.emit({ kind: 'committed', group: this.id, count: own, last: placeOf(lastOwn) });
      }
      if (last !== null) this.context.emit({ kind: 'entries', group: this.id, entries, last: placeOf(last) });
      own = 0;
      lastOwn = null;
      entries = [];
      last = null;
    };
    for (const entry of committed) {
      if (this.leadingTerm !== 0 && entry.term === this.leadingTerm) {
        if (entry.kind === 'normal') own += 1;
        lastOwn = entry;
      } else {
        if (entry.kind === 'normal') entries.push(entryOf(entry));
        last = entry;
      }
      if (entry.kind === 'change') {
        flush();
        this.membershipChanged(entry, committedMemberships);
      }
      if (entry.kind === 'noop' && this.raft.role === 'leader' && entry.term === this.raft.term) {
        flush();
        this.lead(entry.term);
      }
      if (this.resumeAt === entry.index) {
        flush();
        this.lead(entry.term);
      }
    }
    flush();
    // What this node proposed, its engine side had applied before.
    const end = committed[committed.length - 1] as Entry;
    if (this.leadingTerm !== 0 && end.term === this.leadingTerm) {
      this.appliedIndex = Math.max(this.appliedIndex, end.index);
      this.raft.applied(this.appliedIndex);
    }
    this.reachMarks();
  }

  private membershipChanged(entry: Entry, memberships: Ready['committedMemberships']): void {
    const changed = memberships.find(({ index }) => index === entry.index);
    if (changed === undefined) return;
    this.membership = encodeMembership(changed.membership);
    this.context.emit({
      kind: 'membership',
      group: this.id,
      index: entry.index,
      membership: this.membership,
    });
  }

  private reachMarks(): void {
    const { commitIndex } = this.raft;
    while (this.marks[0] !== undefined && this.marks[0].index <= commitIndex) {
      const { id, index } = this.marks.shift() as { id: number; index: number };
      const applied: Applied = {
        index,
        term: this.log.term(index),
        hash: this.log.hash(index),
        membership: this.membership,
      };
      this.context.emit({ kind: 'marked', group: this.id, id, applied });
    }
  }
}

function placeOf({ index, term, hash }: Place): Place {
  return { index, term, hash };
}

function entryOf({ index, term, payload }: Entry): CommittedEntry {
  return { index, term, payload };
}
