/**
 * JavaScript source in the making. It never holds text of users: everything that it needs from outside, numbers and
 * booleans apart, is a constant that is handed over as a value.
 */

/** An expression and what is known of its value. */
export interface Expression {
  readonly code: string;
  /** `number`: an int as a JavaScript number; `boolean`: true or false. */
  readonly kind: 'number' | 'boolean' | 'any';
}

export class Source {
  readonly constants: unknown[] = [];
  private readonly names = new Map<unknown, string>();
  private temps = 0;
  private tempsMost = 0;
  private labels = 0;

  /** The name of a value from outside. */
  constant(value: unknown): string {
    let name = this.names.get(value);
    if (name === undefined) {
      name = `k${this.constants.length}`;
      this.constants.push(value);
      this.names.set(value, name);
    }
    return name;
  }

  /** A variable of the function for what was evaluated; free again after `release`. */
  temp(): string {
    const name = `t${this.temps++}`;
    if (this.temps > this.tempsMost) this.tempsMost = this.temps;
    return name;
  }

  get mark(): number {
    return this.temps;
  }

  /** Frees the variables that were taken since a mark. What they hold may be overwritten by what is evaluated next. */
  release(mark: number): void {
    this.temps = mark;
  }

  label(): string {
    return `L${this.labels++}`;
  }

  /** The function with these statements as its body. */
  build(body: string): () => unknown {
    const constants = this.constants.map((_, i) => `k${i}`);
    const temps = Array.from({ length: this.tempsMost }, (_, i) => `t${i}`);
    const variables = temps.length === 0 ? '' : `let ${temps.join(', ')};\n`;
    const make = new Function(...constants, `"use strict";\nreturn () => {\n${variables}${body}\n};`);
    return make(...this.constants) as () => unknown;
  }
}
