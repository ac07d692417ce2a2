import { Memo } from './memo.js';
import type { Program } from './program.js';
import type { Subject } from './subject.js';

/** Steps that one operation may take unless another limit is given. */
export const STEP_LIMIT = 10_000_000;

/** Instructions of the matcher, and characters passed by a scan, that make up one step. */
export const INSTRUCTIONS_PER_STEP = 4;
export const SCANNED_PER_INSTRUCTION_BITS = 2;

/**
 * What one operation (one call of `test`, `match`, `replace`, `split` ...) may spend on matching, and the memory that
 * its searches work in. Make one for each operation and hand it to each of its searches.
 *
 * A step is four instructions of the matcher or sixteen characters that are passed by a simple scan. Steps do not
 * depend on the machine: what succeeds once always does. Ten million take at most about half a second.
 */
export class Budget {
  /** What is left, in instructions. The matcher counts it down. */
  instructions: number;
  #workspace: Workspace | null = null;

  constructor(stepLimit: number = STEP_LIMIT) {
    this.instructions = stepLimit * INSTRUCTIONS_PER_STEP;
  }

  /** Steps that are left. */
  get steps(): number {
    return Math.floor(this.instructions / INSTRUCTIONS_PER_STEP);
  }

  /** The memory of the searches of one program in one subject. */
  workspace(program: Program, subject: Subject, start: number): Workspace {
    const known = this.#workspace;
    if (known !== null && known.program === program && known.subject === subject) {
      known.resume(start);
      return known;
    }
    this.#workspace = new Workspace(program, subject, start, this.instructions);
    return this.#workspace;
  }
}

/**
 * What is kept between the searches of an operation. The memo stays valid: a point that failed at a position fails
 * there in the next search too. Only what led to a match is marked without having failed; of these points none lies
 * beyond the end of the match, where the next search begins.
 */
export class Workspace {
  stack: Int32Array = new Int32Array(STACK_SIZE_FIRST);
  readonly slots: Int32Array;
  memo: Memo | null = null;
  #matchEnd = -1;

  constructor(
    readonly program: Program,
    readonly subject: Subject,
    readonly firstStart: number,
    readonly initialInstructions: number,
  ) {
    this.slots = new Int32Array(program.slotCount).fill(-1);
  }

  resume(start: number): void {
    if (this.memo === null) return;
    if (this.program.usesSearchStart || start < this.#matchEnd) this.memo = new Memo(this.program.marks);
    else if (start === this.#matchEnd) this.memo.forget(start);
  }

  /** Notes where a match ended. */
  matched(end: number): void {
    this.#matchEnd = end;
  }

  /** A larger stack with the same content, or null at the limit. */
  growStack(): Int32Array | null {
    const size = Math.max(this.stack.length * 2, STACK_SIZE_MIN);
    if (size > STACK_SIZE_MAX) return null;
    const larger = new Int32Array(size);
    larger.set(this.stack);
    this.stack = larger;
    return larger;
  }
}

/**
 * Enough for simple patterns. The runtime makes arrays of up to 64 bytes in its own heap, which is ten times as quick as
 * others and was most of the time of a search in a short text.
 */
const STACK_SIZE_FIRST = 16;
const STACK_SIZE_MIN = 96;
/** 50 MB: four million open choices. */
const STACK_SIZE_MAX = STACK_SIZE_MIN << 17;
