import { FIRST_END, FIRST_HIGH, FIRST_SET_SIZE, Op, type Program, RUN_SIZE } from './program.js';

/** The characters that can come next where a path of the program goes on. */
export interface First {
  /** Characters, anything higher, the end; as described at FIRST_SET_SIZE. */
  readonly allowed: Uint8Array;
  /** True if the path can get to the end of the program (or of an atomic group or assertion), whatever comes next. */
  readonly matches: boolean;
  /** True if it was not possible to say; `allowed` is then to be ignored. */
  readonly unknown: boolean;
}

/**
 * The characters that a path from `pc` on can begin with.
 *
 * @param tables which characters below 256 are in the sets of the program
 */
export function firstOf(program: Program, tables: Uint8Array, pc: number): First {
  return new FirstFinder(program, tables).find(pc);
}

/** Instructions looked at before giving up. */
const VISITS_MAX = 100;

class FirstFinder {
  readonly #program: Program;
  readonly #tables: Uint8Array;
  readonly #allowed = new Uint8Array(FIRST_SET_SIZE);
  readonly #seen = new Set<number>();
  #matches = false;
  #unknown = false;

  constructor(program: Program, tables: Uint8Array) {
    this.#program = program;
    this.#tables = tables;
  }

  find(start: number): First {
    /** Points still to be looked at; the complement of one that lies behind a condition. */
    const open = [start];
    while (open.length > 0 && !this.#unknown) {
      const point = open.pop()!;
      if (this.#seen.has(point)) continue;
      this.#seen.add(point);
      if (this.#seen.size > VISITS_MAX) this.#unknown = true;
      else this.#visit(point < 0 ? ~point : point, point < 0, open);
    }
    return { allowed: this.#allowed, matches: this.#matches, unknown: this.#unknown };
  }

  #visit(pc: number, conditional: boolean, open: number[]): void {
    const { code, sets } = this.#program;
    const goOn = (target: number, condition = conditional) => open.push(condition ? ~target : target);
    switch (code[pc]!) {
      case Op.Match:
      case Op.AtomicEnd:
      case Op.LookEnd:
      case Op.LookNegativeEnd:
        // The end of a body that is matched as a whole: what follows it has no say in how it is matched.
        if (conditional) this.#unknown = true;
        else this.#matches = true;
        break;
      case Op.Fail:
        break;
      case Op.Char:
        this.#allow(code[pc + 1]!);
        break;
      case Op.CharFold:
        this.#allowFold(code[pc + 1]!);
        break;
      case Op.String:
        this.#allow(code[pc + 2]!);
        break;
      case Op.StringFold:
        this.#allowFold(code[pc + 2]!);
        break;
      case Op.Any:
      case Op.Grapheme:
        this.#allowed.fill(1, 0, FIRST_HIGH + 1);
        break;
      case Op.NotNewline:
        for (let c = 0; c <= FIRST_HIGH; c++) if (c !== 0x0a) this.#allowed[c] = 1;
        break;
      case Op.Newline:
        for (const c of [0x0a, 0x0b, 0x0c, 0x0d, 0x85, FIRST_HIGH]) this.#allowed[c] = 1;
        break;
      case Op.Set:
        this.#allowSet(code[pc + 1]!, sets[code[pc + 1]!]!.high !== 'none');
        break;
      case Op.RunGreedy:
      case Op.RunLazy:
      case Op.RunPossessive:
        this.#allowSet(code[pc + 1]!, sets[code[pc + 1]!]!.high !== 'none');
        // A possessive run leaves only what comes behind all of it.
        if (code[pc + 2]! === 0) goOn(pc + RUN_SIZE, conditional || code[pc]! === Op.RunPossessive);
        break;
      case Op.Split:
        goOn(code[pc + 1]!);
        goOn(code[pc + 2]!);
        break;
      case Op.Jump:
        goOn(code[pc + 1]!);
        break;
      case Op.Alternatives:
        for (let i = 0; i < code[pc + 1]!; i++) {
          if (open.length > VISITS_MAX) this.#unknown = true;
          else goOn(code[pc + 2 + 2 * i]!);
        }
        break;
      case Op.Save:
      case Op.LoopStart:
        goOn(pc + 2);
        break;
      case Op.SaveBoth:
        goOn(pc + 3);
        break;
      case Op.Mark:
        // Places that were visited are not tried again, so that an end behind a mark is not certain; but then it has been had.
        goOn(pc + 3);
        break;
      case Op.LoopEnd:
        goOn(code[pc + 2]!);
        goOn(code[pc + 3]!);
        goOn(code[pc + 4]!);
        break;
      case Op.Atomic:
        goOn(pc + 2, true);
        break;
      case Op.Look:
      case Op.LookNegative:
        goOn(code[pc + 1]!, true);
        break;
      case Op.TextEnd:
        this.#allowed[FIRST_END] = 1;
        break;
      case Op.LineEnd:
      case Op.FinalEnd:
        this.#allowed[FIRST_END] = 1;
        this.#allowed[0x0a] = 1;
        break;
      case Op.TextStart:
      case Op.LineStart:
      case Op.WordBoundary:
      case Op.NoWordBoundary:
      case Op.SearchStart:
        goOn(pc + 1, true);
        break;
      default:
        // Back references.
        this.#unknown = true;
    }
  }

  #allow(code: number): void {
    this.#allowed[Math.min(code, FIRST_HIGH)] = 1;
  }

  #allowFold(lower: number): void {
    this.#allow(lower);
    if (lower >= 0x61 && lower <= 0x7a) this.#allow(lower - 0x20);
  }

  #allowSet(set: number, high: boolean): void {
    const offset = set << 8;
    for (let c = 0; c < 256; c++) if (this.#tables[offset | c] !== 0) this.#allowed[c] = 1;
    if (high) this.#allowed[FIRST_HIGH] = 1;
  }
}
