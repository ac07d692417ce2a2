/** Code that reads variables and assigns to them. */
import type { AssignOp } from '@althing/language';
import { lookupError } from '../../error.js';
import { share, ThingSet } from '../../value/containers.js';
import { assignOperator, updateInPlace } from '../operators.js';
import type { Runtime } from '../runtime.js';
import type { Cell } from '../symbols.js';
import { UNTOUCHED } from '../symbols.js';
import type { Code } from '../unit.js';

/** Reads a variable; without one: a procedure of the scope, then a constant. */
export function variableCode(rt: Runtime, name: string): Code {
  const cell = rt.symbols.cell(name);
  return () => {
    const value = cell.value;
    return value !== undefined ? value : rt.nameWithoutVariable(name);
  };
}

/** @param local the number under which what the variable hides is saved, or -1: see `Compiler.local` */
export function assignCode(rt: Runtime, cell: Cell, local: number, value: Code): Code {
  if (local < 0) {
    return () => {
      const assigned = value();
      share(assigned);
      cell.value = assigned;
      return assigned;
    };
  }
  return () => {
    const assigned = value();
    share(assigned);
    if (rt.saved[local] === UNTOUCHED) rt.saved[local] = cell.value;
    cell.value = assigned;
    return assigned;
  };
}

export function compoundAssignCode(rt: Runtime, cell: Cell, op: Exclude<AssignOp, '='>, value: Code): Code {
  const operate = assignOperator(rt, op);
  return () => {
    if (cell.value === undefined) throw lookupError(`there is no variable '${cell.name}' to modify`);
    const right = value();
    const left = cell.value;
    if (left === undefined) throw lookupError(`there is no variable '${cell.name}' to modify`);
    if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
    const result = operate(left, right);
    cell.value = result;
    return result;
  };
}
