import type { QueryError } from '../error.js';
import type { Closure } from './closure.js';
import type { Module } from './module.js';
import { Tag } from './tag.js';
import type { Thing } from './thing.js';
import type { Value } from './value.js';

export interface ModuleRequest {
  readonly module: Module;
  /** The value that it was made of, which is kept in memory until it is sent. */
  readonly holds: readonly Value[];
  /** The request as it is when it is sent. */
  readonly build: () => Thing;
  /** Levels of things in it that are sent with their properties. */
  readonly deep: number;
  /** True if the answer becomes values of the language. */
  readonly load: boolean;
}

/** The answer of a module: packed as it came, or why there is no answer. */
export type ModuleAnswer =
  | { readonly ok: true; readonly data: Uint8Array }
  | { readonly ok: false; readonly error: QueryError };

/** An answer as code sees it. */
export type ModuleResult =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: QueryError };

/**
 * Code of a query that runs after the query, before its answer is sent. Only a variable holds one: in a list, a thing, or what
 * is stored it becomes nil.
 */
export class Future {
  /** True if the future was made of a closure, which gets the arguments alone. */
  readonly isCall: boolean;
  /** The closure for success; null for none. */
  onResult: Closure | null;
  /** The closure for a module that fails; null for none. */
  onFailure: Closure | null = null;
  /** The answer of the module, until it is read. */
  answer: ModuleAnswer | null = null;
  /** The answer of the module once it was read. */
  answered: ModuleResult | null = null;
  /** The number of futures that it was made by, one inside the other, itself included: 1 for one that a query made. */
  depth = 1;
  /** Its result; undefined until it is done. */
  result: Value | undefined = undefined;

  /** @param call the closure that the future was made of; null for one that has its result at once, or of a module */
  constructor(
    call: Closure | null,
    /** Arguments of the closure, behind the result if it is one that was given by `then`. */
    readonly args: readonly Value[],
    /** The request to a module that it is; null for none. */
    readonly request: ModuleRequest | null = null,
  ) {
    this.onResult = call;
    this.isCall = call !== null;
  }

  get tag(): typeof Tag.FUTURE {
    return Tag.FUTURE;
  }
}
