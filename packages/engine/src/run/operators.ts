import type { AssignOp, BinaryOp } from '@althing/language';
import { compare } from '../value/compare.js';
import { assertMembers, sizeOf, ThingSet } from '../value/containers.js';
import { equals, isSubset, isTruthy } from '../value/kinds.js';
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
import { chargeJoin, chargeLong } from './charge.js';
import { inUse } from './dispatch.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

export type Operate = (left: Value, right: Value) => Value;

/** What a binary operator does. Long texts that it makes, and walks over lists and sets, are charged to the query. */
export function binaryOperator(rt: Runtime, op: BinaryOp): Operate {
  let operate = rt.operators.get(op);
  if (operate === undefined) {
    operate = makeOperator(rt, op);
    rt.operators.set(op, operate);
  }
  return operate;
}

function makeOperator(rt: Runtime, op: BinaryOp): Operate {
  const charge = (units: number): void => rt.charge(units);
  switch (op) {
    case '+':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') {
          const sum = left + right;
          if (sum <= Number.MAX_SAFE_INTEGER && sum >= Number.MIN_SAFE_INTEGER) return sum;
        }
        chargeJoin(rt, left, right);
        return add(left, right);
      };
    case '-':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') {
          const difference = left - right;
          if (difference <= Number.MAX_SAFE_INTEGER && difference >= Number.MIN_SAFE_INTEGER)
            return difference;
        }
        return left instanceof ThingSet && right instanceof ThingSet
          ? setOperation(rt, '-', left, right)
          : subtract(left, right);
      };
    case '&':
    case '|':
    case '^':
      return (left, right) =>
        left instanceof ThingSet && right instanceof ThingSet
          ? setOperation(rt, op, left, right)
          : bits(op, left, right);
    case '==':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left === right;
        if (typeof left === 'object') chargeWalk(rt, left);
        return equals(left, right, charge);
      };
    case '!=':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left !== right;
        if (typeof left === 'object') chargeWalk(rt, left);
        return !equals(left, right, charge);
      };
    case '<':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left < right;
        if (left instanceof ThingSet && right instanceof ThingSet) return isProperSubset(rt, left, right);
        chargeLong(rt, left);
        return compare(left, right) < 0;
      };
    case '>':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left > right;
        if (left instanceof ThingSet && right instanceof ThingSet) return isProperSubset(rt, right, left);
        chargeLong(rt, left);
        return compare(left, right) > 0;
      };
    case '<=':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left <= right;
        if (left instanceof ThingSet && right instanceof ThingSet) return isPartOf(rt, left, right);
        chargeLong(rt, left);
        return compare(left, right) <= 0;
      };
    case '>=':
      return (left, right) => {
        if (typeof left === 'number' && typeof right === 'number') return left >= right;
        if (left instanceof ThingSet && right instanceof ThingSet) return isPartOf(rt, right, left);
        chargeLong(rt, left);
        return compare(left, right) >= 0;
      };
    default:
      return SCALAR_OPERATORS[op];
  }
}

/** A comparison with a constant, without a call for the most frequent operands; null for other operators. */
export function compareWithInt(op: BinaryOp, operand: Code, int: number, operate: Operate): Code | null {
  switch (op) {
    case '==':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left === int : operate(left, int);
      };
    case '!=':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left !== int : operate(left, int);
      };
    case '<':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left < int : operate(left, int);
      };
    case '>':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left > int : operate(left, int);
      };
    case '<=':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left <= int : operate(left, int);
      };
    case '>=':
      return () => {
        const left = operand();
        return typeof left === 'number' ? left >= int : operate(left, int);
      };
    default:
      return null;
  }
}

function chargeWalk(rt: Runtime, value: Value): void {
  rt.charge(UNITS_PER_ITEM * sizeOf(value));
}

/** Units charged for comparing one item, and for looking a thing up in a set that may be new. */
const UNITS_PER_ITEM = 4;
const UNITS_PER_MEMBER = 64;

/** Operators that compute a value from two scalars; `+` has to be charged for besides. */
type ScalarOperator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>>';

const SCALAR_OPERATORS: Readonly<Record<ScalarOperator, Operate>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': modulo,
  '&': (left, right) => bits('&', left, right),
  '|': (left, right) => bits('|', left, right),
  '^': (left, right) => bits('^', left, right),
  '<<': (left, right) => bitwise('<<', left, right),
  '>>': (left, right) => bitwise('>>', left, right),
};

/** What a compound assignment computes, except on sets, which it changes in place. */
export function assignOperator(rt: Runtime, op: Exclude<AssignOp, '='>): Operate {
  if (op !== '+=') return SCALAR_OPERATORS[op.slice(0, -1) as ScalarOperator];
  return (left, right) => {
    chargeJoin(rt, left, right);
    return add(left, right);
  };
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
  chargeWalk(rt, set);
  chargeWalk(rt, other);
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

function bits(op: '&' | '|' | '^', left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') {
    const a = left | 0;
    const b = right | 0;
    if (a === left && b === right) return op === '&' ? a & b : op === '|' ? a | b : a ^ b;
  }
  return bitwise(op, left, right);
}

function setOperation(rt: Runtime, op: SetOperator, left: ThingSet, right: ThingSet): ThingSet {
  rt.charge(UNITS_PER_MEMBER * (left.members.size + right.members.size));
  return new ThingSet(combine(op, left.members, right.members));
}

function combine(op: SetOperator, left: ReadonlySet<Thing>, right: ReadonlySet<Thing>): Set<Thing> {
  if (op === '|' || op === '^') assertMembers(left.size + right.size);
  const result = new Set<Thing>();
  for (const thing of left) {
    if (op === '|' || right.has(thing) === (op === '&')) result.add(thing);
  }
  if (op === '|' || op === '^') {
    for (const thing of right) if (!left.has(thing)) result.add(thing);
  }
  return result;
}

function isProperSubset(rt: Runtime, a: ThingSet, b: ThingSet): boolean {
  return a.members.size < b.members.size && isPartOf(rt, a, b);
}

function isPartOf(rt: Runtime, a: ThingSet, b: ThingSet): boolean {
  rt.charge(UNITS_PER_MEMBER * a.members.size);
  return isSubset(a.members, b.members);
}
