import { QueryError } from '../error.js';
import type { Compute } from '../pack/wrap.js';
import { NO_IDS } from './execution.js';
import { invoke } from './invoke.js';
import type { Runtime } from './runtime.js';

/**
 * Computes what a wrap shows besides the properties of a thing. Nothing can be changed by that: a method that changes something is
 * not run, and futures that one leaves are dropped. An error shows as its text.
 */
export function computeIn(rt: Runtime): Compute {
  return (closure, thing, level) => {
    if (level >= COMPUTED_LEVELS_MAX) return text(rt, 'computed properties are nested too deeply');
    const { deep, flags, futures } = rt;
    const made = futures.length;
    rt.deep = rt.defaultDeep;
    rt.flags = 0;
    try {
      if (rt.needsChange(closure)) {
        return text(rt, 'a method with side effects is not run for a wrap');
      }
      const height = HEIGHT * (level + 1);
      rt.enter(height);
      try {
        const value = rt.transaction.whileFrozen(() => invoke(rt, closure, [thing]));
        if (futures.length > made) return text(rt, 'a method that leaves futures gives no value for a wrap');
        return { value, deep: rt.deep, ids: (rt.flags & NO_IDS) === 0 };
      } finally {
        rt.leave(height);
      }
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) throw error;
      return text(rt, error.message);
    } finally {
      futures.length = made;
      rt.deep = deep;
      rt.flags = flags;
    }
  };
}

function text(rt: Runtime, value: string): ReturnType<Compute> {
  return { value, deep: rt.defaultDeep, ids: true };
}

/**
 * Computed properties inside each other: one that gives the wrap of a new thing by its own type has no end otherwise. Below the levels
 * that a JSON result may have.
 */
const COMPUTED_LEVELS_MAX = 100;

/** The room on the stack that packing one level of a wrap takes. */
const HEIGHT = 16;
