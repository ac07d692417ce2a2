/**
 * Chains: properties, method calls, indexes and slices behind a value, and assignments to them.
 */
import type { AssignOp, Chain, Link } from '@althing/language';
import { lookupError, typeError, valueError } from '../error.js';
import type { Field } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { List, listOfItems, ThingSet } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import { Bytes, ErrorValue } from '../value/scalars.js';
import type { Shape } from '../value/shape.js';
import { TAG_COUNT } from '../value/tag.js';
import { characterAt, hasPairs, lengthOf } from '../value/text.js';
import { Thing, ThingBit } from '../value/thing.js';
import { tagOf, typeName, type Value } from '../value/value.js';
import type { Entry } from './builtin.js';
import { chargeItems, chargeLong } from './charge.js';
import type { Compiler } from './compile/compiler.js';
import { compileMethodCall, lockForWriting, unlockWriting } from './dispatch.js';
import { callClosure } from './invoke.js';
import { NESTED_LINKS_MAX } from './limits.js';
import { assignOperator, type Operate, updateInPlace } from './operators.js';
import { callOwn, callOwnMethod, methodOf, noProperty, unknownProperty } from './own-methods.js';
import { type Place, placed } from './place.js';
import type { Runtime } from './runtime.js';
import { pick, type Range, rangeOf, type SliceCode, toNumber } from './slice.js';
import type { Code } from './unit.js';

/** One link of a chain, given the value before it. */
export type Step = (value: Value) => Value;

export function compileChain(compiler: Compiler, chain: Chain): Code {
  const { rt } = compiler;
  const { links } = chain;
  const head = chain.head === null ? rootCode(rt) : compiler.operand(chain.head);
  // A long chain becomes a loop, so that no text can fill the stack.
  if (links.length > NESTED_LINKS_MAX || hasGuards(chain)) return loopOverLinks(compiler, chain, head);
  let code = head;
  for (let i = 0; i < links.length; i++) {
    const link = links[i]!;
    if (i === 0 && link.kind === 'property' && chain.head?.kind === 'variable') {
      code = readVariableProperty(rt, chain.head.name, head, link.name, compiler.place(link));
    } else {
      code = follow(code, compileLink(compiler, link));
    }
  }
  return code;
}

function rootCode(rt: Runtime): Code {
  return () => rt.rootThing();
}

/** True if a link guards its left side; in front of a root there is nothing to guard. */
function hasGuards({ head, links }: Chain): boolean {
  for (let i = head === null ? 1 : 0; i < links.length; i++) if (isOptional(links[i]!)) return true;
  return false;
}

function loopOverLinks(compiler: Compiler, chain: Chain, head: Code): Code {
  const steps = chain.links.map((link) => compileLink(compiler, link));
  const optional = chain.links.map((link, i) => isOptional(link) && !(i === 0 && chain.head === null));
  return () => {
    let value: Value = head();
    for (let i = 0; i < steps.length; i++) {
      if (optional[i] && (value === null || value instanceof ErrorValue)) return value;
      value = steps[i]!(value);
    }
    return value;
  };
}

function follow(before: Code, step: Step): Code {
  return () => step(before());
}

function isOptional(link: Link): boolean {
  switch (link.kind) {
    case 'property':
    case 'method':
    case 'assign_property':
      return link.optional;
    default:
      return false;
  }
}

function compileLink(compiler: Compiler, link: Link): Step {
  const { rt } = compiler;
  const place = compiler.place(link);
  switch (link.kind) {
    case 'property':
      return readProperty(rt, link.name, place);
    case 'method':
      return callMethod(rt, link.name, compiler.operands(link.args), place);
    case 'index':
      return guarded(readIndex(rt, compiler.operand(link.index)), place);
    case 'slice':
      return guarded(readSlice(rt, sliceCode(compiler, link)), place);
    case 'assign_property':
      return guarded(assignProperty(rt, link.name, link.op, compiler.operand(link.value)), place);
    case 'assign_index':
      return guarded(
        assignIndex(rt, compiler.operand(link.index), link.op, compiler.operand(link.value)),
        place,
      );
    case 'assign_slice':
      return guarded(
        assignSlice(rt, sliceCode(compiler, link), link.op, compiler.operand(link.value)),
        place,
      );
  }
}

