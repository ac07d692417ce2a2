import type { Consensus, Event, GroupId, LogPart } from '../between/protocol.js';

/** Parts of the log that the consensus side was asked for, by number. */
export class LogReads {
  private readonly line: Pick<Consensus, 'send'>;
  private readonly waiting = new Map<number, (part: LogPart | null) => void>();
  private nextId = 1;

  constructor(line: Pick<Consensus, 'send'>) {
    this.line = line;
  }

  /** Reads what lies behind `after`, up to `upTo`, which is committed; null where it can't be had now. */
  read(group: GroupId, after: number, upTo: number): Promise<LogPart | null> {
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.line.send({ kind: 'read_log', group, id, after, upTo, bytes: PART_BYTES });
    });
  }

  handle({ id, part }: Extract<Event, { readonly kind: 'log_read' }>): void {
    const resolve = this.waiting.get(id);
    this.waiting.delete(id);
    resolve?.(part);
  }
}

/** Bytes that are read at once: they are made into lines in some milliseconds. */
const PART_BYTES = 128 * 1024;
