/** The records that a checkpoint has to write and to remove. */
export interface NumbersCapture {
  /** The first record that the checkpoint has to write. */
  readonly from: number;
  /** The records that it has to remove. */
  readonly left: readonly (readonly [number: number, parts: number])[];
  /** Notes that this is durable. */
  readonly written: () => void;
}

/**
 * Numbers of the records of request sessions. Each change of a session gives it the next number, so that the records lie in the order of
 * the last changes: a checkpoint writes those from a number on, and removes those that were left behind.
 */
export class RecordNumbers {
  private nextNumber = 1;
  /** Records with smaller numbers may lie on the disk. */
  private captured = 1;
  /** Records with smaller numbers lie there, apart from those that were left. */
  private durable = 1;
  /** Parts of records that may lie there and are not needed any more, by number. */
  private left = new Map<number, number>();

  /** The number that the next change gives. */
  get next(): number {
    return this.nextNumber;
  }

  take(): number {
    return this.nextNumber++;
  }

  /** A session has another number from now on, or is gone. */
  leave({ number, parts }: { readonly number: number; readonly parts: number }): void {
    if (number < this.captured) this.left.set(number, parts);
  }

  /** Begins with what lies on the disk: the records with smaller numbers. */
  begin(next: number): void {
    this.nextNumber = next;
    this.captured = next;
    this.durable = next;
    this.left.clear();
  }

  capture(): NumbersCapture {
    const { nextNumber, durable } = this;
    const left = [...this.left];
    this.captured = nextNumber;
    const written = (): void => {
      this.durable = nextNumber;
      for (const [number] of left) this.left.delete(number);
    };
    return { from: durable, left, written };
  }
}
