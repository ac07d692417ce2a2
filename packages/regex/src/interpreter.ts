/**
 * Long because: it is one loop, with a case for each instruction and its state in local variables, which is
 * what makes it fast.
 */
import { type Budget, SCANNED_PER_INSTRUCTION_BITS as SCAN_BITS, type Workspace } from './budget.js';
import { type CharSet, isWordCode, NOT_NEWLINE } from './char-set.js';
import type { Graphemes } from './graphemes.js';
import { Memo } from './memo.js';
import type { Prepared } from './prepare.js';
import { FIRST_END, FIRST_HIGH, NO_FIRST, Op, RUN_SIZE, UNLIMITED } from './program.js';
import { nextCandidate } from './search-plan.js';
import type { Subject } from './subject.js';

/**
 * Searches the subject from `start` for the leftmost match. Gives its bounds and those of the groups (-1 for a group
 * that took no part), or null. Throws RegexBudgetError.
 *
 * A backtracking matcher with a stack of its own. Among the matches that begin at the leftmost position it finds the
 * one that Perl does: the first in the order of the alternatives.
 *
 * Loops whose body may match nothing end with an iteration that matched nothing (as in Perl). That an iteration did
 * is seen by `progress`: how many of the surrounding loops of this kind, from the outside, have moved in their present
 * iteration. Since an inner iteration never begins before an outer one, this number tells it for all of them, and
 * (point, progress, position) determines everything that follows: these three are what the memo remembers.
 */
