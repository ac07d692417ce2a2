/** The typed error of this package. */

/** Names of the error codes that a source text can be refused with. */
export type LanguageErrorCode = 'syntax_err' | 'overflow_err' | 'value_err' | 'bad_data_err' | 'lookup_err';

/**
 * A source text that is not accepted. `offset` is in UTF-16 units; `line` and `column` count from 1, the column in
 * characters. They are 0 as long as nobody has placed the error in its source (`placed`).
 */
export class LanguageError extends Error {
  override readonly name = 'LanguageError';

  constructor(
    readonly code: LanguageErrorCode,
    /** The mistake, without the place. */
    readonly reason: string,
    readonly offset: number,
    readonly line = 0,
    readonly column = 0,
  ) {
    super(line === 0 ? reason : `${reason} (line ${line}, column ${column})`);
  }
}

/** A syntax_err without line and column yet. */
export function syntaxError(reason: string, offset: number): LanguageError {
  return new LanguageError('syntax_err', reason, offset);
}

/** The same error with its line and column in the source. */
export function placed(error: LanguageError, source: string): LanguageError {
  const { line, column } = positionOf(source, error.offset);
  return new LanguageError(error.code, error.reason, error.offset, line, column);
}

/** Line and column (from 1, in characters) of an offset. Lines end with a line feed. */
export function positionOf(source: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (;;) {
    const feed = source.indexOf('\n', lineStart);
    if (feed < 0 || feed >= offset) break;
    line++;
    lineStart = feed + 1;
  }
  let column = 1;
  for (let at = lineStart; at < offset; at++) {
    const unit = source.charCodeAt(at);
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff;
    if (!isSecondHalf) column++;
  }
  return { line, column };
}
