import { RegexBudgetError } from './errors.js';
import { Memo } from './memo.js';
import type { Program } from './program.js';
import type { Subject } from './subject.js';

/** Steps that one operation may take unless another limit is given. */
export const STEP_LIMIT = 10_000_000;

/** Instructions of the matcher, and characters passed by a scan, that make up one step. */
export const INSTRUCTIONS_PER_STEP = 4;
export const SCANNED_PER_INSTRUCTION_BITS = 2;

/** Instructions after which whoever counts the steps hears of them: half a millisecond or less. */
const INSTRUCTIONS_PER_COUNT = 20_000;

/**
 * The limits of one operation (one call of `test`, `match`, `replace`, `split` ...) may spend on matching, and the memory that
 * its searches work in. Make one for each operation and hand it to each of its searches.
 *
 * A step is four instructions of the matcher or sixteen characters that are passed by a simple scan. Steps do not
 * depend on the machine: what succeeds once always does. Ten million take at most about half a second.
 */
export class Budget {
  /** The rest, in instructions. The matcher counts it down. */
  instructions: number;
  /** The rest at which `spent` has to be called: 0, or more where somebody counts the steps. */
  floor = 0;
  /** The rest when the steps were last counted. */
  #counted: number;
  readonly #count: ((steps: number) => void) | null;
  #workspace: Workspace | null = null;

  /** @param count told of steps soon after they were taken, so that it can look at a clock; what it throws ends the search */
  constructor(stepLimit: number = STEP_LIMIT, count: ((steps: number) => void) | null = null) {
    this.instructions = stepLimit * INSTRUCTIONS_PER_STEP;
    this.#counted = this.instructions;
    this.#count = count;
    this.#setFloor();
  }

  /**
   * Takes note of what is left when that is less than the floor.
   *
   * @returns the next floor
   * @throws {RegexBudgetError} when nothing is left
   */
  spent(instructions: number): number {
    if (instructions < 0) throw this.exhausted('steps');
    this.instructions = instructions;
    this.countSteps();
    return this.floor;
  }

  /** Counts the steps that were taken since they were last counted. */
  countSteps(): void {
    const steps = Math.floor((this.#counted - this.instructions) / INSTRUCTIONS_PER_STEP);
    this.#counted -= steps * INSTRUCTIONS_PER_STEP;
    this.#setFloor();
    if (steps > 0) this.#count?.(steps);
  }

  /** The error of a search that may not go on. */
  exhausted(what: 'steps' | 'memory'): RegexBudgetError {
    this.instructions = 0;
    return new RegexBudgetError(what);
  }

  #setFloor(): void {
    if (this.#count !== null) this.floor = Math.max(0, this.instructions - INSTRUCTIONS_PER_COUNT);
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
 * The memory that is kept between the searches of an operation. The memo stays valid: a point that failed at a position fails
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
