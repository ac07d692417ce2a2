/**
 * Regular expressions: a compiler and a matcher of our own, bounded in time and memory for any pattern and text, and
 * the operations on texts that use them.
 */
export {
  groupTexts,
  matchRegex,
  matchText,
  replaceMatches,
  splitAtMatches,
  testRegex,
} from './operations.js';
export {
  Budget,
  compileRegex,
  Regex,
  RegexBudgetError,
  RegexSyntaxError,
  STEP_LIMIT,
  Subject,
} from './regex.js';
export { isEmail, isTel, isUrl } from './text-forms.js';
