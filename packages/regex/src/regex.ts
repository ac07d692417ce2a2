import type { Budget } from './budget.js';
import { compile, MEMO_AFTER } from './compiler.js';
import { RegexSyntaxError } from './errors.js';
import type { Options } from './inline-flags.js';
import { search } from './interpreter.js';
import { parsePattern } from './parser.js';
import { type Prepared, prepare } from './prepare.js';
import type { Program } from './program.js';
import type { Subject } from './subject.js';

export { Budget, STEP_LIMIT } from './budget.js';
export { RegexBudgetError, RegexSyntaxError } from './errors.js';
export { Subject } from './subject.js';

/**
 * Compiles a pattern. The dialect is that of PCRE2 on code points with ASCII classes; flags are `i` (ASCII letters of
 * either case), `s` (the dot matches a newline), `m` (`^` and `$` at lines) and `g` (kept for the caller).
 * Throws RegexSyntaxError for a pattern or flag that can't be used.
 */
export function compileRegex(pattern: string, flags: string): Regex {
  return new Regex(pattern, flags);
}

/** A match: positions in code points. */
export class Match {
  readonly #bounds: readonly number[];

  /** @param bounds start and end of the match and of each group; -1 for a group that took no part */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** Where the match begins. */
  get start(): number {
    return this.#bounds[0]!;
  }

  /** Where it ends (exclusive). */
  get end(): number {
    return this.#bounds[1]!;
  }

  /** Where a group begins (0 is the whole match), or -1 if it took no part. */
  groupStart(group: number): number {
    return this.#bounds[2 * group] ?? -1;
  }

  /** Where a group ends (exclusive), or -1 if it took no part. */
  groupEnd(group: number): number {
    return this.#bounds[2 * group + 1] ?? -1;
  }

  /** The highest group that took part; 0 if none did. */
  get lastGroup(): number {
    let group = this.#bounds.length / 2 - 1;
    while (group > 0 && this.#bounds[2 * group]! < 0) group--;
    return group;
  }
}

/** A compiled regular expression. Immutable as seen from outside; usable for any number of searches. */
export class Regex {
  /** Flag g. Has no influence on `exec`. */
  readonly global: boolean;
  readonly groupCount: number;
  /** Group numbers by name (several numbers only under the inline flag J). */
  readonly groupsByName: ReadonlyMap<string, readonly number[]>;
  readonly #program: Program;
  #prepared: Prepared | null = null;

  /** @param memoAfter instructions after which a search begins to remember what failed; never changes a result */
  constructor(
    readonly pattern: string,
    readonly flags: string,
    memoAfter: number = MEMO_AFTER,
  ) {
    const parsed = parsePattern(pattern, optionsOf(flags));
    this.global = flags.includes('g');
    this.groupCount = parsed.groupCount;
    this.groupsByName = parsed.groupsByName;
    this.#program = compile(parsed, memoAfter);
  }

  /** Words of the compiled program: making it took time in proportion to them. */
  get size(): number {
    return this.#program.code.length;
  }

  /**
   * Finds the leftmost match that begins at code point `start` or later, or null. Throws RegexBudgetError when the
   * budget is used up.
   */
  exec(subject: Subject, start: number, budget: Budget): Match | null {
    if (start > subject.length) return null;
    this.#prepared ??= prepare(this.#program);
    const bounds = search(this.#prepared, subject, start, budget);
    return bounds === null ? null : new Match(bounds);
  }
}

function optionsOf(flags: string): Options {
  for (let i = 0; i < flags.length; i++) {
    if (!'gims'.includes(flags[i]!)) {
      throw new RegexSyntaxError(
        `there is no flag ${JSON.stringify(flags[i])}; the flags are i, s, m and g`,
        i,
      );
    }
  }
  return {
    fold: flags.includes('i'),
    multiline: flags.includes('m'),
    dotAll: flags.includes('s'),
    extended: false,
    extendedMore: false,
    noCapture: false,
    lazy: false,
    duplicateNames: false,
  };
}
