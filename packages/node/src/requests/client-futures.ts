import type { Call, Change } from '@althing/engine';
import type { GroupSession } from '../groups/group-session.js';
import type { Names } from '../groups/names.js';
import type { Respond } from '../groups/request.js';
import type { Driver } from './driver.js';
import type { FuturesEnd, FuturesOwner, ProposedParts } from './proposed-parts.js';
import type { Repetitions } from './repetitions.js';
import { type Doubt, type PendingRequest, READING_ON, WRITING_ON, WRITTEN_IN_PART } from './request.js';
import type { RootReports } from './root-reports.js';

/** The part of the node that started the futures of a request. */
export interface FuturesStarter {
  readonly options: {
    readonly driver: Driver;
    readonly repetitions: Repetitions;
    readonly reports: RootReports;
  };
  futuresFinished(futures: ClientFutures, end: FuturesEnd, parts: ProposedParts): void;
}

/** The futures of a client's call. */
export class ClientFutures implements FuturesOwner {
  readonly isRequest = true;
  /** The doubt about the request before its first part was proposed; null until one is. */
  doubtBefore: Doubt | null = null;

  /** @param mayChange whether they run on the leader, where they may make changes */
  constructor(
    readonly pending: PendingRequest,
    readonly call: Call,
    readonly session: GroupSession | null,
    readonly mayChange: boolean,
    private readonly starter: FuturesStarter,
  ) {
    pending.become(mayChange ? WRITING_ON : READING_ON);
  }

  get userId(): number {
    return this.call.user.id;
  }

  get saltKey(): Uint8Array | null {
    return this.pending.request.saltKey ?? null;
  }

  get prerequisites(): PendingRequest {
    return this.pending;
  }

  get isAbandoned(): boolean {
    return this.pending.isUnwanted;
  }

  get isNamed(): boolean {
    const { session, pending, starter } = this;
    return session !== null && starter.options.repetitions.namesOf(pending, session) !== null;
  }

  begins(): Names | null {
    const { session, pending, starter } = this;
    if (session === null || !this.mayChange) return null;
    this.doubtBefore = pending.doubt;
    pending.noteProposed(session.id, WRITTEN_IN_PART);
    // A password in the request becomes known only when all futures are done.
    return starter.options.repetitions.namesOf(pending, session, true);
  }

  reporting(change: Change, respond: Respond): Respond {
    return this.starter.options.reports.reporting(this.pending.request, change, respond);
  }

  acts(): void {
    this.pending.hasActed = true;
  }

  ran(ms: number, warm: number, cold: number): void {
    const { pending, call, starter } = this;
    pending.ranMs += ms;
    pending.noteReads(warm, cold);
    starter.options.driver.ranFutures(call, ms);
  }

  finished(end: FuturesEnd, parts: ProposedParts): void {
    this.starter.futuresFinished(this, end, parts);
  }
}
