/** Code of loops. */
import type { For } from '@althing/language';
import { typeError } from '../../error.js';
import { List, share, ThingSet } from '../../value/containers.js';
import { isTruthy } from '../../value/kinds.js';
import { Thing } from '../../value/thing.js';
import { typeName, type Value } from '../../value/value.js';
import { lockForReading, unlockReading } from '../dispatch.js';
import { translate } from '../jit/index.js';
import { Jump, Signal } from '../jump.js';
import { makeRoom, walkMark } from '../room.js';
import { UNTOUCHED } from '../symbols.js';
import type { Code } from '../unit.js';
import type { Compiler } from './compiler.js';
import type { Position } from './position.js';

export function loopCode(compiler: Compiler, node: For, position: Position): Code {
  const { rt, jumps, hotRuns } = compiler;
  const thrownBefore = jumps.thrown;
  const iterable = compiler.operand(node.iterable);
  const variables = node.names.map((name) => {
    const cell = rt.symbols.cell(name);
    return { cell, local: compiler.local(cell) };
  });
  const { loops, thrown, returns } = jumps;
  let body = compiler.body(node.body);
  const mayReturn = jumps.returns > returns;
  const mayJump = jumps.loops > loops || mayReturn;
  const catches = jumps.thrown > thrown;
  jumps.loops = loops;
  // As an operand the loop can't hand a signal on to the expression around it.
  const throwsReturn = mayReturn && position === 'operand';
  if (throwsReturn) jumps.thrown += 1;
  const [first, second] = variables as [(typeof variables)[0], (typeof variables)[0] | undefined];
  const others = variables.slice(2);
  const isTranslatable = jumps.thrown === thrownBefore;
  let rounds = 0;
  /** The loop in the second tier, for the next time that it begins. */
  let whole: Code | null = null;

  const becomeHot = (): void => {
    body = translate(compiler, node.body, false) ?? body;
    if (position === 'statement') whole = translate(compiler, node, true);
  };

  /** Runs the body once; returns false when the loop is to end. */
  const round = (mark: number): boolean => {
    if (--rt.steps < 0) rt.check();
    if (rt.isFull) makeRoom(rt, mark);
    rounds += 1;
    if (rounds === hotRuns && isTranslatable) becomeHot();
    if (catches) {
      try {
        body();
      } catch (error) {
        if (error === Jump.CONTINUE) return true;
        if (error === Jump.BREAK) return false;
        throw error;
      }
    } else {
      body();
    }
    if (!mayJump || rt.signal === Signal.NONE) return true;
    if (rt.signal === Signal.RETURN) return false;
    const goOn = rt.signal === Signal.CONTINUE;
    rt.signal = Signal.NONE;
    return goOn;
  };

  const loop = (container: List | ThingSet | Thing): void => {
    for (const { cell, local } of variables) {
      if (local >= 0 && rt.saved[local] === UNTOUCHED) rt.saved[local] = cell.value;
    }
    for (const { cell } of others) cell.value = null;
    const a = first.cell;
    const b = second?.cell;
    const mark = walkMark(rt);
    if (container instanceof List) {
      rt.chargeFill(container);
      const items = container.items;
      for (let i = 0; i < items.length; i++) {
        a.value = items[i] as Value;
        if (b !== undefined) b.value = i;
        if (!round(mark)) return;
      }
    } else if (container instanceof ThingSet) {
      rt.chargeFill(container);
      for (const thing of container.members) {
        a.value = thing;
        if (b !== undefined) b.value = thing.id === 0 ? null : thing.id;
        if (!round(mark)) return;
      }
    } else {
      for (const [key, slot] of container.shape.index) {
        a.value = key;
        if (b !== undefined) {
          const value = container.readAt(slot);
          share(value);
          b.value = value;
        }
        if (!round(mark)) return;
      }
    }
  };

  return () => {
    if (whole !== null) return whole();
    const container = iterable();
    if (!(container instanceof List || container instanceof ThingSet || container instanceof Thing)) {
      throw typeError(`cannot iterate over ${typeName(container)}`);
    }
    if (container instanceof Thing) rt.load(container);
    if (!isTruthy(container)) return container;
    lockForReading(container);
    try {
      loop(container);
    } finally {
      unlockReading(container);
    }
    if (throwsReturn && rt.signal === Signal.RETURN) throw Jump.RETURN;
    return null;
  };
}
