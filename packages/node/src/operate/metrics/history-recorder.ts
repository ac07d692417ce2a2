import type { Clock } from '../../base/clock.js';
import type { GroupId, NodeId } from '../../between/protocol.js';
import { type History, STEP_MS } from '../../telemetry/history.js';

export interface HistoryRecorderOptions {
  readonly history: Pick<History, 'step' | 'mark'>;
  /** A group by its scope, and the node that leads it, as far as this one knows; 0 for none. */
  readonly leaders: () => Iterable<{ readonly id: GroupId; readonly leader: NodeId }>;
  readonly scopeOf: (group: GroupId) => string;
  readonly nameOf: (node: NodeId) => string;
  readonly connections: () => number;
  readonly inFlight: () => number;
  readonly freeBytes: () => Promise<number>;
  /** Wall clock in milliseconds. */
  readonly wallClock: () => number;
}

/** Groups whose elections get a mark each; of more in one step there is one mark. */
const SEPARATE_MAX = 3;

/** Ends each step of the history, and marks elections that were seen in it. */
export class HistoryRecorder {
  private readonly leaders = new Map<GroupId, NodeId>();
  private freeBytes: number | null = null;

  constructor(private readonly options: HistoryRecorderOptions) {}

  /** @returns what ends that */
  start(clock: Pick<Clock, 'every'>): () => void {
    this.readDisk();
    this.markElections();
    return clock.every(STEP_MS, () => this.step());
  }

  private step(): void {
    const { history, connections, inFlight } = this.options;
    this.markElections();
    history.step(this.now, {
      connections: connections(),
      inFlight: inFlight(),
      residentBytes: process.memoryUsage.rss(),
      diskFreeBytes: this.freeBytes,
    });
    this.readDisk();
  }

  /** Asks for the figures of the next step: a disk may take its time to tell its room. */
  private readDisk(): void {
    const note = (bytes: number | null): void => {
      this.freeBytes = bytes;
    };
    this.options.freeBytes().then(note, () => note(null));
  }

  private markElections(): void {
    const { history, leaders: now, scopeOf, nameOf } = this.options;
    const elected: string[] = [];
    for (const { id, leader } of now()) {
      const before = this.leaders.get(id);
      if (leader === 0) continue;
      this.leaders.set(id, leader);
      if (before !== undefined && before !== leader) elected.push(`${scopeOf(id)}: ${nameOf(leader)} leads`);
    }
    if (elected.length > SEPARATE_MAX)
      history.mark(this.now, 'election', `${elected.length} groups have new leaders`);
    else for (const text of elected) history.mark(this.now, 'election', text);
  }

  private get now(): number {
    return Math.floor(this.options.wallClock() / 1000);
  }
}
