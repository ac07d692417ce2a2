import type { NodeView } from './node-view.js';

/** The origin of a text of `log(v)`. */
export interface LogOrigin {
  /** As in `@collection:stuff`. */
  readonly scope: string;
  readonly user: string;
  /** The procedure that was asked for; null for a query, and for a task. */
  readonly procedure: string | null;
  /** The id of the task that runs; null for none. */
  readonly task: number | null;
  /** The name by which the client knows the request; null where nobody asked. */
  readonly request: string | null;
}

/** Surroundings of the engine: handed in, so that tests and the simulator decide it. */
export interface Environment {
  /** Wall clock in milliseconds since 1970, with a fraction. */
  now(): number;
  /** A clock that never jumps, in milliseconds. */
  monotonic(): number;
  /** Random bytes fit for secrets. */
  randomBytes(count: number): Uint8Array;
  /** Uniform in [0, 1). */
  random(): number;
  /** Bytes of the heap in use, external memory included. */
  heapUsed(): number;
  /** True if the heap is so full that what takes much memory must end, so that the process does not. */
  heapFull(): boolean;
  /**
   * True if the call that runs is to be ended now. Asked again and again by calls that take a while.
   *
   * @param begun when it first looked at the clock, by `monotonic`: tells one call from the next
   */
  isCancelled(begun: number): boolean;
  /** Takes the text of `log(v)`, and the origin of its code. */
  log(text: string, origin: LogOrigin): void;
  /** Null for an engine without a node around it. */
  readonly node: NodeView | null;
  /** The nodes that vote in the group of a collection that is made now, by id. */
  voters(): readonly number[];
  /** True if the change that made a user is committed, as far as is known: with one that is lost its id goes to somebody else. */
  isCommittedUser(id: number): boolean;
}
