/** Reads of snapshots in a simulated process: those of a real node, without a thread of their own. */
import { DEFAULT_LIMITS, type Environment } from '@althing/engine';
import { SnapshotEngine, type SnapshotReaders } from '@althing/node/parts';
import type { Machine } from './machine.js';
import type { Planted } from './mutants.js';
import type { Thread } from './thread.js';
import { QUOTAS } from './workload.js';

export interface SimulatedReadersOptions {
  readonly machine: Machine;
  readonly planted: Planted;
  readonly thread: Thread;
  readonly environment: Omit<Environment, 'voters' | 'isCommittedUser'>;
  /** The index up to which the state of a group is on the engine side. */
  readonly appliedIndex: (group: number) => number;
  readonly onFailure: (error: unknown) => void;
}

export function simulatedReaders({
  machine,
  planted,
  thread,
  environment,
  appliedIndex,
  onFailure,
}: SimulatedReadersOptions): SnapshotReaders {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => thread.after(ms, resolve));
  return {
    ask(query, _asker, done) {
      const begun = thread.now;
      const before = appliedIndex(query.collection);
      const engine = new SnapshotEngine({
        reads: new planted.storage.SnapshotReads(machine.stateStore.attach(), pause),
        environment,
        limits: DEFAULT_LIMITS,
        quotas: QUOTAS,
        // So things leave at each turn of a walk.
        thingBytes: 0,
        onInternalError: onFailure,
      });
      let takenMs = 0;
      engine
        .run(query, () => {
          takenMs = thread.now - begun;
        })
        .then(({ reply }) => {
          const index = planted.node.has('index_of_before') ? before : reply.index;
          done({ reply: { ...reply, index: index ?? 0 }, takenMs });
        })
        .catch(onFailure)
        .finally(() => engine.close());
    },
    noteWritten: () => {},
    endGroup: () => {},
    noteDiskFull: () => {},
  };
}
