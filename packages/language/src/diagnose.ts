/** Says what is wrong with a text that does not fit the grammar. */
import { type LanguageError, syntaxError } from './error.js';
import { hintFor } from './hints.js';
import type { Watch } from './limits.js';
import { EXPECTED, GeneratedParser, STATEMENT } from './parser.generated.js';

/**
 * The syntax_err for a source that the parser refuses: where its longest attempt ended, what was missing there, what
 * stands there instead and, for common mistakes, the way out.
 */
export function explain(source: string, watch: Watch): LanguageError {
  const parser = new GeneratedParser(source, true, watch);
  parser.parse();
  const at = Math.max(parser.far, 0);
  const noted = new Set(parser.wanted.slice(0, parser.noted));
  const expected = new Set([...noted].flatMap((index) => EXPECTED[index] ?? []));
  const hint = hintFor({ source, at, expected });
  const reason = `${foundAt(source, at)}, expected ${listOf(summary(expected))}`;
  return syntaxError(hint === null ? reason : `${reason}: ${hint}`, at);
}

/** Longest stretch of the source that a message repeats. */
const EXCERPT_MAX = 24;
/** Most things that a message lists as possible. */
const LIST_MAX = 8;

function foundAt(source: string, at: number): string {
  if (at >= source.length) return 'unexpected end of the text';
  const word = /[A-Za-z_0-9]+|[\s\S]/uy;
  word.lastIndex = at;
  const found = word.exec(source)?.[0] ?? '';
  return `unexpected ${JSON.stringify(found.length > EXCERPT_MAX ? `${found.slice(0, EXCERPT_MAX)}...` : found)}`;
}

/** The expectations in few words: whatever begins an expression is one, whatever goes on with one is another. */
function summary(expected: ReadonlySet<string>): string[] {
  const rest = new Set(expected);
  const said: string[] = [];
  if (rest.has('an int')) {
    for (const each of STATEMENT) rest.delete(each);
    said.push('an expression');
  }
  if (rest.has('an operator')) {
    for (const each of ['"?"', '"["', '"." or ".."', 'an assignment']) rest.delete(each);
  }
  return [...said, ...[...rest].sort()];
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'something else';
  const shown = names.slice(0, LIST_MAX);
  if (names.length > LIST_MAX) return `${shown.join(', ')} and more`;
  const last = shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(', ')} or ${last}`;
}
