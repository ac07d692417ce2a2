import type { EngineReports } from './ports.js';

/**
 * The reports of an engine side that nobody listens to, but for what would end a node.
 *
 * @param failed told of that, and of defects
 */
export function silentReports(failed: (error: unknown) => void): EngineReports {
  return {
    disk: () => {},
    members: () => {},
    changedItself: () => {},
    snapshotInstalled: () => {},
    snapshotLost: () => {},
    checkpointed: () => {},
    checkpointHadNoRoom: () => {},
    stateChecked: () => {},
    taskRan: () => {},
    defect: failed,
    diverged: () => failed(new Error('the states differ')),
    failed: (_message, error) => failed(error),
  };
}
