/**
 * One caller at a time that wants to look at the state of a follower when it stands at an index, and no
 * further.
 */
export class StateWatch {
  private index = 0;
  private done: ((there: boolean) => void) | null = null;

  /** True if somebody waits: then the state must stand at each index on its way. */
  get isSet(): boolean {
    return this.done !== null;
  }

  /**
   * Calls back while the state stands at an index, now or later. An earlier caller that still waits is called with false.
   *
   * @param present the index that it stands at; null where nobody can say that it will stand there
   * @param done called with false when that is over, or can't come any more
   * @returns ends the wait: `done` is called with false then, unless it was called
   */
  whenAt(index: number, present: number | null, done: (there: boolean) => void): () => void {
    this.end(false);
    if (present === null || present >= index) {
      done(present === index);
      return () => {};
    }
    this.index = index;
    this.done = done;
    return () => {
      if (this.done === done) this.end(false);
    };
  }

  /** To be called before the entry with this index is applied. */
  approaching(index: number): void {
    if (this.done !== null && index > this.index) this.end(true);
  }

  /** To be called when the state stands at an index. */
  arrived(index: number): void {
    if (this.done !== null && index >= this.index) this.end(true);
  }

  end(there: boolean): void {
    const { done } = this;
    this.done = null;
    done?.(there);
  }
}
