import type { Socket } from 'node:net';

/** Connections that have not proved anything: all together, and from one address. */
export const STRANGERS_MAX = 256;
const STRANGERS_PER_ADDRESS_MAX = 64;

/**
 * Connections that have not proved that they are of a node. They are few; a new one is always taken, since it may be of a node, which
 * proves itself within moments, and the oldest gives way to it: of its own address where that has too many, else of the address with most.
 */
export class Strangers {
  private readonly displaced: (address: string) => void;
  /** In the order in which they came. */
  private readonly addresses = new Map<Socket, string>();
  private readonly counts = new Map<string, number>();

  /** @param displaced called with the address of a connection that gave way */
  constructor(displaced: (address: string) => void) {
    this.displaced = displaced;
  }

  get size(): number {
    return this.addresses.size;
  }

  /** Takes a connection, and forgets it when it ends. */
  add(socket: Socket, address: string): void {
    if ((this.counts.get(address) ?? 0) >= STRANGERS_PER_ADDRESS_MAX) this.displace(address);
    else if (this.addresses.size >= STRANGERS_MAX) this.displace(this.crowdedAddress());
    this.addresses.set(socket, address);
    this.change(address, 1);
    socket.once('close', () => this.delete(socket));
  }

  /** The connection has ended, or proved itself. */
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
