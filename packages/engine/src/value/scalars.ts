import { Tag } from './tag.js';

/**
 * A float. Ints are bare JavaScript numbers (bigints outside the safe range), so floats are boxed: `1` is not `1.0`.
 * Negative zero does not exist in the language; the constructor turns it into zero.
 */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value + 0;
  }

  get tag(): typeof Tag.FLOAT {
    return Tag.FLOAT;
  }
}

/** Immutable bytes. Whoever makes one hands over the array and must not write to it afterwards. */
export class Bytes {
  constructor(readonly data: Uint8Array) {}

  get tag(): typeof Tag.BYTES {
    return Tag.BYTES;
  }
}

/** An error as a value: falsy, equal by code. `QueryError` is what is thrown when one is raised. */
export class ErrorValue {
  constructor(
    readonly code: number,
    readonly message: string,
  ) {}

  get tag(): typeof Tag.ERROR {
    return Tag.ERROR;
  }
}

/** Packed MessagePack that is passed on without unpacking, as the information functions return it. */
export class MpData {
  /** @param given the data, or what makes them when they are wanted first: it must give the same at any time */
  constructor(private given: Uint8Array | (() => Uint8Array)) {}

  get data(): Uint8Array {
    if (typeof this.given === 'function') this.given = this.given();
    return this.given;
  }

  get tag(): typeof Tag.MPDATA {
    return Tag.MPDATA;
  }
}
