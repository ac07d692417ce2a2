/**
 * Changes, on the node that leads their group: each takes effect once, and its answer tells what became of it.
 */
import type { Call, QueryError } from '@althing/engine';
import { assert } from '../base/assert.js';
import type { GroupId, PreparedAnswer } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { FailedReply, Reply } from '../groups/request.js';
import { ClientFutures, type FuturesStarter } from './client-futures.js';
import { ACTED, type Driver } from './driver.js';
import { type Answer, type FuturesEnd, noChange, type ProposedParts } from './proposed-parts.js';
import { clientNamesOf, hasClientName, type Repetitions } from './repetitions.js';
import { failed, LATE_UNKNOWN, NO_LEADER, sealedReply, TOO_MANY } from './replies.js';
import { CONFIRMING, type PendingRequest } from './request.js';
import type { RootReports } from './root-reports.js';
import type { Sequences } from './sequences.js';

export interface LeaderOptions {
  readonly driver: Driver;
  readonly repetitions: Repetitions;
  /** The numbers of this node's own requests. */
  readonly sequences: Sequences;
  readonly reports: RootReports;
  /** True if this node is its whole cluster, for certain. */
  readonly alone: () => boolean;
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** Takes a request that only the leader may carry on to where that is. */
  readonly toLeader: (pending: PendingRequest, session: GroupSession) => void;
  /** The group of a request has no session here: it waits for one, or the group is gone. */
  readonly noGroup: (pending: PendingRequest, group: GroupId) => void;
}

export class Leader implements FuturesStarter {
  constructor(readonly options: LeaderOptions) {}

  /**
   * Carries out a call that may change something, in six steps; as etcd's `processInternalRaftRequestOnce`. A step that can't be
   * made now ends the request or lets it wait, and it comes back to the first one.
   */
  lead(pending: PendingRequest, call: Call, session: GroupSession): void {
    assert(session.leading, 'changes are made where their group is led');
    const { repetitions, driver } = this.options;
    // 1. It gets a name, under which it takes effect once, whichever nodes it comes to.
    if (!this.takesName(pending, session.id)) return;
    // 2. If an earlier attempt made the change, its answer is the answer.
    if (repetitions.isKnown(pending, session)) return;
    // 3. There is room for another change, and for what is kept of its answer.
    if (!this.hasRoom(pending, session)) return;
    // 4. It runs, here and nowhere else.
    call.mayEmit = true;
    const outcome = driver.run(pending, call);
    if (outcome === null) return;
    // 5. What it changed is proposed under its names. Futures are changes of their own behind it.
    // 6. When that is committed it is answered: `committed`. If it is lost, the request comes back.
    if (outcome.kind !== 'more') this.answer(pending, session, outcome);
    else driver.start(outcome, new ClientFutures(pending, call, session, true, this));
  }

  /**
   * Gives a request of this node's client a name in its group, unless nothing could carry it out twice.
   *
   * @returns false when no more can be given out: the request has ended then
   */
  takesName(pending: PendingRequest, group: GroupId): boolean {
    if (pending.forwarded !== null || pending.sequence !== 0 || this.options.alone()) return true;
    pending.sequence = this.options.sequences.take(group);
    if (pending.sequence === 0) {
      this.refuse(pending, failed(TOO_MANY));
      return false;
    }
    pending.group = group;
    return true;
  }

  private hasRoom(pending: PendingRequest, session: GroupSession): boolean {
    const refusal = session.refusal();
    if (refusal !== null && session.awaitsEpoch && !this.options.alone()) {
      pending.owner.wait(pending, session.id);
      return false;
    }
    const error = refusal ?? session.nameRefusal(clientNamesOf(pending));
    if (error !== null) this.refuse(pending, failed(error));
    return error === null;
  }

  /** Answers what ran on the leader as one change, or none. */
  private answer(pending: PendingRequest, session: GroupSession, outcome: Answer): void {
    if (outcome.kind === 'error' && pending.mayHaveCopies) {
      this.seal(pending, session, outcome.error);
      return;
    }
    if (outcome.kind === 'error' || (outcome.change === null && pending.doubt === 'none')) {
      this.answerUnchanged(pending, session, outcome);
      return;
    }
    const { doubt } = pending;
    const early = doubt === 'none' ? earlyAnswerTo(pending, outcome) : null;
    pending.noteProposed(session.id);
    // After an attempt that may yet come to a leader a second time, also that nothing was changed has to be
    // in the log.
    const change = outcome.change ?? noChange(session.group);
    const committed = (reply: Reply): void => {
      // It was not proposed, or did not get as far as that.
      if (!reply.ok && reply.outcome !== 'unknown') pending.noteWithdrawn(doubt);
      if (reply.ok && early !== null) pending.early?.noteAnswered();
      this.committed(pending, session, reply);
    };
    const { reports, repetitions } = this.options;
    const respond = reports.reporting(pending.request, change, committed);
    const changed = outcome.change === null ? { ...outcome, change } : outcome;
    session.answer(changed, respond, repetitions.namesOf(pending, session), early);
  }

  /** Step 6: the change of a request is committed, or lost. */
  private committed(pending: PendingRequest, session: GroupSession, reply: Reply): void {
    if (pending.resume()) this.finish(pending, session, reply);
    else if (pending.state.kind === 'late') this.options.repetitions.outcomeKnown(pending);
  }

