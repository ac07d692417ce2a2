import type { Closure, Node, Program } from './ast.js';
import { explain } from './diagnose.js';
import { LanguageError, placed } from './error.js';
import type { Watch } from './limits.js';
import { GeneratedParser } from './parser.generated.js';

/**
 * Parses a query.
 *
 * @throws {LanguageError} `syntax_err` for a text that does not fit the grammar, nests too deep or has too long a name;
 *   `bad_data_err` for one that is not valid Unicode. Literals that can't be, and jumps outside of loops, are for
 *   `analyse` to find.
 */
export function parse(source: string, watch: Watch = null): Program {
  return { kind: 'program', start: 0, end: source.length, source, statements: statementsOf(source, watch) };
}

/**
 * Parses the text of one closure.
 *
 * @throws {LanguageError} as `parse`; `bad_data_err` if it is not exactly one statement, `lookup_err` if that is no closure.
 */
export function parseClosure(text: string, watch: Watch = null): Closure {
  const [first, second] = statementsOf(text, watch);
  if (first === undefined) {
    throw placed(
      new LanguageError('bad_data_err', 'a closure is expected, the text has no statement', 0),
      text,
    );
  }
  if (second !== undefined) {
    const reason = 'exactly one statement is expected: put several into a block, |x| {a; b}';
    throw placed(new LanguageError('bad_data_err', reason, second.start), text);
  }
  if (first.kind !== 'closure') {
    const reason = 'a closure is expected, such as |x| x + 1, or || followed by a statement';
    throw placed(new LanguageError('lookup_err', reason, first.start), text);
  }
  return first;
}

function statementsOf(source: string, watch: Watch): readonly Node[] {
  if (!source.isWellFormed()) {
    const reason = 'the text is not valid Unicode: it has half of a surrogate pair';
    throw placed(new LanguageError('bad_data_err', reason, source.search(/\p{Surrogate}/u)), source);
  }
  try {
    const statements = new GeneratedParser(source, false, watch).parse();
    if (statements !== undefined) return statements;
  } catch (error) {
    throw error instanceof LanguageError ? placed(error, source) : error;
  }
  throw placed(explain(source, watch), source);
}
