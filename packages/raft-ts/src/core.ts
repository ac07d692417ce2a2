/**
 * The state of one node, and what every part of the protocol needs of it: sending, tracing, drawing a
 * timeout. The protocol itself is in the files beside, as functions on a `Core`:
 *
 *   step.ts          messages come in: checks, terms, dispatch
 *   ticking.ts       time passes
 *   roles.ts         follower, candidate, leader
 *   election.ts      campaigns and votes
 *   replication.ts   appends, responses, commit
 *   heartbeats.ts    heartbeats, read confirmation, leases
 *   readindex.ts     reads
 *   snapshots.ts     snapshots instead of entries
 *   configuration.ts membership changes
 *   transfer.ts      leadership transfer
 *   quiescence.ts    silence of idle groups
 *   proposals.ts     proposals and their limits
 *   settle.ts        what follows from any of it: commit, membership, waiting reads
 *   readying.ts      what the host gets
 */
import { assert } from './assert.js';
import type { RaftConfig, Settings } from './config.js';
import type { LogView } from './hostlog.js';
import { Lease } from './lease.js';
import { RaftLog } from './log.js';
import { isRemoved, isVoter } from './membership.js';
import type { Message } from './messages.js';
import { ForwardedReads, LeaderReads, type ReadResult } from './reads.js';
import type { IgnoreReason, RefusalReason, RoleReason, TraceEvent } from './trace.js';
import { Tracker } from './tracker.js';
import {
  type Index,
  type MembershipAt,
  NO_NODE,
  NOBODY,
  type NodeId,
  type Role,
  type Term,
} from './types.js';
import { WritesInFlight } from './writes.js';

/** The verdict of `step` on a message. */
export type StepResult =
  | { readonly status: 'ok' }
  /** Nothing is wrong with it, it just does not matter any more, or not here. */
  | { readonly status: 'ignored'; readonly reason: IgnoreReason }
  /**
   * Its sender is damaged or mad. Nothing was taken over; the host should log it, and distrust the sender.
   */
  | { readonly status: 'refused'; readonly reason: RefusalReason };

export const OK: StepResult = Object.freeze({ status: 'ok' });

/** A leadership transfer under way. */
export interface Transfer {
  readonly to: NodeId;
  readonly since: number;
  /** The target was told to campaign. */
  told: boolean;
}

/** A mark that the log must reach before the node counts again; see `Promised`. */
export interface RecoveryMark {
  readonly index: Index;
  readonly term: Term;
}

export interface ElectionRecord {
  readonly reason: RoleReason;
  readonly term: Term;
  /** The tick in which it began. */
  readonly tick: number;
}

export class Core {
  readonly id: NodeId;
  readonly view: LogView;
  readonly log: RaftLog;
  readonly tracker: Tracker;
  readonly writes = new WritesInFlight();
  /** Called with every transition, if anybody listens. */
  readonly trace: ((event: TraceEvent) => void) | undefined;
  /** True if the host would send entries to a member now. */
  readonly hasRoom: (to: NodeId) => boolean;

  role: Role = 'follower';
  leader: NodeId = NO_NODE;
  private currentTerm: Term;
  private currentVote: NodeId;
  /**
   * Term and vote as they are durable, and as they were handed out for writing. `durable <= handed <=
   * current`.
   */
  durableTerm: Term;
  durableVote: NodeId;
  handedTerm: Term;
  handedVote: NodeId;
  /**
   * The same of the commit index; where the end of a log was lost, it speaks of more than there is, until the
   * next write.
   */
  durableCommit: Index;
  handedCommit: Index;

  /** Ticks that this node has lived. */
  now = 0;
  /** Ticks since the leader was heard, or since the last campaign. */
  electionElapsed = 0;
  heartbeatElapsed = 0;
  /** Drawn anew at each reset. */
  electionTimeout = 0;
  /**
   * Votes are refused before this tick: with leases, a restarted node may have forgotten a leader that it
   * follows.
   */
  readonly mutedUntil: number;

  /** Messages that may leave at once. */
  outbox: Message[] = [];
  /** Messages that promise something which is not yet durable. */
  gated: Message[] = [];

  /** Names the current pre-vote. */
  attempt: number;
  lastElection: ElectionRecord | null = null;

  /** Leader: index of the first entry of its term. Nothing before it is committed by counting. */
  termStart: Index = 0;
  transfer: Transfer | null = null;
  readonly reads = new LeaderReads();
  readonly forwarded: ForwardedReads;
  readonly lease: Lease | null;
  readResults: ReadResult[] = [];
  /** Leader: appends are to be sent when the host next asks for what is ready. */
  flushDue = false;
  /** Leader: the commit index may have to be raised. */
  commitDue = false;

  quiesced = false;
  /** Leader that is quiesced: the members that the host could not reach, which may lack something. */
  asleepWithout: ReadonlySet<NodeId> = NOBODY;
  recovery: RecoveryMark | null = null;
  /**
   * The leader counts on entries up to here that this node does not have, though it must have acknowledged
   * them; or 0.
   */
  lostTail: Index = 0;

  /** Index of the entry that brought the membership in force. */
  membershipIndex: Index;
  membershipChanged = false;
  /** Memberships of changes that are committed and not yet handed out for applying. */
  membershipHistory: MembershipAt[] = [];

