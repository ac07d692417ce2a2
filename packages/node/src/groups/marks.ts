import type { Applied } from '../between/protocol.js';

/** A log position that is to be found: see `Command.mark`. */
export interface Mark {
  readonly placed: (index: number) => void;
  readonly reached: (applied: Applied) => void;
  readonly lost: () => void;
}

/**
 * The marks of a group that the consensus side was asked for, by number. Each ends once: reached, or lost.
 */
export class Marks {
  private readonly marks = new Map<number, Mark>();
  private next = 1;

  /** @returns the number to ask for it under */
  add(mark: Mark): number {
    const id = this.next++;
    this.marks.set(id, mark);
    return id;
  }

  placed(id: number, index: number): void {
    this.marks.get(id)?.placed(index);
  }

  reached(id: number, applied: Applied): void {
    this.take(id)?.reached(applied);
  }

  lost(id: number): void {
    this.take(id)?.lost();
  }

  loseAll(): void {
    for (const id of [...this.marks.keys()]) this.lost(id);
  }

  private take(id: number): Mark | undefined {
    const mark = this.marks.get(id);
    this.marks.delete(id);
    return mark;
  }
}
