/** Gathers all that comes in one turn of the event loop: it goes on as one. */
import type { Done } from './replica.js';

/** Entries that were given together. */
export interface Part {
  readonly entries: Uint8Array;
  readonly count: number;
  readonly done: Done;
}

export class Gatherer {
  readonly #onTurn: () => void;
  #parts: Part[] = [];
  #reads: Done[] = [];
  #isWaiting = false;

  /** @param onTurn is called at the end of a turn in which something came, to take it */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  write(entries: Uint8Array, count: number, done: Done): void {
    this.#parts.push({ entries, count, done });
    this.wake();
  }

  read(done: Done): void {
    this.#reads.push(done);
    this.wake();
  }

  /** Has `onTurn` called at the end of this turn. */
  wake(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(() => {
      this.#isWaiting = false;
      this.#onTurn();
    });
  }

  takeParts(): Part[] {
    const parts = this.#parts;
    if (parts.length > 0) this.#parts = [];
    return parts;
  }

  takeReads(): Done[] {
    const reads = this.#reads;
    if (reads.length > 0) this.#reads = [];
    return reads;
  }
}

/** Tells each part the index of its first entry. */
export function tellParts(parts: readonly Part[], first: number): void {
  let index = first;
  for (const { count, done } of parts) {
    done(index);
    index += count;
  }
}

export function countOf(parts: readonly Part[]): number {
  return parts.reduce((total, { count }) => total + count, 0);
}
