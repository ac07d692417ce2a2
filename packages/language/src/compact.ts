/** The stored form of a closure's text. */
import type { Closure, Link, Node } from './ast.js';
import { pushChildren } from './children.js';
import { parseClosure } from './parse.js';
import { isBareReturn, isLastSlash } from './slashes.js';

/**
 * The closure that stands in `source` from `start` to `end`, in the form in which closures are stored: its tokens without
 * white space and comments. One blank stays where the source has white space behind `return` and `else`, before `else`
 * and `in`, and wherever the text would read differently without it (`x in y`, `7 .f()`, `a / /re/`), and a `;` comes behind a closure that ended its statement with the line. Strings,
 * regexes and templates stay as they are; so does the line feed behind a regex that only the end of the line ends.
 *
 * @throws {LanguageError} if the text is not a closure
 */
export function compactSource(source: string, start: number, end: number): string {
  const text = source.slice(start, end);
  return compactClosure(parseClosure(text), text);
}

/** The same for a closure that is parsed already; `source` is the text that its offsets refer to. */
export function compactClosure(closure: Closure, source: string): string {
  const { verbatim, apart, endOfLine, separated } = placesOf(closure, source);
  const out: string[] = [];
  let previous: Token = { text: '', isWord: false, afterDot: false };
  let at = closure.start;
  let isSpaced = false;
  // True if the next line feed must stay.
  let needsLine = false;

  const emit = (text: string, isVerbatim: boolean): void => {
    const isWord = !isVerbatim && WORD.test(text);
    if (separated.has(at)) out.push(';');
    if (isSpaced && (apart.has(at) || needsBlank(previous, text, isWord))) out.push(' ');
    out.push(text);
    previous = { text, isWord, afterDot: previous.text === '.' };
    isSpaced = false;
    at += text.length;
    needsLine ||= endOfLine.has(at);
  };

  for (const { start, end } of [...verbatim, { start: closure.end, end: closure.end }]) {
    const piece = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\w+|[\s\S]/y;
    piece.lastIndex = at;
    while (at < start) {
      const text = piece.exec(source)?.[0] ?? '';
      if (BLANK.test(text)) {
        isSpaced = true;
        at += text.length;
        if (needsLine && text.includes('\n')) {
          out.push('\n');
          needsLine = false;
        }
      } else {
        emit(text, false);
      }
    }
    if (end > start) emit(source.slice(start, end), true);
  }
  return out.join('');
}

interface Token {
  readonly text: string;
  readonly isWord: boolean;
  /** Behind a dot a word is a property or method, whatever it says. */
  readonly afterDot: boolean;
}

const WORD = /^\w/;
const BLANK = /^(?:\s|\/\/|\/\*)/;
/** The last piece of a number, or a number that is a word: a dot behind it must not touch it. */
const NUMBER_END = /^(?:\d\w*|inf|nan)$/;

/** True if white space between two tokens must leave a blank. */
function needsBlank(previous: Token, text: string, isWord: boolean): boolean {
  if (previous.isWord && isWord) return true;
  if (previous.isWord && !previous.afterDot) {
    if ((previous.text === 'return' || previous.text === 'else') && text !== ':') return true;
    if (text === '.' && NUMBER_END.test(previous.text)) return true;
  }
  const isKey = previous.text === '{' || previous.text === ',';
  if ((text === 'else' || text === 'in') && previous.text !== '.' && !isKey) return true;
  return previous.afterDot && text === '.' && /^\d/.test(previous.text);
}

/** An operator and the beginning of its right side that are another token together: `a | |x| x`, `a & &{...}`, `return & {...}`, `a / /re/`. */
const RUN_TOGETHER: ReadonlySet<string> = new Set(['||', '&&', '&{', '//']);

interface Places {
  /** Literals that stay as they are, in the order of the text. */
  readonly verbatim: readonly (Node | Link)[];
  /** Tokens that must stay apart from the operator before them, with which they would run together into something else. */
  readonly apart: ReadonlySet<number>;
  /** Ends of slashes that are what they are only because no other slash follows on their line. */
  readonly endOfLine: ReadonlySet<number>;
  /** Statements behind a closure that ended with the line, which need a `;` where there are no lines. */
  readonly separated: ReadonlySet<number>;
}

function placesOf(closure: Closure, source: string): Places {
  const verbatim: (Node | Link)[] = [];
  const apart = new Set<number>();
  const endOfLine = new Set<number>();
  const separated = new Set<number>();
  const stack: (Node | Link)[] = [closure];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.kind === 'str' || node.kind === 'regex' || node.kind === 'template') {
      verbatim.push(node);
      if (isLastSlash(node)) endOfLine.add(node.end);
      continue;
    }
    if (node.kind === 'block') {
      node.statements.forEach(({ start }, i) => {
        const before = node.statements[i - 1];
        if (before !== undefined && skipped(source, before.end) === start) separated.add(start);
      });
    }
    if (node.kind === 'prefix' && isDigit(source, node.operand.start)) apart.add(node.operand.start);
    if (node.kind === 'operation') {
      node.operands.forEach((operand, i) => {
        const op = i === 0 ? undefined : node.ops[i - 1];
        const first = source.charAt(operand.start);
        if (RUN_TOGETHER.has(`${op}${first}`)) apart.add(operand.start);
        const left = node.operands[i - 1];
        if (op === '/' && left !== undefined && isBareReturn(left)) {
          endOfLine.add(source.indexOf('/', skipped(source, left.end)) + 1);
        }
      });
    }
    pushChildren(stack, node);
  }
  return { verbatim, apart, endOfLine, separated };
}

/** Where the white space that begins at the place ends. */
function skipped(source: string, place: number): number {
  const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = place;
  space.test(source);
  return space.lastIndex;
}

function isDigit(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return code >= 48 && code <= 57;
}
