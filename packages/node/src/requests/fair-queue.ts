/**
 * A bounded queue in which senders take turns, each with what it has waiting in its order. When it is full,
 * the sender with most waiting loses its last one: nobody gets more of it by sending more.
 */
export class FairQueue<T> {
  private readonly bySender = new Map<string, T[]>();
  private count = 0;

  /** @param max of what may wait */
  constructor(private readonly max: number) {}

  /** @returns what has no room; null for nothing. It may be what was just added */
  add(sender: string, item: T): T | null {
    const own = this.bySender.get(sender) ?? [];
    let out: T | null = null;
    if (this.count >= this.max) {
      const longest = this.longest();
      const last = longest.length > own.length + 1 ? longest.pop() : undefined;
      if (last === undefined) return item;
      out = last;
      this.count -= 1;
    }
    own.push(item);
    this.count += 1;
    this.bySender.set(sender, own);
    return out;
  }

  /** The next one: of the sender who has waited longest since it had a turn. */
  take(): T | undefined {
    for (const [sender, items] of this.bySender) {
      const item = items.shift();
      // Its next turn comes after all others.
      this.bySender.delete(sender);
      if (items.length > 0) this.bySender.set(sender, items);
      if (item === undefined) continue;
      this.count -= 1;
      return item;
    }
    return undefined;
  }

  private longest(): T[] {
    let longest: T[] = [];
    for (const items of this.bySender.values()) if (items.length > longest.length) longest = items;
    return longest;
  }
}
