/**
 * Memory for the bodies of requests whose sender is not known yet: a small part of that for all bodies, so
 * that nobody without credentials can keep others from being served. One address gets a part of it; and half
 * of it is for those that send little, so that a few addresses that send much keep nobody else from logging
 * in.
 */
import type { Bytes } from './byte-budget.js';

/** Bytes that an address may always take as long as there are any. */
const LITTLE_BYTES = 64 * 1024;

/** The part of one address of what those may take that send much. */
const ADDRESS_PART = 1 / 4;

export class Strangers {
  private used = 0;
  private readonly byAddress = new Map<string, number>();

  /** @param limit bytes in all */
  constructor(private readonly limit: number) {}

  /** Bytes that are taken. */
  get bytes(): number {
    return this.used;
  }

  /** The memory that an address may take, and gives back. */
  shareOf(address: string): Bytes {
    return {
      tryTake: (bytes) => this.tryTake(address, bytes),
      give: (bytes) => this.change(address, -bytes),
    };
  }

  private tryTake(address: string, bytes: number): boolean {
    const much = this.limit / 2;
    const own = (this.byAddress.get(address) ?? 0) + bytes;
    const all = this.used + bytes;
    const fits = own <= LITTLE_BYTES ? all <= this.limit : own <= much * ADDRESS_PART && all <= much;
    if (fits) this.change(address, bytes);
    return fits;
  }

  private change(address: string, bytes: number): void {
    if (bytes === 0) return;
    this.used += bytes;
    const own = (this.byAddress.get(address) ?? 0) + bytes;
    if (own > 0) this.byAddress.set(address, own);
    else this.byAddress.delete(address);
  }
}
