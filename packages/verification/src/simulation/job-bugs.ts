/**
 * Planted bugs of jobs, and what tells: an instance that a job should have removed, and that is still there when the job is done; one that
 * had too few or too many turns; one whose property got its new definition from what the instance was before it changed.
 */
import type { CollectionGroup, Engine } from '@althing/engine';
import type { NodeMutant } from './node-mutant-names.js';

/** Bugs of the state of a collection: all nodes have them. */
export function plantInJobs({ jobs, store }: CollectionGroup, on: ReadonlySet<NodeMutant>): void {
  const move = jobs.move.bind(jobs);
  if (on.has('job_waiting_not_stored')) {
    jobs.move = (id, progress, _added, taken) => move(id, progress, [], taken);
  }
  if (on.has('job_rewritten_forgotten')) {
    jobs.move = (id, progress, added, taken) =>
      move(id, progress, jobs.known(id).def.kind === 'succeed' ? [] : added, taken);
  }
  if (on.has('job_value_not_stored')) {
    store.succeed = (thing, value) => {
      store.load(thing);
      const { successor } = thing.shape;
      if (successor === null) return;
      if (value === undefined) thing.slots.length = successor.slot;
      else thing.slots[successor.slot] = value;
    };
  }
  if (on.has('job_slice_not_undone')) {
    jobs.move = (id, progress, added, taken) => {
      if (progress.cursor >= jobs.known(id).progress.cursor) move(id, progress, added, taken);
    };
  }
}

/** A leader whose jobs go on where it remembers that they were. */
export function plantCursorInMemory(engine: Engine, groupOf: (id: number) => CollectionGroup | null): void {
  const cursors = new Map<string, number>();
  const { slice } = engine.upkeep.jobs;
  engine.upkeep.jobs.slice = (collection, isOver) => {
    const job = groupOf(collection)?.jobs.current;
    if (job === undefined) return null;
    const name = `${collection} ${job.def.id}`;
    job.progress = { ...job.progress, cursor: cursors.get(name) ?? 0 };
    const change = slice(collection, isOver);
    cursors.set(name, job.progress.cursor);
    return change;
  };
}

/** The type whose instances the jobs of the workload remove, and the property that says which: it never changes. */
export const REMOVED_TYPE = 'J';
export const REMOVED_BY = 'gone';

/** The property of the same type that the closures of its other jobs raise by one, and nothing else. */
const COUNTED_BY = 'turns';

/** Errors of jobs with an instance: it is there, and should not be, or had not one turn in each job that got to it. */
export function brokenJobs(group: CollectionGroup): string[] {
  return [
    ...forgottenByJobs(group),
    ...miscountedByJobs(group),
    ...misconvertedByJobs(group),
    ...unfilledByJobs(group),
  ];
}

/** Instances whose property, which a job gives them, does not begin with the text that the closure gives: programs only append to it. */
function unfilledByJobs({ jobs, store }: CollectionGroup): string[] {
  const type = [...store.schema.allTypes()].find(({ name }) => name === REMOVED_TYPE);
  const fills = jobs.all.filter(
    ({ def, progress }) => def.kind === 'fill' && (progress.state === 'open' || progress.state === 'done'),
  );
  return fills.flatMap(({ def, progress }) => {
    const field = type?.shape?.fields.find(({ id }) => type.id === def.type && id === def.field);
    if (type === undefined || field === undefined) return [];
    const reached = progress.state === 'done' ? def.upTo : progress.cursor;
    return [...type.instances].flatMap((id) => {
      const thing = store.thingOfId(id);
      store.load(thing);
      const value = String(thing.get(field.name));
      const isRight = value.startsWith(`text${String(thing.get('n'))}`) || (value === '' && id > reached);
      return isRight || id > def.upTo ? [] : [`thing ${id} has '${value}' for ${field.name}`];
    });
  });
}

/** The properties of the same type that always hold the same number, the second one as an int or as a str. */
const CONVERTED_FROM = 'm';
const CONVERTED = 'w';

function misconvertedByJobs({ store }: CollectionGroup): string[] {
  const type = [...store.schema.allTypes()].find(({ name }) => name === REMOVED_TYPE);
  return [...(type?.instances ?? [])].flatMap((id) => {
    const thing = store.thingOfId(id);
    store.load(thing);
    const [from, to] = [thing.get(CONVERTED_FROM), thing.get(CONVERTED)];
    // A new instance has the defaults.
    const isSame = String(from) === String(to) || (from === 0 && to === '');
    return isSame ? [] : [`thing ${id} has ${String(to)} for ${String(from)}`];
  });
}

function miscountedByJobs({ jobs, store }: CollectionGroup): string[] {
  const type = [...store.schema.allTypes()].find(({ name }) => name === REMOVED_TYPE);
  // Behind some of them the oldest are forgotten.
  if (type === undefined || jobs.all.length >= REMEMBERED) return [];
  const reached = jobs.all
    .filter(({ def }) => def.kind === 'call' && def.type === type.id)
    .map(({ def, progress }) => (progress.state === 'done' ? def.upTo : progress.cursor));
  return [...type.instances].flatMap((id) => {
    const thing = store.thingOfId(id);
    store.load(thing);
    const turns = reached.filter((upTo) => upTo >= id).length;
    const counted = thing.get(COUNTED_BY);
    return counted === turns ? [] : [`thing ${id} had ${String(counted)} turns in jobs, not ${turns}`];
  });
}

/** Ended jobs that a collection knows of. */
const REMEMBERED = 20;

/** Instances that a job that is done should have removed. */
function forgottenByJobs({ jobs, store }: CollectionGroup): string[] {
  const type = [...store.schema.allTypes()].find(({ name }) => name === REMOVED_TYPE);
  const upTo = jobs.all.reduce(
    (highest, { def, progress }) =>
      def.kind === 'remove' && def.type === type?.id && progress.state === 'done' && progress.kept === 0
        ? Math.max(highest, def.upTo)
        : highest,
    0,
  );
  return [...(type?.instances ?? [])].flatMap((id) => {
    const thing = store.thingOfId(id);
    store.load(thing);
    return id <= upTo && thing.get(REMOVED_BY) === true
      ? [`thing ${id} is there, which a job should have removed`]
      : [];
  });
}
