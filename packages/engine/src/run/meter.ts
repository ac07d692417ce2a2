/** The limits and the use of a query: time, memory, size of values, depth. Compiled code counts its steps down at every turn. */
import type { Environment } from '../environment.js';
import { ErrorCode, operationError, QueryError, quotaError } from '../error.js';
import { type Charge, chargeFill } from '../value/containers.js';
import type { Value } from '../value/value.js';
import {
  CHECKS_PER_HEAP_LOOK,
  DEPTH_MAX,
  HEAP_LOOK_UNITS,
  MS_PER_UNIT,
  type QueryLimits,
  SPENT_LOOK_MS,
  STEPS_PER_CHECK,
} from './limits.js';

/**
 * Thrown by a query that has used up the slice of time that it was given, which is less than its time limit. What it changed is taken
 * back, and it may run again with more time. To code it is what the time limit is.
 */
export class SliceOver extends QueryError {
  constructor() {
    super(ErrorCode.TIMEOUT, 'the query needs more time than it has now');
  }

  /** Nobody is told of it. */
  override withPlaces(): this {
    return this;
  }
}

/** The message of a call that was ended from outside; `outcome` tells whether it had changed anything by then. */
const CANCELLED = 'the query was cancelled by an administrator and was ended';

/** Milliseconds that it takes to take changes back. */
interface Undoable {
  readonly undoMs: number;
}

/** The largest int of 32 bits, which operators on bits take. */
const INT_MAX = 2 ** 31 - 1;

/** Units of a step, as bits. */
const STEP_BITS = 6;
const UNITS_PER_STEP = 1 << STEP_BITS;

const NO_CHANGES: Undoable = { undoMs: 0 };

/** The limits of work that belongs to no query. */
const NO_LIMITS: QueryLimits = {
  durationMs: Number.POSITIVE_INFINITY,
  durationSource: '',
  memoryBytes: Number.POSITIVE_INFINITY,
  memorySource: '',
  valueBytes: Number.POSITIVE_INFINITY,
  resultBytes: Number.POSITIVE_INFINITY,
  codeLength: Number.POSITIVE_INFINITY,
};

export class Meter {
  limits: QueryLimits = NO_LIMITS;
  /** Steps until the next look at the clock. */
  steps = 0;
  /** Heights of all that runs inside each other: see `limits.ts`. */
  depth = 0;
  private deadline = 0;
  /** When the clock was first looked at. */
  private begun = 0;
  private spentMs = 0;
  private sliceMs = Number.POSITIVE_INFINITY;
  private heapMax = 0;
  private looks = 0;
  /** Units that are no whole step yet: what takes little is charged often. */
  private uncharged = 0;
  /** Steps up to the last look at the clock. */
  private stepsBefore = 0;
  /** The way back from all that the query has done so far. */
  private changes: Undoable = NO_CHANGES;

  constructor(readonly environment: Environment) {}

  /** Ends the count: nothing is charged, and nothing ended, before it begins again. */
  stopClock(): void {
    this.startClock(NO_LIMITS);
  }

  /**
   * Begins to count time and memory: those of a query, or of other work that is charged.
   *
   * @param spentMs milliseconds that were spent on it before, which count
   * @param sliceMs milliseconds after which it is given up, see `SliceOver`
   * @param changes what would have to be taken back if it ended
   */
  startClock(
    limits: QueryLimits,
    spentMs = 0,
    sliceMs = Number.POSITIVE_INFINITY,
    changes: Undoable = NO_CHANGES,
  ): void {
    this.limits = limits;
    this.spentMs = spentMs;
    this.sliceMs = sliceMs;
    this.steps = STEPS_PER_CHECK;
    this.deadline = 0;
    this.heapMax = 0;
    this.looks = 0;
    this.stepsBefore = 0;
    this.uncharged = 0;
    this.changes = changes;
  }

  /**
   * Looks at clock and heap. Called when `steps` ran out, which the code of loops and calls counts down.
   *
   * @throws QueryError -5 past the time limit, max_quota_err past the memory limit, cancelled_err; none of them can be caught
   */
  check(): void {
    this.checkAhead(0);
  }

