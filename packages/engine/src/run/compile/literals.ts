/** Code of what is written out: texts with values in them, things and lists. */
import { Closure } from '../../value/closure.js';
import { List, toItem } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { textFor } from '../charge.js';
import { literalShape, ownValue } from '../literal.js';
import type { Runtime } from '../runtime.js';
import type { Code } from '../unit.js';

/** @param pieces text, and the code of what stands between */
export function templateCode(rt: Runtime, pieces: readonly (string | Code)[]): Code {
  return () => {
    let text = '';
    for (const piece of pieces) text += typeof piece === 'string' ? piece : textFor(rt, piece());
    if (text.length > 1000) rt.chargeLength(text.length);
    return text;
  };
}

export function thingCode(rt: Runtime, keys: readonly string[], codes: readonly Code[]): Code {
  const shape = literalShape(rt, keys);
  if (shape === null) {
    return () => {
      const thing = new Thing(0, rt.shapes.empty(), []);
      for (let i = 0; i < keys.length; i++) {
        rt.transaction.setProperty(thing, keys[i]!, codes[i]!());
      }
      return thing;
    };
  }
  return () => {
    const slots = new Array<Value>(codes.length);
    if (shape.owned) rt.charge(shape.unitsToWalk);
    const thing = new Thing(0, shape.owned ? shape.own() : shape, slots);
    for (let i = 0; i < slots.length; i++) {
      slots[i] = ownValue(rt, thing, keys[i]!, codes[i]!());
    }
    return thing;
  };
}

export function listCode(rt: Runtime, codes: readonly Code[]): Code {
  return () => {
    const items = new Array<Value>(codes.length);
    const list = new List(items);
    for (let i = 0; i < items.length; i++) items[i] = toOwnItem(rt, codes[i]!(), list);
    if (list.inner > 0) rt.charge(list.inner);
    return list;
  };
}

function toOwnItem(rt: Runtime, value: Value, list: List): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Closure) {
    rt.charge(value.unitsToStore);
    value.store();
  } else rt.chargeFill(value);
  return toItem(value, list);
}
