/** Log lines about connections that came to nothing: at most a line a minute for each cause and address. */

export type PeerLogCause =
  | 'wrong_secret'
  | 'other_cluster'
  | 'version'
  | 'removed'
  | 'superseded'
  | 'wrong_node'
  /** Bytes that are no greeting, or a frame that is too large. */
  | 'garbage'
  /** Bytes of a member that are not what it sent. */
  | 'damaged'
  /** No greeting in time. */
  | 'silent'
  | 'crowded'
  | 'tls'
  | 'unreachable';

export interface PeerLogEvent {
  readonly cause: PeerLogCause;
  /** Where the other side is. */
  readonly address: string;
  /** One line, for people. */
  readonly message: string;
}

const REPEAT_MS = 60_000;

/** Causes and addresses that are remembered at most. */
const ENTRIES_MAX = 1000;

/** Lines a minute at most, whoever they are about: strangers can come from any number of addresses. */
const LINES_MAX = 60;

export class RefusalLog {
  private readonly last = new Map<string, number>();
  private minuteBegan = Number.NEGATIVE_INFINITY;
  private lines = 0;

  /** @param now monotonic milliseconds */
  constructor(
    private readonly write: (event: PeerLogEvent) => void,
    private readonly now: () => number,
  ) {}

  note(cause: PeerLogCause, address: string, message: string): void {
    const key = `${cause} ${address}`;
    const now = this.now();
    const before = this.last.get(key);
    if (before !== undefined && now - before < REPEAT_MS) return;
    this.last.delete(key);
    if (this.last.size >= ENTRIES_MAX) {
      const [oldest] = this.last.keys();
      if (oldest !== undefined) this.last.delete(oldest);
    }
    this.last.set(key, now);
    if (now - this.minuteBegan >= REPEAT_MS) {
      this.minuteBegan = now;
      this.lines = 0;
    }
    if (++this.lines <= LINES_MAX) this.write({ cause, address, message });
  }
}
