import type { GroupId } from '../consensus/protocol.js';
import { NumberTable } from '../number-table.js';
import type { Journey } from './journey.js';

/** Milliseconds between two looks at what is due. */
const LOOK_MS = 20;

/** Waiting time before an attempt is made without a sign that it will succeed: doubled from the first to the last. */
const RETRY_MIN_MS = 20;
const RETRY_MAX_MS = 320;

export interface JourneysOptions {
  /** A clock in milliseconds. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => void;
  readonly advance: (journey: Journey) => void;
  /** Told of a journey whose deadline passed. */
  readonly expire: (journey: Journey) => void;
}

/** The journeys that are under way on this node, and what they wait for. */
export class Journeys {
  private readonly options: JourneysOptions;
  private readonly all = new NumberTable<Journey>();
  private nextPlace = 1;
  private readonly waiting = new Map<GroupId, Set<Journey>>();
  private looking = false;

  constructor(options: JourneysOptions) {
    this.options = options;
  }

  get size(): number {
    return this.all.size;
  }

  add(journey: Journey): void {
    journey.place = this.nextPlace++;
    this.all.set(journey.place, journey);
    this.look();
  }

  delete(journey: Journey): void {
    this.all.delete(journey.place);
    this.wakeUp(journey);
  }

  /**
   * Lets a journey wait until the roles in a group change, but not for long.
   *
   * @param roleVersion of the group now; if it is another one than when the attempt began, there is nothing to wait for
   */
  wait(journey: Journey, group: GroupId, roleVersion: number): void {
    const changed = journey.roleGroup === group && journey.roleVersion !== roleVersion;
    journey.roleGroup = group;
    journey.roleVersion = roleVersion;
    if (changed) {
      this.goOn(journey);
      return;
    }
    const pause = Math.min(RETRY_MIN_MS * 2 ** Math.min(journey.failures, 10), RETRY_MAX_MS);
    journey.failures += 1;
    journey.retryAt = this.options.monotonic() + pause;
    journey.waitsFor = group;
    const others = this.waiting.get(group);
    if (others === undefined) this.waiting.set(group, new Set([journey]));
    else others.add(journey);
  }

  /** To be called when something about a group changed: those go on for whom it is another leader. */
  groupChanged(group: GroupId, roleVersion: number): void {
    if (this.waiting.size === 0) return;
    const waiting = this.waiting.get(group);
    if (waiting === undefined) return;
    for (const journey of [...waiting]) {
      if (journey.roleVersion !== roleVersion) this.goOn(journey);
    }
  }

  private goOn(journey: Journey): void {
    this.wakeUp(journey);
    // What changed must be done with before anything else happens.
    queueMicrotask(() => this.options.advance(journey));
  }

  private wakeUp(journey: Journey): void {
    if (journey.waitsFor === null) return;
    const others = this.waiting.get(journey.waitsFor);
    others?.delete(journey);
    if (others?.size === 0) this.waiting.delete(journey.waitsFor);
    journey.waitsFor = null;
  }

  /** Looks again and again at what is due, as long as there is anything. */
  private look(): void {
    if (this.looking || this.all.size === 0) return;
    this.looking = true;
    this.options.delay(LOOK_MS, () => {
      this.looking = false;
      const now = this.options.monotonic();
      for (const [, journey] of this.all.entries()) {
        if (journey.ended) continue;
        if (now >= journey.deadline) this.options.expire(journey);
        else if (journey.waitsFor !== null && now >= journey.retryAt) this.goOn(journey);
      }
      this.look();
    });
  }
}
