/**
 * Removal of the instances that the closure of a job chose: they are taken out of what refers to them, and go with their last reference.
 * A thing that is still referred to, after what `Owners` does, waits, and all things of the collection are gone through for it.
 */
import type { Thing } from '../value/thing.js';
import { letGoOfSome, Owners } from './letting-go.js';
import type { Job, JobProgress } from './parts/job.js';
import { JobEditor, type Jobs } from './parts/jobs.js';
import { Portion } from './portion.js';
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
  /** The id of a waiting instance that leaves its relations; without that, the search for what refers to it finds its partners. */
  private leaving = 0;

  constructor(private readonly jobs: Jobs) {
    this.owners = new Owners(jobs.store);
  }

  /** True if instances have their turn now, and not things that may refer to what waits. */
  isChoosing({ def, progress, waiting }: Job): boolean {
    if (waiting.has(this.leaving)) return false;
    return progress.searched === 0 && progress.cursor < def.upTo && waiting.size < WAITING_MAX;
  }

  /** Lets go of what was chosen, as much as a slice has room for: the rest is chosen once more. */
  remove(transaction: Transaction, job: Job, { chosen, cursor: last }: Choice): void {
    const things = chosen.filter((id) => !job.waiting.has(id)).map((id) => this.jobs.store.thingOfId(id));
    const { count, left, isLeaving } = this.owners.letGo(transaction, things);
    const cursor = count === things.length ? last : (things[count - 1]?.id ?? last);
    const changes = { cursor, chosen: job.progress.chosen + count };
    const added = Array.from(left, ({ id }) => id);
    this.leaving = isLeaving ? (added[0] ?? 0) : 0;
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
    const portion = new Portion(store, transaction);
    let { searched, found } = progress;
    if (waiting.has(this.leaving) && store.find(this.leaving) !== undefined) {
      const { isLeaving } = this.owners.letGo(transaction, [store.thingOfId(this.leaving)]);
      if (!isLeaving) this.leaving = 0;
      new JobEditor(this.jobs, transaction).move(job, {});
      return;
    }
    while (searched + 1 < store.nextId && taken.size < waiting.size) {
      const things = this.referredFrom(searched + 1, waiting, taken);
      const went =
        things.size === 0 ? 'none' : letGoOfSome(store, transaction, searched + 1, things, portion);
      if (went !== 'none') {
        found = true;
        this.owners.note(searched + 1);
        for (const { id, refs } of things) if (refs === 0) taken.add(id);
        // The rest has its turn in the next slice.
        if (went === 'some' || things.size === FROM_ONE_MAX) break;
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