  /**
   * Answers what ran here and changed nothing: right only if this node led when it ran, and what it saw is
   * committed.
   */
  answerUnchanged(pending: PendingRequest, session: GroupSession, outcome: Answer): void {
    const { roleVersion } = session;
    let reply: Reply | null = null;
    let standing: { readonly index: number } = { index: 0 };
    let isConfirmed = false;
    if (!pending.isAnswered) pending.become(CONFIRMING);
    const finish = (): void => {
      if (reply === null || !isConfirmed || !pending.resume()) return;
      if (roleVersion !== session.roleVersion || (!reply.ok && reply.lost === true)) {
        this.retryLater(pending, session);
        return;
      }
      // Where a change could have been made, earlier attempts were looked for before it ran.
      pending.noteNothingFound();
      // A client may have heard elsewhere of an entry that holds no change, and that came to this state only now.
      reply.index = standing.index;
      pending.end({ kind: 'reply', reply });
    };
    session.answer(outcome, (visible) => {
      reply = visible;
      standing = session.standingOf(visible);
      finish();
    });
    session.readIndex((ok) => {
      isConfirmed = true;
      if (!ok) reply = { ok: false, error: NO_LEADER, lost: true };
      finish();
    });
  }

  /** The futures of a call have ended that may make changes. */
  futuresFinished(futures: ClientFutures, end: FuturesEnd, parts: ProposedParts): void {
    const { pending, session, doubtBefore } = futures;
    const { repetitions } = this.options;
    if (session === null) throw new Error('a leader has a state');
    if (parts.count === 0) {
      // The first part was refused, if there was one.
      if (doubtBefore !== null) pending.noteWithdrawn(doubtBefore);
      pending.resume();
      if (end.kind === 'lost' || end.kind === 'needs_change') this.retryLater(pending, session);
      else this.answer(pending, session, end);
      return;
    }
    const committed = (reply: Reply): void => {
      // The log holds that it was begun, and what came of it.
      if (parts.outcome === 'none' && (reply.ok || reply.outcome !== 'unknown')) pending.noteSealed();
      this.committed(pending, session, reply);
    };
    if (end.kind === 'lost' || end.kind === 'needs_change') committed(parts.interrupted);
    else parts.finish(end, repetitions.namesOf(pending, session), committed);
  }

  /** An answer came, or the group's leadership was lost before. */
  finish(pending: PendingRequest, session: GroupSession, reply: Reply): void {
    const canRepeat = pending.forwarded !== null || pending.sequence !== 0 || hasClientName(pending);
    const isFinal = reply.ok || reply.outcome === 'made' || (reply.outcome === 'unknown' && !canRepeat);
    if (isFinal) pending.end({ kind: 'reply', reply });
    else if (reply.lost === true) this.retryLater(pending, session);
    else this.refuse(pending, reply);
  }

  /** Lets a request come back whose attempt came to nothing, at the node that has its client. */
  retryLater(pending: PendingRequest, session: GroupSession): void {
    if (pending.hasActed) pending.end({ kind: 'reply', reply: failed(ACTED) });
    else if (pending.forwarded === null) pending.owner.wait(pending, session.id);
    else pending.end({ kind: 'lost', unknown: pending.doubt !== 'none' });
  }

  /** Ends a request that can't go on. If a change may have been made before, that is found out first. */
  refuse(pending: PendingRequest, refusal: FailedReply): void {
    if (pending.doubt === 'none') pending.end({ kind: 'reply', reply: refusal });
    else this.refuseOnceCertain(pending, refusal);
  }

  /**
   * Ends a request with a refusal once it is certain that no attempt made the change, or will: the leader, whose
   * state holds all that was proposed before, knows nothing of it. If it does, that is the answer.
   */
  private refuseOnceCertain(pending: PendingRequest, refusal: FailedReply): void {
    const { session: sessionOf, toLeader, noGroup, repetitions } = this.options;
    const { group } = pending;
    if (group === null) {
      pending.end(LATE_UNKNOWN);
      return;
    }
    const session = sessionOf(group);
    if (session === undefined) noGroup(pending, group);
    else if (!session.leading) toLeader(pending, session);
    else if (repetitions.isKnown(pending, session)) return;
    else if (pending.mayHaveCopies) this.seal(pending, session, refusal.error);
    else this.confirmRefusal(pending, session, refusal);
  }

  private confirmRefusal(pending: PendingRequest, session: GroupSession, refusal: FailedReply): void {
    const { roleVersion, proposes } = session;
    pending.become(CONFIRMING);
    session.readIndex((ok) => {
      if (!pending.resume()) return;
      if (!ok || !proposes || roleVersion !== session.roleVersion) {
        this.retryLater(pending, session);
        return;
      }
      pending.noteNothingFound();
      pending.end({ kind: 'reply', reply: refusal });
    });
  }

  /**
   * Puts a refusal into the log before the client gets it. A copy of the request may still be on its way to a leader,
   * where it might succeed: then it finds that the request has failed. A client that repeats it begins anew.
   */
  private seal(pending: PendingRequest, session: GroupSession, error: QueryError): void {
    if (session.refusal() !== null) {
      this.retryLater(pending, session);
      return;
    }
    assert(pending.mayHaveCopies, 'only copies on their way make the log hold a refusal');
    pending.noteProposed(session.id);
    const request = this.options.repetitions.identityOf(pending, session.id);
    const sealed = sealedReply(error);
    const committed = (reply: Reply): void => {
      if (reply === sealed) pending.noteSealed();
      this.committed(pending, session, reply);
    };
    session.propose(noChange(session.group), sealed, committed, { request, key: null, client: null });
  }
}

/**
 * The answer to the node that forwarded a request, to leave as soon as its change is committed; null where this node
 * has something to tell first.
 */
function earlyAnswerTo(
  { early }: PendingRequest,
  { change, result }: Extract<Answer, { readonly kind: 'value' }>,
): PreparedAnswer | null {
  if (early === null || change === null) return null;
  const { events, collectionEvents, roomEvents = [] } = change;
  if (events.length > 0 || collectionEvents.length > 0 || roomEvents.length > 0) return null;
  return early.prepare(result);
}
