import type { DataInput } from './input.js';

/** The values of a record, which is a map: they are told apart by their order, and their keys hardly ever are looked at. */
export class Payload {
  private left: number;

  constructor(
    private readonly input: DataInput,
    private readonly what: string,
  ) {
    this.left = input.map(what);
  }

  /** Work with the payload of a record, of which nothing may be left. */
  static reader(input: DataInput): (what: string, work: (payload: Payload) => void) => () => void {
    return (what, work) => () => {
      const payload = new Payload(input, what);
      work(payload);
      payload.end();
    };
  }

  /** Values that are still to be read. */
  get remaining(): number {
    return this.left;
  }

  /** Goes to the next value. */
  next(): DataInput {
    const { input, what } = this;
    if (this.left === 0) input.fail(`${what} ends too early`);
    this.left -= 1;
    input.skip();
    return input;
  }

  /** Goes to the next value whose key counts; gives the key. */
  nextKey(): string {
    const { input, what } = this;
    if (this.left === 0) input.fail(`${what} ends too early`);
    this.left -= 1;
    return input.text('a key');
  }

  /** Throws when there are values that were not read. */
  end(): void {
    if (this.left > 0) this.input.fail(`${this.what} has ${this.left} values too many`);
  }
}
