import type { Change, Engine } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { GroupSession } from '../groups/group-session.js';

export interface IndexBuilderOptions {
  readonly engine: Pick<Engine, 'isBuilding' | 'buildIndex'>;
  readonly clock: Pick<Clock, 'after'>;
  /** The clock of slices: in a simulation another one, which moves with each instance. */
  readonly workClock: () => number;
  /** Replicates what was built; `done` is called when that is decided. */
  readonly propose: (session: GroupSession, change: Change, done: () => void) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds for which one slice looks at instances, which are taken up in about the same time once more. */
const SLICE_MS = 2;

/** Pause between two slices, in which other work has its turn, in milliseconds. */
const PAUSE_MS = 12;

/**
 * Builds the indexes of collections that this node leads: slowly, beside the requests, each slice as a change like any other. How far an
 * index is built is a part of the state, so whoever leads next goes on there.
 */
export class IndexBuilder {
  private readonly options: IndexBuilderOptions;
  /** The groups in which a slice is under way, or waits for its turn. */
  private readonly working = new Set<GroupSession>();

  constructor(options: IndexBuilderOptions) {
    this.options = options;
  }

  /** Goes on with the indexes of a collection that are not complete. To be called now and then. */
  consider(session: GroupSession): void {
    if (this.working.has(session) || !this.mayBuild(session)) return;
    this.working.add(session);
    this.options.clock.after(0, () => this.work(session));
  }

  /** Gives up what is to be done in a group that is going away. */
  forget(session: GroupSession): void {
    this.working.delete(session);
  }

  private mayBuild(session: GroupSession): boolean {
    return session.leading && session.refusal() === null && this.options.engine.isBuilding(session.id);
  }

  private work(session: GroupSession): void {
    if (!this.working.has(session)) return;
    const { engine, clock, workClock, propose, onFailure } = this.options;
    try {
      const end = workClock() + SLICE_MS;
      const change = this.mayBuild(session) ? engine.buildIndex(session.id, () => workClock() >= end) : null;
      if (change === null) this.working.delete(session);
      // The next slice waits until this one is decided: so a build is never faster than the cluster.
      else propose(session, change, () => clock.after(PAUSE_MS, () => this.work(session)));
    } catch (error) {
      this.working.delete(session);
      onFailure(error);
    }
  }
}