export function search(prepared: Prepared, subject: Subject, start: number, budget: Budget): number[] | null {
  const { program, tables, firsts, plan } = prepared;
  const { code, sets, slotCount, minLength } = program;
  const { text, codes, length } = subject;
  const work = budget.workspace(program, subject, start);
  const slots = work.slots;
  let stack = work.stack;
  let memo = work.memo;
  let fuel = budget.instructions;
  /** What fuel may fall to before the budget has to know. */
  let floor = budget.floor;
  let dirty = true;

  for (let from = start; ; ) {
    const attempt = nextCandidate(plan, subject, from, start);
    fuel -= 1 + (((attempt < 0 ? length : attempt) - from) >> SCAN_BITS);
    if (attempt < 0 || length - attempt < minLength) break;
    if (dirty) {
      slots.fill(-1);
      fuel -= slotCount >> SCAN_BITS;
      dirty = false;
    }
    slots[0] = attempt;
    const memoBelow = program.marks === 0 ? -1 : memoThreshold(work, fuel, attempt);
    let pc = 0;
    let position = attempt;
    let progress = ALL_LOOPS;
    let top = 0;
    /** Where the frames of the innermost open Atomic or Look begin; 0 for none. */
    let barrier = 0;

    run: for (;;) {
      if (--fuel < floor) floor = budget.spent(fuel);
      if (top + FRAME_SIZE * 2 > stack.length) {
        const larger = work.growStack();
        if (larger === null) throw budget.exhausted('memory');
        stack = larger;
      }
      // The cases are numbers, which the types hold to the names, so that the runtime makes a jump table of them.
      switch (code[pc]!) {
        case 0 satisfies Op.Match: {
          budget.instructions = fuel - (slotCount >> SCAN_BITS);
          work.matched(position);
          const bounds: number[] = [slots[0]!, position];
          for (let i = 2; i < 2 * (program.groupCount + 1); i++) bounds.push(slots[i]!);
          return bounds;
        }
        case 1 satisfies Op.Fail:
          break;
        case 2 satisfies Op.Char:
          if (position >= length) break;
          if ((codes === null ? text.charCodeAt(position) : codes[position]!) !== code[pc + 1]!) break;
          position++;
          progress = ALL_LOOPS;
          pc += 2;
          continue;
        case 3 satisfies Op.CharFold:
          if (position >= length) break;
          if (((codes === null ? text.charCodeAt(position) : codes[position]!) | 0x20) !== code[pc + 1]!)
            break;
          position++;
          progress = ALL_LOOPS;
          pc += 2;
          continue;
        case 4 satisfies Op.String: {
          const count = code[pc + 1]!;
          if (length - position < count) break;
          let i = 0;
          while (
            i < count &&
            (codes === null ? text.charCodeAt(position + i) : codes[position + i]!) === code[pc + 2 + i]!
          ) {
            i++;
          }
          fuel -= i >> SCAN_BITS;
          if (i < count) break;
          position += count;
          progress = ALL_LOOPS;
          pc += 2 + count;
          continue;
        }
        case 5 satisfies Op.StringFold: {
          const count = code[pc + 1]!;
          if (length - position < count) break;
          let i = 0;
          while (
            i < count &&
            lowerCase(codes === null ? text.charCodeAt(position + i) : codes[position + i]!) ===
              code[pc + 2 + i]!
          ) {
            i++;
          }
          fuel -= i >> SCAN_BITS;
          if (i < count) break;
          position += count;
          progress = ALL_LOOPS;
          pc += 2 + count;
          continue;
        }
        case 6 satisfies Op.Any:
          if (position >= length) break;
          position++;
          progress = ALL_LOOPS;
          pc += 1;
          continue;
        case 7 satisfies Op.NotNewline:
          if (position >= length) break;
          if ((codes === null ? text.charCodeAt(position) : codes[position]!) === NEWLINE) break;
          position++;
          progress = ALL_LOOPS;
          pc += 1;
          continue;
        case 8 satisfies Op.Set: {
          if (position >= length) break;
          const c = codes === null ? text.charCodeAt(position) : codes[position]!;
          if (c > 255) fuel -= sets[code[pc + 1]!]!.weight;
          if (c < 256 ? tables[(code[pc + 1]! << 8) | c] === 0 : !hasHigh(sets[code[pc + 1]!]!, c)) break;
          position++;
          progress = ALL_LOOPS;
          pc += 2;
          continue;
        }
        case 9 satisfies Op.Newline: {
          const size = newlineSize(subject, position);
          if (size === 0) break;
          position += size;
          progress = ALL_LOOPS;
          pc += 1;
          continue;
        }
        case 10 satisfies Op.Grapheme: {
          if (position >= length) break;
          const end = graphemeEnd(prepared.graphemes(), subject, position);
          fuel -= (end - position) << 1;
          position = end;
          progress = ALL_LOOPS;
          pc += 1;
          continue;
        }
        case 11 satisfies Op.RunGreedy:
        case 13 satisfies Op.RunPossessive: {
          const set = code[pc + 1]!;
          const max = code[pc + 3]!;
          const limit = max === UNLIMITED || max > length - position ? length : position + max;
          const least = position + code[pc + 2]!;
          const mark = code[pc + 4]!;
          if (mark >= 0 && memo === null && fuel < memoBelow) memo = work.memo = new Memo(program.marks);
          const plainLimit = mark >= 0 && memo !== null && least < limit ? least : limit;
          let end = passSet(prepared, subject, set, position, plainLimit);
          fuel -= scanCost(sets[set]!, end - position);
          if (end < least) break;
          if (mark >= 0 && memo !== null) {
            const key = end > position ? ALL_LOOPS : progress;
            const level = code[pc + 5]!;
            if (!memo.visit(end, mark + Math.min(key, level))) break;
            const from = end;
            let known = false;
            while (end < limit) {
              const c = codes === null ? text.charCodeAt(end) : codes[end]!;
              if (c < 256 ? tables[(set << 8) | c] === 0 : !hasHigh(sets[set]!, c)) break;
              known = !memo.visit(end + 1, mark + level);
              if (known) break;
              end++;
            }
            fuel -= (memo.debt >> SCAN_BITS) + scanCost(sets[set]!, end - from);
            memo.debt = 0;
            // From there on it has been tried; a possessive run could end only there.
            if (known && code[pc]! === Op.RunPossessive) break;
          }
          if (code[pc]! === Op.RunGreedy) {
            stack[top] = pc | (progress << PC_BITS);
            stack[top + 1] = end;
            stack[top + 2] = least;
            top += FRAME_SIZE;
            break;
          }
          if (end > position) progress = ALL_LOOPS;
          position = end;
          pc += RUN_SIZE;
          continue;
        }
        case 12 satisfies Op.RunLazy: {
          const set = code[pc + 1]!;
          const max = code[pc + 3]!;
          const limit = max === UNLIMITED || max > length - position ? length : position + max;
          const least = position + code[pc + 2]!;
          const end = passSet(prepared, subject, set, position, Math.min(least, limit));
          fuel -= scanCost(sets[set]!, end - position);
          if (end < least) break;
          const mark = code[pc + 4]!;
          if (mark >= 0) {
            if (memo === null && fuel < memoBelow) memo = work.memo = new Memo(program.marks);
            if (memo !== null) {
              const key = end > position ? ALL_LOOPS : progress;
              const level = code[pc + 5]!;
              if (!memo.visit(end, mark + Math.min(key, level))) break;
              fuel -= memo.debt >> SCAN_BITS;
              memo.debt = 0;
            }
          }
          stack[top] = pc | (progress << PC_BITS);
          stack[top + 1] = end;
          stack[top + 2] = limit;
          top += FRAME_SIZE;
          const first = code[pc + 6]!;
          if (first !== NO_FIRST) {
            const c = end >= length ? FIRST_END : codes === null ? text.charCodeAt(end) : codes[end]!;
            if (firsts[first + (end >= length || c < 256 ? c : FIRST_HIGH)] === 0) break;
          }
          if (end > position) progress = ALL_LOOPS;
          position = end;
          pc += RUN_SIZE;
          continue;
        }
        case 14 satisfies Op.Split: {
          const first = code[pc + 3]!;
          const otherFirst = code[pc + 4]!;
          if (first !== NO_FIRST || otherFirst !== NO_FIRST) {
            let c = FIRST_END;
            if (position < length) {
              c = codes === null ? text.charCodeAt(position) : codes[position]!;
              if (c > 255) c = FIRST_HIGH;
            }
            if (first !== NO_FIRST && firsts[first + c] === 0) {
              pc = code[pc + 2]!;
              continue;
            }
            if (otherFirst !== NO_FIRST && firsts[otherFirst + c] === 0) {
              pc = code[pc + 1]!;
              continue;
            }
          }
          stack[top] = code[pc + 2]! | (progress << PC_BITS);
          stack[top + 1] = position;
          stack[top + 2] = RESUME;
          top += FRAME_SIZE;
          pc = code[pc + 1]!;
          continue;
        }
        case 15 satisfies Op.Jump:
          pc = code[pc + 1]!;
          continue;
        case 16 satisfies Op.Alternatives:
          stack[top] = pc | (progress << PC_BITS);
          stack[top + 1] = position;
          stack[top + 2] = 0;
          top += FRAME_SIZE;
          break;
        case 17 satisfies Op.Save: {
          const slot = code[pc + 1]!;
          if (top > 0) {
            stack[top] = ~slot;
            stack[top + 1] = slots[slot]!;
            top += FRAME_SIZE;
          }
          slots[slot] = position;
          dirty = true;
          pc += 2;
          continue;
        }
        case 18 satisfies Op.SaveBoth: {
          const slot = code[pc + 1]!;
          if (top > 0) {
            stack[top] = ~slot;
            stack[top + 1] = slots[slot]!;
            stack[top + FRAME_SIZE] = ~(slot + 1);
            stack[top + FRAME_SIZE + 1] = slots[slot + 1]!;
            top += 2 * FRAME_SIZE;
          }
          slots[slot] = slots[code[pc + 2]!]!;
          slots[slot + 1] = position;
          dirty = true;
          pc += 3;
          continue;
        }
        case 19 satisfies Op.Mark:
          if (memo === null) {
            if (fuel >= memoBelow) {
              pc += 3;
              continue;
            }
            memo = work.memo = new Memo(program.marks);
          }
          if (!memo.visit(position, code[pc + 1]! + Math.min(progress, code[pc + 2]!))) break;
          if (memo.debt > 0) {
            fuel -= memo.debt >> SCAN_BITS;
            memo.debt = 0;
          }
          pc += 3;
          continue;
        case 20 satisfies Op.LoopStart:
          if (progress > code[pc + 1]!) progress = code[pc + 1]!;
          pc += 2;
          continue;
        case 21 satisfies Op.LoopEnd: {
          if (progress <= code[pc + 1]!) {
            pc = code[pc + 2]!;
            continue;
          }
          const first = code[pc + 5]!;
          const otherFirst = code[pc + 6]!;
          if (first !== NO_FIRST || otherFirst !== NO_FIRST) {
            let c = FIRST_END;
            if (position < length) {
              c = codes === null ? text.charCodeAt(position) : codes[position]!;
              if (c > 255) c = FIRST_HIGH;
            }
            if (first !== NO_FIRST && firsts[first + c] === 0) {
              pc = code[pc + 4]!;
              continue;
            }
            if (otherFirst !== NO_FIRST && firsts[otherFirst + c] === 0) {
              pc = code[pc + 3]!;
              continue;
            }
          }
          stack[top] = code[pc + 4]! | (progress << PC_BITS);
          stack[top + 1] = position;
          stack[top + 2] = RESUME;
          top += FRAME_SIZE;
          pc = code[pc + 3]!;
          continue;
        }
        case 22 satisfies Op.Atomic:
        case 24 satisfies Op.Look:
        case 26 satisfies Op.LookNegative:
          stack[top] = pc | (progress << PC_BITS);
          stack[top + 1] = position;
          stack[top + 2] = barrier;
          top += FRAME_SIZE;
          barrier = top;
          pc += 2;
          continue;
        case 23 satisfies Op.AtomicEnd:
        case 25 satisfies Op.LookEnd: {
          const frame = barrier - FRAME_SIZE;
          if (code[pc]! === Op.LookEnd) {
            position = stack[frame + 1]!;
            progress = stack[frame]! >>> PC_BITS;
          }
          const outer = stack[frame + 2]!;
          fuel -= (top - barrier) >> SCAN_BITS;
          top = keepUndo(stack, frame, top);
          barrier = outer;
          pc += 1;
          continue;
        }
        case 27 satisfies Op.LookNegativeEnd: {
          const frame = barrier - FRAME_SIZE;
          fuel -= (top - barrier) >> SCAN_BITS;
          for (; top > barrier; top -= FRAME_SIZE) {
            const word = stack[top - FRAME_SIZE]!;
            if (word < 0) slots[~word] = stack[top - FRAME_SIZE + 1]!;
          }
          top = frame;
          barrier = stack[frame + 2]!;
          break;
        }
        case 28 satisfies Op.Back:
          if (position < code[pc + 1]!) break;
          position -= code[pc + 1]!;
          pc += 2;
          continue;
        case 29 satisfies Op.Reference:
        case 30 satisfies Op.ReferenceFold: {
          const size = referenceSize(subject, slots, code, pc, position);
          fuel -= ((size < 0 ? ~size : size) + code[pc + 1]!) >> SCAN_BITS;
          if (size < 0) break;
          if (size > 0) progress = ALL_LOOPS;
          position += size;
          pc += 2 + code[pc + 1]!;
          continue;
        }
        case 31 satisfies Op.TextStart:
          if (position !== 0) break;
          pc += 1;
          continue;
        case 32 satisfies Op.LineStart:
          // Not behind a newline that ends the text.
          if (position !== 0 && (position === length || codeBefore(subject, position) !== NEWLINE)) break;
          pc += 1;
          continue;
        case 33 satisfies Op.TextEnd:
          if (position !== length) break;
          pc += 1;
          continue;
        case 34 satisfies Op.LineEnd:
          if (position !== length && codeBefore(subject, position + 1) !== NEWLINE) break;
          pc += 1;
          continue;
        case 35 satisfies Op.FinalEnd:
          if (position < length - 1) break;
          if (position === length - 1 && codeBefore(subject, length) !== NEWLINE) break;
          pc += 1;
          continue;
        case 36 satisfies Op.WordBoundary:
          if (!isWordBoundary(subject, position)) break;
          pc += 1;
          continue;
        case 37 satisfies Op.NoWordBoundary:
          if (isWordBoundary(subject, position)) break;
          pc += 1;
          continue;
        case 38 satisfies Op.SearchStart:
          if (position !== start) break;
          pc += 1;
          continue;
      }

      // This way failed: take back what it noted, and try the next one of the last choice.
      for (;;) {
        if (top === 0) break run;
        if (--fuel < floor) floor = budget.spent(fuel);
        const frame = top - FRAME_SIZE;
        const word = stack[frame]!;
        if (word < 0) {
          slots[~word] = stack[frame + 1]!;
          top = frame;
          continue;
        }
        pc = word & PC_MASK;
        progress = word >>> PC_BITS;
        position = stack[frame + 1]!;
        const extra = stack[frame + 2]!;
        if (extra === RESUME) {
          top = frame;
          continue run;
        }
        switch (code[pc]!) {
          case 11 satisfies Op.RunGreedy: {
            // The frame holds the highest end that is still to be tried; `extra` is the lowest.
            const first = code[pc + 6]!;
            if (first !== NO_FIRST) {
              const from = position;
              while (position >= extra) {
                let c = FIRST_END;
                if (position < length) {
                  c = codes === null ? text.charCodeAt(position) : codes[position]!;
                  if (c > 255) c = FIRST_HIGH;
                }
                if (firsts[first + c] !== 0) break;
                position--;
              }
              fuel -= (from - position) >> SCAN_BITS;
              if (position < extra) {
                top = frame;
                continue;
              }
            }
            if (position > extra) stack[frame + 1] = position - 1;
            else top = frame;
            if (position > extra || code[pc + 2]! > 0) progress = ALL_LOOPS;
            pc += RUN_SIZE;
            continue run;
          }
          case 12 satisfies Op.RunLazy: {
            // The frame holds the end that was tried last; `extra` is the highest possible.
            const set = code[pc + 1]!;
            const mark = code[pc + 4]!;
            const first = code[pc + 6]!;
            const from = position;
            let found = false;
            while (!found && position < extra) {
              const c = codes === null ? text.charCodeAt(position) : codes[position]!;
              if (c < 256 ? tables[(set << 8) | c] === 0 : !hasHigh(sets[set]!, c)) break;
              position++;
              if (mark >= 0 && memo !== null && !memo.visit(position, mark + code[pc + 5]!)) break;
              if (first === NO_FIRST) {
                found = true;
              } else {
                let next = FIRST_END;
                if (position < length) {
                  next = codes === null ? text.charCodeAt(position) : codes[position]!;
                  if (next > 255) next = FIRST_HIGH;
                }
                found = firsts[first + next] !== 0;
              }
            }
            fuel -= scanCost(sets[set]!, position - from);
            if (memo !== null && memo.debt > 0) {
              fuel -= memo.debt >> SCAN_BITS;
              memo.debt = 0;
            }
            if (!found) {
              top = frame;
              continue;
            }
            stack[frame + 1] = position;
            progress = ALL_LOOPS;
            pc += RUN_SIZE;
            continue run;
          }
          case 16 satisfies Op.Alternatives: {
            // `extra` is the next alternative to be tried.
            const count = code[pc + 1]!;
            let c = FIRST_END;
            if (position < length) {
              c = codes === null ? text.charCodeAt(position) : codes[position]!;
              if (c > 255) c = FIRST_HIGH;
            }
            const chosen = nextAlternative(code, firsts, pc, extra, c);
            const following = chosen < count ? nextAlternative(code, firsts, pc, chosen + 1, c) : count;
            fuel -= (following - extra) >> SCAN_BITS;
            if (following < count) stack[frame + 2] = following;
            else top = frame;
            if (chosen === count) continue;
            pc = code[pc + 2 + 2 * chosen]!;
            continue run;
          }
          case 26 satisfies Op.LookNegative:
            top = frame;
            barrier = extra;
            pc = code[pc + 1]!;
            continue run;
          default:
            // Atomic or Look, whose body does not match.
            top = frame;
            barrier = extra;
        }
      }
    }
    from = attempt + 1;
  }
  if (fuel < floor) budget.spent(fuel);
  budget.instructions = fuel;
  return null;
}

