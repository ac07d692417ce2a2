/** Ways out of common mistakes: what an error message says besides what was expected. */

/** A place at which the text does not fit the grammar, and what would have. */
export interface Misfit {
  readonly source: string;
  readonly at: number;
  readonly expected: ReadonlySet<string>;
}

/** Advice for the misfit, or null if nothing is known. */
export function hintFor({ source, at, expected }: Misfit): string | null {
  // A window is enough, and keeps the time independent of the length of the source.
  const next = source.slice(at, at + WINDOW);
  const before = source.slice(Math.max(0, at - WINDOW), at).trimEnd();
  const operand = expected.has('an int');
  for (const hint of HINTS) {
    if (hint.operand !== undefined && hint.operand !== operand) continue;
    if (hint.expects !== undefined && !expected.has(hint.expects)) continue;
    if (hint.next !== undefined && !hint.next.test(next)) continue;
    if (hint.before !== undefined && !hint.before.test(before)) continue;
    return hint.say;
  }
  return null;
}

const WINDOW = 200;

/** All conditions that are given must hold. */
interface Hint {
  /** True if the place is one where an operand could begin. */
  readonly operand?: boolean;
  readonly expects?: string;
  /** The text from the place on. */
  readonly next?: RegExp;
  /** The text before the place, without white space at its end. */
  readonly before?: RegExp;
  readonly say: string;
}

/** The first that fits is said. */
const HINTS: readonly Hint[] = [
  // Things that are not closed.
  { next: /^\/\*/, say: 'the comment is not closed, "*/" is missing' },
  { before: /\/$/, next: /^\*/, say: 'the comment is not closed, "*/" is missing' },
  {
    operand: true,
    next: /^['"]/,
    say: 'the string is not closed, its quote is missing (a quote inside is written twice)',
  },
  {
    operand: true,
    next: /^\//,
    say: 'the regular expression is not closed on its line; it ends with a slash, a slash inside is written \\/',
  },
  { expects: 'template text', next: /^$/, say: 'the template is not closed, "`" is missing' },
  {
    expects: 'template text',
    next: /^\}/,
    say: 'in a template a curly bracket that is text is written twice, "}}"',
  },
  {
    operand: true,
    next: /^\}/,
    before: /\{$/,
    say: 'in a template one expression must stand between "{" and "}" (brackets that are text are written twice)',
  },
  {
    before: /\/[^\n]*\[[^\]\n]*\/$/,
    next: /^\]/,
    say: 'inside a regular expression a slash is always written \\/, also within [...]',
  },
  {
    before: /\b(?:if|for)$/,
    expects: '"("',
    next: /^\w/,
    say: 'the head of if and for stands in parentheses',
  },
  {
    before: /\\['"]$/,
    say: "a backslash does not escape; a quote inside a string is written twice, 'it''s'",
  },

  // Numbers.
  { operand: true, next: /^[+-]?\d*\.\d+[eE]/, say: 'an exponent is written with a sign, 1.5e+3' },
  { operand: true, next: /^[+-]?\d+[eE][+-]?\d/, say: 'an exponent needs a dot and a sign, 1.0e+5' },
  {
    operand: true,
    next: /^[+-]?[\d.]+\s*\.[A-Za-z_.]/,
    say: 'a dot cannot follow a number directly, write (7).name',
  },
  { operand: true, next: /^[+-]?\d+\./, say: 'digits must follow the dot, 1.0' },
  { operand: true, next: /^[+-]?\d+_/, say: 'digits are written without "_"' },
  { operand: true, next: /^[+-]?0[BOX]/, say: 'the prefixes 0b, 0o and 0x have small letters' },
  {
    operand: true,
    next: /^[+-]?0[box]/,
    say: '0b is followed by the digits 0 and 1, 0o by 0 to 7, 0x by hexadecimal digits',
  },
  { operand: true, next: /^[+-]?\d/, say: 'a name cannot begin with a digit' },
  { operand: true, next: /^(?:inf|nan)\./, say: 'a dot cannot follow a number directly, write (inf).name' },

  // Words of other languages.
  {
    before: /\bwhile\s*\([\s\S]*\)$/,
    say: 'there is no while; loop with for (x in range(n)) and leave with break',
  },
  { before: /\b(?:let|var|const)$/, say: 'variables are not declared, write x = 1' },
  { before: /\b(?:function|fn|def|lambda)\b[^;]*$/, say: 'a function is a closure, |x| x + 1' },
  { before: /\bnot$/, say: 'negation is written !x' },
  { next: /^and\b/, say: 'write && for "and"' },
  { next: /^or\b/, say: 'write || for "or"' },
  { before: /\b(?:elif|elseif|elsif)\b[^;]*$/, say: 'write else if' },
  { before: /\bthrow$/, say: 'an error is raised with raise(...)' },

  // Operators that do not exist.
  {
    before: /(?:\+\+|--)$/,
    operand: true,
    say: 'there is no ++ and no --, write x += 1 or x -= 1',
  },
  { before: /\?$/, next: /^\?/, say: 'there is no ??, write x == nil ? y : x' },
  { before: /(?:\|\||&&|<<|>>)$/, next: /^=/, say: 'there is no such assignment, write x = x || y' },
  { before: /[=!]=$/, next: /^=/, say: 'equality is == and !=' },
  { before: /=$/, next: /^>/, say: 'a closure is written |x| x + 1' },

  // Reserved words.
  { before: /;$/, next: /^else\b/, say: 'no ";" may stand before else' },
  {
    before: /(?<![.\w])(?:true|false|nil|inf|nan|return|if|else|for|in|break|continue)$/,
    next: /^[-+*/%&^|]?=/,
    say: 'a reserved word cannot be a variable',
  },
  {
    expects: 'a variable name',
    next: /^(?:true|false|nil|inf|nan|return|if|else|for|in|break|continue)\b/,
    say: 'a reserved word cannot be a variable',
  },

  // Calls and assignments of what cannot be called or assigned.
  {
    operand: false,
    before: /[)\]}]$/,
    next: /^\(/,
    say: 'only names and methods are called like this, call any other closure with .call(...)',
  },
  {
    operand: false,
    next: /^[-+*/%&^|]?=(?!=)/,
    say: 'only variables, properties and items can be assigned to',
  },

  // Separators.
  {
    before: /['"]$/,
    next: /^:/,
    say: "the keys of a thing are names without quotes; set others with t['key'] = value",
  },
  { expects: '")"', next: /^;/, say: 'parentheses hold one statement, put several into a block, ({a; b})' },
  { expects: '","', next: /^;/, say: 'separate with ","' },
  { before: /^$/, next: /^;/, say: 'a ";" stands behind a statement' },
  { before: /[!+-]$/, next: /^~/, say: 'all "~" stand before the other prefix operators' },
  {
    before: /[!~+-]$/,
    next: /^(?:\||if\b|for\b|return\b|\{)/,
    say: 'put the operand of a prefix operator in parentheses',
  },
  {
    expects: '";"',
    before: /\}$/,
    next: /^[\w'"`[({.!]/,
    say: 'a ";" is needed between statements, also behind a block',
  },
  { expects: '";"', next: /^[\w'"`[({.!]/, say: 'statements are separated by ";"' },
];
