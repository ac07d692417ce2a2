/**
 * One request from its arrival to its answer. Its state says what it waits for. Whatever it waited for takes it back to
 * `deciding`, where it is routed anew (`route.ts`), since roles, rights and the stored state may be others by then:
 *
 *   deciding --> queued      its turn among all that runs on this thread (`scheduler.ts`)
 *      ^    --> waiting     another role of this node in its group, or a moment
 *      |    --> following   the request that came first under the same name
 *      |    --> confirming  a majority: this node has all that was acknowledged, or led when it ran the call
 *      |    --> applying    the log position that the client demands
 *      |    --> hashing     the hash of a password
 *      |    --> sent        the answer of the node that leads
 *      |    --> running     its futures
 *      +--- --> committing  the commit of what the call changed, or saw
 *           --> restoring   a backup
 *           --> reading     what its call is over a snapshot, which somebody else runs
 *
 *   any      --> ended      answered
 *   running, committing --> late --> ended     answered, while a change of it may yet be committed
 */
import { type Call, type PasswordHash, type Prepared, timeoutError } from '@althing/engine';
import { assert } from '../base/assert.js';
import type { GroupId, NodeId, PreparedAnswer } from '../between/protocol.js';
import type { RequestIdentity } from '../groups/entry.js';
import type { FailedReply, Reply, Request, Respond } from '../groups/request.js';
import type { NameHolder } from './names-under-way.js';

export type RequestStateKind =
  | 'deciding'
  | 'queued'
  | 'waiting'
  | 'following'
  | 'confirming'
  | 'applying'
  | 'hashing'
  | 'sent'
  | 'running'
  | 'committing'
  | 'restoring'
  | 'reading'
  | 'late'
  | 'ended';

export type RequestState =
  | { readonly kind: Exclude<RequestStateKind, 'waiting' | 'running' | 'committing'> }
  /** @see PendingRequests.wait: tried again at `retryAt` (monotonic, in milliseconds), whatever happens */
  | { readonly kind: 'waiting'; readonly group: GroupId; readonly retryAt: number }
  /** `onLeader`: its futures may make changes. */
  | { readonly kind: 'running'; readonly onLeader: boolean; readonly hasProposed: boolean }
  /** `changes`: a change of its own, and not only what it saw. */
  | { readonly kind: 'committing'; readonly changes: boolean };

const NEVER: ReadonlySet<RequestStateKind> = new Set();
const GOES_ON: ReadonlySet<RequestStateKind> = new Set(['deciding', 'ended']);
const MAY_BE_LATE: ReadonlySet<RequestStateKind> = new Set(['deciding', 'running', 'ended', 'late']);

const UNDER_WAY: ReadonlySet<RequestStateKind> = new Set([
  'confirming',
  'applying',
  'hashing',
  'sent',
  'committing',
]);

/** States in which a request waits for nothing but events of the consensus side. */
const FOR_CONSENSUS: ReadonlySet<RequestStateKind> = new Set([
  'confirming',
  'applying',
  'committing',
  'following',
]);

/** The states that may follow each state. */
const NEXT: Readonly<Record<RequestStateKind, ReadonlySet<RequestStateKind>>> = {
  deciding: new Set([
    ...GOES_ON,
    ...(['queued', 'waiting', 'following', 'confirming', 'applying', 'hashing'] as const),
    ...(['sent', 'running', 'committing', 'restoring', 'reading'] as const),
  ]),
  queued: GOES_ON,
  waiting: GOES_ON,
  following: GOES_ON,
  confirming: GOES_ON,
  applying: GOES_ON,
  hashing: GOES_ON,
  sent: GOES_ON,
  restoring: GOES_ON,
  reading: GOES_ON,
  running: MAY_BE_LATE,
  committing: MAY_BE_LATE,
  late: new Set(['ended']),
  ended: NEVER,
};

