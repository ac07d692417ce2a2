import type { AnyNodeColumn, Node, NodeColumn } from '@althing/language';

/** Limits of one query. All of it is configurable; see the settings of the node. */
export interface QueryLimits {
  /** Time that a query may run, in milliseconds. */
  readonly durationMs: number;
  /** The name of the setting of that time, for the error. */
  readonly durationSource: string;
  /** Growth of the heap while a query runs, in bytes. */
  readonly memoryBytes: number;
  /** The name of the setting of that memory, for the error. */
  readonly memorySource: string;
  /** Length of one str or bytes value, in bytes (a str counts its UTF-16 units). */
  readonly valueBytes: number;
  /** Size of a packed result, in bytes. */
  readonly resultBytes: number;
  /** Length of a query text, in UTF-16 units. */
  readonly codeLength: number;
}

export const DEFAULT_LIMITS: QueryLimits = {
  durationMs: 1000,
  durationSource: 'query_duration_limit_ms',
  memoryBytes: 512 * 1024 * 1024,
  memorySource: 'query_memory_limit_mb',
  valueBytes: 64 * 1024 * 1024,
  resultBytes: 20_971_520,
  codeLength: 1024 * 1024,
};

/** Deepest level of things in a result. */
export const DEEP_MAX = 127;

/**
 * Heights of everything that runs inside each other at most, summed over all calls. A unit stands for 100 bytes of the
 * JavaScript stack, so this is half of what Node.js gives to a thread (984 kB): the other half is for what lies below a
 * query, and for walks over values. `depth.test.ts` measures that no construct takes more than its height says.
 */
export const DEPTH_MAX = 5000;

/** Height of a call of a closure, besides that of its body. */
export const CALL_HEIGHT = 8;

/** Height of the counter around a statement of a run that is explained. */
export const COUNTER_HEIGHT = 3;

/** Links of a chain that are calls inside each other; longer chains are loops. */
export const NESTED_LINKS_MAX = 16;

/** The room on the stack that running a node takes, besides its parts: in units of 100 bytes, never too little. */
export function frameHeight(node: Node): number {
  const height = heights[node.kind];
  return typeof height === 'number' ? height : height(node);
}

const HEIGHTS: NodeColumn<Node, number> = {
  nil: 1,
  bool: 1,
  int: 1,
  float: 1,
  str: 1,
  regex: 1,
  template: 2,
  thing: 2,
  anonymous: 1,
  list: 2,
  paren: 0,
  variable: 1,
  assign: ({ op }) => (op === '=' ? 1 : 2),
  call: 8,
  instance: 1,
  enum: 1,
  chain: ({ links }) =>
    (links.every(({ kind }) => kind === 'property') ? 1 : 8) + Math.min(links.length, NESTED_LINKS_MAX),
  prefix: 1,
  operation: ({ operands }) => (operands.length > 2 ? 2 : 1),
  and: 1,
  or: 1,
  ternary: 1,
  if: 1,
  for: 7,
  return: 1,
  break: 1,
  continue: 1,
  closure: 0,
  block: 2,
};

const heights: AnyNodeColumn<Node, number> = HEIGHTS;

/** Steps between two looks at the clock: well under a millisecond of work. */
export const STEPS_PER_CHECK = 10_000;

/** Steps that count for a node of a text that is compiled, and for the body of a closure besides. */
export const STEPS_PER_NODE = 8;
export const STEPS_PER_BODY = 80;

/** Steps that count for an error which is caught: making, throwing and catching it takes some half of a microsecond. */
export const STEPS_PER_ERROR = 20;

/** Checks of the clock between two looks at the heap. */
export const CHECKS_PER_HEAP_LOOK = 8;

/** Longest time of a unit of work that is done at once, in milliseconds: large texts are copied and compared. */
export const MS_PER_UNIT = 5e-6;

/** The clock is looked at when something asks for so many milliseconds behind the query. */
export const SPENT_LOOK_MS = 1;

/** Work of this size at once has the heap looked at, and must fit into what is left of the time. */
export const HEAP_LOOK_UNITS = 1 << 20;

/**
 * Runs of a closure's body, or rounds of a loop, after which it is worth the translation to JavaScript (`jit/`), which
 * takes as long as some thousand operations.
 */
export const HOT_RUNS = 1500;

/** Instances of a type at most whose index is built at once, by the query that makes it. */
export const INDEXED_AT_ONCE_MAX = 1000;
