/** Connections by the network that they come from: those that are open, and those among them that are logged in. */
export class NetworkCounts {
  private readonly open = new Map<string, number>();
  private readonly known = new Map<string, number>();
  private count = 0;

  /** Connections that are open, of all networks. */
  get all(): number {
    return this.count;
  }

  /** Connections that are open. */
  of(network: string): number {
    return this.open.get(network) ?? 0;
  }

  /** Open connections that are not logged in. */
  strangersOf(network: string): number {
    return this.of(network) - (this.known.get(network) ?? 0);
  }

  opened(network: string): void {
    this.count += 1;
    change(this.open, network, 1);
  }

  closed(network: string): void {
    this.count -= 1;
    change(this.open, network, -1);
  }

  /** One that is open has logged in. */
  loggedIn(network: string): void {
    change(this.known, network, 1);
  }

  /** One that was logged in is closed. */
  loggedOut(network: string): void {
    change(this.known, network, -1);
  }
}

function change(counts: Map<string, number>, network: string, by: number): void {
  const count = (counts.get(network) ?? 0) + by;
  if (count > 0) counts.set(network, count);
  else counts.delete(network);
}
