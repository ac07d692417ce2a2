import {
  Budget,
  groupTexts,
  matchRegex,
  matchText,
  RegexBudgetError,
  replaceMatches,
  STEP_LIMIT,
  Subject,
  splitAtMatches,
  testRegex,
} from '@althing/regex';
import { operationError, typeError, valueError } from '../error.js';
import { type Entry, method, type Receiver } from '../run/builtin.js';
import { invoke } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import type { RegexValue } from '../value/regex-value.js';
import { Tag } from '../value/tag.js';
import { typeName, type Value } from '../value/value.js';

const REGEX_RECEIVER: Receiver<RegexValue> = { tags: [Tag.REGEX] };

/** Methods of regular expressions. */
export const REGEX: readonly Entry[] = [
  method(REGEX_RECEIVER, 'test', {
    doc: 'Whether the pattern matches anywhere in a text.',
    params: [p.str('text')],
    run: (rt, { regex }, text) =>
      withBudget(rt, text, (subject, budget) => testRegex(regex, subject, budget)),
  }),
  method(REGEX_RECEIVER, 'match', {
    doc: 'A list of the first match and its groups, or nil; with the flag g a list of all matches.',
    params: [p.str('text')],
    run: (rt, { regex }, text) => {
      const texts = withBudget(rt, text, (subject, budget) =>
        matchRegex(regex, subject, budget, (count) => rt.charge(count * PER_TEXT)),
      );
      return texts === null ? null : new List(texts);
    },
  }),
];

/** `text.split(regex, limit)`. */
export function splitByRegex(rt: Runtime, text: string, { regex }: RegexValue, limit: number): List {
  if (limit < 0) throw valueError('split() by a regex takes no limit below 0');
  return new List(
    withBudget(rt, text, (subject, budget) =>
      splitAtMatches(regex, subject, budget, limit, (count) => rt.charge(count * PER_TEXT)),
    ),
  );
}

/** `text.replace(regex, by, limit)`. */
export function replaceByRegex(
  rt: Runtime,
  text: string,
  { regex }: RegexValue,
  by: string | Closure,
  limit: number,
): string {
  if (limit < 0) throw valueError('replace() by a regex takes no number below 0');
  let added = 0;
  const replaced = withBudget(rt, text, (subject, budget) =>
    replaceMatches(regex, subject, budget, limit, (match) => {
      const { start, end } = match;
      let replacement: string;
      if (typeof by === 'string') {
        replacement = by;
        rt.charge(PER_TEXT);
      } else {
        const values: Value[] = groupTexts(match, subject);
        rt.charge(values.length * PER_TEXT);
        values.push(matchText(match, subject), start, end, text);
        replacement = replacementText(invoke(rt, by, values));
      }
      added += replacement.length;
      if (added > rt.limits.valueBytes) rt.chargeLength(added);
      return replacement;
    }),
  );
  rt.chargeLength(replaced.length);
  return replaced;
}

/**
 * The text that a closure given to `replace` returned.
 *
 * @throws QueryError type_err unless it is a text
 */
export function replacementText(value: Value): string {
  if (typeof value === 'string') return value;
  throw typeError(`the closure given to replace() must return a str, not ${typeName(value)}`);
}

/** Units that a text which is made for a match is charged with: one step. */
const PER_TEXT = 64;

/** Units that a step of the matcher is charged with: it takes about as long as a step of the query. */
const PER_REGEX_STEP = 64;

/** Units for a character of a text that a matcher is going to look at. */
const PER_DECODED = 2;

/**
 * Runs one operation of a regex on a text.
 *
 * @throws QueryError operation_err when it needs more steps than an operation may take
 */
function withBudget<T>(rt: Runtime, text: string, work: (subject: Subject, budget: Budget) => T): T {
  rt.charge(PER_DECODED * text.length);
  const budget = new Budget(STEP_LIMIT, (steps) => rt.charge(steps * PER_REGEX_STEP));
  try {
    return work(new Subject(text), budget);
  } catch (error) {
    if (error instanceof RegexBudgetError) throw operationError(error.message);
    throw error;
  } finally {
    budget.countSteps();
  }
}
