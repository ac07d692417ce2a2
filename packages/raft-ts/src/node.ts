/**
 * The door: one node of one group. Everything goes through here, and after each call everything that follows
 * is done.
 */
import { assert, isCount } from './assert.js';
import { type Promised, type RaftConfig, settingsOf } from './config.js';
import { type ChangeResult, proposeChange } from './configuration.js';
import { Core, type StepResult } from './core.js';
import { campaign } from './election.js';
import { reportUnreachable } from './heartbeats.js';
import type { MembershipChange } from './membership.js';
import type { Message } from './messages.js';
import { type ProposeResult, propose, takesProposals } from './proposals.js';
import { canQuiesce, leaderSilent, memberBack, memberGone, quiesce, wake } from './quiescence.js';
import { type ReadIndexResult, readIndex } from './readindex.js';
import { Announcer, completeWrite, hasReady, noteApplied, type Ready, takeReady } from './readying.js';
import { noteRecovery, roomFor } from './replication.js';
import { settle } from './settle.js';
import { reportSnapshot, snapshotInstalled } from './snapshots.js';
import { type Status, statusOf } from './status.js';
import { step } from './step.js';
import { tick } from './ticking.js';
import {
  type TransferRefusal,
  type TransferResult,
  transferLeadership,
  transferRefusal,
} from './transfer.js';
import { type Index, type Membership, NOBODY, type NodeId, type Role, type Term } from './types.js';
import type { Acknowledgement } from './writes.js';

/**
 * One node of a Raft group. Calls never block, never fail for what peers do, and throw only
 * `RaftAssertionError`, when the host breaks the contract or an invariant is broken; the node must not be
 * used after that.
 */
export class RaftNode {
  private readonly core: Core;
  private readonly announcer: Announcer;

  /** Starts from what is durable. Throws `RaftConfigError`. */
  constructor(config: RaftConfig) {
    const settings = settingsOf(config);
    const core = new Core(config, settings);
    this.core = core;
    this.announcer = new Announcer(core.term);
    if (config.promised !== undefined) recall(core, config.promised);
    settle(core);
  }

  /** The core behind the door: for tools of this package that have to see all of it. */
  static coreOf(node: RaftNode): Core {
    return node.core;
  }

  /** This node. */
  get id(): NodeId {
    return this.core.id;
  }

  /** The role of this node in its term. */
  get role(): Role {
    return this.core.role;
  }

  /** The current term. */
  get term(): Term {
    return this.core.term;
  }

  /** The leader as far as it is known, or 0. */
  get leader(): NodeId {
    return this.core.leader;
  }

  /** True if the group is silent. */
  get quiesced(): boolean {
    return this.core.quiesced;
  }

  /** The membership in force: of the last change that this node knows as committed. */
  get membership(): Membership {
    return this.core.tracker.membership;
  }

  /** Everything up to here is known as committed. */
  get commitIndex(): Index {
    return this.core.log.commit;
  }

  /** The log is durable up to here on this node. */
  get stableIndex(): Index {
    return this.core.log.stable;
  }

  /** One unit of time has passed. */
  tick(): void {
    tick(this.core);
    settle(this.core);
  }

  /** Takes in a message from a peer. */
  step(message: Message): StepResult {
    const result = step(this.core, message);
    settle(this.core);
    return result;
  }

  /** Proposes entries with these payloads: all of them or none. */
  propose(payloads: readonly Uint8Array[]): ProposeResult {
    return propose(this.core, payloads);
  }

  /**
   * True if this node leads and would take one more small proposal: no transfer is under way, and not too
   * much is pending.
   */
  get takesProposals(): boolean {
    return takesProposals(this.core);
  }

  /** Proposes a membership change; see `changeOf`. */
  proposeChange(change: MembershipChange): ChangeResult {
    return proposeChange(this.core, change);
  }

  /** Asks for an index at which a linearizable read may be served; the outcome comes with `ready().reads`. */
  readIndex(context: unknown): ReadIndexResult {
    return readIndex(this.core, context);
  }

  /** Hands leadership over. Whether it worked shows in the soft state. */
  transferLeadership(to: NodeId): TransferResult {
    const result = transferLeadership(this.core, to);
    settle(this.core);
    return result;
  }

