/**
 * Removal of the instances that the closure of a job chose: they are taken out of what refers to them, and go with their last reference.
 * A thing that is still referred to, after what `Owners` does, waits, and all things of the collection are gone through for it.
 */
import type { Thing } from '../value/thing.js';
import { letGo, Owners } from './letting-go.js';
import { type Job, JobEditor, type JobProgress, type Jobs } from './parts/jobs.js';
import type { Transaction } from './transaction.js';

/** Chosen instances that wait at most, before things are gone through for them: they lie in the record of the job. */
const WAITING_MAX = 100_000;

/** Things that one thing lets go of in a slice at most; it always has fewer properties that can't. */
const FROM_ONE_MAX = 2048;

/** Outcome of the turn of some instances. */
export interface Choice {
  /** Ids of those that go. */
  readonly chosen: readonly number[];
  /** The id of the last one that had its turn. */
  readonly cursor: number;
}

/** The removals of one collection, as its leader makes them. */
export class Removal {
  private readonly owners: Owners;

  constructor(private readonly jobs: Jobs) {
    this.owners = new Owners(jobs.store);
  }

  /** Whether instances have their turn now, and not things that may refer to what waits. */
  isChoosing({ def, progress, waiting }: Job): boolean {
    return progress.searched === 0 && progress.cursor < def.upTo && waiting.size < WAITING_MAX;
  }

  /** Lets go of what was chosen. */
  remove(transaction: Transaction, job: Job, { chosen, cursor }: Choice): void {
    const things = chosen.filter((id) => !job.waiting.has(id)).map((id) => this.jobs.store.thingOfId(id));
    const left = this.owners.letGo(transaction, things);
    const changes = { cursor, chosen: job.progress.chosen + things.length };
    const added = Array.from(left, ({ id }) => id);
    const isDone = cursor >= job.def.upTo && job.waiting.size + added.length === 0;
    new JobEditor(this.jobs, transaction).move(job, isDone ? { ...changes, state: 'done' } : changes, added);
  }

  /**
   * Goes on through all things, for those that refer to what waits.
   *
   * @param isOver asked after each thing
   */
  search(transaction: Transaction, job: Job, isOver: () => boolean): void {
    const { store } = this.jobs;
    const { waiting, progress } = job;
    const taken = new Set<number>();
    let { searched, found } = progress;
    while (searched + 1 < store.nextId && taken.size < waiting.size) {
      const things = this.referredFrom(searched + 1, waiting, taken);
      if (things.size > 0 && letGo(store, transaction, searched + 1, things)) {
        found = true;
        this.owners.note(searched + 1);
        for (const { id, refs } of things) if (refs === 0) taken.add(id);
        // The rest has its turn in the next slice.
        if (things.size === FROM_ONE_MAX) break;
      }
      searched += 1;
      if (isOver()) break;
    }
    const isRoundOver = searched + 1 >= store.nextId || taken.size === waiting.size;
    const changes = isRoundOver ? this.endRound(job, found, taken) : { searched, found };
    new JobEditor(this.jobs, transaction).move(job, changes, [], [...taken]);
  }

  /** Waiting things to which a thing refers, some if they are many. */
  private referredFrom(id: number, waiting: ReadonlySet<number>, taken: ReadonlySet<number>): Set<Thing> {
    const { store } = this.jobs;
    const things = new Set<Thing>();
    if (store.find(id) === undefined) return things;
    store.visitReferences(id, (child) => {
      if (things.size < FROM_ONE_MAX && waiting.has(child) && !taken.has(child))
        things.add(store.thingOfId(child));
    });
    return things;
  }

  /** Ends a round through all things. Where it found nothing, what still waits stays, since something can't let go of it. */
  private endRound(
    { def, progress, waiting }: Job,
    found: boolean,
    taken: Set<number>,
  ): Partial<JobProgress> {
    let kept = 0;
    for (const id of waiting) {
      if (taken.has(id)) continue;
      const isThere = this.jobs.store.find(id) !== undefined;
      if (isThere && found) continue;
      if (isThere) kept += 1;
      taken.add(id);
    }
    const isDone = taken.size === waiting.size && progress.cursor >= def.upTo;
    return {
      searched: 0,
      found: false,
      kept: progress.kept + kept,
      ...(isDone ? { state: 'done' as const } : {}),
    };
  }
}
