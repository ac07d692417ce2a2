/**
 * Built-in functions and methods are data: one entry each. Dispatch, arity and type errors, the analysis of what makes
 * a change, `help`, and the function reference all come from the entry.
 */

import type { CallRule } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import type { List } from '../value/containers.js';
import { Tag } from '../value/tag.js';
import type { Value } from '../value/value.js';
import type { Param } from './params.js';
import type { Runtime } from './runtime.js';

/** Scopes in which a function exists, as a set of bits. */
export const In = { COLLECTION: 1, ROOT: 2, NODE: 4, DATA: 3, ALL: 7 } as const;

/** The way in which a call makes the query that contains it a change, decided from the text alone. */
export interface ChangeRule {
  /** Bits of `In`: the scopes in which it does. */
  readonly scopes: number;
  /** True if `nse` in front of it stops that. */
  readonly nse?: boolean;
  /** True if a call on a direct receiver (a variable, a literal, a call of a function) makes none. */
  readonly unlessDirect?: boolean;
  /** True if it changes definitions, which a query of a scope with a commit history announces first. */
  readonly definitions?: boolean;
}

/** The change rule of methods that modify any receiver, and of those that spare direct ones. */
export const MODIFIES: ChangeRule = { scopes: In.COLLECTION, nse: true };
export const MODIFIES_STORED: ChangeRule = { scopes: In.COLLECTION, nse: true, unlessDirect: true };

/** The change rules of functions: of the state of a collection, of the root scope, and of either. */
export const CHANGES_COLLECTION: ChangeRule = { scopes: In.COLLECTION };
export const CHANGES_ROOT: ChangeRule = { scopes: In.ROOT };
export const CHANGES_DATA: ChangeRule = { scopes: In.DATA };

/** The same of functions that change definitions. */
export const DEFINES_COLLECTION: ChangeRule = { scopes: In.COLLECTION, definitions: true };
export const DEFINES_DATA: ChangeRule = { scopes: In.DATA, definitions: true };

/** A privilege that the caller of a function must have, whatever the arguments. */
export interface Needs {
  readonly privilege: number;
  readonly on: 'thingsdb' | 'node';
}

/** GRANT on `@thingsdb`: for what administers users. */
export const GRANT: Needs = { privilege: Privilege.GRANT, on: 'thingsdb' };

/** CHANGE on `@node`: for what operates a node. */
export const OPERATE: Needs = { privilege: Privilege.CHANGE, on: 'node' };

/** CHANGE on `@node`, for what tells of the work of others and changes nothing. */
export const INSPECT: Needs = { privilege: Privilege.CHANGE, on: 'node' };

/** The parts of an entry that need no types. */
interface Common {
  /** One line, in the present tense: what it gives. */
  readonly doc: string;
  /** Scopes in which it exists. By default those that a function changes, or where its caller needs the privilege, else all. */
  readonly in?: number;
  readonly changes?: ChangeRule;
  /** Its meaning for the analysis of the text that it stands in, beside its change rule. */
  readonly role?: CallRule['role'];
  /** Checked before the arguments are counted. */
  readonly needs?: Needs;
  /** True if it looks at some items of a list or set alone, and not at all of them. */
  readonly light?: boolean;
  /**
   * True if it reads the state of the scope, beyond what its arguments bring along. By default functions do that are given a scope with data.
   */
  readonly readsState?: boolean;
}

/**
 * The bound of a loop over the call of a function with one argument, when the list that the function gives holds the numbers from
 * 0 up to that; else the list. Checks the argument as the function does.
 */
export type Counts = (rt: Runtime, argument: Value) => number | List;

/** Lock that a method holds on its receiver while its arguments are evaluated and while it runs. By default one that changes something writes. */
export type Lock = 'read' | 'write';

/** On which things a method of things exists: all, only plain ones, or only instances of types. */
export type Instances = 'all' | 'never' | 'only';

/** An entry as the dispatcher uses it. Arguments have gone through the `accept` of their parameters. */
export interface Entry {
  readonly name: string;
  readonly doc: string;
  readonly in: number;
  readonly changes: ChangeRule | null;
  readonly role: CallRule['role'];
  readonly needs: Needs | null;
  readonly readsState: boolean;
  /** True if a list or set that it is called on comes into memory as a whole. */
  readonly fills: boolean;
  /** Types of the receiver; null for a function. */
  readonly on: readonly Tag[] | null;
  readonly params: readonly Param<unknown>[];
  /** Parameter for any number of further arguments, which come as an array. */
  readonly rest: Param<unknown> | null;
  /** Number of arguments at least and at most. */
  readonly min: number;
  readonly max: number;
  readonly lock: Lock | null;
  readonly instances: Instances;
  /** Null for a function of whose list a loop has no short form. */
  readonly counts: Counts | null;
  readonly run: Implementation;
  /** The same for a single argument beyond the parameters, if that is frequent: it needs no array then. */
  readonly runOne: Implementation | null;
}

