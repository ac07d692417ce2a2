/** Slices of jobs: closures of users are called for some instances, which changes nothing; what they say is done in a change of its own. */
import { operationError } from '../error.js';
import { invoke } from '../run/invoke.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { type Job, JobEditor } from '../state/parts/jobs.js';
import type { Choice, Removal } from '../state/removal.js';
import { isTruthy } from '../value/kinds.js';
import type { Change } from './call.js';
import type { Executor } from './executor.js';

/** Instances that are chosen in one slice at most: taking them out lasts longer than looking at them. */
const CHOSEN_MAX = 256;

/** What ends a job. */
interface Failure {
  readonly why: string;
}

export class JobRuns {
  constructor(private readonly executor: Executor) {}

  /**
   * Does a slice of the job whose turn it is in a collection; null where nothing changed.
   *
   * @param isOver whether the slice has lasted long enough; asked after each instance or thing
   */
  run(group: CollectionGroup, removal: Removal, isOver: () => boolean): Change | null {
    const job = group.jobs.current;
    if (job === undefined) return null;
    const isChoosing = removal.isChoosing(job);
    const choice = isChoosing ? this.choose(group, job, isOver) : null;
    if (isChoosing && choice === null) return null;
    const transaction = this.executor.transactionOf(group);
    if (choice === null) removal.search(transaction, job, isOver);
    else if ('why' in choice) new JobEditor(group.jobs, transaction).end(job, 'failed', choice.why);
    else removal.remove(transaction, job, choice);
    return this.executor.changeOf(group, transaction);
  }

  /** Calls the closure with instances that have their turn; null where this node has to hear of something first. */
  private choose(group: CollectionGroup, job: Job, isOver: () => boolean): Choice | Failure | null {
    const { executor } = this;
    const { def, progress } = job;
    const rt = executor.runtime;
    const scope = executor.scope(group.id);
    const user = executor.root.users.get(def.owner);
    if (scope === undefined) return null;
    if (user === undefined) return { why: 'the user who made the job is gone' };
    const type = group.store.schema.type(def.type);
    if (type.def === null) return { why: 'the type is gone' };
    const deep = executor.defaultDeep(group.id);
    const transaction = executor.begin({ scope, user }, group.id, false, deep, null);
    const chosen: number[] = [];
    let { cursor } = progress;
    let at = 0;
    let isCut = false;
    try {
      type.instances.eachAbove(progress.cursor, (id) => {
        if (id > def.upTo) return false;
        at = id;
        const goes = isTruthy(invoke(rt, def.closure, [group.store.thingOfId(id), ...def.args.items]));
        if (rt.futures.length > 0) throw NO_FUTURES;
        // The root stays, whatever it is.
        if (goes && id !== group.store.root.id) chosen.push(id);
        cursor = id;
        isCut = chosen.length >= CHOSEN_MAX || isOver();
        return !isCut;
      });
    } catch (error) {
      const outcome = executor.failed(error, transaction);
      if (outcome.kind === 'behind') return null;
      const { message } = outcome.kind === 'error' ? outcome.error : NOT_IN_JOBS;
      return { why: `#${at}: ${message}` };
    } finally {
      rt.end();
    }
    return { chosen, cursor: isCut ? cursor : def.upTo };
  }
}

const NOT_IN_JOBS = operationError('the closure of a job can not do that');
const NO_FUTURES = operationError('the closure of a job can make no futures');
