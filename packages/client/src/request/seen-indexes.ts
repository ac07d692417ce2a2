/** The highest index that was seen in each scope: a stale read must not be older. */
export class SeenIndexes {
  readonly #byScope = new Map<string, number>();

  /** An answer reflects a state. */
  note(scope: string, index: number): void {
    if (index > this.of(scope)) this.#byScope.set(scope, index);
  }

  /** 0 for none. */
  of(scope: string): number {
    return this.#byScope.get(scope) ?? 0;
  }
}
