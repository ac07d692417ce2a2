/** The module of the workload, which every node has: it answers nil, soon or after a while. */
import type { ModuleAnswer, ModulesView } from '@althing/engine';
import type { Draw } from './random.js';
import type { Thread } from './thread.js';

export const MODULES: ModulesView = {
  deploys: true,
  look: () => ({ status: 'running', file: 'x', manifest: null, tasks: 0, restarts: 0 }),
  restart: () => {},
};

/** In MessagePack. */
const NIL = Uint8Array.of(0xc0);

/** Takes the requests of a node to its module, and answers them. */
export function moduleOn(thread: Thread, draw: Draw) {
  return (_ask: unknown, answer: (answer: ModuleAnswer) => void): void => {
    thread.after(draw.exponential(draw.pick([1, 50, 400])), () => answer({ ok: true, data: NIL }));
  };
}
