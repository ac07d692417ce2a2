/** Files of checks: statements of the language, of which closures are checks, and others make what these need. */
import { closureDoc, LanguageError, parse, positionOf } from '@althing/language';
import { UsageError } from '../input.js';

/** One statement, as code that stands in the line and column of the file in which it stands there. */
export interface CheckStatement {
  /** The text of the check; null for a statement that is none. */
  readonly name: string | null;
  readonly code: string;
}

/** A text that is no file of checks. */
export class CheckFileError extends UsageError {}

/**
 * @param file its name, for errors
 * @throws {CheckFileError}
 */
export function checkStatements(source: string, file: string): CheckStatement[] {
  try {
    return parse(source).statements.map((statement) => {
      const { line, column } = positionOf(source, statement.start);
      const text = source.slice(statement.start, statement.end);
      const place = '\n'.repeat(line - 1);
      if (statement.kind !== 'closure')
        return { name: null, code: `${place}${' '.repeat(column - 1)}${text};` };
      const name = closureDoc(statement) || `line ${line}`;
      // The bracket takes the place of a space before it, where there is one. With `wse` it may change something.
      return { name, code: `${place}${' '.repeat(Math.max(column - 2, 0))}(${text}).call(); wse();` };
    });
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    throw new CheckFileError(`${file}: ${error.message}`);
  }
}
