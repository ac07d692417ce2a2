import type { Value } from '../value/value.js';

/**
 * The variable of one name, as long as it is bound. Scoping is dynamic: a name means its innermost running binding,
 * whoever made it. So one cell per name is enough (shallow binding): a call saves what its parameters and locals hide
 * and puts it back when it ends. Between queries every cell is unbound.
 */
export class Cell {
  readonly name: string;
  /** Undefined while unbound. */
  value: Value | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** The cells of one engine thread. Names come from clients, so a cell lives only as long as code that mentions it. */
export class Symbols {
  private readonly cells = new Map<string, WeakRef<Cell>>();
  private readonly forgotten = new FinalizationRegistry<string>((name) => {
    if (this.cells.get(name)?.deref() === undefined) this.cells.delete(name);
  });

  /** Number of names that some code mentions. */
  get size(): number {
    return this.cells.size;
  }

  cell(name: string): Cell {
    const known = this.cells.get(name)?.deref();
    if (known !== undefined) return known;
    const cell = new Cell(name);
    this.cells.set(name, new WeakRef(cell));
    this.forgotten.register(cell, name);
    return cell;
  }

  /** The values of all variables that are bound now. */
  values(): Value[] {
    const values: Value[] = [];
    for (const cell of this.cells.values()) {
      const value = cell.deref()?.value;
      if (value !== undefined) values.push(value);
    }
    return values;
  }
}
