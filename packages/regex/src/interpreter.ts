import { type Budget, SCANNED_PER_INSTRUCTION_BITS as SCAN_BITS } from './budget.js';
import {
  anchorHolds,
  codeBefore,
  FRAME_SIZE,
  firstCode,
  graphemeEnd,
  hasHigh,
  keepUndo,
  memoThreshold,
  NEWLINE,
  newlineSize,
  nextAlternative,
  passSet,
  referenceSize,
  sameCount,
  scanCost,
  undoSlots,
} from './interpreter-steps.js';
import { Memo } from './memo.js';
import type { Prepared } from './prepare.js';
import { NO_FIRST, Op, RUN_SIZE, UNLIMITED } from './program.js';
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
  /** The fuel at which the budget has to know. */
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
          return [slots[0]!, position, ...slots.subarray(2, 2 * (program.groupCount + 1))];
        }
        case 1 satisfies Op.Fail:
          break;
        case 2 satisfies Op.Char:
        case 3 satisfies Op.CharFold: {
          if (position >= length) break;
          const c = codes === null ? text.charCodeAt(position) : codes[position]!;
          if ((code[pc]! === Op.Char ? c : c | 0x20) !== code[pc + 1]!) break;
          position++;
          progress = ALL_LOOPS;
          pc += 2;
          continue;
        }
        case 4 satisfies Op.String:
        case 5 satisfies Op.StringFold: {
          const count = code[pc + 1]!;
          if (length - position < count) break;
          const same = sameCount(subject, code, pc, position);
          fuel -= same >> SCAN_BITS;
          if (same < count) break;
          position += count;
          progress = ALL_LOOPS;
          pc += 2 + count;
          continue;
        }
        case 6 satisfies Op.Any:
        case 7 satisfies Op.NotNewline:
          if (position >= length) break;
          if (code[pc]! === Op.NotNewline && codeBefore(subject, position + 1) === NEWLINE) break;
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
            fuel -= (memo.takeDebt() >> SCAN_BITS) + scanCost(sets[set]!, end - from);
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
          if (mark >= 0 && memo === null && fuel < memoBelow) memo = work.memo = new Memo(program.marks);
          if (mark >= 0 && memo !== null) {
            const key = end > position ? ALL_LOOPS : progress;
            const level = code[pc + 5]!;
            if (!memo.visit(end, mark + Math.min(key, level))) break;
            fuel -= memo.takeDebt() >> SCAN_BITS;
          }
          stack[top] = pc | (progress << PC_BITS);
          stack[top + 1] = end;
          stack[top + 2] = limit;
          top += FRAME_SIZE;
          const first = code[pc + 6]!;
          if (first !== NO_FIRST && firsts[first + firstCode(subject, end)] === 0) break;
          if (end > position) progress = ALL_LOOPS;
          position = end;
          pc += RUN_SIZE;
          continue;
        }
        case 14 satisfies Op.Split:
        case 21 satisfies Op.LoopEnd: {
          // The targets, and the first sets of both.
          let at = pc + 1;
          if (code[pc]! === Op.LoopEnd) {
            if (progress <= code[pc + 1]!) {
              pc = code[pc + 2]!;
              continue;
            }
            at = pc + 3;
          }
          const first = code[at + 2]!;
          const otherFirst = code[at + 3]!;
          if (first !== NO_FIRST || otherFirst !== NO_FIRST) {
            const c = firstCode(subject, position);
            if (first !== NO_FIRST && firsts[first + c] === 0) {
              pc = code[at + 1]!;
              continue;
            }
            if (otherFirst !== NO_FIRST && firsts[otherFirst + c] === 0) {
              pc = code[at]!;
              continue;
            }
          }
          stack[top] = code[at + 1]! | (progress << PC_BITS);
          stack[top + 1] = position;
          stack[top + 2] = RESUME;
          top += FRAME_SIZE;
          pc = code[at]!;
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
          fuel -= memo.takeDebt() >> SCAN_BITS;
          pc += 3;
          continue;
        case 20 satisfies Op.LoopStart:
          if (progress > code[pc + 1]!) progress = code[pc + 1]!;
          pc += 2;
          continue;
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
          undoSlots(stack, slots, barrier, top);
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
        default:
          if (!anchorHolds(code[pc]!, subject, position, start)) break;
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
                if (firsts[first + firstCode(subject, position)] !== 0) break;
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
              found = first === NO_FIRST || firsts[first + firstCode(subject, position)] !== 0;
            }
            fuel -= scanCost(sets[set]!, position - from);
            if (memo !== null) fuel -= memo.takeDebt() >> SCAN_BITS;
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
            const c = firstCode(subject, position);
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

/** Extra value of a frame that goes on at an instruction, rather than with the next choice of an instruction. */
const RESUME = -1;
const PC_BITS = 20;
const PC_MASK = (1 << PC_BITS) - 1;
/** The progress when a character has just been matched: all loops have moved, however many there are. */
const ALL_LOOPS = 255;
