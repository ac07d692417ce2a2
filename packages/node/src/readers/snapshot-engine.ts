import {
  type Call,
  type CollectionGroup,
  Engine,
  type Environment,
  type Group,
  loadGroup,
  nodeError,
  type Outlet,
  operationError,
  QueryError,
  type QueryLimits,
  type Quotas,
  type Scope,
  takeRootPart,
  type User,
} from '@althing/engine';
import type { SnapshotReads, StateView } from '@althing/storage';
import { assert } from '../base/assert.js';
import type { FeedPosition } from '../between/feed-position.js';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';
import { decodeApplied } from '../groups/applied.js';
import { LogTexts, type Reply, replyOf } from '../groups/request.js';
import { failed } from '../requests/replies.js';
import type { SnapshotQuery } from '../requests/snapshot-query.js';

export interface SnapshotEngineOptions {
  readonly reads: Pick<SnapshotReads, 'take'>;
  readonly environment: Omit<Environment, 'voters' | 'isCommittedUser' | 'node'>;
  readonly limits: QueryLimits;
  readonly quotas: Quotas;
  /** Memory that things may take, also for the next query. */
  readonly thingBytes: number;
  readonly onInternalError: (error: unknown) => void;
}

/** The outcome of a query. */
export interface SnapshotOutcome {
  readonly reply: Reply;
  readonly logs: readonly string[];
  /** The position behind which changes are to be followed; null where there is no snapshot. */
  readonly at: FeedPosition | null;
  /** Its cost: `steps=.. things=.. cold=.. ms=..`, where things are how often one was looked into, and cold how many had to be read. */
  readonly cost: string;
}

/** A snapshot that is open, with the engine over it. */
interface OpenSnapshot {
  readonly collection: GroupId;
  readonly view: StateView;
  readonly engine: Engine;
}

/**
 * Runs queries over snapshots, one at a time. What the last one read stays in memory for the next, where nothing of its collection
 * and of the root scope became different on the disk since.
 */
export class SnapshotEngine {
  private open: OpenSnapshot | null = null;

  constructor(private readonly options: SnapshotEngineOptions) {}

  /**
   * Takes a snapshot, and runs a query over it.
   *
   * @param taken called when the snapshot is taken, with the index that it shows
   * @param line takes a line of the answer; without it there are none
   * @throws DamagedStateError of the storage
   */
  async run(
    query: SnapshotQuery,
    taken: (index: number) => void,
    line?: (text: string) => void,
  ): Promise<SnapshotOutcome> {
    const snapshot = await this.snapshotOf(query.collection);
    const stored = snapshot.view.applied(query.collection);
    if (stored === undefined) return { reply: failed(NOT_THERE), logs: [], at: null, cost: '' };
    const { index, hash } = decodeApplied(stored);
    assert(index >= query.place.storedIndex, 'a snapshot holds what was on the disk before it was asked for');
    // Nothing was changed up to the index of the request.
    const shown = Math.max(index, query.place.index);
    taken(shown);
    const logs = new LogTexts();
    const log = (text: string): void => logs.log(text);
    const cost = costOf(snapshot.engine, this.options.environment.monotonic);
    const reply = this.evaluate(snapshot.engine, query, line === undefined ? { log } : { log, line });
    const spent = cost();
    snapshot.engine.collections.evict(this.options.thingBytes, Number.POSITIVE_INFINITY);
    return { reply: { ...reply, index: shown }, logs: logs.texts, at: { index, hash }, cost: spent };
  }

  /** Lets the snapshot go. */
  async close(): Promise<void> {
    const { open } = this;
    this.open = null;
    await open?.view.close();
  }

  private async snapshotOf(collection: GroupId): Promise<OpenSnapshot> {
    const view = await this.options.reads.take([ROOT_GROUP, collection]);
    const { open } = this;
    if (open?.collection === collection && isSame(open.view, view, [ROOT_GROUP, collection])) {
      await view.close();
      return open;
    }
    await this.close();
    await view.readAhead();
    const opened = { collection, view, engine: this.engineOver() };
    await load(opened.engine.root, view, ROOT_GROUP);
    await load(collectionOver(opened), view, collection);
    this.open = opened;
    return opened;
  }

  private engineOver(): Engine {
    const { environment, limits, quotas, thingBytes, onInternalError } = this.options;
    return new Engine({
      environment: { ...environment, node: null, voters: () => [], isCommittedUser: () => true },
      limits,
      quotas,
      programCacheBytes: PROGRAM_CACHE_BYTES,
      readingBytes: thingBytes,
      onInternalError,
    });
  }

  private evaluate(engine: Engine, query: SnapshotQuery, outlet: Outlet): Reply {
    try {
      const user = takeRootPart(engine.root, query.root);
      const scope = engine.scope(query.collection);
      if (scope === undefined) return failed(NOT_THERE);
      const call = callOf(engine, scope, user, query, outlet);
      // A procedure may have been another one when the snapshot was taken.
      if (engine.mayWrite(call)) return failed(CHANGES_HERE);
      const outcome = engine.run(call);
      assert(outcome.kind === 'value' || outcome.kind === 'error', 'a snapshot read ends with what it gives');
      return replyOf(outcome);
    } catch (error) {
      if (error instanceof QueryError) return failed(error);
      throw error;
    }
  }
}

/** Begins to count what a query takes; gives it when called. */
function costOf(engine: Engine, monotonic: () => number): () => string {
  const begun = monotonic();
  const before = engine.figures.things;
  return () => {
    const { hits, misses } = engine.figures.things;
    const cold = misses - before.misses;
    const ms = (monotonic() - begun).toFixed(1);
    return `steps=${engine.runtime.stepsUsed} things=${hits - before.hits + cold} cold=${cold} ms=${ms}`;
  };
}

function callOf(
  engine: Engine,
  scope: Scope,
  user: User,
  { body, format, isReadOnly, requestId }: SnapshotQuery,
  outlet: Outlet,
): Call {
  const start = {
    scope,
    user,
    format,
    outlet,
    requestId: requestId || undefined,
    readOnly: isReadOnly,
    mayEmit: false,
    fresh: AS_IT_IS,
  };
  if (body.type === 'query') {
    return { ...start, body: { kind: 'query', prepared: engine.prepare(body.code, start), vars: body.vars } };
  }
  const procedure = scope.procedure(body.name);
  if (procedure === undefined) throw operationError(`the snapshot has no procedure '${body.name}' yet`);
  return { ...start, body: { kind: 'run', procedure, args: body.args } };
}

/** True if the disk has the same state of some groups in two views. */
function isSame(a: StateView, b: StateView, groups: readonly GroupId[]): boolean {
  return groups.every((group) => {
    const [one, other] = [a.applied(group), b.applied(group)];
    return one !== undefined && one.index === other?.index && one.term === other.term;
  });
}

function collectionOver({ engine, view, collection }: OpenSnapshot): CollectionGroup {
  return engine.collections.open(collection, {
    read: (kind: number, id: number, part: number) => view.read(collection, kind, id, part),
  });
}

function load(group: Group, view: StateView, id: GroupId): Promise<void> {
  return loadGroup(group, (first, last) => view.scan(id, first, last));
}

/** A snapshot never gets newer: a name that it does not know is unknown, and not one that another node may have made meanwhile. */
const AS_IT_IS = { isFresh: () => true };

const PROGRAM_CACHE_BYTES = 1024 * 1024;

const NOT_THERE = nodeError('the collection is not on this node any more: try again');

const CHANGES_HERE = operationError('what the procedure was in the snapshot makes a change');