  /** Why leadership could not be handed over to a node now; null when it could. */
  transferRefusal(to: NodeId): TransferRefusal | null {
    return transferRefusal(this.core, to);
  }

  /** Begins an election now, if this node may. Whether it did. */
  campaign(): boolean {
    wake(this.core);
    const began = campaign(this.core, 'host');
    settle(this.core);
    return began;
  }

  /**
   * An entry that the leader counts on because this node acknowledged it, and that is not in its log: the
   * disk has lost what it reported as durable, and no mark told. 0: none is known. The node neither votes nor
   * campaigns any more; the host should end it, and bring it back as a new member.
   */
  get lostTail(): Index {
    return this.core.lostTail;
  }

  /** True if there is something to be done, which `ready()` hands out. */
  hasReady(): boolean {
    return hasReady(this.core, this.announcer);
  }

  /**
   * Everything that is to be done now. It is handed out once; several may be in progress at the same time.
   */
  ready(): Ready {
    const ready = takeReady(this.core, this.announcer);
    settle(this.core);
    return ready;
  }

  /**
   * The write with this sequence and term, and every one before it, is durable and visible in the log view.
   * Returns the messages that had to wait for it; there is no other way to get at them.
   */
  persisted(write: Acknowledgement): readonly Message[] {
    const messages = completeWrite(this.core, write);
    settle(this.core);
    return messages;
  }

  /** The state machine holds the effect of every entry up to `index`. */
  applied(index: Index): void {
    assert(isCount(index), 'Applied up to no index', index);
    noteApplied(this.core, index);
  }

  /** The state machine was switched to the snapshot with this index that a write asked to install. */
  snapshotInstalled(index: Index): void {
    snapshotInstalled(this.core, index);
  }

  /**
   * The entries up to `index` are gone from the log view. They must be applied, and `LogView.snapshot` must
   * cover them.
   */
  compacted(index: Index): void {
    this.core.log.compactedTo(index);
  }

  /** A message to this member was surely lost. */
  reportUnreachable(node: NodeId): void {
    reportUnreachable(this.core, node);
  }

  /** Entries for this member, which `hasRoom` held back, may be handed out again. */
  roomFor(node: NodeId): void {
    roomFor(this.core, node);
    settle(this.core);
  }

  /**
   * The transfer of a snapshot to this member has ended. Must be called for every `snapshot` message, late if
   * need be.
   */
  reportSnapshot(node: NodeId, arrived: boolean): void {
    reportSnapshot(this.core, node, arrived);
  }

  /** True if the group could fall silent while the host can't reach some nodes. */
  canQuiesce(away: ReadonlySet<NodeId> = NOBODY): boolean {
    return canQuiesce(this.core, away);
  }

  /**
   * Leader: lets the group fall silent, if it can, without the members that the host can't reach. Whether it did.
   * `memberBack` is due for each of those.
   */
  quiesce(away: ReadonlySet<NodeId> = NOBODY): boolean {
    return quiesce(this.core, away);
  }

  /** Leader: the members that the group fell silent without. */
  get asleepWithout(): ReadonlySet<NodeId> {
    return this.core.asleepWithout;
  }

  /**
   * The host can't reach a node any more, or that one's process was replaced by another. Ends the silence of a leader
   * where no quorum is left.
   */
  memberGone(node: NodeId): void {
    memberGone(this.core, node);
  }

  /** The host reaches a node again. Ends the silence of a group that sleeps without it. */
  memberBack(node: NodeId): void {
    memberBack(this.core, node);
  }

  /** Ends the silence. */
  wake(): void {
    wake(this.core);
  }

  /**
   * The host found the leader's process gone, or replaced by another. Ends the silence, and the trust in that
   * leader.
   */
  leaderSilent(): void {
    leaderSilent(this.core);
  }

  /** A look inside, as a copy. */
  status(): Status {
    return statusOf(this.core);
  }
}

/**
 * A log that ends before what the node once promised was damaged: the node must get it back before it counts
 * again.
 */
function recall(core: Core, { index, term }: Promised): void {
  core.recovery = { index, term };
  noteRecovery(core);
  if (core.recovery === null) return;
  core.trace?.({ node: core.id, type: 'recovering', on: true, index, term });
}
