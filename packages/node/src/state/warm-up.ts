import { CollectionGroup, type Engine, warmUp } from '@althing/engine';

/** Milliseconds of one slice: so long that it has records read ahead, since what takes these up is to be compiled, too. */
const SLICE_MS = 12;

/** The part of a clock that slices take. */
interface SliceClock {
  readonly now: () => number;
  /** Calls back after other work had its turn. */
  readonly soon: (work: () => void) => void;
}

/** Loads some things of the collections that the node holds, so that the first walk over many finds its code compiled. */
export function startWarmUp(engine: Pick<Engine, 'root' | 'scope'>, clock: SliceClock): void {
  workInSlices(warmUp(groupsOf(engine)), clock);
}

/** Takes steps in slices between other work, up to the last one or one that fails. */
export function workInSlices(steps: Iterator<unknown>, clock: SliceClock): void {
  const work = (): void => {
    const until = clock.now() + SLICE_MS;
    try {
      do if (steps.next().done === true) return;
      while (clock.now() < until);
    } catch {
      // The work only saves time. A request for what can't be read finds the trouble, and says so.
      return;
    }
    clock.soon(work);
  };
  clock.soon(work);
}

function* groupsOf(engine: Pick<Engine, 'root' | 'scope'>): Generator<CollectionGroup, void, undefined> {
  for (const id of engine.root.collections.keys()) {
    const group = engine.scope(id)?.group;
    if (group instanceof CollectionGroup) yield group;
  }
}
