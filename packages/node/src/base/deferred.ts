/** A promise that is settled from outside. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;

  constructor() {
    let resolve: (value: T) => void = ignore;
    let reject: (error: unknown) => void = ignore;
    // The function that a promise is made with runs at once.
    this.promise = new Promise<T>((resolved, rejected) => {
      resolve = resolved;
      reject = rejected;
    });
    this.resolve = resolve;
    this.reject = reject;
  }
}

function ignore(): void {}
