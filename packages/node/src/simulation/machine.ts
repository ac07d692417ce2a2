import { type DiskOperation, MemoryDisk, MemoryStore } from '@althing/storage';
import type { ClusterRecord } from '../cluster/cluster-record.js';
import { type Identity, logIdentity } from '../identity.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';

/** How fast disks are, in milliseconds. */
export interface DiskQuality {
  readonly meanMs: number;
  /** Of a thousand operations, how many take very long, and how long those take. */
  readonly slowPerMille: number;
  readonly slowMs: number;
}

/** What outlives the processes of a node: its disks, who it is, and its clock. */
export class Machine {
  readonly identity: Identity;
  readonly name: string;
  readonly cluster: ClusterRecord;
  readonly logDisk: MemoryDisk;
  readonly stateDisk: MemoryDisk;
  readonly stateStore: MemoryStore;
  /** 16 bytes that tell the log of this machine from others. */
  readonly logId: Uint8Array;
  /** What the wall clock is ahead of virtual time, in milliseconds. */
  clockOffsetMs = 0;
  /** Starts so far. */
  starts = 0;
  process: Process | null = null;
  /** Whether it is gone for good. */
  isGone = false;
  /** Multiplies the time of each operation of the disk. */
  diskSlowness = 1;
  private lastLogDone = 0;

  constructor(
    identity: Identity,
    name: string,
    cluster: ClusterRecord,
    private readonly scheduler: Scheduler,
    private readonly draw: Draw,
    private readonly quality: DiskQuality,
  ) {
    this.identity = identity;
    this.name = name;
    this.cluster = cluster;
    this.logId = logIdentity(identity);
    const defer = (_operation: unknown, complete: () => void): void => {
      this.scheduler.after(this.latency(), complete);
    };
    this.logDisk = new MemoryDisk({ defer: (operation, complete) => this.deferLog(operation, complete) });
    this.stateDisk = new MemoryDisk({ defer });
    this.stateStore = new MemoryStore({ defer });
  }

  get nodeId(): number {
    return this.identity.nodeId;
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

  /** Writes to one file complete in order. */
  private deferLog(_operation: DiskOperation, complete: () => void): void {
    const { now } = this.scheduler;
    this.lastLogDone = Math.max(this.lastLogDone, now + this.latency());
    this.scheduler.after(this.lastLogDone - now, complete);
  }

  private latency(): number {
    const { meanMs, slowPerMille, slowMs } = this.quality;
    const isSlow = this.draw.int(0, 999) < slowPerMille;
    return this.draw.exponential(isSlow ? slowMs : meanMs) * this.diskSlowness;
  }
}
