import type { Thing } from '../value/thing.js';
import { STUB_BYTES } from './evictor.js';
import type { ThingMemory } from './memory.js';

/**
 * Takes things out of memory while a query runs that changes nothing, so that one which goes over more than fits ends all the same.
 *
 * Things leave between two turns of a walk, and of them those alone that came into memory since it began: whatever the walk is a part of
 * may go by what it loaded before. A thing that left stays as a stub, since the query may hold it, and comes back when it is looked into.
 */
export class ReadingMemory {
  /** Bytes from which on things leave: more than may be where too few could leave the last time. */
  private fullAt: number;
  /** Things that the query brought into memory, the first one first. */
  private things: Thing[] = [];

  /**
   * @param bytesMax what things may take in memory
   * @param onFull called when they take more; `leave` is expected then
   */
  constructor(
    private readonly store: ThingMemory,
    private readonly bytesMax: number,
    private readonly onFull: () => void,
  ) {
    this.fullAt = bytesMax;
  }

  /** A query begins. */
  begin(): void {
    this.things = [];
    this.fullAt = this.bytesMax;
  }

  /** Where a walk begins: what comes into memory from now on may leave in its course. */
  get mark(): number {
    return this.things.length;
  }

  /** A thing came into memory. */
  noteLoaded(thing: Thing): void {
    this.things.push(thing);
    if (this.bytes > this.fullAt) this.onFull();
  }

  /** Takes a good part of what came into memory since a mark out of it, beginning with what came first. */
  leave(mark: number): void {
    const { store, bytesMax } = this;
    const room = bytesMax * ROOM_PART;
    const left = this.things.splice(mark).filter((thing) => {
      if (thing.locked || this.bytes <= bytesMax - room) return true;
      store.unload(thing, false);
      return false;
    });
    this.things = this.things.concat(left);
    store.indexes.evict();
    this.fullAt = Math.max(bytesMax, this.bytes + room);
  }

  private get bytes(): number {
    return this.store.bytes + STUB_BYTES * this.store.table.size;
  }
}

/** The part of the memory that is free when things have left. */
const ROOM_PART = 0.25;