  /** As `check`, for a query that is going to take so many milliseconds more before the next one. */
  private checkAhead(aheadMs: number): void {
    this.stepsBefore = this.stepsUsed;
    this.steps = STEPS_PER_CHECK;
    if (this.limits === NO_LIMITS) return;
    const now = this.environment.monotonic();
    if (this.deadline === 0) {
      // The clock starts at the first check: a short query never looks at it.
      this.begun = now;
      this.deadline = now + Math.min(this.limits.durationMs - this.spentMs, this.sliceMs);
      this.heapMax = this.environment.heapUsed() + this.limits.memoryBytes;
      if (aheadMs === 0) return;
    }
    if (now + aheadMs + this.changes.undoMs > this.deadline) {
      if (this.sliceMs < this.limits.durationMs - this.spentMs) throw new SliceOver();
      throw new QueryError(
        ErrorCode.TIMEOUT,
        `the query ran longer than ${this.limits.durationMs} ms (${this.limits.durationSource}) and was ended`,
      );
    }
    if (this.environment.isCancelled(this.begun)) throw new QueryError(ErrorCode.CANCELLED, CANCELLED, true);
    this.looks += 1;
    if (this.looks % CHECKS_PER_HEAP_LOOK !== 0) return;
    if (this.environment.heapFull()) {
      throw new QueryError(
        ErrorCode.MAX_QUOTA,
        'the memory of the node is full, so the query was ended',
        true,
      );
    }
    if (this.environment.heapUsed() > this.heapMax) {
      throw new QueryError(
        ErrorCode.MAX_QUOTA,
        `the query used more than ${this.limits.memoryBytes / 1048576} MB (${this.limits.memorySource}) and was ended`,
        true,
      );
    }
  }

  /** Steps since the clock was started. */
  get stepsUsed(): number {
    return this.stepsBefore + STEPS_PER_CHECK - this.steps;
  }

  /** True if the running query has looked at the clock. */
  get wasLong(): boolean {
    return this.deadline !== 0;
  }

  step(count: number): void {
    this.steps -= count;
    if (this.steps < 0) this.check();
  }

  /** Counts work that takes longer than a step: about one step for each 64 units. */
  charge(units: number): void {
    if (units < HEAP_LOOK_UNITS) {
      const all = this.uncharged + units;
      this.uncharged = all & (UNITS_PER_STEP - 1);
      this.step(all >> STEP_BITS);
    } else {
      // A value of that size may soon be larger: the heap is looked at now.
      this.looks = -1;
      this.steps -= Math.min(units, INT_MAX) >> STEP_BITS;
      this.checkAhead(units * MS_PER_UNIT);
    }
  }

  /**
   * Counts time that the node is going to spend behind the query on what this asked for.
   *
   * @throws QueryError -5 where the query has not so much left
   */
  spend(ms: number): void {
    if (ms === 0) return;
    this.spentMs += ms;
    if (this.deadline !== 0) this.deadline -= ms;
    if (ms >= SPENT_LOOK_MS) this.checkAhead(Number.MIN_VALUE);
  }

  /** `charge`, for what charges as it goes. */
  readonly charging: Charge = (units) => this.charge(units);

  /** Counts what it takes to bring a list or set into memory that is about to be looked at, before that is done. */
  chargeFill(value: Value): void {
    chargeFill(value, this.charging);
  }

  /** Counts and bounds a str or bytes value that was just made or is about to be. */
  chargeLength(length: number): void {
    if (length > this.limits.valueBytes) {
      throw quotaError(
        `a value of ${length} bytes is larger than value_size_limit (${this.limits.valueBytes})`,
      );
    }
    this.charge(length);
  }

  /** Goes deeper by a height; throws operation_err where the stack would get too full. */
  enter(height: number): void {
    this.depth += height;
    if (this.depth > DEPTH_MAX) {
      this.depth -= height;
      throw operationError('expressions and calls are nested too deeply');
    }
  }

  leave(height: number): void {
    this.depth -= height;
  }
}
