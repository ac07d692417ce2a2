/**
 * Completions of a simulated disk that wait until a test lets them happen, one after the other in the order
 * in which they were begun.
 */
export class EventQueue<Operation> {
  private events: { operation: Operation; complete: () => void }[] = [];

  push(operation: Operation, complete: () => void): void {
    this.events.push({ operation, complete });
  }

  get length(): number {
    return this.events.length;
  }

  /** Forgets everything, as at the end of a process. */
  clear(): void {
    this.events = [];
  }

  /** Lets up to `count` operations complete. */
  async run(count: number): Promise<void> {
    await turn();
    for (let i = 0; i < count && this.events.length > 0; i++) {
      this.events.shift()?.complete();
      await turn();
    }
  }

  /** Lets operations complete until a promise is settled. */
  async runUntil<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    await turn();
    while (!settled) {
      const next = this.events.shift();
      if (next === undefined) throw new Error('nothing is left to happen, and the promise is not settled');
      next.complete();
      await turn();
    }
    return promise;
  }
}

/** All microtasks run before this resolves. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
