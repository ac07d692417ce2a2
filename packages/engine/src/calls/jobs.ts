/** Slices of jobs: closures of users are called for some instances, with the rights of whoever made the job. */
import { Privilege } from '../admin/privileges.js';
import { operationError } from '../error.js';
import type { Freshness } from '../run/execution.js';
import { invoke } from '../run/invoke.js';
import { whileMade } from '../run/late.js';
import type { Runtime } from '../run/runtime.js';
import type { Field, Type } from '../schema/type.js';
import type { CollectionGroup } from '../state/collection-group.js';
import type { Job } from '../state/parts/job.js';
import { JobEditor } from '../state/parts/jobs.js';
import type { Removal } from '../state/removal.js';
import { type Transaction, toProperty } from '../state/transaction.js';
import { equals, isTruthy } from '../value/kinds.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Behind, Change } from './call.js';
import type { Executor } from './executor.js';

/** Instances that have their turn in one slice at most. */
const TURNS_MAX = 600;

/** Instances that are chosen to go in one slice at most: taking them out lasts longer than looking at them. */
const CHOSEN_MAX = 256;

/** The end of a job. */
interface Failure {
  readonly why: string;
}

/** Why instances had no turn: the job has failed, or this node has to hear of something first, with the scope where that is to be asked for. */
type Stopped = Failure | Behind | null;

/** Outcomes of the instances that had their turn in a slice. */
interface Turns {
  /** Ids of those that go, or that something was done with. */
  readonly chosen: readonly number[];
  /** The id of the last one. */
  readonly cursor: number;
  /** Ids of all that had their turn, those that are gone, too. */
  readonly turned: readonly number[];
  /** True if there is none behind them. */
  readonly isAll: boolean;
}

export class JobRuns {
  constructor(private readonly executor: Executor) {}

  /**
   * Does a slice of the job whose turn it is in a collection; null where nothing changed.
   *
   * @param isOver whether the slice has lasted long enough; asked after each instance or thing
   */
  run(
    group: CollectionGroup,
    removal: Removal,
    isOver: () => boolean,
    fresh: Freshness,
  ): Change | Behind | null {
    const job = group.jobs.current;
    if (job === undefined) return null;
    const part: Part = { group, job, isOver, fresh };
    if (job.def.kind === 'succeed') return this.succeed(part);
    if (job.def.kind !== 'remove') return this.call(part);
    const turns = removal.isChoosing(job) ? this.choose(part) : 'over';
    if (turns !== 'over' && isStopped(turns)) return this.stop(part, turns);
    const transaction = this.executor.transactionOf(group);
    if (turns === 'over') removal.search(transaction, job, isOver);
    else removal.remove(transaction, job, turns);
    return this.executor.changeOf(group, transaction);
  }

  /** Ends a job that has failed; else it stays where it is. */
  private stop({ group, job }: Part, stopped: Stopped): Change | Behind | null {
    if (stopped === null || 'kind' in stopped) return stopped;
    const transaction = this.executor.transactionOf(group);
    new JobEditor(group.jobs, transaction).end(job, 'failed', stopped.why);
    return this.executor.changeOf(group, transaction);
  }

  /** Asks the closure which instances go, which changes nothing. */
  private choose(part: Part): Turns | Stopped {
    const { root } = part.group.store;
    return this.inTurn(part, false, ({ turns }) => {
      const goes = (thing: Thing, give: Give): boolean => isTruthy(give(thing)) && thing !== root;
      return turns(goes, (count) => count >= CHOSEN_MAX || part.isOver());
    });
  }

  /** Calls the closure, in a change that also says how far the job is. */
  private call(part: Part): Change | Behind | null {
    const { group, job, isOver } = part;
    const { def, progress, waiting } = job;
    const outcome = this.inTurn(part, true, ({ turns, transaction }) => {
      const turn = def.kind === 'fill' ? this.filling(group, job) : called;
      const { chosen, cursor } = turns(turn, isOver);
      const taken = [...waiting].filter((id) => id <= cursor);
      const state = cursor >= def.upTo ? 'done' : 'open';
      const moved = { state, cursor, chosen: progress.chosen + chosen.length } as const;
      new JobEditor(group.jobs, transaction).move(job, moved, [], taken);
      return { change: this.executor.changeOf(group, transaction) };
    });
    return isStopped(outcome) ? this.stop(part, outcome) : outcome.change;
  }

  /**
   * Gives instances what the closure says, for the successor of their property, which takes its place when all have it: those that were made
   * meanwhile, too, and those that changed since they had it.
   */
  private succeed(part: Part): Change | Behind | null {
    const { group, job, isOver } = part;
    const { progress, waiting } = job;
    const things: Thing[] = [];
    const values: Value[] = [];
    const outcome = this.inTurn(part, false, ({ turns, transaction }) => {
      const { field, successor } = successionIn(group, job);
      return turns((thing, give) => {
        const value = toProperty(give(thing) ?? propertyOf(this.executor.runtime, thing, field.name));
        transaction.checkField(successor, value);
        things.push(thing);
        values.push(value);
        return true;
      }, isOver);
    });
    if (isStopped(outcome)) return this.stop(part, outcome);
    const transaction = this.executor.transactionOf(group);
    const editor = new JobEditor(group.jobs, transaction);
    if (things.length > 0) editor.succeed(things, values);
    const first = things.filter(({ id }) => !waiting.has(id)).length;
    const taken = outcome.turned.filter((id) => waiting.has(id));
    const cursor = Math.max(progress.cursor, outcome.turned.at(-1) ?? 0);
    editor.move(job, { cursor, chosen: progress.chosen + first }, [], taken);
    if (outcome.isAll && waiting.size === 0) editor.completeSuccession(job, this.executor.runtime.seconds());
    return this.executor.changeOf(group, transaction);
  }

