import type { Change, Engine, Marking } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { GroupSession } from '../groups/group-session.js';

export interface GarbageSettings {
  /** Time between two searches of a collection for garbage, in milliseconds. */
  readonly garbageIntervalMs: number;
}

export interface GarbageCollectorOptions {
  readonly engine: Engine;
  readonly settings: GarbageSettings;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Replicates the removal of some of what was found; `done` is called when that is decided. */
  readonly propose: (session: GroupSession, change: Change, done: () => void) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Search {
  readonly session: GroupSession;
  readonly marking: Marking;
}

/** Pause between two slices of a search, in which other work has its turn, in milliseconds. */
const PAUSE_MS = 5;

/** Milliseconds of one slice of a search, of which removal does not count. */
const SLICE_MS = 2;

/** Things that are looked at between two looks at the clock. */
const SLICE_THINGS = 32;

/** Suspects after which a search does not wait for its time. */
const SUSPECTS_MAX = 100_000;

/**
 * Removes circles of garbage from collections that this node leads: slowly, beside the requests, and by
 * changes like any other.
 */
export class GarbageCollector {
  private readonly searchedAt = new WeakMap<GroupSession, number>();
  private current: Search | null = null;

  constructor(private readonly options: GarbageCollectorOptions) {}

  /** Starts a search of a collection when one is due. To be called now and then. */
  consider(session: GroupSession): void {
    const { engine, settings, clock } = this.options;
    if (this.current !== null || !session.leading) return;
    const suspects = engine.upkeep.suspectsOf(session.id);
    if (suspects === 0) return;
    const searchedAt = this.searchedAt.get(session);
    if (searchedAt === undefined) {
      this.searchedAt.set(session, clock.now());
      return;
    }
    if (clock.now() - searchedAt < settings.garbageIntervalMs && suspects < SUSPECTS_MAX) return;
    this.current = { session, marking: engine.upkeep.searchGarbage(session.id) };
    this.goOn(this.current);
  }

  /** Gives up a search in a group that is going away. */
  forget(session: GroupSession): void {
    if (this.current?.session === session) this.stop();
  }

  private goOn(search: Search): void {
    this.options.clock.after(PAUSE_MS, () => this.work(search));
  }

  private work(search: Search): void {
    if (this.current !== search) return;
    const { engine, clock, propose, onFailure } = this.options;
    const { session, marking } = search;
    if (!session.leading || session.refusal() !== null) {
      this.stop();
      return;
    }
    try {
      const end = clock.now() + SLICE_MS;
      while (marking.step(SLICE_THINGS)) {
        if (clock.now() < end) continue;
        this.goOn(search);
        return;
      }
      const change = engine.upkeep.removeGarbage(session.id, marking);
      if (change === null) {
        this.current = null;
        this.searchedAt.set(session, clock.now());
        return;
      }
      // The next portion waits until this one is decided: so the work is never faster than the cluster.
      propose(session, change, () => this.goOn(search));
    } catch (error) {
      this.stop();
      onFailure(error);
    }
  }

  private stop(): void {
    if (this.current === null) return;
    const { session, marking } = this.current;
    this.current = null;
    this.searchedAt.set(session, this.options.clock.now());
    marking.abandon();
  }
}