/** A frame: where to go on and the progress there (or the complement of a slot), a position, and an extra value. */
const FRAME_SIZE = 3;
/** Extra value of a frame that goes on at an instruction, rather than with the next choice of an instruction. */
const RESUME = -1;
const PC_BITS = 20;
const PC_MASK = (1 << PC_BITS) - 1;
/** The progress when a character has just been matched: all loops have moved, however many there are. */
const ALL_LOOPS = 255;
const NEWLINE = 0x0a;

/** Instructions that an operation may take for each character that it has advanced before it begins to use the memo. */
const MEMO_AFTER_PER_POSITION = 32;

/** The memo is made when fewer instructions than this are left. */
function memoThreshold(work: Workspace, fuel: number, attempt: number): number {
  const { memoAfter } = work.program;
  const whole = work.initialInstructions - memoAfter - MEMO_AFTER_PER_POSITION * (attempt - work.firstStart);
  return Math.max(fuel - memoAfter, whole);
}

/** Drops the choices of the frames above `from`, the frame at `from` included. Gives the new top. */
function keepUndo(stack: Int32Array, from: number, top: number): number {
  let to = from;
  for (let frame = from + FRAME_SIZE; frame < top; frame += FRAME_SIZE) {
    if (stack[frame]! >= 0) continue;
    stack[to] = stack[frame]!;
    stack[to + 1] = stack[frame + 1]!;
    to += FRAME_SIZE;
  }
  return to;
}