export const DECIDING: RequestState = { kind: 'deciding' };
export const QUEUED: RequestState = { kind: 'queued' };
export const FOLLOWING: RequestState = { kind: 'following' };
export const CONFIRMING: RequestState = { kind: 'confirming' };
export const APPLYING: RequestState = { kind: 'applying' };
export const HASHING: RequestState = { kind: 'hashing' };
export const SENT: RequestState = { kind: 'sent' };
export const RESTORING: RequestState = { kind: 'restoring' };
export const READING_SNAPSHOT: RequestState = { kind: 'reading' };
export const READING_ON: RequestState = { kind: 'running', onLeader: false, hasProposed: false };
export const WRITING_ON: RequestState = { kind: 'running', onLeader: true, hasProposed: false };
export const WRITTEN_IN_PART: RequestState = { kind: 'running', onLeader: true, hasProposed: true };
export const COMMITTING: RequestState = { kind: 'committing', changes: true };
export const BEHIND_OTHERS: RequestState = { kind: 'committing', changes: false };
const LATE: RequestState = { kind: 'late' };
const ENDED: RequestState = { kind: 'ended' };

/**
 * Doubt whether an attempt of a request made a change that is or will be committed:
 *
 *   none    none has
 *   mine    one may have. A leader whose log holds all that was proposed before can tell
 *   others  copies of it may still be on their way to a leader. Only what the log holds under its name ends that
 */
export type Doubt = 'none' | 'mine' | 'others';

export type RequestEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /**
   * This node does not lead the group, and takes no part in finding the node that does. Nothing was done by this
   * attempt.
   */
  | { readonly kind: 'elsewhere'; readonly leader: NodeId }
  /** The leadership was lost before there was an answer. */
  | { readonly kind: 'lost'; readonly unknown: boolean }
  /** The deadline passed. */
  | { readonly kind: 'late'; readonly unknown: boolean };

/**
 * Takes the end of a request. One function serves many requests.
 *
 * @param now the time, where somebody has just looked at the clock
 */
export type OnEnd = (end: RequestEnd, pending: PendingRequest, now?: number) => void;

/** The way in which the node that sent a request is answered as soon as its change is committed. */
export interface EarlyAnswer {
  /** Makes the answer that goes along with the change; null where this one must not. */
  prepare(result: string | Uint8Array): PreparedAnswer | null;
  /** The change is committed: that answer was sent. */
  noteAnswered(): void;
}

/** Where a request comes from that another node forwarded. */
export interface RequestOrigin {
  /** The name that the node gave it. */
  readonly name: RequestIdentity;
  /** The group that it is bound to; null when its scope decides. */
  readonly group: GroupId | null;
  /** `others` where that node may have sent copies of it. */
  readonly doubt: Doubt;
  /** See `EarlyAnswer`; null for none. */
  readonly early: EarlyAnswer | null;
}

/** The node, as a request sees it that goes on. */
export interface RequestOwner {
  /** Routes it anew. */
  advance(pending: PendingRequest): void;
  /** Lets it wait until this node has another role in a group, or for a moment. */
  wait(pending: PendingRequest, group: GroupId): void;
  /** Refuses it; where an earlier attempt may have made a change, that is found out first. */
  refuse(pending: PendingRequest, refusal: FailedReply): void;
  /** @param now the time where somebody has just looked at the clock */
  ended(pending: PendingRequest, end: RequestEnd, now?: number): void;
}

/** Inputs that a call was given so that it can run: hashes of passwords, and groups whose state is up to date. */
export class Prerequisites {
  /** The hashes by password; null for none. */
  hashes: Map<string, PasswordHash> | null = null;
  private fresh: GroupId[] | null = null;

  addHash(password: string, hash: PasswordHash): void {
    this.hashes ??= new Map();
    this.hashes.set(password, hash);
  }

  /** True if the state of a group holds everything that was acknowledged before the request came. */
  isFresh(group: GroupId): boolean {
    return this.fresh?.includes(group) === true;
  }

  addFresh(group: GroupId): void {
    this.fresh ??= [];
    this.fresh.push(group);
  }
}

/**
 * A request that is not answered, with what is remembered from one attempt to the next.
 *
 * Once an attempt may have made a change, it does not end with an answer that says otherwise, whoever gives it: `end` turns
 * that into one that says that nobody knows. The doubt ends by `noteNothingFound` and `noteSealed`.
 */