export type Implementation = (rt: Runtime, ...args: unknown[]) => Value;

type ArgumentsOf<P extends readonly unknown[]> = {
  [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** A function that is called by its name alone. */
export function func<const P extends readonly Param<unknown>[] = readonly []>(
  name: string,
  spec: Common & {
    /** None by default. */
    readonly params?: P;
    readonly counts?: Counts;
    readonly run: (rt: Runtime, ...args: ArgumentsOf<P>) => Value;
  },
): Entry {
  return entry(name, null, spec, null, spec.params?.length ?? 0, spec.run as Implementation);
}

/** A function with any number of arguments beyond its parameters, at least `min` in all. */
export function variadic<R, const P extends readonly Param<unknown>[] = readonly []>(
  name: string,
  spec: Common & {
    /** None by default. */
    readonly params?: P;
    readonly rest: Param<R>;
    readonly min?: number;
    readonly max?: number;
    readonly run: (rt: Runtime, ...args: [...ArgumentsOf<P>, R[]]) => Value;
  },
): Entry {
  return entry(name, null, spec, spec.rest, spec.max ?? Number.POSITIVE_INFINITY, spec.run as Implementation);
}

/** A method of values of some types. */
export interface Receiver<S> {
  readonly tags: readonly Tag[];
  /** Carries the type of the receiver only. */
  readonly self?: S;
}

export function method<S, const P extends readonly Param<unknown>[] = readonly []>(
  on: Receiver<S>,
  name: string,
  spec: Common & {
    /** None by default. */
    readonly params?: P;
    readonly lock?: Lock | null;
    readonly instances?: Instances;
    readonly run: (rt: Runtime, self: S, ...args: ArgumentsOf<P>) => Value;
  },
): Entry {
  return entry(name, on.tags, spec, null, spec.params?.length ?? 0, spec.run as Implementation);
}

/** A method with any number of arguments beyond its parameters. */
export function variadicMethod<S, R, const P extends readonly Param<unknown>[] = readonly []>(
  on: Receiver<S>,
  name: string,
  spec: Common & {
    /** None by default. */
    readonly params?: P;
    readonly rest: Param<R>;
    readonly min?: number;
    readonly max?: number;
    readonly lock?: Lock | null;
    readonly instances?: Instances;
    readonly run: (rt: Runtime, self: S, ...args: [...ArgumentsOf<P>, R[]]) => Value;
    readonly runOne?: (rt: Runtime, self: S, ...args: [...ArgumentsOf<P>, R]) => Value;
  },
): Entry {
  return entry(
    name,
    on.tags,
    spec,
    spec.rest,
    spec.max ?? Number.POSITIVE_INFINITY,
    spec.run as Implementation,
    (spec.runOne as Implementation | undefined) ?? null,
  );
}

interface Spec extends Common {
  readonly instances?: Instances;
  readonly params?: readonly Param<unknown>[];
  readonly min?: number;
  readonly lock?: Lock | null;
  readonly counts?: Counts;
}

function entry(
  name: string,
  on: readonly Tag[] | null,
  spec: Spec,
  rest: Param<unknown> | null,
  max: number,
  run: Implementation,
  runOne: Implementation | null = null,
): Entry {
  const { params = [] } = spec;
  return {
    name,
    doc: spec.doc,
    in: spec.in ?? (on === null ? (spec.changes?.scopes ?? scopeOf(spec.needs)) : undefined) ?? In.ALL,
    changes: spec.changes ?? null,
    role: spec.role,
    needs: spec.needs ?? null,
    readsState: spec.readsState ?? (spec.in === In.COLLECTION || spec.in === In.DATA),
    fills: on?.some((tag) => tag === Tag.LIST || tag === Tag.SET) === true && spec.light !== true,
    on,
    params,
    rest,
    min: spec.min ?? params.filter((param) => !param.optional).length,
    max,
    lock:
      spec.lock === undefined && on !== null && spec.changes !== undefined ? 'write' : (spec.lock ?? null),
    instances: spec.instances ?? 'all',
    counts: spec.counts ?? null,
    run,
    runOne,
  };
}

/** The scope on which a privilege is needed. */
function scopeOf(needs: Needs | undefined): number | undefined {
  return needs === undefined ? undefined : needs.on === 'node' ? In.NODE : In.ROOT;
}
