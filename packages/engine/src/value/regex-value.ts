import type { Regex } from '../regex/index.js';
import { Tag } from './tag.js';

/** A regular expression; its text is the literal exactly as written. */
export class RegexValue {
  readonly pattern: string;
  readonly flags: string;
  readonly regex: Regex;

  constructor(pattern: string, flags: string, regex: Regex) {
    this.pattern = pattern;
    this.flags = flags;
    this.regex = regex;
  }

  get tag(): typeof Tag.REGEX {
    return Tag.REGEX;
  }

  get text(): string {
    return `/${this.pattern}/${this.flags}`;
  }
}