/** The first position from `from` on, but not beyond `limit`, whose character is not in the set. */
function passSet(prepared: Prepared, subject: Subject, index: number, from: number, limit: number): number {
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

function hasHigh(set: CharSet, code: number): boolean {
  return set.high === 'all' || (set.high === 'some' && set.has(code));
}

/** What it costs to pass characters of a set, in instructions. */
function scanCost(set: CharSet, count: number): number {
  return (count >> SCAN_BITS) + count * set.weight;
}

/** The first alternative from `index` on that the character `c` doesn't exclude, or the count. */
function nextAlternative(code: Int32Array, firsts: Uint8Array, pc: number, index: number, c: number): number {
  const count = code[pc + 1]!;
  for (let i = index; i < count; i++) {
    const first = code[pc + 3 + 2 * i]!;
    if (first === NO_FIRST || firsts[first + c] !== 0) return i;
  }
  return count;
}

function lowerCase(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}

function codeBefore(subject: Subject, position: number): number {
  return subject.codes === null ? subject.text.charCodeAt(position - 1) : subject.codes[position - 1]!;
}

function isWordBoundary(subject: Subject, position: number): boolean {
  const before = position > 0 && isWordCode(codeBefore(subject, position));
  const after = position < subject.length && isWordCode(codeBefore(subject, position + 1));
  return before !== after;
}

/** The length of the line end at a position; 0 if there is none. */
function newlineSize(subject: Subject, position: number): number {
  if (position >= subject.length) return 0;
  const code = codeBefore(subject, position + 1);
  if (code === 0x0d)
    return position + 1 < subject.length && codeBefore(subject, position + 2) === NEWLINE ? 2 : 1;
  return (code >= 0x0a && code <= 0x0c) || code === 0x85 || code === 0x2028 || code === 0x2029 ? 1 : 0;
}

function graphemeEnd(graphemes: Graphemes, subject: Subject, position: number): number {
  return graphemes.end(position, subject.length, (at) => codeBefore(subject, at + 1));
}

/** The length of what a back reference matches at a position; else the complement of what it took to find out. */
function referenceSize(
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
