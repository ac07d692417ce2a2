/** Jobs: work on all instances of a type that goes on in the background, some at a time. */
import { argumentsError, lookupError, operationError, quotaError, typeError } from '../error.js';
import { CHANGES_COLLECTION, type Entry, func, In } from '../run/builtin.js';
import { typeNamed } from '../run/instance.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { inWords } from '../schema/rule.js';
import { CollectionGroup } from '../state/collection-group.js';
import { isOpen, type Job, type JobDef, type JobKind } from '../state/parts/job.js';
import { JOBS_MAX, JobEditor, type Jobs } from '../state/parts/jobs.js';
import type { Closure } from '../value/closure.js';
import { listOf } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { knownOptions } from './known-options.js';
import { argsOf, copy, isSimple } from './tasks.js';

export const JOBS: readonly Entry[] = [
  func('del_instances', {
    doc:
      'Removes the instances of a type for which a closure is true, in the background and some at a time: those that are there now, each when its turn comes. ' +
      'They are taken out of all that refers to them. The closure changes nothing, and gets the instance and the values of a list. Gives the id of the job.',
    changes: CHANGES_COLLECTION,
    params: [p.str('type'), p.closure('closure'), p.optional(p.array('args'))],
    run: (rt, typeName, closure, args) => {
      const type = typeNamed(rt, typeName);
      if (type.isWrapOnly) throw operationError(`the type \`${type.name}\` only wraps: it has no instances`);
      if (rt.needsChange(copy(rt, closure)))
        throw operationError('the closure of a job that removes may change nothing: it says what goes');
      return beginJob(rt, { kind: 'remove', type: type.id, field: 0 }, closure, args?.items);
    },
  }),
  func('jobs_info', {
    doc:
      'What is known of each job, in the order in which they were made, also of the last that ended: id, action, type, state (waiting, running, done, cancelled, failed), percent, ' +
      'why it failed, count, the number of instances that it removed, called the closure with or gave a value, how many of those that it chose are still referred to, or changed behind their turn and have another one (pending), or have to stay since something can not let go of them (kept), begun_at, owner, closure.',
    in: In.COLLECTION,
    run: (rt) => {
      const jobs = jobsOf(rt);
      const { current } = jobs;
      return listOf(jobs.all.map((job) => infoOf(rt, job, job === current)));
    },
  }),
  func('cancel_job', {
    doc: 'Ends a job: what it did stays done, but a property that it gives another definition keeps the one that it has.',
    changes: CHANGES_COLLECTION,
    params: [p.int('id')],
    run: (rt, id) => {
      const jobs = jobsOf(rt);
      const job = jobs.find(Number(id));
      if (job === undefined) throw lookupError(`there is no job ${id}`);
      if (!isOpen(job)) throw operationError(`the job ${id} has ended`);
      new JobEditor(jobs, rt.transaction).end(job, 'cancelled', '');
      return null;
    },
  }),
];

/**
 * Makes a job, which runs with the rights of the user.
 *
 * @returns its id
 */
export function beginJob(
  rt: Runtime,
  what: Pick<JobDef, 'kind' | 'type' | 'field'>,
  given: Closure,
  values: readonly Value[] = [],
): number {
  rt.assertCommittedUser(rt.user.id);
  for (const value of values) {
    if (!isSimple(value))
      throw typeError(
        `the arguments of a job are nil, bools, numbers, texts, bytes, regular expressions and dates, not ${typeName(value)}`,
      );
  }
  const jobs = jobsOf(rt);
  if (jobs.all.filter(isOpen).length >= JOBS_MAX)
    throw quotaError(`${JOBS_MAX} jobs are open, the most that there may be: cancel_job() ends one`);
  const closure = copy(rt, given);
  const args = argsOf(rt, closure, values, 'the instance');
  const def = { ...what, owner: rt.user.id, begunAt: rt.seconds(), closure, args };
  // The rest of the query may give instances the property, too.
  if (what.kind === 'fill') jobs.store.given ??= new Map();
  return new JobEditor(jobs, rt.transaction).make(def).def.id;
}

/** True if options of a change of a type say that it goes on in the background. */
export function isInBackground(rt: Runtime, options: Value): boolean {
  // Programs that know nothing of options get the error of one argument too many.
  if (!(options instanceof Thing))
    throw argumentsError(`mod_type() takes nothing but a thing with options here, not ${inWords(options)}`);
  const background = knownOptions(rt, 'mod_type', options, ['background']).get('background') ?? false;
  if (typeof background !== 'boolean') throw typeError("the option 'background' of mod_type() is a bool");
  return background;
}

function jobsOf({ group }: Runtime): Jobs {
  if (!(group instanceof CollectionGroup)) throw new Error('jobs are those of collections');
  return group.jobs;
}

function infoOf(rt: Runtime, job: Job, isCurrent: boolean): Thing {
  const { def, progress, waiting } = job;
  const { state } = progress;
  const pending = def.kind === 'fill' ? 0 : waiting.size;
  rt.charge(256);
  const info = new Thing(0, rt.shapes.empty(), []);
  const fields: readonly (readonly [string, Value])[] = [
    ['id', def.id],
    ['action', ACTION_NAMES[def.kind]],
    ['type', rt.schema.type(def.type).name],
    ['state', state === 'open' ? (isCurrent ? 'running' : 'waiting') : state],
    ['percent', percentOf(job)],
    ['why', progress.why === '' ? null : progress.why],
    ['count', progress.chosen - progress.kept - pending],
    ['pending', pending],
    ['kept', progress.kept],
    ['begun_at', def.begunAt],
    ['owner', rt.root.users.get(def.owner)?.name ?? null],
    ['closure', def.closure],
  ];
  for (const [key, value] of fields) info.put(key, value);
  return info;
}

/** The functions that make jobs, with the action of `mod_type`. */
const ACTION_NAMES: Readonly<Record<JobKind, string>> = {
  remove: 'del_instances',
  call: 'mod_type all',
  fill: 'mod_type add',
  succeed: 'mod_type mod',
};

/** The part of the instances that had their turn, by their ids, in whole per cent. */
function percentOf({ def, progress }: Job): number {
  if (progress.state === 'done') return 100;
  return Math.min(99, Math.floor((100 * progress.cursor) / Math.max(1, def.upTo)));
}
