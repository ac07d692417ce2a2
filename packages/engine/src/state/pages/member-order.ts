import type { Charge } from '../../value/containers.js';

/** The ids of a set's members, taken up in any order, and given back in the order in which they were added. */
export class MemberOrder {
  /** The ids by their orders, 0 for none; null where the orders are too far apart for that. */
  private readonly dense: Float64Array | null;
  private readonly sparse: { readonly id: number; readonly order: number }[] = [];
  private isSorted = true;
  /** The place behind the last id that was given back: in `dense`, or in `sparse`. */
  private given = 0;

  /**
   * @param nextOrder above all orders
   * @param count of the members
   */
  constructor(nextOrder: number, count: number) {
    this.dense = nextOrder > SPARSE_MIN * count ? null : new Float64Array(nextOrder);
  }

  note(id: number, order: number): void {
    if (this.dense !== null) this.dense[order] = id;
    else {
      this.sparse.push({ id, order });
      this.isSorted = false;
    }
  }

  /** To be called when all were noted, before the first one is given back. */
  sort(charge: Charge): void {
    if (this.isSorted) return;
    charge(UNITS_PER_SORTED * this.sparse.length);
    this.sparse.sort((a, b) => a.order - b.order);
    this.isSorted = true;
  }

  next(): number {
    if (this.dense !== null) while (this.dense[this.given] === 0) this.given += 1;
    const place = this.given++;
    const id = this.dense === null ? this.sparse[place]?.id : this.dense[place];
    if (id === undefined) throw new Error('all members were given back');
    return id;
  }
}

/** The number of orders for each member from which on they are sorted. */
const SPARSE_MIN = 4;

/** Units charged for a member that is sorted. */
const UNITS_PER_SORTED = 64;
