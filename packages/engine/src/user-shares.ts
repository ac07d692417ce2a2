/** Something of which there is only so much on a node, and users may hold it for long: nobody takes it all. */
export class UserShares {
  private all = 0;
  private readonly byUser = new Map<number, number>();

  /** @param max as much as all users may hold together */
  constructor(private readonly max: number) {}

  /** True if a user may hold so much more: nobody gets to hold more than was left to all others before. */
  admits(userId: number, amount = 1): boolean {
    return (this.byUser.get(userId) ?? 0) + amount <= this.max - this.all;
  }

  /** @param change less than zero for what is given back */
  add(userId: number, change: number): void {
    this.all += change;
    const held = (this.byUser.get(userId) ?? 0) + change;
    if (held === 0) this.byUser.delete(userId);
    else this.byUser.set(userId, held);
  }
}
