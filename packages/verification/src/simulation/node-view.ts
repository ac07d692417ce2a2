import type { NodeView } from '@althing/engine';
import type { EngineSide } from '@althing/node/parts';
import { MODULES } from './modules.js';

/** The view of a node for the simulated clients: they ask it to remove others, and to call them in. */
export function nodeViewOf(side: () => EngineSide | null): NodeView {
  const unused = (): never => {
    throw new Error('no simulated client asks for this');
  };
  return {
    backups: { add: unused, remove: unused, all: unused },
    restores: { check: unused },
    info: unused,
    nodes: unused,
    groups: unused,
    level: unused,
    counters: unused,
    history: unused,
    connections: unused,
    collectionBytes: () => null,
    requests: unused,
    cancelRequest: unused,
    queries: unused,
    procedures: unused,
    resetCounters: unused,
    setLogLevel: unused,
    setConfig: unused,
    shutDown: unused,
    handOver: unused,
    invitationProblem: () => null,
    isClusterSecret: () => true,
    modules: MODULES,
    removalProblem: (member) => {
      const members = side()?.members;
      return members === undefined ? 'the node is starting' : members.removalProblem(member);
    },
  };
}
