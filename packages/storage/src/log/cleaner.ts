import type { GroupLog } from './group-log.js';
import { readWindow } from './reader.js';
import type { Segments } from './segments.js';
import type { WriteBatch } from './write-batch.js';

/** So much of an old segment is copied with one write, so that appends next to it stay fast. */
const SLICE_BYTES = 256 * 1024;

/** The size of the log, in multiples of the needed bytes, from which on an old segment is cleaned. */
const SPACE_FACTOR = 4;

/**
 * Frees the oldest segment when a quiet group pins it: what is needed of it is written again at the end of
 * the log. So 1,000 groups of which one never speaks again use a bounded log: at most four times what is
 * needed and four segments. At that point three quarters of the log are garbage, so a byte is copied at most
 * once for each three that are written. (Rosenblum and Ousterhout, "The Design and Implementation of a
 * Log-Structured File System", section 3, with the simplest policy: oldest first.)
 */
export class Cleaner {
  /** The segment being cleaned; 0 for none. */
  private target = 0;
  private waiting: GroupLog[] = [];
  /** The index to go on with in the last of the waiting groups. */
  private nextIndex = 0;
  private missingBytes = 0;

  constructor(
    private readonly segments: Segments,
    private readonly segmentBytes: number,
  ) {}

  get isCleaning(): boolean {
    return this.target !== 0;
  }

  /** Room that the next copy needs; told when a segment is full. */
  get neededBytes(): number {
    return this.missingBytes;
  }

  /** Begins with the oldest segment if the log has become too large for what is needed of it. */
  consider(groups: () => Iterable<GroupLog>): void {
    const { oldest, active, bytes, liveBytes } = this.segments;
    if (this.isCleaning || oldest === active || oldest.live === 0) return;
    if (bytes < SPACE_FACTOR * (liveBytes + this.segmentBytes)) return;
    this.target = oldest.number;
    this.waiting = [...groups()];
    this.nextIndex = 0;
  }

  /** Gives up for now: there is no room for copies. */
  stop(): void {
    this.target = 0;
    this.waiting = [];
    this.nextIndex = 0;
  }

  /**
   * Adds copies of what is needed to a batch, up to a slice or to `room` bytes. Must come first in a batch:
   * the copies are of what is durable.
   */
  addTo(batch: WriteBatch, room: number): void {
    this.missingBytes = STATE_RECORDS_BYTES;
    while (this.isCleaning) {
      const log = this.waiting.at(-1);
      if (log === undefined) {
        this.stop();
        return;
      }
      if (!this.addGroup(batch, log, room)) return;
      this.waiting.pop();
      this.nextIndex = 0;
    }
  }

  /** False if the slice is full before the group is done. */
  private addGroup(batch: WriteBatch, log: GroupLog, room: number): boolean {
    if (batch.bytes + STATE_RECORDS_BYTES > Math.min(room, SLICE_BYTES)) return false;
    if (this.nextIndex === 0) {
      if (log.baseSegment === this.target) batch.addCompaction(log, log.base);
      if (log.hardState !== undefined && log.hardStateSegment === this.target)
        batch.addHardState(log, log.hardState);
    }
    const { positions } = log;
    for (let index = Math.max(this.nextIndex, log.firstIndex); index <= log.lastIndex; index++) {
      if (positions.segmentOf(index) !== this.target) continue;
      const after = batch.bytes + positions.lengthOf(index);
      if (after > room || (batch.bytes > 0 && after > SLICE_BYTES)) {
        this.nextIndex = index;
        this.missingBytes = positions.lengthOf(index);
        return false;
      }
      for (const entry of readWindow(this.segments, log, index, index + 1)) {
        batch.addRelocated(log, entry);
      }
    }
    return true;
  }
}

/** A compaction and a hard state. */
const STATE_RECORDS_BYTES = 72 + 80;
