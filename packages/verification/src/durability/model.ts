/** A model of all that must be found later, from what was sent and what was acknowledged. */

/** Something that has one value at a time. A write without an answer leaves two values possible. */
export class Register<T> {
  private possible: readonly T[];

  constructor(value: T) {
    this.possible = [value];
  }

  /** The value, where only one is possible. */
  get value(): T {
    if (this.possible.length !== 1) throw new Error('the value is not known before it was looked at');
    return this.possible[0] as T;
  }

  /** A write is on its way. */
  sent(value: T): void {
    this.possible = [...this.possible, value];
  }

  /** The write that is on its way was acknowledged. */
  acknowledged(): void {
    this.possible = this.possible.slice(-1);
  }

  /** @throws Error when this value can't be */
  found(value: T, what: string): void {
    if (!this.possible.includes(value)) {
      throw new Error(`${what} is ${String(value)}, and should be ${this.possible.map(String).join(' or ')}`);
    }
    this.possible = [value];
  }
}

/** Numbers that one client adds, each higher than the one before. */
export class Sequence {
  private known: number[] = [];
  private readonly pending = new Set<number>();
  private last = 0;

  /** A number to send. */
  next(): number {
    this.last += 1;
    return this.last;
  }

  sent(number: number): void {
    this.pending.add(number);
  }

  acknowledged(number: number): void {
    this.pending.delete(number);
    this.known.push(number);
  }

  /** @throws Error when something is missing, comes twice, in another order, or was never sent or refused */
  found(numbers: readonly number[], what: string): void {
    let before = 0;
    for (const number of numbers) {
      if (number <= before) throw new Error(`${what}: ${number} comes behind ${before}`);
      before = number;
    }
    const present = new Set(numbers);
    const lost = this.known.filter((number) => !present.has(number));
    if (lost.length > 0) throw new Error(`${what}: acknowledged and lost: ${lost.slice(0, 10).join(', ')}`);
    if (numbers.length > this.known.length + this.pending.size) this.explainSurplus(numbers, what);
    const known = new Set(this.known);
    for (const number of numbers) {
      if (!known.has(number) && !this.pending.has(number)) this.explainSurplus(numbers, what);
    }
    this.known = [...numbers];
    this.pending.clear();
  }

  private explainSurplus(numbers: readonly number[], what: string): never {
    const known = new Set(this.known);
    const surplus = numbers.filter((number) => !known.has(number) && !this.pending.has(number));
    throw new Error(`${what}: never acknowledged or refused, and there: ${surplus.slice(0, 10).join(', ')}`);
  }
}
