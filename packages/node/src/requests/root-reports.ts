/** Reports of what changes did to the root scope, once they are committed or lost. */
import type { Change, RootEvent, User } from '@althing/engine';
import { ByteReader, ByteWriter } from 'raft-ts';
import type { Clock } from '../base/clock.js';
import type { NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Respond } from '../groups/request.js';

/** The author of a change of the root scope, and the request that made it. */
export interface ChangedBy {
  readonly user: Pick<User, 'name'>;
  readonly id?: string;
}

/** Takes what happened in the root scope; `isKnown` says whether that is certain, or may yet come to nothing. */
export type RootListener = (by: ChangedBy, events: readonly RootEvent[], isKnown: boolean) => void;

export interface RootReportsOptions {
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** The other nodes that can be reached. */
  readonly others: () => readonly NodeId[];
  readonly rootSession: () => Pick<GroupSession, 'whenApplied' | 'appliedIndex'>;
  readonly clock: Pick<Clock, 'after'>;
  /** Called with what a request did to the root scope. */
  readonly changed?: RootListener | undefined;
}

/** Time that a change of names waits for a node that lags behind, in milliseconds. */
const WAIT_MS = 500;

/** Changes after which the name of a collection means something else, or nothing. */
const RENAMING: ReadonlySet<RootEvent['event']> = new Set(['collection_deleted', 'collection_renamed']);

export class RootReports {
  constructor(private readonly options: RootReportsOptions) {
    options.calls.serve(CallKind.RootApplied, (_from, payload) => this.untilApplied(payload));
  }

  /** Wraps the callback for what becomes of a change, so that what it does to the root scope is reported before. */
  reporting(by: ChangedBy, { events }: Change, respond: Respond): Respond {
    if (events.length === 0) return respond;
    const { changed, rootSession } = this.options;
    const renames = events.some(({ event }) => RENAMING.has(event));
    return (reply) => {
      const isMade = reply.ok || reply.outcome === 'made';
      if (isMade || reply.outcome === 'unknown') changed?.(by, events, isMade);
      if (!renames || !reply.ok) respond(reply);
      else this.whenOthersKnow(Math.max(reply.index ?? 0, rootSession().appliedIndex), () => respond(reply));
    };
  }

  /**
   * Calls back once the other nodes hold the root state up to a log position; those that do not answer in time are not
   * waited for. A client that was told that a collection is gone would else find it at a node that lags behind, write
   * there, and be told that it was done: names are looked up in each node's own copy of the root state.
   */
  private whenOthersKnow(index: number, done: () => void): void {
    const { calls, others } = this.options;
    const position = new ByteWriter(8);
    position.varint(index);
    const payload = position.finish();
    const asked = others().map((node) => calls.call(node, CallKind.RootApplied, payload, WAIT_MS));
    if (asked.length === 0) done();
    else void Promise.allSettled(asked).then(done);
  }

  private untilApplied(payload: Uint8Array): Promise<Uint8Array> {
    const { rootSession, clock } = this.options;
    const index = new ByteReader(payload).varint();
    return new Promise((resolve, reject) => {
      const callOff = clock.after(WAIT_MS, () => reject(new Error('this node lags behind')));
      rootSession().whenApplied(index, () => {
        callOff();
        resolve(new Uint8Array(0));
      });
    });
  }
}