/** A step whose errors tell where it stands. */
function guarded(step: Step, place: Place): Step {
  return (value) => {
    try {
      return step(value);
    } catch (error) {
      throw placed(error, place);
    }
  };
}

function sliceCode(
  compiler: Compiler,
  link: Extract<Link, { kind: 'slice' } | { kind: 'assign_slice' }>,
): SliceCode {
  return {
    from: link.from === null ? null : compiler.operand(link.from),
    to: link.to === null ? null : compiler.operand(link.to),
    step: link.step === null ? null : compiler.operand(link.step),
  };
}

/**
 * Remembers the shape of the last thing and the slot that it had there. A thing of a remembered shape is in memory: a
 * stub has no properties. In a run that is explained it does not: each look at a thing counts there.
 */
export function readProperty(rt: Runtime, name: string, place: Place): Step {
  const ownMethod = guarded((value) => methodOf(value as Thing, name), place);
  const remembers = rt.profile === null;
  let knownShape: Shape | null = null;
  let knownSlot = 0;
  return (value) => {
    if (!(value instanceof Thing)) throw placed(noProperty(value, name), place);
    if (value.shape === knownShape && knownShape.stale === null) {
      value.bits |= ThingBit.USED;
      return value.slots[knownSlot] as Value;
    }
    rt.load(value);
    const { shape } = value;
    const slot = shape.index.get(name);
    if (slot === undefined) return ownMethod(value);
    if (shape.late?.has(slot) === true) return guardedRead(value, slot, place);
    if (remembers && !shape.owned) {
      knownShape = shape;
      knownSlot = slot;
    }
    return value.slots[slot] as Value;
  };
}

function guardedRead(thing: Thing, slot: number, place: Place): Value {
  try {
    return thing.readAt(slot);
  } catch (error) {
    throw placed(error, place);
  }
}

/** `variable.name`: the most frequent chain, with one call less. */
function readVariableProperty(rt: Runtime, variable: string, head: Code, name: string, place: Place): Code {
  const cell = rt.symbols.cell(variable);
  const read = readProperty(rt, name, place);
  if (rt.profile !== null) return () => read(head());
  let knownShape: Shape | null = null;
  let knownSlot = 0;
  return () => {
    const { value } = cell;
    if (value instanceof Thing) {
      if (value.shape === knownShape && knownShape.stale === null) {
        value.bits |= ThingBit.USED;
        return value.slots[knownSlot] as Value;
      }
      rt.load(value);
      const { shape } = value;
      const slot = shape.owned ? undefined : shape.index.get(name);
      if (slot !== undefined && shape.late?.has(slot) !== true) {
        knownShape = shape;
        knownSlot = slot;
        return value.slots[slot] as Value;
      }
    }
    return read(head());
  };
}

/** A built-in method of the receiver's type wins; on things, a property that holds a closure comes next. */
export function callMethod(rt: Runtime, name: string, args: readonly Code[], place: Place): Step {
  /** Code for the type of the receiver that came first, as it mostly comes again, and for the others that came by. */
  let firstTag = -1;
  let first: Step | null = null;
  let others: (Step | undefined)[] | null = null;
  return (self) => {
    try {
      const tag = tagOf(self);
      if (tag === firstTag && first !== null) return first(self);
      if (first === null) {
        firstTag = tag;
        first = methodFor(rt, name, args, tag);
        return first(self);
      }
      others ??= new Array<Step | undefined>(TAG_COUNT).fill(undefined);
      let call = others[tag];
      if (call === undefined) {
        call = methodFor(rt, name, args, tag);
        others[tag] = call;
      }
      return call(self);
    } catch (error) {
      throw placed(error, place, `.${name}`);
    }
  };
}

