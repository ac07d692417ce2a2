/**
 * An engine for tests: one empty collection in memory, a clock that stands still, seeded random numbers.
 */
import { getHeapStatistics } from 'node:v8';
import { bootstrap } from '../admin/bootstrap.js';
import type { User } from '../admin/user.js';
import { Engine, type Outcome } from '../engine.js';
import type { Environment } from '../environment.js';
import { errorName, type QueryError } from '../error.js';
import type { NodeView } from '../node-view.js';
import { DEFAULT_LIMITS, type QueryLimits } from '../run/limits.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { EMPTY_SOURCE, type RecordSource } from '../state/records.js';
import { attach } from '../state/store.js';
import { listOf } from '../value/containers.js';
import { Bytes, Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { decodeResult } from './decode.js';

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
}

export interface HarnessOptions {
  readonly seed?: number;
  readonly limits?: Partial<QueryLimits>;
  /** None by default. */
  readonly node?: NodeView;
}

/** Moment of the clock in milliseconds: 2024-05-06T07:08:09.5Z. */
export const NOW_MS = 1_714_979_289_500;

export class Harness {
  readonly engine: Engine;
  collection: CollectionGroup;
  /** What queries logged. */
  readonly logged: string[] = [];
  /** Effects of the change that the root scope began with. */
  readonly foundation: Uint8Array;
  private readonly admin: User;
  private readonly collectionId: number;

  constructor({ seed = 1, limits = {}, node }: HarnessOptions = {}) {
    this.engine = new Engine({
      environment: environment(seed, this.logged, node ?? null),
      limits: { ...DEFAULT_LIMITS, ...limits },
      quotas: { tokensPerUser: 100, users: 100, collections: 100, procedures: 1000 },
      programCacheBytes: 1024 * 1024,
      onInternalError: (error) => {
        throw error;
      },
    });
    const { root } = this.engine;
    const began = bootstrap(root, Math.floor(NOW_MS / 1000), NO_PASSWORD, [FIRST_NODE]);
    this.foundation = began.effects;
    const [admin] = root.users.values();
    const [stuff] = root.collections.keys();
    if (admin === undefined || stuff === undefined)
      throw new Error('a new cluster has a user and a collection');
    this.admin = admin;
    this.collectionId = stuff;
    this.collection = this.engine.openCollection(stuff, EMPTY_SOURCE);
    this.collection.create();
  }

  /** Puts another collection in the place of the present one: the one whose things these records are. */
  reopen(source: RecordSource): CollectionGroup {
    this.collection = this.engine.openCollection(this.collectionId, source);
    return this.collection;
  }

  /** Runs a query and gives what a client gets; throws an Error with the name of the code when it fails. */
  run(code: string, options: RunOptions = {}): Plain {
    const outcome = this.outcome(code, options);
    if (outcome.kind === 'value') return this.decode(outcome.result);
    throw new Error(
      outcome.kind === 'error'
        ? `${errorName(outcome.error.code)}: ${outcome.error.message}`
        : 'the query wants a password hash',
    );
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

  /** Runs a query; what came of it as the engine gives it. Errors of the text count as errors of the query. */
  outcome(code: string, { scope = 'collection', vars }: RunOptions = {}): Outcome {
    const { engine } = this;
    const target = engine.scope(scope === 'collection' ? this.collectionId : scope);
    if (target === undefined) throw new Error(`there is no scope ${scope}`);
    const values =
      vars === undefined
        ? null
        : new Map(Object.entries(vars).map(([k, v]) => [k, toValue(v, engine.runtime.shapes)]));
    let prepared: ReturnType<Engine['prepare']>;
    try {
      prepared = engine.prepare(code);
    } catch (error) {
      return { kind: 'error', error: error as QueryError };
    }
    const body = { kind: 'query', prepared, vars: values } as const;
    return engine.run({ scope: target, user: this.admin, body, format: 'msgpack' });
  }

  private decode(result: string | Uint8Array): Plain {
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

const NO_PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

function environment(seed: number, logged: string[], node: NodeView | null): Environment {
  const random = randomOf(seed);
  return {
    now: () => NOW_MS,
    monotonic: () => performance.now(),
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)),
    random,
    heapUsed: () => getHeapStatistics().used_heap_size,
    log: (text) => logged.push(text),
    node,
    voters: () => [FIRST_NODE.nodeId],
  };
}

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