export class PendingRequest extends Prerequisites {
  /** The group that the request is bound to since it was first sent or proposed there; null: its scope decides. */
  group: GroupId | null;
  /** The number of the request among those of this node to the group; 0 while it has none. */
  sequence = 0;
  private present: RequestState = DECIDING;
  private uncertainty: Doubt;
  /** True if only the leader may run it: a read whose futures turned out to make changes. */
  needsLeader = false;
  /** True if requests of it were sent to modules: it must not run a second time. */
  hasActed = false;
  /** True if it reads another group than the one that it runs in. */
  looksElsewhere = false;
  /** Monotonic time up to which the attempt under way is charged, in milliseconds; at first when it began, and then when its code ran last. */
  chargedUntil = 0;
  /** True if it may have waited for a long run of somebody else before it came here. */
  hasWaited = false;
  /** Milliseconds that it may run while it has its turn among those that waited for one; 0 while it has none. */
  sliceMs = 0;
  /** The call that ran for it on this node, and its figures; null as long as none has. */
  ranCall: Call | null = null;
  /** Milliseconds that it ran. */
  ranMs = 0;
  /** True if it was sent on to another node. */
  wasSent = false;
  /** Things that it read, and those of them that were read from the disk. */
  thingsRead = 0;
  coldReads = 0;
  /** Its program while it waits for other nodes: see `HeldPrograms`. */
  program: Prepared | null = null;
  /** Attempts that came to nothing. */
  failures = 0;
  /** The name that it holds among those under way: see `NamesUnderWay`; null for none. */
  heldName: NameHolder<PendingRequest> | null = null;
  /** Its number among the pending requests of this node; 0 for none. */
  place = 0;
  /** The group that the attempt depends on, and the version of its roles when that began. */
  roleGroup: GroupId | null = null;
  roleVersion = 0;

  constructor(
    readonly owner: RequestOwner,
    readonly request: Request,
    /** Monotonic time at which it came, in milliseconds. */
    readonly begun: number,
    /** Monotonic time at which it ends without an answer, in milliseconds. */
    public deadline: number,
    private readonly onEnd: OnEnd,
    /** Null for a request of a client of this node. */
    private readonly origin: RequestOrigin | null = null,
    /** Answers the client, where that is one of this node; null where another node has it. */
    readonly respond: Respond | null = null,
  ) {
    super();
    this.group = origin === null ? null : origin.group;
    this.uncertainty = origin === null ? 'none' : origin.doubt;
  }

  /** The node that forwarded the request, with its name for it; null for a request of a client of this node. */
  get forwarded(): RequestIdentity | null {
    return this.origin === null ? null : this.origin.name;
  }

  /** See `EarlyAnswer`; null for none. */
  get early(): EarlyAnswer | null {
    return this.origin === null ? null : this.origin.early;
  }

  /** True if it is only tried out: whatever becomes of it, it changes nothing. */
  get isDryRun(): boolean {
    return (this.request.terms?.dryRun ?? false) !== false;
  }

  /** True if it is tried out to be explained. */
  get isExplained(): boolean {
    return this.request.terms?.dryRun === 'explain';
  }

  get state(): RequestState {
    return this.present;
  }

  /** Takes it to another state. */
  become(state: RequestState): void {
    assert(NEXT[this.present.kind].has(state.kind), 'a request goes from each state to certain others');
    if (state === SENT) this.wasSent = true;
    this.present = state;
  }

  /**
   * Takes it back to `deciding`: its wait is over.
   *
   * @returns false when it was answered meanwhile
   */
  resume(): boolean {
    if (this.isAnswered) return false;
    if (this.present !== DECIDING) this.become(DECIDING);
    return true;
  }

  /**
   * Ends the time that is not charged yet to the user.
   *
   * @returns its milliseconds
   */
  charge(now: number): number {
    const ms = now - this.chargedUntil;
    this.chargedUntil = now;
    this.ranMs += ms;
    return ms;
  }

