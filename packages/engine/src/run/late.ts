/**
 * Properties that jobs still give to instances, one after the other (`mod_type(.., 'add', .., {background: true})` with a closure). Who reads one
 * before its turn gets what the closure gives, which is stored with the first change of the instance: then the job leaves it.
 *
 * The closure runs with the rights of the user who made the job, and on the clock of who reads. The state knows of none of that: an instance has
 * the default until it is given a value, and the record of the job tells whether it has still to get one.
 */
import { Access } from '../admin/access.js';
import { Privilege } from '../admin/privileges.js';
import { operationError, QueryError } from '../error.js';
import type { Field } from '../schema/type.js';
import { CollectionGroup } from '../state/collection-group.js';
import type { Job } from '../state/parts/job.js';
import { toProperty } from '../state/transaction.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { invoke } from './invoke.js';
import type { Runtime } from './runtime.js';

/** An instance, and the job whose closure makes a value for it now. */
export interface Making {
  readonly thing: Thing;
  readonly job: Job;
}

/**
 * The value of a property that a job gives to instances, as a program sees it.
 *
 * @param thing loaded
 * @throws QueryError operation_err where the closure fails, or needs the value that it is to make
 */
export function lateValue(rt: Runtime, thing: Thing, field: Field): Value {
  rt.load(thing);
  const job = jobFor(rt, thing, field);
  const value = thing.slots[field.slot] as Value;
  if (job === undefined) return value;
  const { making } = rt;
  const at = making.findLastIndex((other) => other.thing === thing && other.job === job);
  // The closure itself sees the default.
  if (at >= 0 && at === making.length - 1) return value;
  if (at >= 0) throw operationError(`the value of #${thing.id} is made from itself`);
  return makeValue(rt, job, thing, field);
}

/** Does work of a job that makes a value for an instance. */
export function whileMade<T>({ making }: Runtime, made: Making, work: () => T): T {
  making.push(made);
  try {
    return work();
  } finally {
    making.pop();
  }
}

/**
 * Stores the values that an instance has to get from jobs, as far as there are any.
 *
 * @throws as `lateValue`
 */
export function storeLate(rt: Runtime, thing: Thing): void {
  rt.load(thing);
  if (thing.shape.late === null) return;
  for (const field of thing.shape.fields) {
    if (jobFor(rt, thing, field) === undefined) continue;
    rt.transaction.placeField(thing, field, lateValue(rt, thing, field));
  }
}

/** Stores the values of the instances that the change which ends now rewrote. One whose closure fails is left to the job. */
export function storeTouched(rt: Runtime): void {
  const { store } = rt;
  if (store === null || store.given === null || store.rewritten === null || !rt.transaction.changed) return;
  for (const thing of [...store.rewritten]) {
    if (thing.id === 0 || store.orphans.has(thing)) continue;
    try {
      storeLate(rt, thing);
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) throw error;
    }
  }
}

/** The job that has still to give an instance a property, by a closure that changes nothing, so that it can be called at any time. */
function jobFor(rt: Runtime, thing: Thing, field: Field): Job | undefined {
  if (thing.id === 0 || rt.store === null || thing.shape.late?.has(field.slot) !== true) return undefined;
  const { group } = rt.scope;
  if (!(group instanceof CollectionGroup) || rt.store.given?.get(field.id)?.has(thing) === true)
    return undefined;
  const job = group.jobs.fillOf(thing, field);
  return job === undefined || rt.needsChange(job.def.closure) ? undefined : job;
}

function makeValue(rt: Runtime, job: Job, thing: Thing, field: Field): Value {
  const { access, deep, flags, futures, making, transaction } = rt;
  const made = futures.length;
  const { closure, args, id, owner } = job.def;
  try {
    const user = access.root.users.get(owner);
    if (user === undefined) throw operationError('the user who made the job is not there');
    rt.access = new Access(access.root, user, access.target, false);
    rt.access.require(Privilege.CHANGE);
    const given = whileMade(rt, { thing, job }, () =>
      transaction.whileFrozen(() => invoke(rt, closure, [thing, ...args.items])),
    );
    if (futures.length > made) throw operationError('the closure of a job can make no futures');
    const value = toProperty(given ?? field.initial);
    transaction.checkField(field, value);
    return value;
  } catch (error) {
    // The outermost one tells of it.
    if (!(error instanceof QueryError) || error.fatal || making.length > 0) throw error;
    throw operationError(
      `type \`${field.type.name}\`, property \`${field.name}\`: job ${id} has still to give #${thing.id} its value, and its closure fails: ${error.message}; cancel_job(${id}) leaves the default`,
    );
  } finally {
    futures.length = made;
    rt.access = access;
    rt.deep = deep;
    rt.flags = flags;
  }
}
