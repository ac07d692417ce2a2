import { QueryError } from '../error.js';
import type { Compute } from '../pack/wrap.js';
import { invoke } from './invoke.js';
import { NO_IDS, type Runtime } from './runtime.js';

/**
 * Computes what a wrap shows besides the properties of a thing. Nothing can be changed by that: a method that changes something is
 * not run. An error shows as its text.
 */
export function computeIn(rt: Runtime): Compute {
  return (closure, thing) => {
    const { deep, flags } = rt;
    rt.deep = rt.defaultDeep;
    rt.flags = 0;
    try {
      if (rt.needsChange(closure)) {
        return text(rt, 'a method with side effects is not run for a wrap');
      }
      rt.enter(HEIGHT);
      try {
        const value = rt.transaction.whileFrozen(() => invoke(rt, closure, [thing]));
        return { value, deep: rt.deep, ids: (rt.flags & NO_IDS) === 0 };
      } finally {
        rt.leave(HEIGHT);
      }
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) throw error;
      return text(rt, error.message);
    } finally {
      rt.deep = deep;
      rt.flags = flags;
    }
  };
}

function text(rt: Runtime, value: string): ReturnType<Compute> {
  return { value, deep: rt.defaultDeep, ids: true };
}

/** How much of the stack packing one level of a wrap takes. */
const HEIGHT = 16;