  /** True if it may have waited for a long run, has had a turn since, and waits for something that comes by itself. */
  get isOwed(): boolean {
    return this.hasWaited && UNDER_WAY.has(this.present.kind);
  }

  /** True if it waits for nothing but events of the consensus side. */
  get waitsForConsensus(): boolean {
    return this.present !== ENDED && FOR_CONSENSUS.has(this.present.kind);
  }

  /** True if it was answered. */
  get isAnswered(): boolean {
    const { kind } = this.present;
    return kind === 'ended' || kind === 'late';
  }

  /** True if nobody waits for its answer, and no attempt of it may have made a change: then it may end before it makes one. */
  get isUnwanted(): boolean {
    return this.isAnswered || (this.request.client.gone && this.doubt === 'none');
  }

  get doubt(): Doubt {
    return this.uncertainty;
  }

  /** Its call read things: some that were in memory, and some from the disk. */
  noteReads(warm: number, cold: number): void {
    this.thingsRead += warm + cold;
    this.coldReads += cold;
  }

  /** An attempt may have made a change. */
  noteDoubt(): void {
    if (this.uncertainty === 'none') this.uncertainty = 'mine';
  }

  /** A change of it is proposed to a group. Where it was answered before, that goes on without anybody who waits. */
  noteProposed(group: GroupId, state: RequestState = COMMITTING): void {
    assert(!this.isDryRun, 'a dry run proposes nothing');
    this.noteDoubt();
    this.group ??= group;
    if (!this.isAnswered) this.become(state);
  }

  /** A copy was sent to another node, and no answer came: it may be carried out now, later, or never. */
  noteCopy(): void {
    assert(this.forwarded === null, 'the node that has the client is the only one that sends a request on');
    if (!this.isDryRun) this.uncertainty = 'others';
  }

  /** A change was not proposed after all: the doubt is what it was before. */
  noteWithdrawn(before: Doubt): void {
    assert(this.uncertainty !== 'none', 'a proposal makes a doubt');
    this.uncertainty = before;
  }

  /**
   * A leader that had everything that was proposed before looked for the request, and found nothing: no attempt made
   * a change that will ever be committed. That does not hold for copies that come to a leader only afterwards: the node
   * that sent them knows of them.
   */
  noteNothingFound(): void {
    if (this.uncertainty === 'mine' || this.forwarded !== null) this.uncertainty = 'none';
  }

  /** The log holds what became of the request, and answers copies that come to a leader afterwards. */
  noteSealed(): void {
    this.uncertainty = 'none';
  }

  /** True if a copy of the request that nobody answered may still be on its way to a leader. */
  get mayHaveCopies(): boolean {
    return this.uncertainty === 'others';
  }

  /** Answers the request; only the first answer counts. */
  end(end: RequestEnd, now?: number): void {
    if (this.isAnswered) return;
    const { present } = this;
    const isLate =
      (present.kind === 'committing' && present.changes) ||
      (present.kind === 'running' && present.hasProposed);
    this.present = isLate ? LATE : ENDED;
    this.owner.ended(this, end, now);
    this.onEnd(this.uncertainty === 'none' ? end : doubted(end), this, now);
  }

  /** The change of a request that was answered before is committed or lost. */
  noteOutcomeKnown(): void {
    assert(this.present === LATE, 'it was answered before its change was decided');
    this.become(ENDED);
  }
}

/** The end that is true while an attempt may have made a change. */
function doubted(end: RequestEnd): RequestEnd {
  switch (end.kind) {
    case 'reply':
      return denies(end.reply) ? { kind: 'reply', reply: UNKNOWN_REPLY } : end;
    case 'lost':
    case 'late':
      return { ...end, unknown: true };
    case 'elsewhere':
      return end;
  }
}

/** True if a reply says that nothing was changed, and never will be. */
function denies(reply: Reply): boolean {
  return !reply.ok && (reply.outcome ?? 'none') === 'none';
}

export const UNKNOWN_REPLY: FailedReply = {
  ok: false,
  error: timeoutError('the change was not confirmed in time; it may or may not take effect'),
  outcome: 'unknown',
};
