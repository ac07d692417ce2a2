import {
  type Analysis,
  analyse,
  analyseClosure,
  LanguageError,
  parse,
  parseClosure,
} from '@althing/language';
import { ErrorCode, QueryError } from '../error.js';
import { compileRegex, RegexSyntaxError } from '../regex/index.js';
import { Closure } from '../value/closure.js';
import { compileClosureNode, compileProgram } from './compile.js';
import type { Runtime } from './runtime.js';
import type { Unit } from './unit.js';

/** A query text, ready to run. */
export interface Prepared {
  readonly unit: Unit;
  /** Whether its answer depends on stored data at all. */
  readonly usesState: boolean;
}

/**
 * Parses, checks and compiles a query text.
 *
 * @throws QueryError syntax_err, or overflow_err or value_err for a literal that can't be
 */
export function prepare(rt: Runtime, code: string): Prepared {
  return withLanguageErrors(() => {
    const program = parse(code);
    const analysis = analyse(program, rulesOf(rt));
    return { unit: compileProgram(rt, program, analysis), usesState: analysis.usesState };
  });
}

/** The closure that a text is the source of; what `closure(text)` gives. */
export function compileText(rt: Runtime, source: string): Closure {
  return withLanguageErrors(() => new Closure(source, compileSource(rt, source)));
}

/** The body of a closure that is known to be correct: it was checked before it was stored. */
export function compileStored(rt: Runtime, closure: Closure): Unit {
  return withLanguageErrors(() => compileSource(rt, closure.source));
}
