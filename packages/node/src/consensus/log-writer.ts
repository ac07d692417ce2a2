import { DiskFullError, type LogOperation, type LogStore } from '@althing/storage';
import { assert } from '../base/assert.js';

export interface LogWriterEvents {
  /** The disk has no room for what is to be written: it waits, and `retry` tries it again. */
  readonly full: () => void;
  /** There is room again, and everything that waited is on its way, in order. */
  readonly room: () => void;
  readonly writing: () => void;
  /** A write is done, or had no room; whether there are more under way. */
  readonly written: (more: boolean) => void;
  /** The log can't go on. */
  readonly failed: (error: unknown) => void;
}

/**
 * Bytes that are handed to the log store at once; what is beyond waits here, so that the store refuses
 * nothing.
 */
const IN_FLIGHT_BYTES_MAX = 256 * 1024 * 1024;

/** Bytes of an operation on the disk, besides its payload, at most. */
const OPERATION_BYTES = 128;

interface Append {
  readonly serial: number;
  readonly operations: readonly LogOperation[];
  readonly bytes: number;
  readonly done: () => void;
}

interface Compaction {
  readonly upTo: number;
  readonly done: () => void;
}

/**
 * Writes of all groups to the log, in order. The log store writes nothing of what it has no room for; what it
 * gives back is kept here, in the order in which it came, and nothing overtakes it.
 */
export class LogWriter {
  /** Writes that the store does not have, in the order of their serial numbers. */
  private held: Append[] = [];
  private readonly compactions = new Map<number, Compaction>();
  private nextSerial = 1;
  /** The number of the last write that is durable. */
  private doneSerial = 0;
  private inFlight = 0;
  private inFlightBytes = 0;
  /** `probing`: the oldest of what waits was handed over to see whether there is room. */
  private state: 'open' | 'full' | 'probing' = 'open';

  constructor(
    private readonly log: LogStore,
    private readonly events: LogWriterEvents,
  ) {}

  /** True if the disk has no room for what is to be written. */
  get blocked(): boolean {
    return this.state !== 'open';
  }

  /** Makes operations durable, together; `done` is called when they are, and never if the log fails. */
  append(operations: readonly LogOperation[], done: () => void): void {
    this.held.push({ serial: this.nextSerial++, operations, bytes: bytesOf(operations), done });
    this.pump();
  }

  /** Lets the entries of a group up to `upTo` go. `done` is called when that is durable. */
  compact(group: number, upTo: number, done: () => void): void {
    this.log.compact(group, upTo).then(done, (error: unknown) => {
      if (!(error instanceof DiskFullError)) {
        this.events.failed(error);
        return;
      }
      this.compactions.set(group, { upTo, done });
      this.setFull();
    });
  }

  /** The group is gone: no compaction of its log waits any more. */
  forget(group: number): void {
    this.compactions.delete(group);
  }

  /** Tries again what had no room. To be called now and then while `blocked`. */
  retry(): void {
    if (this.state !== 'full') return;
    this.state = 'probing';
    const [first] = this.held;
    if (first !== undefined) {
      this.held.shift();
      this.hand(first);
      return;
    }
    const [compaction] = this.compactions;
    if (compaction === undefined) this.setOpen();
    else this.probeByCompaction(...compaction);
  }

  private probeByCompaction(group: number, { upTo, done }: Compaction): void {
    this.compactions.delete(group);
    this.compact(group, upTo, () => {
      done();
      this.setOpen();
    });
  }

  private pump(): void {
    while (this.state === 'open') {
      const [first] = this.held;
      if (first === undefined) return;
      if (this.inFlightBytes > 0 && this.inFlightBytes + first.bytes > IN_FLIGHT_BYTES_MAX) return;
      this.held.shift();
      this.hand(first);
    }
  }

  private hand(append: Append): void {
    assert(this.state !== 'full', 'nothing is written while there is no room');
    this.inFlight += 1;
    this.inFlightBytes += append.bytes;
    this.events.writing();
    this.log.append(append.operations, (error) => {
      this.inFlight -= 1;
      this.inFlightBytes -= append.bytes;
      assert(this.inFlight >= 0 && this.inFlightBytes >= 0, 'what ends was under way');
      this.events.written(this.inFlight > 0);
      if (error === undefined) {
        assert(append.serial === this.doneSerial + 1, 'writes end in the order in which they came');
        this.doneSerial = append.serial;
        append.done();
        this.setOpen();
        this.pump();
      } else if (error instanceof DiskFullError) {
        this.takeBack(append);
        this.setFull();
      } else {
        this.events.failed(error);
      }
    });
  }

  /** Nothing of an append was written: it goes where it stood before. */
  private takeBack(append: Append): void {
    const behind = this.held.findIndex(({ serial }) => serial > append.serial);
    this.held.splice(behind < 0 ? this.held.length : behind, 0, append);
  }

  private setFull(): void {
    const news = this.state === 'open';
    this.state = 'full';
    if (news) this.events.full();
  }

  private setOpen(): void {
    if (this.state === 'open') return;
    this.state = 'open';
    for (const [group, { upTo, done }] of [...this.compactions]) {
      this.compactions.delete(group);
      this.compact(group, upTo, done);
    }
    this.pump();
    this.events.room();
  }
}

function bytesOf(operations: readonly LogOperation[]): number {
  let bytes = 0;
  for (const operation of operations) {
    bytes += OPERATION_BYTES + (operation.kind === 'entry' ? operation.payload.length : 0);
  }
  return bytes;
}
