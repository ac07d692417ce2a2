import type { GroupLog } from './group-log.js';
import type { HardState, LogEntry, LogView } from './types.js';

/** The durable logs, as views read them. */
export interface DurableLogs {
  durable(group: number): GroupLog;
  hashAt(log: GroupLog, index: number): number | undefined;
  read(log: GroupLog, low: number, high: number, maxBytes: number): LogEntry[];
}

/** The durable log of a group, at any time: it shows entries that become durable later, too. */
export class DurableView implements LogView {
  constructor(
    private readonly group: number,
    private readonly store: DurableLogs,
  ) {}

  get firstIndex(): number {
    return this.log.firstIndex;
  }

  get lastIndex(): number {
    return this.log.lastIndex;
  }

  get hardState(): HardState | undefined {
    return this.log.hardState;
  }

  term(index: number): number | undefined {
    return this.log.term(index);
  }

  hash(index: number): number | undefined {
    return this.store.hashAt(this.log, index);
  }

  entries(low: number, high: number, maxBytes: number): LogEntry[] {
    return this.store.read(this.log, low, high, maxBytes);
  }

  private get log(): GroupLog {
    return this.store.durable(this.group);
  }
}