  refusedCount = 0;
  ignoredCount = 0;
  outboxDropped = 0;
  readonly refusedByReason = new Map<RefusalReason, number>();

  constructor(
    config: RaftConfig,
    readonly settings: Settings,
  ) {
    const { id, hardState, applied, membership, promised } = config;
    this.id = id;
    this.trace = settings.trace;
    this.hasRoom = config.hasRoom ?? ALWAYS;
    this.view = config.log;
    this.log = new RaftLog(config.log, hardState, applied, promised !== undefined);
    // If the hard state was lost, so was the vote of its term. A vote for itself, which it does not use,
    // keeps the node from voting a second time.
    const isLost = promised !== undefined && promised.currentTerm > hardState.term;
    this.currentTerm = isLost ? promised.currentTerm : hardState.term;
    this.currentVote = isLost ? id : hardState.vote;
    assert(
      this.currentTerm >= this.log.lastTerm,
      'The log is ahead of the term',
      this.log.lastTerm,
      this.currentTerm,
    );
    this.durableTerm = hardState.term;
    this.durableVote = hardState.vote;
    this.durableCommit = hardState.commit;
    this.handedTerm = hardState.term;
    this.handedVote = hardState.vote;
    this.handedCommit = hardState.commit;
    this.membershipIndex = applied;
    this.tracker = new Tracker(id, membership, this.log.last + 1, settings);
    this.attempt = settings.random() % FIRST_ID_RANGE;
    this.forwarded = new ForwardedReads((settings.random() % FIRST_ID_RANGE) * FIRST_ID_STEP);
    this.lease = settings.lease === null ? null : new Lease(settings.lease.clock_ms, settings.lease_ms);
    this.mutedUntil = settings.lease === null ? 0 : settings.electionTicks;
    this.drawElectionTimeout();
  }

  get term(): Term {
    return this.currentTerm;
  }

  get vote(): NodeId {
    return this.currentVote;
  }

  /** Enters a higher term, in which this node has not voted. */
  enterTerm(term: Term): void {
    assert(term > this.currentTerm, 'The term falls', term, this.currentTerm);
    this.currentTerm = term;
    this.currentVote = NO_NODE;
  }

  /** Gives the vote of this term away; once, and for ever (I1). */
  voteFor(node: NodeId): void {
    assert(node !== NO_NODE, 'A vote for nobody');
    assert(
      this.currentVote === NO_NODE || this.currentVote === node,
      'A second vote in the same term',
      this.currentVote,
      node,
    );
    this.currentVote = node;
  }

  /**
   * True if this node may campaign: it votes, holds what it promised, and its state machine is not being
   * replaced.
   */
  get isPromotable(): boolean {
    const { membership } = this.tracker;
    if (!isVoter(membership, this.id) || isRemoved(membership, this.id)) return false;
    const isWhole = this.recovery === null && this.lostTail === 0;
    return this.log.installing === 0 && isWhole && !this.isDiskStalled;
  }

  /** True if the oldest write has been under way for too long. */
  get isDiskStalled(): boolean {
    const { diskStallTicks } = this.settings;
    return diskStallTicks > 0 && this.now - this.writes.oldestTick(this.now) > diskStallTicks;
  }

  /** Sends a message that promises nothing that is not yet durable. */
  send(message: Message): void {
    if (this.hasRoomFor(message)) this.outbox.push(message);
  }

  /** Sends a message as soon as everything that this node has done so far is durable. */
  sendWhenDurable(message: Message): void {
    if (this.hasRoomFor(message)) this.gated.push(message);
  }

  /** A timeout in [electionTicks, 2 electionTicks). */
  drawElectionTimeout(): void {
    const { electionTicks, random } = this.settings;
    const drawn = random();
    assert(
      Number.isSafeInteger(drawn) && drawn >= 0,
      'The random source must give non-negative integers',
      drawn,
    );
    this.electionTimeout = electionTicks + (drawn % electionTicks);
  }

  /** Counts a message that is of no use, and says so. */
  ignored(message: Message, reason: IgnoreReason): StepResult {
    this.ignoredCount += 1;
    this.trace?.({ node: this.id, type: 'ignored', from: message.from, kind: message.kind, reason });
    return { status: 'ignored', reason };
  }

  /** Counts a message that no sound node sends, and says so. */
  refused(message: Message, reason: RefusalReason): StepResult {
    this.refusedCount += 1;
    this.refusedByReason.set(reason, (this.refusedByReason.get(reason) ?? 0) + 1);
    this.trace?.({ node: this.id, type: 'refused', from: message.from, kind: message.kind, reason });
    return { status: 'refused', reason };
  }

  /** A host that does not fetch messages loses some, as on a network; the node does not grow. */
  private hasRoomFor({ to, kind }: Message): boolean {
    assert(to !== this.id && to !== NO_NODE, 'A message to nobody, or to oneself', to);
    if (this.outbox.length + this.gated.length < this.settings.maxOutbox) return true;
    this.outboxDropped += 1;
    this.trace?.({ node: this.id, type: 'outbox_full', to, kind });
    return false;
  }
}

const ALWAYS = (): boolean => true;

const FIRST_ID_RANGE = 2 ** 20;
const FIRST_ID_STEP = 2 ** 32;