  /** Gives the property of an instance what the closure says, unless it has something else than its default meanwhile. */
  private filling(group: CollectionGroup, job: Job): Turn {
    const { def, waiting } = job;
    const { runtime: rt } = this.executor;
    const field = group.store.schema.type(def.type).shape?.fields.find(({ id }) => id === def.field);
    if (field === undefined) throw operationError('the property is gone');
    return (thing, give) => {
      rt.load(thing);
      if (waiting.has(thing.id) || !equals(thing.get(field.name) ?? null, field.initial)) return false;
      const value = whileMade(rt, { job, thing }, () => give(thing));
      // The closure may have changed the type.
      const present = thing.shape.fields.find(({ id }) => id === def.field);
      if (value === null || present === undefined) return false;
      rt.transaction.checkField(present, value);
      rt.transaction.placeField(thing, present, value);
      return true;
    };
  }

  /**
   * Does work with instances that have their turn, as the user who made the job.
   *
   * @param writes whether the closure may change something
   */
  private inTurn<T>(
    { group, job, fresh }: Part,
    writes: boolean,
    work: (parts: { readonly turns: TakeTurns; readonly transaction: Transaction }) => T,
  ): T | Stopped {
    const { executor } = this;
    const { runtime: rt, root } = executor;
    const { def } = job;
    const scope = executor.scope(group.id);
    const user = root.users.get(def.owner);
    // A node that lags has not heard of the newest users.
    if (scope === undefined || (user === undefined && (root.isLoading || def.owner >= root.nextId)))
      return null;
    if (user === undefined) return { why: 'the user who made the job is gone' };
    const type = group.store.schema.type(def.type);
    if (type.def === null) return { why: 'the type is gone' };
    const deep = executor.defaultDeep(group.id);
    const transaction = executor.begin({ scope, user, fresh }, group.id, writes, deep, null);
    let at = 0;
    const turns: TakeTurns = (turn, isEnough) => {
      const give: Give = (thing) => invoke(rt, def.closure, [thing, ...def.args.items]);
      const chosen: number[] = [];
      const { ids, isAll } = idsInTurn(type, job);
      for (const [i, id] of ids.entries()) {
        at = id;
        // An earlier turn of this slice may have let go of it, or a change since it began to wait.
        const thing = type.instances.has(id) ? group.store.thingOfId(id) : null;
        if (thing !== null && !group.store.orphans.has(thing) && turn(thing, give)) chosen.push(id);
        job.turn = id;
        if (rt.futures.length > 0) throw operationError('the closure of a job can make no futures');
        if (isEnough(chosen.length) && id !== ids.at(-1))
          return { chosen, cursor: id, turned: ids.slice(0, i + 1), isAll: false };
      }
      return { chosen, cursor: isAll ? def.upTo : at, turned: ids, isAll };
    };
    try {
      if (def.kind !== 'remove') rt.access.require(Privilege.CHANGE);
      return work({ turns, transaction });
    } catch (error) {
      const outcome = executor.failed(error, transaction);
      if (outcome.kind === 'behind') return outcome;
      const { message } = outcome.kind === 'error' ? outcome.error : NOT_IN_JOBS;
      return { why: at === 0 ? message : `#${at}: ${message}` };
    } finally {
      job.turn = 0;
      rt.end();
    }
  }
}

/** A slice of a job. */
interface Part {
  readonly group: CollectionGroup;
  readonly job: Job;
  /** Says whether the slice has lasted long enough; asked after each instance or thing. */
  readonly isOver: () => boolean;
  /** The scopes of which this node is known to have all that was acknowledged. */
  readonly fresh: Freshness;
}

/** True if instances had no turn. */
function isStopped(outcome: object | null): outcome is Stopped {
  return outcome === null || 'why' in outcome || 'kind' in outcome;
}

/** Calls the closure with an instance. */
type Give = (thing: Thing) => Value;

/** The step for one instance; returns whether it did anything. */
type Turn = (thing: Thing, give: Give) => boolean;

/** Lets instances have their turns, until so many of them are chosen that it is enough. */
type TakeTurns = (turn: Turn, isEnough: (chosen: number) => boolean) => Turns;

/** The property that a job gives a successor, and that. Throws operation_err where it is gone, or became what can't be let go of at once. */
function successionIn(
  { store }: CollectionGroup,
  { def }: Job,
): { readonly field: Field; readonly successor: Field } {
  const shape = store.schema.type(def.type).shape;
  const field = shape?.fields.find(({ id }) => id === def.field);
  if (field === undefined || shape === null || shape.successor === null)
    throw operationError('the property is gone');
  return { field, successor: shape.successor };
}

function propertyOf(rt: Runtime, thing: Thing, name: string): Value {
  rt.load(thing);
  return thing.get(name) ?? null;
}

function called(thing: Thing, give: Give): boolean {
  give(thing);
  return true;
}

/** The ids of the instances that come next. */
function idsInTurn(
  type: Type,
  { def, progress, waiting }: Job,
): { readonly ids: readonly number[]; readonly isAll: boolean } {
  const ids: number[] = [];
  let isAll = true;
  const isSuccession = def.kind === 'succeed';
  if (isSuccession)
    for (const id of waiting) {
      if (ids.length >= TURNS_MAX / 2) break;
      ids.push(id);
    }
  type.instances.eachAbove(progress.cursor, (id) => {
    if (id > def.upTo && !isSuccession) return false;
    isAll = ids.length < TURNS_MAX;
    if (isAll) ids.push(id);
    return isAll;
  });
  return { ids, isAll };
}

const NOT_IN_JOBS = operationError('the closure of a job can not do that');
