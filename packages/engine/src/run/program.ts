import {
  type Analysis,
  analyse,
  CHARACTERS_PER_LOOK,
  type Changes,
  LanguageError,
  type Program,
  parse,
  parseClosure,
  type Rules,
  shapeOf,
  type Watch,
} from '@althing/language';
import { ErrorCode, QueryError } from '../error.js';
import { Closure } from '../value/closure.js';
import { chargeSource } from './charge.js';
import { compileClosureNode, compileProgram } from './compile/compiler.js';
import { placed } from './place.js';
import { rulesForText } from './rules.js';
import type { QueryShape } from './run-figures.js';
import type { Runtime } from './runtime.js';
import type { Cell } from './symbols.js';
import type { Unit } from './unit.js';

/** A text as a tree, and what is known of it. */
interface Parsed {
  readonly program: Program;
  readonly analysis: Analysis;
}

/**
 * A query text that was parsed and checked. It is compiled when it runs: the first time for that one run, since most texts never come
 * again, and what lasts takes more time to make, and memory that the collector has to look after.
 */
export class Prepared {
  readonly code: string;
  /** In which scopes it makes a change. */
  readonly changes: Changes;
  /** True if its answer depends on stored data at all. */
  readonly usesState: boolean;
  /** True if it runs on the node that it was sent to. */
  readonly isLocal: boolean;
  /** Null once it is compiled to last. */
  private parsed: Parsed | null;
  private unit: Unit | null = null;
  private hasRun = false;
  /** Cells of variables that came with it before, all of which lasting code mentions. Unbound between queries, as all are. */
  readonly variables: Cell[] = [];
  /** True if it is expected to run again, so that the same object stands for its text then. */
  isKept = false;
  /** The figures of its shape, where somebody counts; null before. */
  shape: QueryShape | null = null;

  constructor(parsed: Parsed) {
    const { program, analysis } = parsed;
    this.code = program.source;
    this.changes = analysis.changes;
    this.usesState = analysis.usesState;
    this.isLocal = analysis.isLocal;
    this.parsed = parsed;
  }

  /** Says that it will run again. */
  keep(): void {
    this.isKept = true;
  }

  /** Its text with `?` in place of literals. Takes a while: the text may have to be parsed again. */
  shapeText(lengthMax: number): string {
    return shapeOf(this.parsed?.program ?? parse(this.code), lengthMax);
  }

  /** Its code, for a run that has begun. */
  unitFor(rt: Runtime): Unit {
    if (rt.profile !== null) {
      const made = compilePassing(rt, this.parsed ?? parsedOf(rt, this.code));
      rt.profile.noteCompiled();
      return made;
    }
    const { unit, parsed } = this;
    if (unit !== null) return unit;
    if (parsed === null) throw new Error('what is compiled has a unit');
    if (!this.isKept && !this.hasRun) {
      this.hasRun = true;
      return compilePassing(rt, parsed);
    }
    const made = compileProgram(rt, parsed.program, parsed.analysis);
    this.unit = made;
    this.parsed = null;
    return made;
  }
}

/**
 * Parses and checks a query text.
 *
 * @throws QueryError syntax_err, or overflow_err or value_err for a literal that can't be; what a long text has no time for, see `preparedFor`
 */
export function prepare(rt: Runtime, code: string): Prepared {
  return withLanguageErrors(code, () => new Prepared(parsedOf(rt, code)));
}

function parsedOf(rt: Runtime, code: string): Parsed {
  const watch = watchOf(rt, code);
  const program = parse(code, watch);
  return { program, analysis: analyse(program, rulesForText(rt.rules, watch)) };
}

/** Looks at the clock on the way through a text; null for one that is too short for that. */
function watchOf(rt: Runtime, source: string): Watch {
  return source.length > CHARACTERS_PER_LOOK ? () => rt.check() : null;
}

/** Compiles a text for the running query alone. */
function compilePassing(rt: Runtime, { program, analysis }: Parsed): Unit {
  return rt.compilePassing(() => compileProgram(rt, program, analysis));
}

/**
 * The closure that a text is the source of; what `closure(text)` gives.
 *
 * @throws QueryError as `prepare`; bad_data_err for more than one statement, lookup_err for what is no closure
 */
export function compileText(rt: Runtime, source: string): Closure {
  chargeSource(rt, source);
  return withLanguageErrors(
    null,
    () => new Closure(source, compileSource(rt, source, rulesForText(rt.rules, watchOf(rt, source)))),
  );
}

/** The body of a closure that was checked before it was stored. */
export function compileStored(rt: Runtime, closure: Closure): Unit {
  chargeSource(rt, closure.source);
  const rules = { ...rt.rules, watch: watchOf(rt, closure.source) };
  return withLanguageErrors(null, () => compileSource(rt, closure.source, rules));
}

function compileSource(rt: Runtime, source: string, rules: Rules): Unit {
  const node = parseClosure(source, rules.watch);
  return compileClosureNode(rt, source, node, analyse(node, rules, source));
}

const CODES: Readonly<Record<LanguageError['code'], number>> = {
  syntax_err: ErrorCode.SYNTAX,
  overflow_err: ErrorCode.OVERFLOW,
  value_err: ErrorCode.VALUE,
  bad_data_err: ErrorCode.BAD_DATA,
  lookup_err: ErrorCode.LOOKUP,
};

/** @param query the text of the query; null for a text that is a value of one */
function withLanguageErrors<T>(query: string | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LanguageError) {
      const refused = new QueryError(CODES[error.code], error.message);
      if (query === null) throw refused;
      const { offset: start } = error;
      // The character there; nothing at the end of the text.
      const [character = ''] = query.slice(start, start + 2);
      throw placed(refused, { source: query, start, end: start + character.length });
    }
    // The limit of nesting keeps far from this; it has no side effects, and so can be told.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      throw new QueryError(
        ErrorCode.SYNTAX,
        'the code is nested too deeply: use variables or closures for its parts',
      );
    }
    throw error;
  }
}
