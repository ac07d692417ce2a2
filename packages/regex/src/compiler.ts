import { ANY, type CharSet, NOT_NEWLINE } from './char-set.js';
import { RegexSyntaxError } from './errors.js';
import { NO_FIRST, NO_MARK, Op, type Program, UNLIMITED } from './program.js';
import { type Anchor, minLength, type Node, type Pattern, singleCharacter } from './syntax.js';

/**
 * Translates a parsed pattern into the instructions of `program.ts`.
 *
 * Repeated groups are written out: `x{2,4}` becomes `xx(x(x)?)?`. The size of the program is limited, whatever the
 * pattern multiplies. Throws RegexSyntaxError when it is exceeded.
 *
 * @param memoAfter instructions after which a search begins to remember what failed (Infinity: never)
 */
export function compile(pattern: Pattern, memoAfter: number): Program {
  return new Compiler(pattern, memoAfter).compile();
}

/** A memo pays off in long searches only. */
export const MEMO_AFTER = 2000;

/** Limit of a program in words. */
const PROGRAM_SIZE_MAX = 262_144;
/** Limit of the nodes that are translated, counting each time anew what is repeated. */
const WORK_MAX = 1_000_000;

type Repeat = Extract<Node, { kind: 'repeat' }>;

class Compiler {
  readonly #pattern: Pattern;
  readonly #memoAfter: number;
  /** True if to place marks. With back references, what was tried before does not tell enough. */
  readonly #memoise: boolean;
  readonly #code: number[] = [];
  readonly #sets: CharSet[] = [];
  readonly #setIndexes = new Map<CharSet, number>();
  readonly #runSets = new Map<Node, CharSet | null>();
  #marks = 0;
  #work = 0;
  /** Number of bodies around that are matched as a whole: atomic groups and assertions. */
  #sealed = 0;
  /** Number of endless loops around whose body may match nothing. */
  #level = 0;
  #usesSearchStart = false;

  constructor(pattern: Pattern, memoAfter: number) {
    this.#pattern = pattern;
    this.#memoAfter = memoAfter;
    this.#memoise = memoAfter !== Infinity && !pattern.hasReferences;
  }

  compile(): Program {
    const { root, groupCount, selfReferenced } = this.#pattern;
    this.#emitNode(root);
    this.#emit(Op.Match);
    return {
      code: Int32Array.from(this.#code),
      sets: this.#sets,
      groupCount,
      slotCount: 2 * (groupCount + 1) + (selfReferenced.size > 0 ? groupCount + 1 : 0),
      marks: this.#marks,
      memoAfter: this.#memoAfter,
      usesSearchStart: this.#usesSearchStart,
      minLength: minLength(root),
    };
  }

  get #here(): number {
    return this.#code.length;
  }

