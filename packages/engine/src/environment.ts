import type { NodeView } from './node-view.js';

/** What the engine needs from outside: handed in, so that tests and the simulator decide it. */
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
  /** Whether the heap is so full that what takes much memory must end, so that the process does not. */
  heapFull(): boolean;
  /** What `log(v)` writes. */
  log(text: string): void;
  /** Null for an engine without a node around it. */
  readonly node: NodeView | null;
  /** The nodes that vote in the group of a collection that is made now, by id. */
  voters(): readonly number[];
}
