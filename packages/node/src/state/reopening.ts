import type { Sessions } from '../groups/sessions.js';
import type { State } from '../groups/state.js';
import type { Checkpointer } from './checkpointer.js';

export interface ReopeningParts {
  readonly state: Pick<State, 'isOpen' | 'hold' | 'release' | 'reopen'>;
  readonly checkpointer: Pick<Checkpointer, 'hold' | 'release' | 'rest'>;
  readonly sessions: Pick<Sessions, 'pause' | 'resume' | 'shut'>;
}

/**
 * Time that the first checkpoint waits after that, in milliseconds. It may find no room once more, and then
 * nothing can be done that makes room, such as deleting a collection.
 */
const REST_MS = 1000;

/** Opens the state on disk again while nothing works on it. */
export class Reopening {
  /** True if everything stands still, since an attempt left the state closed. */
  private isHolding = false;

  constructor(private readonly parts: ReopeningParts) {}

  /**
   * @param makeRoom whether there is room for that now; called when nothing takes any more of it, while the
   *   state can still be read
   * @returns false when there was none, and nothing was done
   * @throws what opening throws: then everything stands still, and is refused, until another call opens it
   */
  async attempt(makeRoom: () => Promise<boolean>): Promise<boolean> {
    const { state, checkpointer, sessions } = this.parts;
    if (!this.isHolding) await checkpointer.hold();
    this.isHolding = true;
    sessions.pause();
    await state.hold();
    const isWorthIt = !state.isOpen || (await makeRoom());
    if (isWorthIt) {
      await state.reopen().catch((error: unknown) => {
        sessions.shut();
        throw error;
      });
    }
    state.release();
    sessions.resume();
    this.isHolding = false;
    checkpointer.release();
    checkpointer.rest(REST_MS);
    return isWorthIt;
  }
}
