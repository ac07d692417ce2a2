import type { Budget, Match, Regex, Subject } from './regex.js';

/**
 * Operations of regexes and texts on matches. All throw RegexBudgetError when the budget is used up.
 */

/** `regex.test(s)`: whether the pattern matches anywhere. */
export function testRegex(regex: Regex, subject: Subject, budget: Budget): boolean {
  return regex.exec(subject, 0, budget) !== null;
}

/** Hears how many texts a match adds to a result, so that it can be charged for; what it throws ends the operation. */
export type OnTexts = (count: number) => void;

/**
 * `regex.match(s)`: without the flag g the first match with its groups, or null; with g the texts of all matches.
 */
export function matchRegex(
  regex: Regex,
  subject: Subject,
  budget: Budget,
  onTexts: OnTexts = ignore,
): string[] | null {
  if (!regex.global) {
    const match = regex.exec(subject, 0, budget);
    return match === null ? null : [matchText(match, subject), ...groupTexts(match, subject)];
  }
  const texts: string[] = [];
  for (const match of successiveMatches(regex, subject, budget)) {
    onTexts(1);
    texts.push(matchText(match, subject));
  }
  return texts;
}

/**
 * The matches that `replace`, `split` and `match` with g go through: each is searched from the end of the one before.
 * A match that ends where its search began (an empty one at that place) is the last. An empty match further on is
 * found twice: at first from before, then in its own place, where it ends the sequence.
 *
 * @param limit the most matches
 */
export function* successiveMatches(
  regex: Regex,
  subject: Subject,
  budget: Budget,
  limit = Infinity,
): Generator<Match, void, undefined> {
  let position = 0;
  for (let count = 0; count < limit; count++) {
    const match = regex.exec(subject, position, budget);
    if (match === null) return;
    yield match;
    if (match.end === position) return;
    position = match.end;
  }
}

/** The text of a whole match. */
export function matchText(match: Match, subject: Subject): string {
  return subject.slice(match.start, match.end);
}

/** The texts of the groups from 1 to the highest that took part; empty for one of these that took no part. */
export function groupTexts(match: Match, subject: Subject): string[] {
  const texts: string[] = [];
  for (let group = 1, last = match.lastGroup; group <= last; group++) {
    const start = match.groupStart(group);
    texts.push(start < 0 ? '' : subject.slice(start, match.groupEnd(group)));
  }
  return texts;
}

/**
 * `s.replace(regex, ...)`: replaces the first `limit` matches.
 *
 * @param replacement gives the text for a match; called in the order of the text. What it throws ends the operation.
 */
export function replaceMatches(
  regex: Regex,
  subject: Subject,
  budget: Budget,
  limit: number,
  replacement: (match: Match) => string,
): string {
  let result = '';
  let position = 0;
  for (const match of successiveMatches(regex, subject, budget, limit)) {
    result += subject.slice(position, match.start) + replacement(match);
    position = match.end;
  }
  return position === 0 && result === '' ? subject.text : result + subject.slice(position, subject.length);
}

/** `s.split(regex, limit)`: the texts between the first `limit` matches, and between these the groups of the matches. */
export function splitAtMatches(
  regex: Regex,
  subject: Subject,
  budget: Budget,
  limit = Infinity,
  onTexts: OnTexts = ignore,
): string[] {
  const parts: string[] = [];
  let position = 0;
  for (const match of successiveMatches(regex, subject, budget, limit)) {
    onTexts(1 + match.lastGroup);
    parts.push(subject.slice(position, match.start));
    for (const text of groupTexts(match, subject)) parts.push(text);
    position = match.end;
  }
  parts.push(subject.slice(position, subject.length));
  return parts;
}

function ignore(): void {}