/** The effect of a call of a method on receivers of one type. */
function methodFor(rt: Runtime, name: string, args: readonly Code[], tag: number): Step {
  const entry = rt.functions.method(name)?.[tag];
  if (entry === undefined) return otherMethod(rt, name, args);
  if (entry.instances !== 'all') return partlyBuiltIn(rt, entry, name, args);
  return builtInMethod(rt, entry, args);
}

/** A built-in method of plain things only, or of instances only. */
function partlyBuiltIn(rt: Runtime, entry: Entry, name: string, args: readonly Code[]): Step {
  const builtIn = builtInMethod(rt, entry, args);
  const other = otherMethod(rt, name, args);
  const isOfInstances = entry.instances === 'only';
  return (self) => {
    if (!(self instanceof Thing)) return other(self);
    rt.load(self);
    return (self.shape.type !== null) === isOfInstances ? builtIn(self) : other(self);
  };
}

function builtInMethod(rt: Runtime, entry: Entry, args: readonly Code[]): Step {
  const call = compileMethodCall(rt, entry, args);
  return (self) => {
    if (self instanceof Thing) rt.load(self);
    return call(self);
  };
}

function otherMethod(rt: Runtime, name: string, args: readonly Code[]): Step {
  return (self) => {
    if (!(self instanceof Thing)) return callOwnMethod(rt, self, name, args);
    rt.load(self);
    const { type } = self.shape;
    const method = type?.def?.methods.get(name);
    if (type !== null && method !== undefined) return callOwn(rt, type, method, self, args);
    const closure = self.get(name);
    if (closure === undefined) throw lookupError(`there is no method or property '${name}'`);
    if (!(closure instanceof Closure)) {
      throw typeError(`the property '${name}' is ${typeName(closure)}: only closures can be called`);
    }
    return callClosure(rt, closure, args);
  };
}

function readIndex(rt: Runtime, index: Code): Step {
  return (value) => {
    if (value instanceof List) {
      const i = index();
      return value.at(position(i, value.length));
    }
    if (value instanceof Thing) {
      const key = index();
      if (typeof key !== 'string') throw typeError(`a key must be a str, not ${typeName(key)}`);
      rt.load(value);
      const property = value.read(key);
      return property === undefined ? methodOf(value, key) : property;
    }
    if (typeof value === 'string') return characterAt(value, position(index(), lengthOf(value)));
    if (value instanceof Bytes) {
      const i = position(index(), value.data.length);
      return new Bytes(value.data.subarray(i, i + 1));
    }
    throw typeError(`${typeName(value)} can not be indexed`);
  };
}

/** The place of an index; negative ones count from the end. */
function position(index: Value, length: number): number {
  if (!isInt(index)) throw typeError(`an index must be an int, not ${typeName(index)}`);
  const i = toNumber(index);
  const place = i < 0 ? i + length : i;
  if (place < 0 || place >= length) throw lookupError(`the index ${index} is out of range`);
  return place;
}

function readSlice(rt: Runtime, slice: SliceCode): Step {
  return (value) => {
    if (value instanceof List) {
      const length = value.length;
      if (length === 0) return new List([]);
      const range = rangeOf(slice, length);
      const { start, stop, step } = range;
      if (step === 1) {
        chargeItems(rt, value, start, Math.max(0, stop - start));
        return listOfItems(value.slice(start, stop), value);
      }
      rt.charge(length);
      rt.chargeFill(value);
      return listOfItems(pick(value.items, range), value);
    }
    if (typeof value === 'string') {
      if (value === '') return value;
      chargeLong(rt, value);
      if (!hasPairs(value)) return sliceOf(rt, slice, value);
      rt.charge(UNITS_PER_PICKED * value.length);
      const characters = [...value];
      return pick(characters, rangeOf(slice, characters.length)).join('');
    }
    if (value instanceof Bytes) {
      const { data } = value;
      if (data.length === 0) return value;
      const range = rangeOf(slice, data.length);
      chargePicked(rt, range);
      return new Bytes(Uint8Array.from(pick(data, range)));
    }
    throw typeError(`${typeName(value)} can not be sliced`);
  };
}

