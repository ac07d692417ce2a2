import type { First } from './first-sets.js';
import { FIRST_END, FIRST_HIGH, Op, type Program } from './program.js';
import type { Subject } from './subject.js';

/** Where matches can begin. */
export type SearchPlan =
  /** Anywhere. */
  | { readonly kind: 'everywhere' }
  /** At the start of the text only. */
  | { readonly kind: 'text start' }
  /** Where the search begins only. */
  | { readonly kind: 'search start' }
  /** At the starts of lines. */
  | { readonly kind: 'line start' }
  /** Where this string stands. */
  | { readonly kind: 'prefix'; readonly text: string; readonly code: number }
  /** At these characters; see FIRST_SET_SIZE. */
  | { readonly kind: 'first'; readonly allowed: Uint8Array };

/** Finds out how to search; `first` is what the program can begin with. */
export function searchPlan(program: Program, first: First): SearchPlan {
  const anchor = leadingAnchor(program.code, 0, 0);
  if (anchor !== null) return { kind: anchor };
  const prefix = leadingText(program);
  if (prefix !== null) return prefix;
  if (first.unknown || first.matches) return { kind: 'everywhere' };
  return { kind: 'first', allowed: first.allowed };
}

/**
 * The first position from `from` on where a match could begin, or -1.
 *
 * @param start where the whole search began
 */
export function nextCandidate(plan: SearchPlan, subject: Subject, from: number, start: number): number {
  const { text, codes, length } = subject;
  if (from > length) return -1;
  switch (plan.kind) {
    case 'everywhere':
      return from;
    case 'text start':
      return from === 0 ? 0 : -1;
    case 'search start':
      return from === start ? from : -1;
    case 'line start':
      if (from === 0) return 0;
      return afterNewline(subject, from);
    case 'prefix':
      return codes === null ? text.indexOf(plan.text, from) : codes.indexOf(plan.code, from);
    case 'first': {
      const allowed = plan.allowed;
      let position = from;
      if (codes === null) {
        while (position < length) {
          const c = text.charCodeAt(position);
          if (allowed[Math.min(c, FIRST_HIGH)] !== 0) return position;
          position++;
        }
      } else {
        while (position < length) {
          const c = codes[position]!;
          if (allowed[Math.min(c, FIRST_HIGH)] !== 0) return position;
          position++;
        }
      }
      return allowed[FIRST_END] !== 0 ? length : -1;
    }
  }
}

function afterNewline({ text, codes }: Subject, from: number): number {
  const newline = codes === null ? text.indexOf('\n', from - 1) : codes.indexOf(0x0a, from - 1);
  return newline < 0 ? -1 : newline + 1;
}

type LeadingAnchor = 'text start' | 'line start' | 'search start';

/** The assertion that every match begins with. */
function leadingAnchor(code: Int32Array, start: number, depth: number): LeadingAnchor | null {
  let pc = start;
  while (code[pc] === Op.Save) pc += 2;
  switch (code[pc]) {
    case Op.TextStart:
      return 'text start';
    case Op.LineStart:
      return 'line start';
    case Op.SearchStart:
      return 'search start';
    case Op.Alternatives: {
      if (depth > 3 || code[pc + 1]! > 20) return null;
      const anchor = leadingAnchor(code, code[pc + 2]!, depth + 1);
      for (let i = 1; i < code[pc + 1]!; i++) {
        if (leadingAnchor(code, code[pc + 2 + 2 * i]!, depth + 1) !== anchor) return null;
      }
      return anchor;
    }
    default:
      return null;
  }
}

/**
 * Longer texts are not looked for as a whole: the runtime's search takes time proportional to their length where almost
 * all of it is found again and again.
 */
const PREFIX_MAX = 16;

/** The text that every match begins with. */
function leadingText({ code }: Program): SearchPlan | null {
  let text = '';
  let firstCode = -1;
  let pc = 0;
  while (text.length < PREFIX_MAX) {
    if (code[pc] === Op.Save) {
      pc += 2;
    } else if (code[pc] === Op.Char || code[pc] === Op.String) {
      const first = code[pc] === Op.Char ? pc + 1 : pc + 2;
      const end = code[pc] === Op.Char ? pc + 2 : first + code[pc + 1]!;
      for (pc = first; pc < end && text.length < PREFIX_MAX; pc++) text += String.fromCodePoint(code[pc]!);
      if (firstCode < 0) firstCode = code[first]!;
    } else {
      break;
    }
  }
  if (firstCode < 0) return null;
  return { kind: 'prefix', text, code: firstCode };
}
