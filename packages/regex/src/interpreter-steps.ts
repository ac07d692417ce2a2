/** Steps of the interpreter that need none of its state but what they are handed. */
import { SCANNED_PER_INSTRUCTION_BITS as SCAN_BITS, type Workspace } from './budget.js';
import { type CharSet, isWordCode, NOT_NEWLINE } from './char-set.js';
import type { Graphemes } from './graphemes.js';
import type { Prepared } from './prepare.js';
import { FIRST_END, FIRST_HIGH, NO_FIRST, Op } from './program.js';
import type { Subject } from './subject.js';

/** A frame: where to go on and the progress there (or the complement of a slot), a position, and an extra value. */
export const FRAME_SIZE = 3;
export const NEWLINE = 0x0a;

/** Instructions that an operation may take for each character that it has advanced before it begins to use the memo. */
const MEMO_AFTER_PER_POSITION = 32;

/** The memo is made when fewer instructions than this are left. */
export function memoThreshold(work: Workspace, fuel: number, attempt: number): number {
  const { memoAfter } = work.program;
  const whole = work.initialInstructions - memoAfter - MEMO_AFTER_PER_POSITION * (attempt - work.firstStart);
  return Math.max(fuel - memoAfter, whole);
}

/** Drops the choices of the frames above `from`, the frame at `from` included. Gives the new top. */
export function keepUndo(stack: Int32Array, from: number, top: number): number {
  let to = from;
  for (let frame = from + FRAME_SIZE; frame < top; frame += FRAME_SIZE) {
    if (stack[frame]! >= 0) continue;
    stack[to] = stack[frame]!;
    stack[to + 1] = stack[frame + 1]!;
    to += FRAME_SIZE;
  }
  return to;
}

/** Takes back what the frames from `from` up to `top` noted in slots, the newest first. */
export function undoSlots(stack: Int32Array, slots: Int32Array, from: number, top: number): void {
  for (let frame = top - FRAME_SIZE; frame >= from; frame -= FRAME_SIZE) {
    const word = stack[frame]!;
    if (word < 0) slots[~word] = stack[frame + 1]!;
  }
}

/** The first position from `from` on, but not beyond `limit`, whose character is not in the set. */
export function passSet(
  prepared: Prepared,
  subject: Subject,
  index: number,
  from: number,
  limit: number,
): number {
  const { text, codes, length } = subject;
  const { tables } = prepared;
  const set = prepared.program.sets[index]!;
  const table = index << 8;
  let end = from;
  if (codes !== null) {
    while (end < limit) {
      const c = codes[end]!;
      if (c < 256 ? tables[table | c] === 0 : !hasHigh(set, c)) break;
      end++;
    }
    return end;
  }
  if (set === NOT_NEWLINE && limit === length) {
    const newline = text.indexOf('\n', from);
    return newline < 0 ? length : newline;
  }
  while (end < limit) {
    const c = text.charCodeAt(end);
    if (c < 256 ? tables[table | c] === 0 : !hasHigh(set, c)) break;
    end++;
  }
  return end;
}

export function hasHigh(set: CharSet, code: number): boolean {
  return set.high === 'all' || (set.high === 'some' && set.has(code));
}

/** The cost of passing characters of a set, in instructions. */
export function scanCost(set: CharSet, count: number): number {
  return (count >> SCAN_BITS) + count * set.weight;
}

/** The first alternative from `index` on that the character `c` doesn't exclude, or the count. */
export function nextAlternative(
  code: Int32Array,
  firsts: Uint8Array,
  pc: number,
  index: number,
  c: number,
): number {
  const count = code[pc + 1]!;
  for (let i = index; i < count; i++) {
    const first = code[pc + 3 + 2 * i]!;
    if (first === NO_FIRST || firsts[first + c] !== 0) return i;
  }
  return count;
}

export function lowerCase(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}

export function codeBefore(subject: Subject, position: number): number {
  return subject.codes === null ? subject.text.charCodeAt(position - 1) : subject.codes[position - 1]!;
}

export function isWordBoundary(subject: Subject, position: number): boolean {
  const before = position > 0 && isWordCode(codeBefore(subject, position));
  const after = position < subject.length && isWordCode(codeBefore(subject, position + 1));
  return before !== after;
}

/** The length of the line end at a position; 0 if there is none. */
export function newlineSize(subject: Subject, position: number): number {
  if (position >= subject.length) return 0;
  const code = codeBefore(subject, position + 1);
  if (code === 0x0d)
    return position + 1 < subject.length && codeBefore(subject, position + 2) === NEWLINE ? 2 : 1;
  return (code >= 0x0a && code <= 0x0c) || code === 0x85 || code === 0x2028 || code === 0x2029 ? 1 : 0;
}

export function graphemeEnd(graphemes: Graphemes, subject: Subject, position: number): number {
  return graphemes.end(position, subject.length, (at) => codeBefore(subject, at + 1));
}

/** The length of what a back reference matches at a position; else the complement of what it took to find out. */
export function referenceSize(
  subject: Subject,
  slots: Int32Array,
  code: Int32Array,
  pc: number,
  position: number,
): number {
  const fold = code[pc]! === Op.ReferenceFold;
  for (let i = 0; i < code[pc + 1]!; i++) {
    const group = code[pc + 2 + i]!;
    const start = slots[2 * group]!;
    const end = slots[2 * group + 1]!;
    if (start < 0 || end < 0) continue;
    if (subject.length - position < end - start) return ~0;
    for (let at = start; at < end; at++) {
      const wanted = codeBefore(subject, at + 1);
      const found = codeBefore(subject, position + at - start + 1);
      if (found !== wanted && !(fold && lowerCase(found) === lowerCase(wanted))) return ~(at - start);
    }
    return end - start;
  }
  return ~0;
}

/** The number of characters at a position that are those of the text of an instruction, up to the first one that differs. */
export function sameCount(subject: Subject, code: Int32Array, pc: number, position: number): number {
  const { text, codes } = subject;
  const count = code[pc + 1]!;
  const fold = code[pc]! === Op.StringFold;
  let same = 0;
  while (same < count) {
    const c = codes === null ? text.charCodeAt(position + same) : codes[position + same]!;
    if ((fold ? lowerCase(c) : c) !== code[pc + 2 + same]!) break;
    same++;
  }
  return same;
}

/** The place of the character at a position in a first set. */
export function firstCode({ text, codes, length }: Subject, position: number): number {
  if (position >= length) return FIRST_END;
  const c = codes === null ? text.charCodeAt(position) : codes[position]!;
  return c > 255 ? FIRST_HIGH : c;
}

/** @param start where the search began */
export function anchorHolds(op: number, subject: Subject, position: number, start: number): boolean {
  const { length } = subject;
  switch (op) {
    case Op.TextStart:
      return position === 0;
    case Op.LineStart:
      // Not behind a newline that ends the text.
      return position === 0 || (position !== length && codeBefore(subject, position) === NEWLINE);
    case Op.TextEnd:
      return position === length;
    case Op.LineEnd:
      return position === length || codeBefore(subject, position + 1) === NEWLINE;
    case Op.FinalEnd:
      return position === length || (position === length - 1 && codeBefore(subject, length) === NEWLINE);
    case Op.WordBoundary:
      return isWordBoundary(subject, position);
    case Op.NoWordBoundary:
      return !isWordBoundary(subject, position);
    case Op.SearchStart:
      return position === start;
    default:
      throw new Error(`there is no instruction ${op}`);
  }
}
