import type { Event } from '../between/protocol.js';

/**
 * The calls of a group that are done in part: the log has, or a module has, what they did first, and this node alone can
 * go on with them, for as long as it leads. So it finishes them before it gives the leadership to another node.
 */
export class CallsInParts {
  private count = 0;
  /** The epoch whose leadership is about to be given away; 0 for none. */
  private givingAway = 0;

  /**
   * @param whenDecided calls back once what was proposed is committed, or lost
   * @param released tells that nothing is done in part any more, with the epoch
   */
  constructor(
    private readonly whenDecided: (done: () => void) => void,
    private readonly released: (epoch: number) => void,
  ) {}

  /** True if a call may begin that will be done in parts; else it waits for the next leader. */
  get mayBegin(): boolean {
    return this.givingAway === 0;
  }

  begin(): void {
    this.count += 1;
  }

  end(): void {
    this.count -= 1;
    this.release();
  }

  /** Takes what the consensus side tells of the leadership. */
  handle(event: Event): void {
    switch (event.kind) {
      case 'giving_away':
        this.givingAway = event.epoch;
        this.release();
        return;
      case 'kept':
      case 'leading':
      case 'suspended':
      case 'following':
        this.givingAway = 0;
        return;
      default:
    }
  }

  private release(): void {
    const epoch = this.givingAway;
    if (this.count > 0 || epoch === 0) return;
    // Raft takes no changes while it transfers the leadership, and what is not committed then may be taken back.
    this.whenDecided(() => {
      if (this.givingAway === epoch) this.released(epoch);
    });
  }
}