function sliceOf(rt: Runtime, slice: SliceCode, text: string): string {
  const range = rangeOf(slice, text.length);
  if (range.step === 1) return text.slice(range.start, Math.max(range.start, range.stop));
  chargePicked(rt, range);
  return pick(text, range).join('');
}

/** Counts the work of picking the elements of a range one by one. */
function chargePicked(rt: Runtime, { start, stop, step }: Range): void {
  rt.charge(UNITS_PER_PICKED * Math.max(0, Math.ceil((stop - start) / step)));
}

/** Units for an element of a text or of bytes that is picked. */
const UNITS_PER_PICKED = 16;

function assignProperty(rt: Runtime, name: string, op: AssignOp, value: Code): Step {
  const operate = op === '=' ? null : assignOperator(rt, op);
  /** The shape of the last instance, and its field of that name. */
  let knownShape: Shape | null = null;
  let knownField: Field | null = null;
  return (target) => {
    if (!(target instanceof Thing)) throw noProperty(target, name);
    rt.load(target);
    lockForWriting(rt, target);
    try {
      const right = value();
      const { shape } = target;
      if (shape.type !== null && shape.stale === null) {
        if (shape !== knownShape) {
          knownShape = shape;
          knownField = target.field(name) ?? null;
        }
        if (knownField !== null) {
          if (operate === null || op === '=') return rt.transaction.setField(target, knownField, right);
          const left = target.readAt(knownField.slot);
          if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
          return rt.transaction.setField(target, knownField, operate(left, right));
        }
      }
      if (operate === null || op === '=') return rt.transaction.setProperty(target, name, right);
      return updateProperty(rt, target, name, op, operate, right);
    } finally {
      unlockWriting(target);
    }
  };
}

function updateProperty(
  rt: Runtime,
  target: Thing,
  key: string,
  op: Exclude<AssignOp, '='>,
  operate: Operate,
  right: Value,
): Value {
  const left = target.read(key);
  if (left === undefined) throw unknownProperty(key);
  if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
  return rt.transaction.setProperty(target, key, operate(left, right));
}

function assignIndex(rt: Runtime, index: Code, op: AssignOp, value: Code): Step {
  const operate = op === '=' ? null : assignOperator(rt, op);
  return (target) => {
    if (!(target instanceof Thing) && !(target instanceof List && !target.tuple)) {
      throw typeError(`${typeName(target)} does not support assignment to an index`);
    }
    if (target instanceof Thing) rt.load(target);
    lockForWriting(rt, target);
    try {
      const place = index();
      if (target instanceof Thing) {
        if (typeof place !== 'string') throw typeError(`a key must be a str, not ${typeName(place)}`);
        const right = value();
        if (operate === null || op === '=') return rt.transaction.setProperty(target, place, right);
        return updateProperty(rt, target, place, op, operate, right);
      }
      const i = position(place, target.length);
      const right = value();
      const item = operate === null ? right : operate(target.at(i), right);
      rt.transaction.spliceList(target, i, 1, [item]);
      return target.at(i);
    } finally {
      unlockWriting(target);
    }
  };
}

function assignSlice(rt: Runtime, slice: SliceCode, op: AssignOp, value: Code): Step {
  return (target) => {
    if (!(target instanceof List) || target.tuple) {
      throw typeError(`${typeName(target)} does not support assignment to a slice`);
    }
    if (op !== '=') throw typeError('a slice can only be assigned with =');
    lockForWriting(rt, target);
    try {
      const { start, stop, step } = rangeOf(slice, target.length);
      if (step !== 1) throw valueError('a slice that is assigned to must have a step of 1');
      const right = value();
      if (!(right instanceof List)) {
        throw typeError(`only a list or tuple can be assigned to a slice, not ${typeName(right)}`);
      }
      rt.charge(right.length);
      rt.chargeFill(right);
      chargeItems(rt, target, start, Math.max(0, stop - start));
      rt.transaction.spliceList(target, start, Math.max(0, stop - start), right.items.slice());
      return null;
    } finally {
      unlockWriting(target);
    }
  };
}
