export interface WaitingTask {
  readonly id: number;
  /** Unix seconds. */
  readonly startAt: number;
  /** Since when it is known that it starts then: wall clock in milliseconds; 0 when that was before this node led. */
  readonly knownAt: number;
}

/**
 * The tasks of a scope by the time of their start: a binary heap. What was scheduled otherwise since, or is gone, is left where it is
 * and passed over when its turn comes; so looking costs the head alone, however many wait.
 */
export class TaskQueue {
  private readonly heap: WaitingTask[] = [];

  get size(): number {
    return this.heap.length;
  }

  /** The one that starts first. */
  get head(): WaitingTask | undefined {
    return this.heap[0];
  }

  add(task: WaitingTask): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(task);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const other = heap[parent];
      if (other === undefined || !isBefore(task, other)) break;
      heap[at] = other;
      at = parent;
    }
    heap[at] = task;
  }

  /** Takes the head out. */
  take(): WaitingTask | undefined {
    const { heap } = this;
    const [head] = heap;
    const last = heap.pop();
    if (head === undefined || last === undefined || heap.length === 0) return head;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let smallest = heap[child];
      const right = heap[child + 1];
      if (smallest !== undefined && right !== undefined && isBefore(right, smallest)) {
        smallest = right;
        child += 1;
      }
      if (smallest === undefined || !isBefore(smallest, last)) break;
      heap[at] = smallest;
      at = child;
    }
    heap[at] = last;
    return head;
  }
}

function isBefore(a: WaitingTask, b: WaitingTask): boolean {
  return a.startAt < b.startAt || (a.startAt === b.startAt && a.id < b.id);
}
