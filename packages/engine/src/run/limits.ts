/** What one query may use. All of it is configurable; see the settings of the node. */
export interface QueryLimits {
  /** Time that a query may run, in milliseconds. */
  readonly durationMs: number;
  /** Growth of the heap while a query runs, in bytes. */
  readonly memoryBytes: number;
  /** Length of one str or bytes value, in bytes (a str counts its UTF-16 units). */
  readonly valueBytes: number;
  /** Size of a packed result, in bytes. */
  readonly resultBytes: number;
  /** Length of a query text, in UTF-16 units. */
  readonly codeLength: number;
}

export const DEFAULT_LIMITS: QueryLimits = {
  durationMs: 1000,
  memoryBytes: 512 * 1024 * 1024,
  valueBytes: 64 * 1024 * 1024,
  resultBytes: 20_971_520,
  codeLength: 1024 * 1024,
};

/**
 * Levels of expressions running inside each other at most, summed over all calls. A level takes up to three frames of
 * the JavaScript stack, so this keeps far from its end (984 kB by default).
 */
export const DEPTH_MAX = 1600;

/** Steps between two looks at the clock: well under a millisecond of work. */
export const STEPS_PER_CHECK = 10_000;

/** Checks of the clock between two looks at the heap. */
export const CHECKS_PER_HEAP_LOOK = 8;

/** Work of this size at once has the heap looked at. */
export const HEAP_LOOK_UNITS = 1 << 20;

/**
 * Runs of a closure's body, or rounds of a loop, after which it is worth the translation to JavaScript (`jit/`), which
 * takes as long as some thousand operations.
 */
export const HOT_RUNS = 1500;
