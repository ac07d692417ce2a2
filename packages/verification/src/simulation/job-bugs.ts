/** Planted bugs of jobs, and what tells: an instance that a job should have removed, and that is still there when the job is done. */
import type { CollectionGroup } from '@althing/engine';
import type { NodeMutant } from './node-mutant-names.js';

/** Bugs of the state of a collection: all nodes have them. */
export function plantInJobs({ jobs }: CollectionGroup, on: ReadonlySet<NodeMutant>): void {
  const move = jobs.move.bind(jobs);
  if (on.has('job_waiting_not_stored')) {
    jobs.move = (id, progress, _added, taken) => move(id, progress, [], taken);
  }
  if (on.has('job_slice_not_undone')) {
    jobs.move = (id, progress, added, taken) => {
      if (progress.cursor >= jobs.known(id).progress.cursor) move(id, progress, added, taken);
    };
  }
}

/** The type whose instances the jobs of the workload remove, and the property that says which: it never changes. */
export const REMOVED_TYPE = 'J';
export const REMOVED_BY = 'gone';

/** Instances that a job that is done should have removed. */
export function forgottenByJobs({ jobs, store }: CollectionGroup): string[] {
  const type = [...store.schema.allTypes()].find(({ name }) => name === REMOVED_TYPE);
  const upTo = jobs.all.reduce(
    (highest, { def, progress }) =>
      def.type === type?.id && progress.state === 'done' && progress.kept === 0
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
