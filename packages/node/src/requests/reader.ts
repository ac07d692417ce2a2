/** Calls that change nothing: where their answer may come from, and when it may leave. */
import type { Call, Engine, RestoreOrder } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { GroupSession } from '../groups/group-session.js';
import { replyOf } from '../groups/request.js';
import { ClientFutures, type FuturesStarter } from './client-futures.js';
import type { HeldPrograms } from './held-programs.js';
import type { Leader, LeaderOptions } from './leader.js';
import type { Answer, FuturesEnd } from './proposed-parts.js';
import { clientNamesOf } from './repetitions.js';
import { staleReply } from './replies.js';
import { APPLYING, BEHIND_OTHERS, CONFIRMING, type PendingRequest, RESTORING } from './request.js';
import { type Restore, restored } from './restoring.js';
import { SnapshotQueries, type SnapshotQueriesPorts } from './snapshot-queries.js';

export interface ReaderOptions extends Pick<LeaderOptions, 'driver' | 'repetitions' | 'reports' | 'alone'> {
  readonly engine: Engine;
  readonly leader: Leader;
  readonly held: HeldPrograms;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Restores backups that this node has; by default there are none. */
  readonly restore?: Restore | undefined;
  readonly rootSession: () => GroupSession;
  readonly snapshots: SnapshotQueriesPorts;
}

export class Reader implements FuturesStarter {
  private readonly snapshotQueries: SnapshotQueries;

  constructor(readonly options: ReaderOptions) {
    this.snapshotQueries = new SnapshotQueries({
      ...options,
      ...options.snapshots,
      confirm: (pending, session, call) => this.confirm(pending, session, call),
    });
  }

  /** True if a call may order here that a backup is restored, and seems to do so. */
  mayRestore({ forwarded, needsLeader, isDryRun }: PendingRequest, call: Call): boolean {
    const { engine, restore } = this.options;
    const isHere = restore !== undefined && forwarded === null;
    return isHere && !needsLeader && !isDryRun && engine.mayRestore(call);
  }

  /** True if another node can carry a call out that changes nothing: rooms are joined and left, and backups restored, on the node that was asked. */
  canMove(pending: PendingRequest, call: Call): boolean {
    return call.body.kind !== 'find_rooms' && !this.mayRestore(pending, call);
  }

  /** True if the state of a group holds everything that was acknowledged before the request came. */
  isFresh(pending: PendingRequest, session: GroupSession): boolean {
    return pending.isFresh(session.id) || (session.leading && this.options.alone());
  }

  /** Goes on once the state of a group holds everything that was acknowledged before. */
  confirm(pending: PendingRequest, session: GroupSession, call: Call | null = null): void {
    if (call?.body.kind === 'query') this.options.held.hold(pending, call.body.prepared);
    pending.become(CONFIRMING);
    const canMove = call !== null && this.canMove(pending, call);
    session.readIndex((ok) => {
      if (ok) {
        pending.addFresh(session.id);
        pending.owner.advance(pending);
      } else pending.owner.wait(pending, session.id);
    }, !canMove);
  }

  /**
   * Resolves with true once a state has all that was acknowledged before this call, or with false when that could not be
   * confirmed in some milliseconds.
   */
  freshen(session: GroupSession, waitMs: number): Promise<boolean> {
    const { clock } = this.options;
    const deadline = clock.now() + waitMs;
    return new Promise((resolve) => {
      const cancel = clock.after(waitMs, () => resolve(false));
      const attempt = (): void =>
        session.readIndex((ok) => {
          if (ok) {
            cancel();
            resolve(true);
          } else if (clock.now() < deadline) {
            clock.after(FRESHEN_PAUSE_MS, attempt);
          }
        });
      attempt();
    });
  }

  /** Runs a call whose answer depends on no group. */
  runHere(pending: PendingRequest, call: Call): void {
    const outcome = this.options.driver.run(pending, call);
    if (outcome === null) return;
    if (outcome.kind === 'more')
      this.options.driver.start(outcome, new ClientFutures(pending, call, null, false, this));
    else pending.end({ kind: 'reply', reply: replyOf(outcome) }, this.options.driver.ranAt);
  }

