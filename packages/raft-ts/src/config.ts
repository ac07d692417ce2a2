/** The configuration of a node: required parts, options with their defaults, and the checks on both. */
import { isCount, isNodeId } from './assert.js';
import { murmur3, type PayloadHash } from './hash.js';
import type { LogView } from './hostlog.js';
import { isValidMembership } from './membership.js';
import { type RandomSource, seededRandom } from './random.js';
import type { TraceEvent } from './trace.js';
import { type HardState, type Index, MAX_COUNT, type Membership, type NodeId, type Term } from './types.js';

/** A configuration that can not work. `option` names the culprit. */
export class RaftConfigError extends Error {
  override readonly name = 'RaftConfigError';

  constructor(
    readonly option: string,
    message: string,
  ) {
    super(`${option}: ${message}`);
  }
}

/**
 * Leases let a leader answer reads without asking a quorum each time. They trust clocks, so they are off
 * unless asked for, and all nodes of a group must have the same setting.
 */
export interface LeaseOptions {
  /** Monotonic milliseconds that go on while the process is paused. */
  readonly clock_ms: () => number;
  /** The length of a tick, the same on every node. */
  readonly tick_ms: number;
  /** The fraction by which one clock may be faster than another; 0.1 by default. */
  readonly maxDrift?: number;
}

/**
 * The end that the log is known to have had, from a record kept apart from it: if the log ends before, it was
 * damaged, and the node must neither vote nor be counted before it has everything again.
 */
export interface Promised {
  readonly index: Index;
  /** Term of the entry at `index`. */
  readonly term: Term;
  /** The term the node was in. */
  readonly currentTerm: Term;
}

/**
 * The start of a node: its identity, what is durable, and options. A bad one throws {@link RaftConfigError}.
 */
export interface RaftConfig extends Partial<RaftOptions> {
  /** This node: a positive integer that no other node of the group ever had. */
  readonly id: NodeId;
  /** The durable log, for reading. */
  readonly log: LogView;
  /** As last written; all zeros on a fresh node. */
  readonly hardState: HardState;
  /** The state machine holds the effect of every entry up to here. */
  readonly applied: Index;
  /**
   * The membership in force at `applied`. A group begins with `genesisOf`; a node that is yet to be added has
   * none.
   */
  readonly membership: Membership;
  /** The end of the log according to a record beside it. */
  readonly promised?: Promised;
  /** Randomness for election timeouts: a source, or a seed from which one is made. */
  readonly random: RandomSource | number;
  /** Reads by lease; off by default. */
  readonly lease?: LeaseOptions;
  /**
   * True if entries for a member may be handed out now: the way there may be crowded, which only the host
   * knows. What was held back leaves with `roomFor`, or when the member is heard of. Without it they always
   * may.
   */
  readonly hasRoom?: (to: NodeId) => boolean;
  /** Called with every transition. */
  readonly trace?: (event: TraceEvent) => void;
}

/** Timing and limits. Counts are positive integers, times are in ticks; see {@link DEFAULT_OPTIONS}. */
export interface RaftOptions {
  /**
   * Ticks without a leader until a follower campaigns; the true timeout is drawn from [electionTicks, 2
   * electionTicks).
   */
  readonly electionTicks: number;
  /** Ticks between heartbeats; at most a third of electionTicks. */
  readonly heartbeatTicks: number;
  /** Ask before campaigning, so that a node that was cut off does not raise the term. */
  readonly preVote: boolean;
  /** A leader without a quorum steps down; followers that hear a leader do not vote. */
  readonly checkQuorum: boolean;
  /**
   * Followers send proposals on to the leader. Their outcome is unknown; hosts that need it forward by
   * themselves.
   */
  readonly forwardProposals: boolean;
  /** Payload bytes of one append; one entry is always sent, however large. */
  readonly maxMessageBytes: number;
  /** Entries of one append. */
  readonly maxMessageEntries: number;
  /** Appends under way to one follower. */
  readonly maxInflightMessages: number;
  /** Payload bytes under way to one follower. */
  readonly maxInflightBytes: number;
  /** One proposed payload. */
  readonly maxProposalBytes: number;
  /** Proposals that are not yet applied here: beyond, propose answers `overloaded`. */
  readonly maxPendingBytes: number;
  /** Entries that are proposed and not yet applied here. */
  readonly maxPendingEntries: number;
  /** Committed entries handed out and not yet reported as applied. */
  readonly maxApplyBytes: number;
  /** Entries kept in memory although they are durable, because they are not applied yet. */
  readonly maxTailBytes: number;
  /** Reads that wait for confirmation. */
  readonly maxPendingReads: number;
  /** Writes handed out and not yet durable; what comes meanwhile is collected into the next one. */
  readonly maxWritesInFlight: number;
  /** Messages that wait to be fetched by the host; beyond, they are dropped as a network would. */
  readonly maxOutbox: number;
  /** A leader whose oldest write is not durable after so many ticks steps down; 0 means never. */
  readonly diskStallTicks: number;
  /** A message whose term is further ahead than this is refused. */
  readonly maxTermJump: number;
  /** The hash of payloads, the same on every node; {@link murmur3} by default. */
  readonly hashPayload: PayloadHash;
}

/** The configuration with every default filled in. */
export interface Settings extends RaftOptions {
  readonly lease: Required<LeaseOptions> | null;
  /** Milliseconds that a lease lasts from the sending of the heartbeats that renew it. */
  readonly lease_ms: number;
  readonly random: RandomSource;
  readonly trace: ((event: TraceEvent) => void) | undefined;
}

