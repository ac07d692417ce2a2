/**
 * Virtual time: one heap of events, ordered by time and then by when they were planned. After each event everything that
 * it resolved has run (promises included) before the next one begins.
 */
export class Scheduler {
  /** Milliseconds since the beginning. */
  now = 0;
  /** Number of events so far. */
  turns = 0;
  private readonly heap: Planned[] = [];
  private sequence = 0;

  /** Plans work. The function that it returns calls it off. */
  after(delayMs: number, work: () => void): () => void {
    return this.at(this.now + delayMs, work);
  }

  /** Plans work for a time: what is planned for the same one runs in the order in which it was planned. */
  at(time: number, work: () => void): () => void {
    const planned: Planned = { time, sequence: this.sequence++, work };
    this.push(planned);
    return () => {
      planned.work = nothing;
    };
  }

  /**
   * Lets time go on.
   *
   * @param until ends when this holds, or at the time limit
   * @param afterEach called after each event
   * @throws what an event throws
   */
  run(until: () => boolean, limitMs: number, afterEach: () => void): Promise<void> {
    const end = this.now + limitMs;
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          afterEach();
          if (until()) return resolve();
          const next = this.heap[0];
          if (next === undefined || next.time > end) {
            this.now = end;
            return resolve();
          }
          this.pop();
          this.now = Math.max(this.now, next.time);
          this.turns += 1;
          next.work();
        } catch (error) {
          return reject(error);
        }
        setImmediate(turn);
      };
      setImmediate(turn);
    });
  }

  private push(planned: Planned): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(planned);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Planned;
      if (!isBefore(planned, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = planned;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop() as Planned;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Planned, heap[child] as Planned)) child += 1;
      if (!isBefore(heap[child] as Planned, last)) break;
      heap[at] = heap[child] as Planned;
      at = child;
    }
    heap[at] = last;
  }
}

interface Planned {
  readonly time: number;
  readonly sequence: number;
  work: () => void;
}

function nothing(): void {}

function isBefore(left: Planned, right: Planned): boolean {
  return left.time < right.time || (left.time === right.time && left.sequence < right.sequence);
}