  /** Has a call run over a snapshot of its collection, or refuses it. */
  readSnapshot(pending: PendingRequest, call: Call, session: GroupSession | null): void {
    this.snapshotQueries.read(pending, call, session);
  }

  read(pending: PendingRequest, call: Call, session: GroupSession): void {
    const minIndex = pending.request.terms?.minIndex ?? 0;
    if (session.appliedIndex < minIndex) {
      pending.become(APPLYING);
      session.whenApplied(minIndex, () => pending.owner.advance(pending));
      return;
    }
    const mayRestore = this.mayRestore(pending, call);
    if (mayRestore && this.options.repetitions.isKnown(pending, session)) return;
    const outcome = this.options.driver.run(pending, mayRestore ? { ...call, mayRestore } : call);
    if (outcome === null) return;
    if (outcome.kind === 'value' && outcome.restore !== undefined) {
      void this.restore(pending, outcome, outcome.restore);
    } else if (outcome.kind === 'more') {
      this.options.driver.start(outcome, new ClientFutures(pending, call, session, false, this));
    } else this.answerRead(pending, session, outcome, this.options.driver.ranAt);
  }

  /**
   * Runs a call on the node that leads its group, without waiting for anybody: its answer leaves when a majority has confirmed since then
   * that this node leads, and what the call saw is committed. Both are on their way together.
   */
  readAsLeader(pending: PendingRequest, call: Call, session: GroupSession): void {
    const { driver, engine, leader } = this.options;
    const isBehind = session.appliedIndex < (pending.request.terms?.minIndex ?? 0);
    if (isBehind || this.mayRestore(pending, call)) {
      this.confirm(pending, session, call);
      return;
    }
    const outcome = driver.run(pending, call);
    if (outcome === null) return;
    if (outcome.kind !== 'more') {
      leader.answerUnchanged(pending, session, outcome);
      return;
    }
    // Futures may do what can't be taken back.
    engine.futures.drop(outcome.rest);
    this.confirm(pending, session, call);
  }

  /**
   * Answers a call that changed nothing, as soon as what it saw is committed.
   *
   * @param now the time, where somebody has just looked at the clock
   */
  private answerRead(pending: PendingRequest, session: GroupSession, outcome: Answer, now?: number): void {
    const isStale = pending.request.terms?.stale === true;
    const reply = session.replyNow(outcome);
    if (reply !== null) {
      pending.end({ kind: 'reply', reply: isStale ? staleReply(reply) : reply }, now);
      return;
    }
    if (!pending.isAnswered) pending.become(BEHIND_OTHERS);
    session.answer(outcome, (visible) => {
      if (pending.resume())
        this.options.leader.finish(pending, session, isStale ? staleReply(visible) : visible);
    });
  }

  /** The futures of a call have ended that only reads. If one makes a change, all of it runs again, where that can be. */
  futuresFinished({ pending, session }: ClientFutures, end: FuturesEnd): void {
    pending.resume();
    if (end.kind === 'needs_change') {
      pending.needsLeader = true;
      pending.owner.advance(pending);
    } else if (end.kind === 'lost') {
      if (session === null) pending.end({ kind: 'late', unknown: false });
      else this.options.leader.retryLater(pending, session);
    } else if (session === null) pending.end({ kind: 'reply', reply: replyOf(end) });
    else this.answerRead(pending, session, end);
  }

  /** Has a backup restored, for which a query asked that has changed nothing; its answer has no deadline. */
  private async restore(
    pending: PendingRequest,
    { result }: Answer & { readonly kind: 'value' },
    order: RestoreOrder,
  ): Promise<void> {
    const { restore } = this.options;
    if (restore === undefined) throw new Error('nothing restores backups here');
    const { user, id = '' } = pending.request;
    pending.become(RESTORING);
    pending.deadline = Number.POSITIVE_INFINITY;
    const reply = await restored(restore, { order, user, id, names: clientNamesOf(pending), result });
    pending.end({ kind: 'reply', reply });
  }
}

/** Milliseconds between two attempts to confirm that a state is fresh. */
const FRESHEN_PAUSE_MS = 50;
