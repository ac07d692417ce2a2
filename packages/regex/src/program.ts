import type { CharSet } from './char-set.js';

/** A compiled pattern; the instructions in `code` are described at `Op`. */
export interface Program {
  readonly code: Int32Array;
  readonly sets: readonly CharSet[];
  readonly groupCount: number;
  /** Number of remembered positions: two for each group and the whole match, and some more for self references. */
  readonly slotCount: number;
  /** Number of marks; 0 when the program has none. */
  readonly marks: number;
  /** Instructions after which a search begins to use a memo. */
  readonly memoAfter: number;
  /** True if `\G` occurs; what fails then depends on where the search began. */
  readonly usesSearchStart: boolean;
  /** The fewest characters of a match. */
  readonly minLength: number;
}

/**
 * The instructions. Each is a number followed by its operands.
 *
 * `first` operands are indexes of first sets (or NO_FIRST); they only save trying what can't succeed.
 */
export enum Op {
  /** The end: a match. */
  Match = 0,
  Fail = 1,
  /** code */
  Char = 2,
  /** lower case letter */
  CharFold = 3,
  /** count, codes... */
  String = 4,
  /** count, codes in lower case... */
  StringFold = 5,
  Any = 6,
  NotNewline = 7,
  /** set */
  Set = 8,
  /** `\R` */
  Newline = 9,
  /** `\X` */
  Grapheme = 10,
  /** set, min, max, mark, level, first: one character of a set repeatedly. */
  RunGreedy = 11,
  RunLazy = 12,
  RunPossessive = 13,
  /** target, other target, first of target, first of other: tries the one, then the other. */
  Split = 14,
  /** target */
  Jump = 15,
  /** count, (target, first)... */
  Alternatives = 16,
  /** slot: notes the position. */
  Save = 17,
  /** slot, slot of the start: notes start and end of a group. */
  SaveBoth = 18,
  /** mark, level: fails if visited before; see Memo. */
  Mark = 19,
  /** level: begins an iteration of a loop whose body may match nothing. */
  LoopStart = 20,
  /** level, exit, target, other target, first, first: like Split, but leaves after an iteration without progress. */
  LoopEnd = 21,
  /** end: what stands up to `end` is matched as a whole; the choices in it are dropped then. */
  Atomic = 22,
  AtomicEnd = 23,
  /** end: the same, and the position does not move. */
  Look = 24,
  LookEnd = 25,
  /** end: goes on at `end` when what stands up to there does not match. */
  LookNegative = 26,
  LookNegativeEnd = 27,
  /** count: goes back so many characters. */
  Back = 28,
  /** count, groups... */
  Reference = 29,
  ReferenceFold = 30,
  TextStart = 31,
  LineStart = 32,
  TextEnd = 33,
  LineEnd = 34,
  FinalEnd = 35,
  WordBoundary = 36,
  NoWordBoundary = 37,
  SearchStart = 38,
}

/** Words of a Run instruction. */
export const RUN_SIZE = 7;

/** Operand of an endless run in place of its maximum. */
export const UNLIMITED = -1;
/** Operand of a run that has no marks. */
export const NO_MARK = -1;
/** Operand in place of a first set that is not known. */
export const NO_FIRST = -1;

/**
 * First sets say which characters can come next if a path is to succeed: a byte for each character below 256, one for
 * all others, one for the end of the text. They lie in one array; an index points at the first of these bytes.
 */
export const FIRST_SET_SIZE = 258;
export const FIRST_HIGH = 256;
export const FIRST_END = 257;
