import type { AssignOp, BinaryOp } from '@althing/language';
import { compare, equals, isSubset, isTruthy } from '../value/compare.js';
import { ThingSet } from '../value/containers.js';
import {
  add,
  bitwise,
  complement,
  divide,
  modulo,
  multiply,
  negate,
  operandError,
  plus,
  subtract,
} from '../value/numbers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { inUse } from './dispatch.js';
import type { Runtime } from './runtime.js';

export type Operate = (left: Value, right: Value) => Value;

/** What a binary operator does. Long texts that it makes are charged to the query. */
export function binaryOperator(rt: Runtime, op: BinaryOp): Operate {
  if (op !== '+') return OPERATORS[op];
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      const sum = left + right;
      if (sum <= Number.MAX_SAFE_INTEGER && sum >= Number.MIN_SAFE_INTEGER) return sum;
    }
    const result = add(left, right);
    if (typeof result === 'string' && result.length > LONG_TEXT) chargeJoin(rt, left, right, result);
    return result;
  };
}

/** Texts beyond this length are charged. */
const LONG_TEXT = 1000;

/** JavaScript joins two texts without copying them, so what counts is the shorter one. */
function chargeJoin(rt: Runtime, left: Value, right: Value, result: string): void {
  rt.chargeLength(0);
  if (result.length > rt.limits.valueBytes) rt.chargeLength(result.length);
  if (typeof left === 'string' && typeof right === 'string') rt.charge(Math.min(left.length, right.length));
}

const OPERATORS: Readonly<Record<BinaryOp, Operate>> = {
  '+': add,
  '-': (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      const difference = left - right;
      if (difference <= Number.MAX_SAFE_INTEGER && difference >= Number.MIN_SAFE_INTEGER) return difference;
    }
    return left instanceof ThingSet && right instanceof ThingSet
      ? setOperation('-', left, right)
      : subtract(left, right);
  },
  '*': multiply,
  '/': divide,
  '%': modulo,
  '&': (left, right) => setOrBits('&', left, right),
  '|': (left, right) => setOrBits('|', left, right),
  '^': (left, right) => setOrBits('^', left, right),
  '<<': (left, right) => bitwise('<<', left, right),
  '>>': (left, right) => bitwise('>>', left, right),
  '==': equals,
  '!=': (left, right) => !equals(left, right),
  '<': (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return left < right;
    if (left instanceof ThingSet && right instanceof ThingSet) return isProperSubset(left, right);
    return compare(left, right) < 0;
  },
  '>': (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return left > right;
    if (left instanceof ThingSet && right instanceof ThingSet) return isProperSubset(right, left);
    return compare(left, right) > 0;
  },
  '<=': (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return left <= right;
    if (left instanceof ThingSet && right instanceof ThingSet) return isSubset(left.members, right.members);
    return compare(left, right) <= 0;
  },
  '>=': (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return left >= right;
    if (left instanceof ThingSet && right instanceof ThingSet) return isSubset(right.members, left.members);
    return compare(left, right) >= 0;
  },
};

/** What a compound assignment computes, except on sets, which it changes in place. */
export function assignOperator(op: Exclude<AssignOp, '='>): Operate {
  return OPERATORS[op.slice(0, -1) as BinaryOp];
}

/** `set op= other`: changes the set itself; every alias sees it. */
export function updateInPlace(
  rt: Runtime,
  set: ThingSet,
  op: Exclude<AssignOp, '='>,
  other: Value,
): ThingSet {
  const operator = op.slice(0, -1);
  if (!(other instanceof ThingSet) || !isSetOperator(operator)) throw operandError(operator, set, other);
  rt.transaction.assertWritable(set);
  if (set.lock !== 0) throw inUse('set');
  rt.transaction.assignMembers(set, combine(operator, set.members, other.members));
  return set;
}

/** What a prefix operator does. */
export function prefixOperator(op: string): (value: Value) => Value {
  switch (op) {
    case '!':
      return (value) => !isTruthy(value);
    case '-':
      return negate;
    case '+':
      return plus;
    case '~':
      return complement;
    default:
      throw new Error(`unknown prefix operator ${op}`);
  }
}

type SetOperator = '-' | '&' | '|' | '^';

function isSetOperator(op: string): op is SetOperator {
  return op === '-' || op === '&' || op === '|' || op === '^';
}

function setOrBits(op: '&' | '|' | '^', left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') {
    const a = left | 0;
    const b = right | 0;
    if (a === left && b === right) return op === '&' ? a & b : op === '|' ? a | b : a ^ b;
  }
  return left instanceof ThingSet && right instanceof ThingSet
    ? setOperation(op, left, right)
    : bitwise(op, left, right);
}

function setOperation(op: SetOperator, left: ThingSet, right: ThingSet): ThingSet {
  return new ThingSet(combine(op, left.members, right.members));
}

function combine(op: SetOperator, left: ReadonlySet<Thing>, right: ReadonlySet<Thing>): Set<Thing> {
  const result = new Set<Thing>();
  for (const thing of left) {
    if (op === '|' || right.has(thing) === (op === '&')) result.add(thing);
  }
  if (op === '|' || op === '^') {
    for (const thing of right) if (!left.has(thing)) result.add(thing);
  }
  return result;
}

function isProperSubset(a: ThingSet, b: ThingSet): boolean {
  return a.members.size < b.members.size && isSubset(a.members, b.members);
}
