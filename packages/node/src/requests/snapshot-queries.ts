/** Calls that ask for a snapshot: what may run there, how new it has to be, and who runs it. */
import {
  type Call,
  type Engine,
  missingPrivilege,
  nodeError,
  operationError,
  Privilege,
  type QueryError,
  rootPartOf,
} from '@althing/engine';
import type { GroupSession } from '../groups/group-session.js';
import type { ProgramBody, Request } from '../groups/request.js';
import type { Checkpointer } from '../state/checkpointer.js';
import { scopeText } from './checks.js';
import { failed } from './replies.js';
import { APPLYING, type PendingRequest, READING_SNAPSHOT } from './request.js';
import type { SnapshotReaders, StoredPlace } from './snapshot-query.js';

export interface SnapshotQueriesPorts {
  /** Runs queries over snapshots; nothing where nobody does. */
  readonly readers: SnapshotReaders | undefined;
  readonly stored: () => Pick<Checkpointer, 'ensureStored' | 'flush' | 'placeOf'>;
  readonly onDefect: (error: unknown) => void;
}

export interface SnapshotQueriesOptions extends SnapshotQueriesPorts {
  readonly engine: Engine;
  readonly rootSession: () => GroupSession;
  /** Goes on once the state of a group holds everything that was acknowledged before. */
  readonly confirm: (pending: PendingRequest, session: GroupSession, call: Call) => void;
}

/** Checkpoints that are made for one query at most: the first may have begun too early. */
const FLUSHES_MAX = 2;

export class SnapshotQueries {
  constructor(private readonly options: SnapshotQueriesOptions) {}

  /** Has a call run over a snapshot of its collection, or refuses it. */
  read(pending: PendingRequest, call: Call, session: GroupSession | null): void {
    const { readers, engine, confirm } = this.options;
    const { request } = pending;
    const { terms } = request;
    const refusal = refusalOf(engine, call, request);
    const program = programOf(request);
    if (refusal !== null || program === null || session === null || readers === undefined) {
      pending.owner.refuse(pending, failed(refusal ?? OFF));
      return;
    }
    const { minIndex, maxAgeMs } = wishOf(terms);
    if (session.appliedIndex < minIndex) {
      pending.become(APPLYING);
      session.whenApplied(minIndex, () => pending.owner.advance(pending));
    } else if (maxAgeMs !== null && !pending.isFresh(session.id)) confirm(pending, session, call);
    else {
      pending.become(READING_SNAPSHOT);
      // The readers have a limit of their own.
      pending.deadline = Number.POSITIVE_INFINITY;
      this.ask(pending, program, session, readers).catch((error: unknown) => {
        this.options.onDefect(error);
        pending.owner.refuse(pending, failed(NOT_READ));
      });
    }
  }

  private async ask(
    pending: PendingRequest,
    body: ProgramBody,
    session: GroupSession,
    readers: SnapshotReaders,
  ): Promise<void> {
    const { engine, stored, rootSession } = this.options;
    const { request } = pending;
    for (const needed of [rootSession(), session]) await stored().ensureStored(needed);
    const place = await this.newEnough(session, request.terms);
    if (pending.isAnswered) return;
    const collection = engine.root.collections.get(session.id);
    const user = engine.root.users.get(request.user.id);
    if (place === null || collection === undefined || user === undefined) {
      pending.owner.refuse(pending, failed(place === null ? NOT_STORED : NOT_READ));
      return;
    }
    const query = {
      collection: session.id,
      root: rootPartOf(engine.root, user, collection),
      body,
      format: request.format,
      isReadOnly: request.terms?.readOnly === true,
      requestId: request.id ?? '',
      place,
      hasLines: request.lines != null,
      hasEnd: request.terms?.snapshot?.hasEnd === true,
    };
    const gone = (): boolean => pending.isAnswered || request.client.gone;
    const { logs = null, lines = null } = request;
    const privilege = body.type === 'query' ? Privilege.QUERY : Privilege.RUN;
    const refusal = (): QueryError | null =>
      engine.root.allows(session.id, user.id, privilege)
        ? null
        : missingPrivilege(user, privilege, scopeText(request.scope));
    const asker = { userId: user.id, gone, refusal, logs, lines };
    readers.ask(query, asker, ({ reply, takenMs }) => {
      const told = reply.ok ? { ...reply, snapshotAgeMs: Math.round(place.ageMs + takenMs) } : reply;
      pending.end({ kind: 'reply', reply: told });
    });
  }

  /** Makes checkpoints until what is stored is as new as it was asked for; null where that can't be had now. */
  private async newEnough(session: GroupSession, terms: Request['terms']): Promise<StoredPlace | null> {
    const { minIndex, maxAgeMs } = wishOf(terms);
    const { appliedIndex } = session;
    for (let flushes = 0; ; flushes++) {
      const place = this.options.stored().placeOf(session);
      if (place === null) return null;
      const isOld = maxAgeMs !== null && place.ageMs >= maxAgeMs && place.index < appliedIndex;
      if (place.index >= minIndex && !isOld) return place;
      if (flushes >= FLUSHES_MAX) return null;
      await this.options.stored().flush(session);
    }
  }
}

function wishOf(terms: Request['terms']): { readonly minIndex: number; readonly maxAgeMs: number | null } {
  return { minIndex: terms?.minIndex ?? 0, maxAgeMs: terms?.snapshot?.maxAgeMs ?? null };
}

function programOf({ body }: Request): ProgramBody | null {
  return body.type === 'query' || body.type === 'run' ? body : null;
}

/** Why a call can't run over a snapshot, as far as that is known before; null where it can. */
function refusalOf(engine: Engine, call: Call, { terms, body }: Request): QueryError | null {
  if (call.scope.kind !== 'collection') return ONLY_COLLECTIONS;
  if (body.type !== 'query' && body.type !== 'run') return ONLY_CODE;
  if (engine.mayWrite(call)) return ONLY_READS;
  return terms?.dryRun ? NO_DRY_RUN : null;
}

const ONLY_COLLECTIONS = operationError('a snapshot is read of a collection: use its scope, as in @:stuff');
const ONLY_CODE = operationError('a snapshot read is a query or a procedure');
const ONLY_READS = operationError(
  'a snapshot read changes nothing: use the consistency linearizable for what makes a change',
);
const NO_DRY_RUN = operationError('a dry run is no snapshot read');
const OFF = operationError('this node reads no snapshots (snapshot_threads)');
const NOT_READ = nodeError('the snapshot could not be read: try again');
const NOT_STORED = nodeError(
  'the state can not be written to the disk now, as it would have to be: try again',
);
