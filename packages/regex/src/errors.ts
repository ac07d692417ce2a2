/** A pattern or its flags can't be compiled. The message says what is wrong, where, and what would do. */
export class RegexSyntaxError extends Error {
  override readonly name = 'RegexSyntaxError';

  /**
   * @param reason what is wrong, without the position
   * @param position where, in code points from the start of the pattern (or of the flags)
   */
  constructor(
    reason: string,
    readonly position: number,
  ) {
    super(`${reason} (at position ${position})`);
  }
}

/** An operation has used up its steps or its memory. It has no result: neither "match" nor "no match". */
export class RegexBudgetError extends Error {
  override readonly name = 'RegexBudgetError';

  constructor(what: 'steps' | 'memory') {
    super(
      what === 'steps'
        ? 'the regular expression needs too many steps on this text; make the pattern less ambiguous or the text shorter'
        : 'the regular expression needs too much memory on this text; make the pattern less ambiguous or the text shorter',
    );
  }
}
