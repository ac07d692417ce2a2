import type { Closure } from './closure.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/**
 * Code of a query that runs after the query, before its answer is sent. Only a variable holds one: in a list, a thing, or what
 * is stored it becomes nil.
 */
export class Future {
  /** What the closure gets, behind the result if it is one that was given by `then`. */
  readonly args: readonly Value[];
  /** Whether the future was made of a closure, which gets the arguments alone. */
  readonly isCall: boolean;
  /** What runs on success; null for nothing. */
  onResult: Closure | null;
  /** What runs when a module fails; null for nothing. */
  onFailure: Closure | null = null;
  /** What came of it; undefined until it is done. */
  result: Value | undefined = undefined;

  /** @param call the closure that the future was made of; null for one that has its result at once */
  constructor(call: Closure | null, args: readonly Value[]) {
    this.onResult = call;
    this.isCall = call !== null;
    this.args = args;
  }

  get tag(): typeof Tag.FUTURE {
    return Tag.FUTURE;
  }
}
