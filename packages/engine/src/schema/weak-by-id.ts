/** Number of ids at which those whose objects are gone are dropped for the first time. */
const SWEEP_FIRST = 64;

/**
 * Objects by id that the state knows nothing of any more, or not yet: each is found as long as something refers to it, so that there are
 * never two for one id.
 */
export class WeakById<T extends object> {
  private readonly refs = new Map<number, WeakRef<T>>();
  private sweepAt = SWEEP_FIRST;

  put(id: number, object: T): void {
    this.refs.set(id, new WeakRef(object));
    if (this.refs.size < this.sweepAt) return;
    for (const [other, ref] of this.refs) if (ref.deref() === undefined) this.refs.delete(other);
    this.sweepAt = Math.max(SWEEP_FIRST, 2 * this.refs.size);
  }

  /** Gives the object of an id back; undefined for none. */
  take(id: number): T | undefined {
    const found = this.refs.get(id)?.deref();
    this.refs.delete(id);
    return found;
  }

  /** Forgets ids from one on, whoever refers to their objects. */
  forget(from: number): void {
    for (const id of this.refs.keys()) if (id >= from) this.refs.delete(id);
  }

  clear(): void {
    this.refs.clear();
    this.sweepAt = SWEEP_FIRST;
  }
}