/** The options of a node that is told nothing else. */
export const DEFAULT_OPTIONS: RaftOptions = {
  electionTicks: 10,
  heartbeatTicks: 1,
  preVote: true,
  checkQuorum: true,
  forwardProposals: false,
  maxMessageBytes: 512 * 1024,
  maxMessageEntries: 4096,
  maxInflightMessages: 128,
  maxInflightBytes: 8 * 1024 * 1024,
  maxProposalBytes: 32 * 1024 * 1024,
  maxPendingBytes: 64 * 1024 * 1024,
  maxPendingEntries: 65_536,
  maxApplyBytes: 8 * 1024 * 1024,
  maxTailBytes: 32 * 1024 * 1024,
  maxPendingReads: 16_384,
  maxWritesInFlight: 4,
  maxOutbox: 8192,
  diskStallTicks: 30,
  maxTermJump: 1_000_000,
  hashPayload: murmur3,
};

/** Checks a configuration and fills in the defaults. Throws {@link RaftConfigError}. */
export function settingsOf(config: RaftConfig): Settings {
  checkIdentity(config);
  const options: RaftOptions = { ...DEFAULT_OPTIONS, ...config };
  for (const name of POSITIVE_OPTIONS) {
    if (!isCount(options[name]) || options[name] === 0)
      throw new RaftConfigError(name, 'must be a positive integer');
  }
  if (!isCount(options.diskStallTicks))
    throw new RaftConfigError('diskStallTicks', 'must be 0 or a positive integer');
  if (options.heartbeatTicks * 3 > options.electionTicks) {
    throw new RaftConfigError(
      'heartbeatTicks',
      'must be at most a third of electionTicks, or lost heartbeats elect',
    );
  }
  const lease = leaseOf(config);
  if (lease !== null && !options.checkQuorum) {
    throw new RaftConfigError('lease', 'needs checkQuorum: without it followers vote while a lease holds');
  }
  const { random } = config;
  return {
    ...pickOptions(options),
    lease,
    lease_ms: lease === null ? 0 : (options.electionTicks - 1) * lease.tick_ms * (1 - lease.maxDrift),
    random: typeof random === 'number' ? seededRandom(random, config.id) : random,
    trace: config.trace,
  };
}

const POSITIVE_OPTIONS = [
  'electionTicks',
  'heartbeatTicks',
  'maxMessageBytes',
  'maxMessageEntries',
  'maxInflightMessages',
  'maxInflightBytes',
  'maxProposalBytes',
  'maxPendingBytes',
  'maxPendingEntries',
  'maxApplyBytes',
  'maxTailBytes',
  'maxPendingReads',
  'maxWritesInFlight',
  'maxOutbox',
  'maxTermJump',
] as const;

function checkIdentity(config: RaftConfig): void {
  const { id, hardState, applied, membership, promised } = config;
  if (!isNodeId(id)) throw new RaftConfigError('id', 'must be a positive safe integer');
  const { term, vote, commit } = hardState;
  if (!isCount(term) || !isCount(vote) || !isCount(commit) || term > MAX_COUNT) {
    throw new RaftConfigError('hardState', 'holds something that is no term, vote, or index');
  }
  if (!isCount(applied)) throw new RaftConfigError('applied', 'must be an index');
  if (!isValidMembership(membership)) throw new RaftConfigError('membership', 'is impossible');
  if (membership.voters.length > 0 !== applied > 0) {
    throw new RaftConfigError(
      'membership',
      'must be empty on a node that is yet to be added, and else begin with genesisOf',
    );
  }
  if (promised === undefined) return;
  if (!isCount(promised.index) || !isCount(promised.term) || !isCount(promised.currentTerm)) {
    throw new RaftConfigError('promised', 'holds something that is no term or index');
  }
}

function leaseOf({ lease }: RaftConfig): Required<LeaseOptions> | null {
  if (lease === undefined) return null;
  const { clock_ms, tick_ms, maxDrift = 0.1 } = lease;
  if (!(tick_ms > 0)) throw new RaftConfigError('lease.tick_ms', 'must be positive');
  if (!(maxDrift >= 0 && maxDrift < 1)) throw new RaftConfigError('lease.maxDrift', 'must be in [0, 1)');
  return { clock_ms, tick_ms, maxDrift };
}

function pickOptions(options: RaftOptions): RaftOptions {
  return {
    electionTicks: options.electionTicks,
    heartbeatTicks: options.heartbeatTicks,
    preVote: options.preVote,
    checkQuorum: options.checkQuorum,
    forwardProposals: options.forwardProposals,
    maxMessageBytes: options.maxMessageBytes,
    maxMessageEntries: options.maxMessageEntries,
    maxInflightMessages: options.maxInflightMessages,
    maxInflightBytes: options.maxInflightBytes,
    maxProposalBytes: options.maxProposalBytes,
    maxPendingBytes: options.maxPendingBytes,
    maxPendingEntries: options.maxPendingEntries,
    maxApplyBytes: options.maxApplyBytes,
    maxTailBytes: options.maxTailBytes,
    maxPendingReads: options.maxPendingReads,
    maxWritesInFlight: options.maxWritesInFlight,
    maxOutbox: options.maxOutbox,
    diskStallTicks: options.diskStallTicks,
    maxTermJump: options.maxTermJump,
    hashPayload: options.hashPayload,
  };
}
