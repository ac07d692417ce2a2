import { type ClusterRecord, type GroupId, type Identity, logIdentity } from '@althing/node/parts';
import { MemoryDisk, MemoryStore } from '@althing/storage';
import { DiskTimes } from './disk-times.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';

/** The speed of disks, in milliseconds. */
export interface DiskQuality {
  readonly meanMs: number;
  /** Operations of a thousand that take very long, and the time that each takes. */
  readonly slowPerMille: number;
  readonly slowMs: number;
}

export interface MachineOptions {
  readonly identity: Identity;
  /** The name by which other nodes reach it: also that of a machine whose place this one takes. */
  readonly name: string;
  readonly cluster: ClusterRecord;
  readonly scheduler: Scheduler;
  readonly draw: Draw;
  readonly quality: DiskQuality;
}

/** The part of the log of a group that a disk has reported as durable. */
export interface DurableLog {
  /** The last entry. */
  readonly index: number;
  readonly term: number;
  /** The newest term that the node knew, and for whom it voted there. */
  readonly vote: string;
}

/** The port that nodes listen on for each other. */
export const NODE_PORT = 9220;

/** A log knows of more that it lacks than a few of its last writes, and refuses to be opened. */
const LIE_BYTES_MAX = 500;

/** The parts of a node that outlive its processes: its disks, its identity, and its clock. */
export class Machine {
  readonly logDisk: MemoryDisk;
  readonly stateDisk: MemoryDisk;
  readonly stateStore: MemoryStore;
  /** 16 bytes that tell the log of this machine from others. */
  readonly logId: Uint8Array;
  /** Milliseconds that the wall clock is ahead of virtual time. */
  clockOffsetMs = 0;
  /** Starts so far. */
  starts = 0;
  process: Process | null = null;
  /** True if it belongs to no cluster yet. */
  isOutside: boolean;
  /** True if its data were damaged once. */
  isDamaged = false;
  /** True if the end of its log is gone, though the disk had reported it as durable. */
  hasLied = false;
  /** True if it may not be started: the others do not have yet what its disk has lost. */
  isHeldBack = false;
  /** The durable part of each group's log when the last process ended. */
  durable: ReadonlyMap<GroupId, DurableLog> = new Map();
  /** True if its process is being stopped in order. */
  isStopping = false;
  /** True if it is gone for good. */
  isGone = false;
  /** True if the state has no room for anything. */
  isStateFull = false;
  private readonly diskTimes: DiskTimes;
  private incarnation = 0;

  constructor(private readonly options: MachineOptions) {
    this.logId = logIdentity(options.identity);
    this.isOutside = options.cluster.founders === null;
    this.diskTimes = new DiskTimes(options.scheduler);
    const defer = (_operation: unknown, complete: () => void): void => {
      this.diskTimes.after(this.latency(), complete);
    };
    // Writes to one file complete in order.
    const deferLog = (_operation: unknown, complete: () => void): void => {
      this.diskTimes.inOrder(this.latency(), complete);
    };
    this.logDisk = new MemoryDisk({ defer: deferLog });
    this.stateDisk = new MemoryDisk({ defer });
    this.stateStore = new MemoryStore({
      defer,
      fault: ({ kind }) => (this.isStateFull && kind === 'write' ? 'ENOSPC' : undefined),
    });
  }

  get nodeId(): number {
    return this.options.identity.nodeId;
  }

  get name(): string {
    return this.options.name;
  }

  get cluster(): ClusterRecord {
    return this.options.cluster;
  }

  /** Multiplies the time of each operation of the disks, also of those that are under way. */
  set diskSlowness(slowness: number) {
    this.diskTimes.slowness = slowness;
  }

  /** Bytes that the log may still take. */
  get logRoom(): number {
    return this.logDisk.hasRoom(1) ? Number.MAX_SAFE_INTEGER : 0;
  }

  /** No file of the log can be made or grow, until there is room again. */
  set logIsFull(full: boolean) {
    this.logDisk.capacityBytes = full ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Number of a start, higher than those before: the wall clock, also when it was set back. */
  nextIncarnation(wallMs: number): number {
    this.incarnation = Math.max(this.incarnation + 1, Math.floor(wallMs));
    return this.incarnation;
  }

  /** The power fails: what was not synced may be lost. */
  powerCut(random: () => number): void {
    this.logDisk.crash(random);
    this.stateDisk.crash(random);
    this.stateStore.crash(random);
  }

  /** The process is killed: what it had written is there. */
  kill(): void {
    this.logDisk.kill();
    this.stateDisk.kill();
    this.stateStore.kill();
  }

  /** While no process runs: takes away what was durable, or changes it. Tells what. */
  damage(draw: Draw): string {
    const { logDisk, stateStore } = this;
    this.isDamaged = true;
    const files = logDisk.names;
    const kind = files.length === 0 ? 'state' : draw.pick(['tail', 'tail', 'log', 'state']);
    const name = (kind === 'tail' ? this.lastSegment : undefined) ?? draw.pick(files);
    if (kind === 'state') {
      const keys = stateStore.keys();
      if (keys.length > 0) stateStore.flip(draw.pick(keys), draw.int(0, 8000));
      return 'a bit of the state';
    }
    const content = logDisk.content(name);
    let end = content.length;
    while (end > 0 && content[end - 1] === 0) end -= 1;
    if (kind === 'log') {
      if (end > 0) logDisk.flip(name, draw.int(0, 8 * end - 1));
      return `a bit of ${name}`;
    }
    return this.cutEnd(name, draw.int(1, 400));
  }

  /** After a kill: the log lacks its end, though the disk had reported it as durable. Tells what is gone. */
  loseTail(draw: Draw): string {
    const { lastSegment } = this;
    this.isDamaged = true;
    this.hasLied = true;
    return lastSegment === undefined ? 'nothing' : this.cutEnd(lastSegment, draw.int(1, LIE_BYTES_MAX));
  }

  /** The file that the log was written to last: only this one can lose its end so that nothing behind it tells. */
  private get lastSegment(): string | undefined {
    return this.logDisk.names
      .filter((file) => file.startsWith('segment-'))
      .sort()
      .at(-1);
  }

  private cutEnd(name: string, bytes: number): string {
    const { logDisk } = this;
    const content = logDisk.content(name);
    let end = content.length;
    while (end > 0 && content[end - 1] === 0) end -= 1;
    content.fill(0, Math.max(0, end - bytes));
    logDisk.overwrite(name, content);
    return `the last ${bytes} bytes of ${name}`;
  }

  /** Milliseconds of an operation of a disk that is not slow. */
  private latency(): number {
    const { draw, quality } = this.options;
    const isSlow = draw.int(0, 999) < quality.slowPerMille;
    return draw.exponential(isSlow ? quality.slowMs : quality.meanMs);
  }
}
