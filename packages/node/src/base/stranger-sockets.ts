import type { Socket } from 'node:net';

/** The part of all places that one address may have. */
const ADDRESS_PART = 1 / 4;

/**
 * Connections of senders that nobody knows. They are few; a new one is always taken, since who is in earnest needs its place for moments
 * only, and the oldest gives way to it: of its own address where that has a quarter of all places, else of the address with most.
 */
export class StrangerSockets {
  /** In the order in which they came. */
  private readonly addresses = new Map<Socket, string>();
  private readonly counts = new Map<string, number>();

  /**
   * @param max connections at once
   * @param displaced called with the address of a connection that gave way
   */
  constructor(
    private readonly max: number,
    private readonly displaced: (address: string) => void,
  ) {}

  get size(): number {
    return this.addresses.size;
  }

  /** Takes a connection, and forgets it when it ends. */
  add(socket: Socket, address: string): void {
    const ofAddressMax = Math.max(1, this.max * ADDRESS_PART);
    if ((this.counts.get(address) ?? 0) >= ofAddressMax) this.displace(address);
    else if (this.addresses.size >= this.max) this.displace(this.crowdedAddress());
    this.addresses.set(socket, address);
    this.change(address, 1);
    socket.once('close', () => this.delete(socket));
  }

  /** The connection has ended, or its sender is known. */
  delete(socket: Socket): void {
    const address = this.addresses.get(socket);
    if (address === undefined) return;
    this.addresses.delete(socket);
    this.change(address, -1);
  }

  private displace(address: string): void {
    for (const [socket, from] of this.addresses) {
      if (from !== address) continue;
      this.delete(socket);
      socket.destroy();
      this.displaced(address);
      return;
    }
  }

  /** The address with most connections. */
  private crowdedAddress(): string {
    let most = '';
    for (const [address, count] of this.counts) if (count > (this.counts.get(most) ?? 0)) most = address;
    return most;
  }

  private change(address: string, by: number): void {
    const count = (this.counts.get(address) ?? 0) + by;
    if (count > 0) this.counts.set(address, count);
    else this.counts.delete(address);
  }
}
