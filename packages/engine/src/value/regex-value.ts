import { Budget, type Regex, RegexBudgetError, Subject, testRegex } from '@althing/regex';
import { operationError } from '../error.js';
import { Tag } from './tag.js';

/** A regular expression; its text is the literal exactly as written. */
export class RegexValue {
  constructor(
    readonly pattern: string,
    readonly flags: string,
    readonly regex: Regex,
  ) {}

  get tag(): typeof Tag.REGEX {
    return Tag.REGEX;
  }

  /**
   * True if it matches somewhere in a text.
   *
   * @throws QueryError operation_err when that takes too many steps
   */
  matches(text: string): boolean {
    try {
      return testRegex(this.regex, new Subject(text), new Budget());
    } catch (error) {
      if (error instanceof RegexBudgetError) throw operationError(error.message);
      throw error;
    }
  }

  get text(): string {
    return `/${this.pattern}/${this.flags}`;
  }
}
