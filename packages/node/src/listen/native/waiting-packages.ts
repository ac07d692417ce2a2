import type { QueryError } from '@althing/engine';
import { BODIES_FULL } from '../http/refusals.js';
import type { Bytes } from '../limits/byte-budget.js';
import { TOO_MANY_WAIT } from './answers.js';
import type { Header } from './package.js';

/** Packages that wait for their turn before nothing more is read, and their bytes. */
const ENOUGH = 64;
const ENOUGH_BYTES = 256 * 1024;

/** Packages that wait for their turn at most: they keep coming where reading can't be put off. */
const COUNT_MAX = 8192;

/** Packages from this size on are not copied to wait. */
const LONG_PACKAGE = 16 * 1024;

/** Bytes of a package that waits, besides its data. */
const OVERHEAD_BYTES = 128;

export interface WaitingPackage {
  readonly header: Header;
  readonly data: Buffer;
  readonly bytes: number;
  /** The budget in which its bytes are counted. */
  readonly memory: Bytes;
}

/** Packages of one connection that wait for their turn, and the memory that they take. */
export class WaitingPackages {
  private readonly packages: WaitingPackage[] = [];
  private bytes = 0;

  get length(): number {
    return this.packages.length;
  }

  /** True if nothing more should be read for now. */
  get isEnough(): boolean {
    return this.packages.length >= ENOUGH || this.bytes >= ENOUGH_BYTES;
  }

  /** True if more may be read again. */
  get isFew(): boolean {
    return this.packages.length <= ENOUGH / 2 && this.bytes <= ENOUGH_BYTES / 2;
  }

  /** Takes one, or says why it can't be taken. */
  add(header: Header, data: Buffer, memory: Bytes): QueryError | null {
    const bytes = data.length + OVERHEAD_BYTES;
    if (this.packages.length >= COUNT_MAX) return TOO_MANY_WAIT;
    if (!memory.tryTake(bytes)) return BODIES_FULL;
    // A small package may lie in a large piece that was read.
    const kept = data.length < LONG_PACKAGE ? Buffer.from(data) : data;
    this.packages.push({ header, data: kept, bytes, memory });
    this.bytes += bytes;
    return null;
  }

  /** The first one, whose memory is given back. */
  shift(): WaitingPackage | undefined {
    const next = this.packages.shift();
    if (next === undefined) return undefined;
    this.bytes -= next.bytes;
    next.memory.give(next.bytes);
    return next;
  }

  clear(): void {
    while (this.shift() !== undefined);
  }
}
