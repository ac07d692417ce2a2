/**
 * An engine for tests: one empty collection in memory, a wall clock that stands still, a monotonic one that moves with
 * the work, seeded random numbers.
 *
 * Where the environment says so (`EVICTS`), everything that may leave memory does after each part of a query: what the next one touches
 * is read from records, and what a query that changes nothing reads leaves at each turn of its walks. The tests of functions run a second time so (`jest.config.js`).
 */
import { getHeapStatistics } from 'node:v8';
import { bootstrap } from '../admin/bootstrap.js';
import { LEVEL_NEWEST } from '../admin/level.js';
import type { PasswordHash, User } from '../admin/user.js';
import type { Call, Change, ModuleAsk, Outcome } from '../calls/call.js';
import { Engine } from '../engine.js';
import type { Environment } from '../environment.js';
import { errorName, operationError, QueryError } from '../error.js';
import type { NodeView } from '../node-view.js';
import type { Format, WireValues } from '../pack/wire-values.js';
import type { Continuation } from '../run/later.js';
import { DEFAULT_LIMITS, type QueryLimits } from '../run/limits.js';
import { keepRoom } from '../run/room.js';
import { attach } from '../state/attach.js';
import { writeCheckpoint } from '../state/checkpoint.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { EMPTY_SOURCE, type RecordSource } from '../state/records.js';
import { listOf } from '../value/containers.js';
import type { ModuleAnswer } from '../value/future.js';
import { Bytes, Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { decodeResult } from './decode.js';
import { RecordMap } from './record-map.js';

/**
 * A value as tests write it: an int is a number or a bigint, a float a `Float`, bytes are a Uint8Array, a list or set
 * is an array, and a thing an object, with its id under `#`.
 */
export type Plain =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Uint8Array
  | readonly Plain[]
  | { readonly [key: string]: Plain };

export interface RunOptions {
  /** The collection by default. */
  readonly scope?: 'collection' | 'thingsdb' | 'node';
  readonly vars?: Readonly<Record<string, Plain>>;
  /** Variables in the bytes of a request, in the place of `vars`. */
  readonly sent?: WireValues;
  /** Name of the user that asks; the first one by default. */
  readonly user?: string;
  /** Hashes of the passwords that the query sets. */
  readonly hashes?: ReadonlyMap<string, PasswordHash>;
  /** True if this node may lack what was acknowledged in collections. */
  readonly lagging?: boolean;
  /** True if this node follows, so that the query may only read, and tell nobody of events. */
  readonly follows?: boolean;
  /** True if the query may order that a backup is restored. */
  readonly mayRestore?: boolean;
  /** True if it runs without CHANGE and GRANT. */
  readonly readOnly?: boolean;
  /** True if it is only tried out. */
  readonly dryRun?: Call['dryRun'];
  /** MessagePack by default. */
  readonly format?: Format;
}

export interface HarnessOptions {
  readonly seed?: number;
  readonly limits?: Partial<QueryLimits>;
  /** None by default. */
  readonly node?: NodeView;
  /** Lets limits of time go by the real clock: for tests of how soon they end what is slow. */
  readonly realTime?: boolean;
  /** A clock in milliseconds that limits of time go by, in the place of those. */
  readonly monotonic?: () => number;
  /**
   * True if everything leaves memory that may, after each part of a query; by default as the environment says. Not for tests that take
   * changes back or write checkpoints themselves.
   */
  readonly evicts?: boolean;
}

/** The variable of the environment that lets a harness take everything out of memory whenever it can. */
const EVICTS = 'ALTHING_TEST_EVICTS';

/** Rounds of the eviction clock after which nothing that may leave memory is there. */
const EVICTION_ROUNDS = 3;

/** Where the wall clock stands at first, in milliseconds: 2024-05-06T07:08:09.5Z. */
export const NOW_MS = 1_714_979_289_500;

export class Harness {
  readonly engine: Engine;
  collection: CollectionGroup;
  /** The lines that queries logged. */
  readonly logged: string[] = [];
  /** True if the call that runs is to end, see `Environment`. */
  isCancelled: () => boolean = () => false;
  /** The user whose making is not committed; 0 for none. */
  uncommittedUser = 0;
  /** The wall clock, in milliseconds since 1970. */
  nowMs = NOW_MS;
  /** Effects of the change that the root scope began with. */
  readonly foundation: Uint8Array;
  /** The changes of the last query: its own, and those of its futures. */
  readonly changes: Change[] = [];
  /** Called before the rest of a query with futures goes on; gives the monotonic time up to which it may at once. */
  between: (rest: Continuation) => number = () => Number.POSITIVE_INFINITY;
  /** Answers requests to modules, which are kept here. */
  readonly asked: ModuleAsk[] = [];
  answer: (ask: ModuleAsk) => ModuleAnswer = () => ({
    ok: false,
    error: operationError('module not installed'),
  });
  private readonly admin: User;
  private readonly collectionId: number;
  /** Records of the collection; null where all of it stays in memory. */
  private disk: RecordMap | null;

  constructor({
    seed = 1,
    limits = {},
    node,
    realTime = false,
    monotonic,
    evicts = process.env[EVICTS] !== undefined,
  }: HarnessOptions = {}) {
    this.disk = evicts ? new RecordMap() : null;
    this.engine = new Engine({
      environment: {
        ...environment(seed, this.logged, node ?? null),
        isCancelled: () => this.isCancelled(),
        isCommittedUser: (id) => id !== this.uncommittedUser,
        now: () => this.nowMs,
        monotonic: monotonic ?? (realTime ? () => performance.now() : clockOfLooks()),
      },
      limits: { ...DEFAULT_LIMITS, ...limits },
      quotas: {
        tokensPerUser: 100,
        users: 100,
        collections: 100,
        procedures: 1000,
        tasks: 500,
        sessions: SESSION_LIMITS,
      },
      programCacheBytes: 1024 * 1024,
      onInternalError: (error) => {
        throw error;
      },
    });
    const { root } = this.engine;
    const began = bootstrap(root, Math.floor(NOW_MS / 1000), NO_PASSWORD, [FIRST_NODE], LEVEL_NEWEST);
    root.confirmLevel();
    this.foundation = began.effects;
    const [admin] = root.users.values();
    const [stuff] = root.collections.keys();
    if (admin === undefined || stuff === undefined)
      throw new Error('a new cluster has a user and a collection');
    this.admin = admin;
    this.collectionId = stuff;
    this.collection = this.engine.collections.open(stuff, this.disk ?? EMPTY_SOURCE);
    this.collection.create();
  }

  /** Takes what may leave memory out of it, if this is to be done. */
  private evict(): void {
    const { disk, collection } = this;
    if (disk === null) return;
    writeCheckpoint(collection, disk);
    collection.dirty.release();
    for (let i = 0; i < EVICTION_ROUNDS; i++) this.engine.collections.evict(0, Number.POSITIVE_INFINITY);
  }

  /** Puts another collection in the place of the present one: the one whose things these records are. */
  reopen(source: RecordSource): CollectionGroup {
    this.disk = null;
    this.collection = this.engine.collections.open(this.collectionId, source);
    return this.collection;
  }

  /** Runs a query and gives what a client gets; throws an Error with the name of the code when it fails. */
  run(code: string, options: RunOptions = {}): Plain {
    const outcome = this.outcome(code, options);
    if (outcome.kind === 'value') return this.decode(outcome.result);
    if (outcome.kind !== 'error') throw new Error('the query wants a password hash');
    throw new Error(`${errorName(outcome.error.code)}: ${outcome.error.message}`);
  }

  /** Runs a query and gives its result as JSON. */
  json(code: string, options: RunOptions): string {
    const outcome = this.outcome(code, { ...options, format: 'json' });
    if (outcome.kind !== 'value') throw new Error(`the query failed: ${code}`);
    return String(outcome.result);
  }

  /** Runs a query that must fail and gives the name of the error code; `err` for codes of users. */
  error(code: string, options: RunOptions = {}): string {
    return errorName(this.failure(code, options).code);
  }

  /** Runs a query that must fail and gives the error. */
  failure(code: string, options: RunOptions = {}): QueryError {
    const outcome = this.outcome(code, options);
    if (outcome.kind !== 'error') throw new Error(`the query did not fail: ${code}`);
    return outcome.error;
  }

  /** Runs a query that must change something, and gives its effects. */
  effects(code: string, options: RunOptions = {}): Uint8Array {
    const outcome = this.outcome(code, options);
    if (outcome.kind === 'error')
      throw new Error(`${errorName(outcome.error.code)}: ${outcome.error.message}`);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error(`nothing changed: ${code}`);
    return outcome.change.effects;
  }

  /** Runs a query; what came of it as the engine gives it. Errors of the text count as errors of the query. */
  outcome(
    code: string,
    {
      scope = 'collection',
      vars,
      sent,
      user,
      hashes = NO_HASHES,
      lagging = false,
      follows = false,
      mayRestore = false,
      readOnly = false,
      dryRun = false,
      format = 'msgpack',
    }: RunOptions = {},
  ): Outcome {
    const { engine } = this;
    const asking = user === undefined ? this.admin : engine.root.usersByName.get(user);
    if (asking === undefined) throw new Error(`there is no user ${user}`);
    const target = engine.scope(scope === 'collection' ? this.collectionId : scope);
    if (target === undefined) throw new Error(`there is no scope ${scope}`);
    const values =
      vars === undefined
        ? null
        : new Map(Object.entries(vars).map(([k, v]) => [k, toValue(v, engine.runtime.shapes)]));
    this.changes.length = 0;
    let prepared: ReturnType<Engine['prepare']>;
    try {
      prepared = engine.prepare(code, { scope: target, user: asking });
    } catch (error) {
      // Anything else is a defect of the parser or compiler, and no answer to a query.
      if (!(error instanceof QueryError)) throw error;
      return { kind: 'error', error };
    }
    const body = { kind: 'query', prepared, vars: sent ?? values } as const;
    const fresh = { isFresh: () => !lagging };
    const call = {
      scope: target,
      user: asking,
      body,
      format,
      hashes,
      fresh,
      mayEmit: !follows,
      mayRestore,
      readOnly,
      dryRun,
    };
    const { store } = this.collection;
    if (this.disk !== null && !engine.mayWrite(call)) keepRoom(engine.runtime, store, 0);
    let outcome = engine.run(call);
    store.reading = null;
    this.note(outcome);
    this.evict();
    while (outcome.kind === 'more' || outcome.kind === 'asks') {
      const { rest } = outcome;
      if (outcome.kind === 'asks') {
        this.asked.push(outcome.ask);
        rest.take(outcome.ask.number, this.answer(outcome.ask));
      }
      outcome = engine.futures.resume(rest, { mayChange: true, until: this.between(rest), hashes, fresh });
      this.note(outcome);
      this.evict();
    }
    return outcome;
  }

  private note(outcome: Outcome): void {
    if ((outcome.kind === 'value' || outcome.kind === 'more') && outcome.change !== null) {
      this.changes.push(outcome.change);
    }
  }

  /** A packed result as tests write values. */
  decode(result: string | Uint8Array): Plain {
    if (typeof result === 'string') throw new Error('the result is JSON');
    return decodeResult(result);
  }
}

/** The only node of the cluster. */
export const FIRST_NODE = {
  nodeId: 77,
  number: 0,
  name: 'first',
  host: 'localhost',
  port: 9220,
  leaving: false,
};

const NO_HASHES: ReadonlyMap<string, PasswordHash> = new Map();

/** Times that sessions last here. */
export const SESSION_LIMITS = { idleMs: 1_800_000, maxMs: 43_200_000 };

const NO_PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

function environment(
  seed: number,
  logged: string[],
  node: NodeView | null,
): Omit<Environment, 'now' | 'monotonic' | 'isCancelled' | 'isCommittedUser'> {
  const random = randomOf(seed);
  return {
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)),
    random,
    heapUsed: () => getHeapStatistics().used_heap_size,
    heapFull: () => false,
    log: (text) => logged.push(text),
    node,
    voters: () => [FIRST_NODE.nodeId],
  };
}

/**
 * A monotonic clock, in milliseconds, that only looking at it moves: what a limit of time ends is decided by the work
 * that was counted, never by how busy the machine is.
 */
export function clockOfLooks(): () => number {
  let now = 0;
  return () => {
    now += MS_PER_LOOK;
    return now;
  };
}

/** A look at the clock comes after a millisecond of work or less, as a rule: see `STEPS_PER_CHECK`. */
const MS_PER_LOOK = 0.25;

/** Uniform numbers in [0, 1) from a seed: mulberry32 by Tommy Ettinger, public domain. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function toValue(plain: Plain, shapes: ShapeTree): Value {
  if (plain === null || typeof plain !== 'object' || plain instanceof Float) return plain;
  if (plain instanceof Uint8Array) return new Bytes(plain);
  if (Array.isArray(plain)) return listOf(plain.map((item: Plain) => toValue(item, shapes)));
  const thing = new Thing(0, shapes.empty(), []);
  for (const [key, property] of Object.entries(plain)) {
    const value = toValue(property, shapes);
    thing.put(key, value);
    attach(thing, key, value);
  }
  return thing;
}
