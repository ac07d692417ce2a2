import type { Value } from '../value/value.js';

/**
 * The variable of one name, as long as it is bound. Scoping is dynamic: a name means its innermost running binding,
 * whoever made it. So one cell per name is enough (shallow binding): a call saves what its parameters and locals hide
 * and puts it back when it ends. Between queries every cell is unbound.
 */
export class Cell {
  /** Undefined while unbound. */
  value: Value | undefined = undefined;

  constructor(readonly name: string) {}
}

/** A local of a closure that was not assigned in this activation yet: nothing is hidden. */
export const UNTOUCHED = Symbol('untouched');

export type SavedValue = Value | undefined | typeof UNTOUCHED;

/**
 * The cells of one engine thread. Names come from clients, so a cell lives only as long as code that mentions it. The cells that only
 * the running query mentions go with it: most texts come once, and a cell that is to be found again as long as it lives costs ten
 * times as much.
 */
export class Symbols {
  private readonly lasting = new Map<string, WeakRef<Cell>>();
  private readonly forgotten = new FinalizationRegistry<string>((name) => {
    if (this.lasting.get(name)?.deref() === undefined) this.lasting.delete(name);
  });
  /** The cells that code of the running query asked for; some of them are lasting. */
  private readonly passing = new Map<string, Cell>();
  /** True if code is made that goes when the running query ends. */
  isPassing = false;

  /** Number of names that lasting code mentions. */
  get size(): number {
    return this.lasting.size;
  }

  /** The one cell of a name. */
  cell(name: string): Cell {
    return this.isPassing ? this.passingCell(name) : this.lastingCell(name);
  }

  /** The one cell of a name, for what goes when the running query ends. */
  passingCell(name: string): Cell {
    let cell = this.passing.get(name);
    if (cell === undefined) {
      cell = this.lasting.get(name)?.deref() ?? new Cell(name);
      this.passing.set(name, cell);
    }
    return cell;
  }

  /** True if this is the cell that lasting code finds by its name, as long as it lives. */
  isLasting(cell: Cell): boolean {
    return this.lasting.get(cell.name)?.deref() === cell;
  }

  /** Makes code that goes when the running query ends. Nothing else may be compiled meanwhile. */
  whilePassing<T>(compile: () => T): T {
    const outer = this.isPassing;
    this.isPassing = true;
    try {
      return compile();
    } finally {
      this.isPassing = outer;
    }
  }

  /** Keeps the cells of the running query: some of its code outlives it. */
  keepPassing(): void {
    for (const name of this.passing.keys()) this.lastingCell(name);
  }

  /** Forgets the cells of a query that has ended. */
  endPassing(): void {
    if (this.passing.size > 0) this.passing.clear();
  }

  /** The values of all variables that are bound now. */
  values(): Value[] {
    const values: Value[] = [];
    for (const [name, cell] of this.lasting) {
      const value = cell.deref()?.value;
      if (value !== undefined && !this.passing.has(name)) values.push(value);
    }
    for (const { value } of this.passing.values()) if (value !== undefined) values.push(value);
    return values;
  }

  private lastingCell(name: string): Cell {
    const known = this.lasting.get(name)?.deref();
    if (known !== undefined) return known;
    const cell = this.passing.get(name) ?? new Cell(name);
    this.lasting.set(name, new WeakRef(cell));
    this.forgotten.register(cell, name);
    return cell;
  }
}
