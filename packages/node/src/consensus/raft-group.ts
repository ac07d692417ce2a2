import type { LogView } from '@althing/storage';
import {
  type Entry,
  type Message,
  RaftNode,
  type RaftOptions,
  type Ready,
  type SoftState,
  type Write,
} from 'raft-ts';
import type { LogWriter } from './log-writer.js';
import { decodeMembership, encodeMembership } from './membership.js';
import type { Applied, CommittedEntry, Event, GroupId, Place } from './protocol.js';
import { operationsOf, RaftLog } from './raft-log.js';

/** What a group needs of the host that drives it. */
export interface GroupContext {
  readonly nodeId: number;
  /** The durable log of the group. */
  readonly view: (group: GroupId) => LogView;
  readonly writer: LogWriter;
  readonly options: Partial<RaftOptions>;
  readonly random: () => number;
  /** A number that was never given before. */
  readonly nextOffice: () => number;
  /** Hands an event over to the engine side. */
  readonly emit: (event: Event) => void;
  /** Sends messages to other nodes. */
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /** Runs what must not fail: an error ends the node. */
  readonly guarded: (work: () => void) => void;
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
  /** The office that goes with it. What comes under another one was sent before the engine side knew. */
  private office = 0;
  /** Places that the engine side asked for, with the index that must be committed first. */
  private readonly marks: Mark[] = [];
  private membership: Uint8Array;
  /** The engine side leads again once everything up to here was handed over; null when nothing waits for that. */
  private resumeAt: number | null = null;
  private appliedIndex: number;
  /** Every committed entry up to here was handed over. */
  private handedOver: number;
  private dropped = false;
  private processing = false;

  /**
   * @param applied where the state of this node stands, which is durable there
   */
  constructor(id: GroupId, context: GroupContext, applied: Applied) {
    this.id = id;
    this.context = context;
    const view = context.view(id);
    const membership = decodeMembership(applied.membership);
    this.log = new RaftLog(view, { ...applied, membership });
    this.membership = applied.membership;
    this.appliedIndex = applied.index;
    this.handedOver = applied.index;
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

  propose(office: number, payloads: readonly Uint8Array[]): void {
    // What was proposed in an office that is over, the engine side has taken back already or will soon.
    if (office !== this.office) return;
    const accepted = !this.context.writer.blocked && this.raft.propose(payloads).status === 'accepted';
    if (!accepted) this.suspend();
    this.process();
  }

  mark(office: number, id: number): void {
    if (office !== this.office) {
      this.context.emit({ kind: 'mark_lost', group: this.id, id });
      return;
    }
    this.marks.push({ id, index: this.raft.status().lastIndex });
    this.reachMarks();
  }

  /**
   * The engine side must take back what is not committed, because some of it can't be taken or can't be written now. It
   * gets as entries what was proposed before, if that is committed after all; then it leads again.
   */
  suspend(): void {
    const { leadingTerm } = this;
    if (leadingTerm === 0) return;
    this.stopLeading();
    this.context.emit({ kind: 'suspended', group: this.id });
    this.resumeAt = this.raft.status().lastIndex;
    if (this.resumeAt <= this.handedOver) this.lead(leadingTerm);
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
  checkpointed(applied: Applied, keep: number): void {
    this.log.checkpointed({ ...applied, membership: decodeMembership(applied.membership) });
    const upTo = applied.index - keep;
    if (upTo < this.log.firstIndex()) return;
    this.context.writer.compact(this.id, upTo, () => {
      if (!this.dropped) this.raft.compacted(upTo);
    });
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
    this.office = 0;
    this.resumeAt = null;
    for (const { id } of this.marks.splice(0)) this.context.emit({ kind: 'mark_lost', group: this.id, id });
  }

  private lead(term: number): void {
    this.leadingTerm = term;
    this.office = this.context.nextOffice();
    this.resumeAt = null;
    this.context.emit({ kind: 'leading', group: this.id, office: this.office });
  }

  private write(write: Write): void {
    const [first] = write.entries;
    const previous = first === undefined ? 0 : this.hashBefore(first.index);
    for (const { index, hash } of write.entries) this.handed.set(index, hash);
    const operations = operationsOf(this.id, write, previous);
    this.context.writer.append(operations, () => {
      if (!this.dropped) this.context.guarded(() => this.written(write));
    });
  }

  private written(write: Write): void {
    for (const { index, hash } of write.entries) {
      if (this.handed.get(index) === hash) this.handed.delete(index);
    }
    const released = this.raft.persisted(write);
    if (released.length > 0) this.context.transmit(this.id, released);
    this.process();
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
      this.handedOver = entry.index;
      if (this.leadingTerm !== 0 && entry.term === this.leadingTerm) {
        if (entry.kind === 'normal') own += 1;
        lastOwn = entry;
      } else {
        if (entry.kind === 'normal') entries.push(entryOf(entry));
        last = entry;
      }
      if (entry.kind === 'change') {
        flush();
        // A mark gets the membership that was in force there, and not a later one.
        this.reachMarks(entry.index - 1);
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

  /** Answers the marks up to an index. All entries up to there were handed over, so they are durable here. */
  private reachMarks(index = this.handedOver): void {
    while (this.marks[0] !== undefined && this.marks[0].index <= index) {
      const mark = this.marks.shift() as Mark;
      const applied: Applied = {
        index: mark.index,
        term: this.log.term(mark.index),
        hash: this.log.hash(mark.index),
        membership: this.membership,
      };
      this.context.emit({ kind: 'marked', group: this.id, id: mark.id, applied });
    }
  }
}

interface Mark {
  readonly id: number;
  /** Index of the entry that must be committed first. */
  readonly index: number;
}

function placeOf({ index, term, hash }: Place): Place {
  return { index, term, hash };
}

function entryOf({ index, term, payload }: Entry): CommittedEntry {
  return { index, term, payload };
}
