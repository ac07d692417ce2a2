/** The stored form of a closure's text. */
import type { Closure, Link, Node } from './ast.js';
import { pushChildren } from './children.js';
import { parseClosure } from './parse.js';

/**
 * The closure that stands in `source` from `start` to `end`, in the form in which closures are stored: its tokens without
 * white space and comments. One blank stays where the source has white space behind `return` and `else`, before `else`
 * and `in`, and wherever the text would read differently without it (`x in y`, `7 .f()`, `a / /re/`). Strings,
 * regexes and templates stay as they are.
 *
 * @throws {LanguageError} if the text is not a closure
 */
export function compactSource(source: string, start: number, end: number): string {
  const text = source.slice(start, end);
  return compactClosure(parseClosure(text), text);
}

/** The same for a closure that is parsed already; `source` is the text that its offsets refer to. */
export function compactClosure(closure: Closure, source: string): string {
  const { verbatim, apart } = placesOf(closure, source);
  const out: string[] = [];
  let previous: Token = { text: '', isWord: false, afterDot: false };
  let at = closure.start;
  let isSpaced = false;

  const emit = (text: string, isVerbatim: boolean): void => {
    const isWord = !isVerbatim && WORD.test(text);
    if (isSpaced && (apart.has(at) || needsBlank(previous, text, isWord))) out.push(' ');
    out.push(text);
    previous = { text, isWord, afterDot: previous.text === '.' };
    isSpaced = false;
    at += text.length;
  };

  for (const { start, end } of [...verbatim, { start: closure.end, end: closure.end }]) {
    const piece = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\w+|[\s\S]/y;
    piece.lastIndex = at;
    while (at < start) {
      const text = piece.exec(source)?.[0] ?? '';
      if (BLANK.test(text)) {
        isSpaced = true;
        at += text.length;
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

/** Whether white space between two tokens must leave a blank. */
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

/**
 * Literals that stay as they are, in the order of the text, and places that must stay apart from what is before them:
 * where an operator and its operand would run together into something else.
 */
function placesOf(closure: Closure, source: string): { verbatim: (Node | Link)[]; apart: Set<number> } {
  const verbatim: (Node | Link)[] = [];
  const apart = new Set<number>();
  const stack: (Node | Link)[] = [closure];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.kind === 'str' || node.kind === 'regex' || node.kind === 'template') {
      verbatim.push(node);
      continue;
    }
    if (node.kind === 'prefix' && isDigit(source, node.operand.start)) apart.add(node.operand.start);
    if (node.kind === 'operation') {
      node.operands.forEach((operand, i) => {
        const op = i === 0 ? undefined : node.ops[i - 1];
        // `a | |x| x`, `a & &{...}`, `a / /re/`
        if (op === source.charAt(operand.start)) apart.add(operand.start);
      });
    }
    pushChildren(stack, node);
  }
  return { verbatim, apart };
}

function isDigit(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return code >= 48 && code <= 57;
}
