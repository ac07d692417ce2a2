import { type First, firstOf } from './first-sets.js';
import { Graphemes } from './graphemes.js';
import { FIRST_HIGH, FIRST_SET_SIZE, NO_FIRST, Op, type Program, RUN_SIZE } from './program.js';
import { type SearchPlan, searchPlan } from './search-plan.js';

/** A program with what speeds it up: tables for its sets, first sets at its choices, and a plan where to begin. */
export interface Prepared {
  readonly program: Program;
  /** 256 bytes for each set: which of the first 256 characters it has. */
  readonly tables: Uint8Array;
  /** First sets; see FIRST_SET_SIZE. */
  readonly firsts: Uint8Array;
  readonly plan: SearchPlan;
  /** The rules of `\X`; made when first asked for. */
  graphemes(): Graphemes;
}

/** Prepares a program for its first search. Fills in first sets and makes runs possessive where that can't matter. */
export function prepare(program: Program): Prepared {
  const tables = setTables(program);
  const firsts = new FirstSets(program, tables);
  fillIn(program, tables, firsts);
  let graphemes: Graphemes | null = null;
  return {
    program,
    tables,
    firsts: firsts.bytes(),
    plan: searchPlan(program, firstOf(program, tables, 0)),
    graphemes: () => (graphemes ??= new Graphemes()),
  };
}

/** First sets that are worked out for one program, at most. */
const FIRST_SETS_MAX = 1000;

class FirstSets {
  readonly #sets: Uint8Array[] = [];
  readonly #program: Program;
  readonly #tables: Uint8Array;
  #found = 0;

  constructor(program: Program, tables: Uint8Array) {
    this.#program = program;
    this.#tables = tables;
  }

  get isFull(): boolean {
    return this.#found >= FIRST_SETS_MAX;
  }

  find(pc: number): First {
    this.#found++;
    return firstOf(this.#program, this.#tables, pc);
  }

  /** Adds a set, if it excludes anything. */
  add(first: First): number {
    if (first.unknown || first.matches || first.allowed.every((byte) => byte !== 0)) return NO_FIRST;
    this.#sets.push(first.allowed);
    return (this.#sets.length - 1) * FIRST_SET_SIZE;
  }

  bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#sets.length * FIRST_SET_SIZE);
    this.#sets.forEach((set, i) => {
      bytes.set(set, i * FIRST_SET_SIZE);
    });
    return bytes;
  }
}

function setTables({ sets }: Program): Uint8Array {
  const tables = new Uint8Array(sets.length << 8);
  sets.forEach((set, index) => {
    const offset = index << 8;
    if (set.predicate !== null) {
      for (let c = 0; c < 256; c++) tables[offset | c] = set.has(c) ? 1 : 0;
      return;
    }
    for (let i = 0; i < set.ranges.length && set.ranges[i]! < 256; i += 2) {
      tables.fill(1, offset + set.ranges[i]!, offset + Math.min(255, set.ranges[i + 1]!) + 1);
    }
  });
  return tables;
}

/** Walks over all instructions. */
function fillIn(program: Program, tables: Uint8Array, firsts: FirstSets): void {
  const { code } = program;
  const firstAt = (pc: number): number => firsts.add(firsts.find(pc));
  for (let pc = 0; pc < code.length && !firsts.isFull; pc += sizeAt(code, pc)) {
    switch (code[pc]!) {
      case Op.Split:
        code[pc + 3] = firstAt(code[pc + 1]!);
        code[pc + 4] = firstAt(code[pc + 2]!);
        break;
      case Op.LoopEnd:
        code[pc + 5] = firstAt(code[pc + 3]!);
        code[pc + 6] = firstAt(code[pc + 4]!);
        break;
      case Op.Alternatives:
        for (let i = 0; i < code[pc + 1]! && !firsts.isFull; i++)
          code[pc + 3 + 2 * i] = firstAt(code[pc + 2 + 2 * i]!);
        break;
      case Op.RunGreedy: {
        const first = firsts.find(pc + RUN_SIZE);
        if (isDisjoint(program, tables, code[pc + 1]!, first)) code[pc] = Op.RunPossessive;
        else code[pc + 6] = firsts.add(first);
        break;
      }
      case Op.RunLazy:
        code[pc + 6] = firstAt(pc + RUN_SIZE);
        break;
    }
  }
}

/**
 * True if nothing that follows can begin with a character of the set. Then a greedy run never needs to give anything
 * back: what follows would find such a character. (Nor does it where the match simply ends.)
 */
function isDisjoint({ sets }: Program, tables: Uint8Array, set: number, first: First): boolean {
  if (first.unknown) return false;
  if (first.allowed[FIRST_HIGH] !== 0 && sets[set]!.high !== 'none') return false;
  for (let c = 0; c < 256; c++) if (tables[(set << 8) | c] !== 0 && first.allowed[c] !== 0) return false;
  return true;
}

/** The length of an instruction in words. */
function sizeAt(code: Int32Array, pc: number): number {
  switch (code[pc]!) {
    case Op.Char:
    case Op.CharFold:
    case Op.Set:
    case Op.Jump:
    case Op.Save:
    case Op.LoopStart:
    case Op.Atomic:
    case Op.Look:
    case Op.LookNegative:
    case Op.Back:
      return 2;
    case Op.SaveBoth:
    case Op.Mark:
      return 3;
    case Op.Split:
      return 5;
    case Op.RunGreedy:
    case Op.RunLazy:
    case Op.RunPossessive:
    case Op.LoopEnd:
      return RUN_SIZE;
    case Op.String:
    case Op.StringFold:
    case Op.Reference:
    case Op.ReferenceFold:
      return 2 + code[pc + 1]!;
    case Op.Alternatives:
      return 2 + 2 * code[pc + 1]!;
    default:
      return 1;
  }
}
