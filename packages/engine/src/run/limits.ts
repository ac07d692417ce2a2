import type { Node } from '@althing/language';

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

/** Links of a chain that are calls inside each other; longer chains are loops. */
export const NESTED_LINKS_MAX = 16;

/** How much of the stack running a node takes, besides its parts: in units of 100 bytes, never too little. */
export function frameHeight(node: Node): number {
  switch (node.kind) {
    case 'paren':
      return 0;
    case 'operation':
      return node.operands.length > 2 ? 2 : 1;
    case 'prefix':
    case 'and':
    case 'or':
    case 'ternary':
    case 'if':
    case 'block':
    case 'return':
    case 'assign':
      return node.kind === 'assign' && node.op !== '=' ? 2 : 1;
    case 'list':
    case 'thing':
    case 'template':
      return 2;
    case 'for':
      return 7;
    case 'call':
      return 8;
    case 'chain': {
      const own = node.links.every(({ kind }) => kind === 'property') ? 1 : 8;
      return own + Math.min(node.links.length, NESTED_LINKS_MAX);
    }
    case 'closure':
      return 0;
    default:
      return 1;
  }
}

/** Steps between two looks at the clock: well under a millisecond of work. */
export const STEPS_PER_CHECK = 10_000;

/** Steps that count for an error which is caught: making, throwing and catching it takes some half of a microsecond. */
export const STEPS_PER_ERROR = 20;

/** Checks of the clock between two looks at the heap. */
export const CHECKS_PER_HEAP_LOOK = 8;

/** How long a unit of work takes at most that is done at once, in milliseconds: large texts are copied and compared. */
export const MS_PER_UNIT = 5e-6;

/** Work of this size at once has the heap looked at, and must fit into what is left of the time. */
export const HEAP_LOOK_UNITS = 1 << 20;

/**
 * Runs of a closure's body, or rounds of a loop, after which it is worth the translation to JavaScript (`jit/`), which
 * takes as long as some thousand operations.
 */
export const HOT_RUNS = 1500;
