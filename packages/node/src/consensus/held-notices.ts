import type { Clock } from '../base/clock.js';
import type { GroupId } from '../between/protocol.js';

/** How long followers may not be told that something is committed, in milliseconds. */
const HOLD_MS = 3;

/** What is known of a group. */
interface Pace {
  /** When something was last committed and not told. */
  committedAt: number;
  /** Whether the last proposal came within the time behind a commit for which that is not told. */
  streams: boolean;
}

/**
 * Whether a leader tells its followers at once that something is committed, or with the next entries. A client
 * that was answered and asks again at once is the rule where one follows the other; then a message of its own
 * for each commit would cost both sides about as much as the entries do, which come a moment later. Where the
 * last proposal did not come that soon, nothing is held.
 */
export class HeldNotices {
  private readonly clock: Pick<Clock, 'now' | 'after'>;
  private readonly tell: (group: GroupId) => void;
  private readonly paces = new Map<GroupId, Pace>();
  private held = new Set<GroupId>();

  /** @param tell tells the followers of a group what is committed, if they do not know */
  constructor(clock: Pick<Clock, 'now' | 'after'>, tell: (group: GroupId) => void) {
    this.clock = clock;
    this.tell = tell;
  }

  /** Something was proposed. */
  proposed(group: GroupId): void {
    const pace = this.paces.get(group);
    if (pace !== undefined) pace.streams = this.clock.now() - pace.committedAt <= HOLD_MS;
  }

  /** Whether it is told a moment later that something is committed. */
  holds(group: GroupId): boolean {
    const now = this.clock.now();
    const pace = this.paces.get(group);
    if (pace === undefined) {
      this.paces.set(group, { committedAt: now, streams: false });
      return false;
    }
    pace.committedAt = now;
    if (pace.streams) this.hold(group);
    return pace.streams;
  }

  /** The group is gone. */
  forget(group: GroupId): void {
    this.paces.delete(group);
    this.held.delete(group);
  }

  private hold(group: GroupId): void {
    if (this.held.size === 0) this.clock.after(HOLD_MS, () => this.release());
    this.held.add(group);
  }

  private release(): void {
    const { held } = this;
    this.held = new Set();
    for (const group of held) this.tell(group);
  }
}