  #emit(...words: number[]): number {
    const start = this.#code.length;
    if (start + words.length > PROGRAM_SIZE_MAX) throw tooLarge();
    for (const word of words) this.#code.push(word);
    return start;
  }

  #patch(position: number, target: number): void {
    this.#code[position] = target;
  }

  #emitNode(node: Node): void {
    if (++this.#work > WORK_MAX) throw tooLarge();
    switch (node.kind) {
      case 'string':
        this.#emitString(node.codes, node.fold);
        break;
      case 'set':
        this.#emitSet(node.set);
        break;
      case 'newline':
        this.#emit(Op.Newline);
        this.#emitMark();
        break;
      case 'grapheme':
        this.#emit(Op.Grapheme);
        this.#emitMark();
        break;
      case 'anchor':
        if (node.anchor === 'search start') this.#usesSearchStart = true;
        this.#emit(ANCHOR_OPS[node.anchor]);
        break;
      case 'keep':
        this.#emit(Op.Save, 0);
        break;
      case 'sequence':
        for (const item of node.items) this.#emitNode(item);
        break;
      case 'alternation':
        this.#emitAlternation(node.branches.map((branch) => () => this.#emitNode(branch)));
        break;
      case 'capture':
        this.#emitCapture(node.group, node.body);
        break;
      case 'atomic':
        this.#emitSealed(Op.Atomic, Op.AtomicEnd, () => this.#emitNode(node.body));
        this.#emitMark();
        break;
      case 'repeat':
        this.#emitRepeat(node);
        break;
      case 'lookahead': {
        const op = node.negative ? Op.LookNegative : Op.Look;
        this.#emitSealed(op, node.negative ? Op.LookNegativeEnd : Op.LookEnd, () =>
          this.#emitNode(node.body),
        );
        break;
      }
      case 'lookbehind': {
        const op = node.negative ? Op.LookNegative : Op.Look;
        const branches = node.branches.map(({ body, length }) => () => {
          if (length > 0) this.#emit(Op.Back, length);
          this.#emitNode(body);
        });
        this.#emitSealed(op, node.negative ? Op.LookNegativeEnd : Op.LookEnd, () =>
          this.#emitAlternation(branches),
        );
        break;
      }
      case 'reference': {
        const op = node.fold ? Op.ReferenceFold : Op.Reference;
        this.#emit(op, node.groups.length, ...node.groups);
        break;
      }
    }
  }

  #emitString(codes: readonly number[], fold: boolean): void {
    if (codes.length === 1) {
      this.#emit(fold ? Op.CharFold : Op.Char, codes[0]!);
      return;
    }
    this.#emit(fold ? Op.StringFold : Op.String, codes.length);
    for (const code of codes) this.#emit(code);
  }

  #emitSet(set: CharSet): void {
    if (set === ANY) this.#emit(Op.Any);
    else if (set === NOT_NEWLINE) this.#emit(Op.NotNewline);
    else if (set.isEmpty) this.#emit(Op.Fail);
    else this.#emit(Op.Set, this.#setIndex(set));
  }

  #setIndex(set: CharSet): number {
    let index = this.#setIndexes.get(set);
    if (index === undefined) {
      index = this.#sets.length;
      this.#sets.push(set);
      this.#setIndexes.set(set, index);
    }
    return index;
  }

  #emitAlternation(branches: readonly (() => void)[]): void {
    if (branches.length === 1) {
      branches[0]!();
      return;
    }
    const start = this.#emit(Op.Alternatives, branches.length);
    for (let i = 0; i < branches.length; i++) this.#emit(0, NO_FIRST);
    const jumps: number[] = [];
    branches.forEach((emitBranch, i) => {
      this.#patch(start + 2 + 2 * i, this.#here);
      emitBranch();
      if (i < branches.length - 1) jumps.push(this.#emit(Op.Jump, 0) + 1);
    });
    for (const jump of jumps) this.#patch(jump, this.#here);
    this.#emitMark();
  }

  #emitCapture(group: number, body: Node): void {
    if (this.#pattern.selfReferenced.has(group)) {
      // Inside, the group's earlier value can still be referred to: its new start is kept apart until it ends.
      const kept = 2 * (this.#pattern.groupCount + 1) + group;
      this.#emit(Op.Save, kept);
      this.#emitNode(body);
      this.#emit(Op.SaveBoth, 2 * group, kept);
    } else {
      this.#emit(Op.Save, 2 * group);
      this.#emitNode(body);
      this.#emit(Op.Save, 2 * group + 1);
    }
  }

  #emitSealed(op: number, endOp: number, emitBody: () => void): void {
    const start = this.#emit(op, 0);
    this.#sealed++;
    emitBody();
    this.#sealed--;
    this.#emit(endOp);
    this.#patch(start + 1, this.#here);
  }

  /** Marks a point where several ways meet. */
  #emitMark(): void {
    if (this.#memoise && this.#sealed === 0) this.#emit(Op.Mark, this.#newMarks(), this.#level);
  }

  /** Reserves mark numbers for one point: one for each value that the progress can have there. */
  #newMarks(): number {
    const first = this.#marks;
    this.#marks += this.#level + 1;
    return first;
  }

  // Repeats

  #emitRepeat(node: Repeat): void {
    const { body, min, max, mode } = node;
    if (max === 0) return;
    const set = this.#runSet(body);
    if (set !== null && !(min === 1 && max === 1)) {
      this.#emitRun(set, node);
    } else if (mode === 'possessive') {
      this.#emitSealed(Op.Atomic, Op.AtomicEnd, () => this.#emitRepeated(body, min, max, false));
      this.#emitMark();
    } else {
      this.#emitRepeated(body, min, max, mode === 'lazy');
    }
  }

  /** Remembered, so that all copies of a repeat share one set. */
  #runSet(body: Node): CharSet | null {
    let set = this.#runSets.get(body);
    if (set === undefined) {
      set = singleCharacter(body);
      this.#runSets.set(body, set);
    }
    return set;
  }

  #emitRun(set: CharSet, { min, max, mode }: Repeat): void {
    const op = { greedy: Op.RunGreedy, lazy: Op.RunLazy, possessive: Op.RunPossessive }[mode];
    const endless = max === Infinity;
    const marked = this.#memoise && this.#sealed === 0 && endless;
    const mark = marked ? this.#newMarks() : NO_MARK;
    this.#emit(op, this.#setIndex(set), min, endless ? UNLIMITED : max, mark, this.#level, NO_FIRST);
    if (!endless) this.#emitMark();
  }

  #emitRepeated(body: Node, min: number, max: number, lazy: boolean): void {
    if (max === Infinity) {
      for (let i = 1; i < min; i++) this.#emitNode(body);
      if (minLength(body) === 0) this.#emitCarefulLoop(body, min === 0, lazy);
      else if (min === 0) this.#emitStar(body, lazy);
      else this.#emitPlus(body, lazy);
      return;
    }
    for (let i = 0; i < min; i++) this.#emitNode(body);
    const exits: number[] = [];
    for (let i = min; i < max; i++) {
      exits.push(this.#emitSplit(lazy));
      this.#emitNode(body);
    }
    if (exits.length === 0) return;
    for (const exit of exits) this.#patch(exit, this.#here);
    this.#emitMark();
  }

  /** A choice between what follows directly and a place still to be patched in, whose position is returned. */
  #emitSplit(lazy: boolean): number {
    const start = this.#emit(Op.Split, 0, 0, NO_FIRST, NO_FIRST);
    this.#patch(start + (lazy ? 2 : 1), this.#here);
    return start + (lazy ? 1 : 2);
  }

  #emitStar(body: Node, lazy: boolean): void {
    const head = this.#here;
    this.#emitMark();
    const exit = this.#emitSplit(lazy);
    this.#emitNode(body);
    this.#emit(Op.Jump, head);
    this.#patch(exit, this.#here);
  }

  #emitPlus(body: Node, lazy: boolean): void {
    const head = this.#here;
    this.#emitMark();
    this.#emitNode(body);
    const exit = this.#emitSplit(lazy);
    this.#emit(Op.Jump, head);
    this.#patch(exit, this.#here);
  }

  /** A loop whose body may match nothing: such an iteration is the last one. */
  #emitCarefulLoop(body: Node, skippable: boolean, lazy: boolean): void {
    const skip = skippable ? this.#emitSplit(lazy) : -1;
    const level = this.#level++;
    const head = this.#emit(Op.LoopStart, level);
    this.#emitMark();
    this.#emitNode(body);
    this.#level--;
    const end = this.#emit(Op.LoopEnd, level, 0, 0, 0, NO_FIRST, NO_FIRST);
    const exit = this.#here;
    this.#patch(end + 2, exit);
    this.#patch(end + (lazy ? 4 : 3), head);
    this.#patch(end + (lazy ? 3 : 4), exit);
    if (skippable) {
      this.#patch(skip, exit);
      this.#emitMark();
    }
  }
}

const ANCHOR_OPS: Readonly<Record<Anchor, number>> = {
  'text start': Op.TextStart,
  'line start': Op.LineStart,
  'text end': Op.TextEnd,
  'line end': Op.LineEnd,
  'text end or final newline': Op.FinalEnd,
  'word boundary': Op.WordBoundary,
  'no word boundary': Op.NoWordBoundary,
  'search start': Op.SearchStart,
};

function tooLarge(): RegexSyntaxError {
  return new RegexSyntaxError(
    'the pattern is too large when its repeats are written out; repeat smaller groups',
    0,
  );
}
