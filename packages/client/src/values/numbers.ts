/** Numbers that the two types of JavaScript do not tell apart. */

/** An int of the database: a `number` as long as it is a safe integer, else a `bigint`. */
export type Int = number | bigint;

/** A float, also where its value is whole: `new Float(1)` is 1.0, and plain `1` is the int. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}
