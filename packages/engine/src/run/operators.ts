/**
 * The operators, a row each, from which both tiers have theirs. Ints are JavaScript numbers nearly always, so what an operator does with
 * two of them is text: the second tier writes it into the source that it makes, and the first makes its functions of it.
 */
import type { AssignOp, BinaryOp } from '@althing/language';
import { compare } from '../value/compare.js';
import { assertMembers, sizeOf, ThingSet, UNITS_PER_MEMBER } from '../value/containers.js';
import { equals, isSubset, isTruthy } from '../value/kinds.js';
import {
  add,
  type BitOp,
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

/** Two ints that are JavaScript numbers, as expressions over two names; a third one is for the result. */
interface IntForm {
  readonly kind: 'number' | 'boolean';
  /** The condition under which it is right, which may leave the result in `r`; empty when it always is. */
  readonly holds: (a: string, b: string, r: string) => string;
  readonly result: (a: string, b: string, r: string) => string;
}

export interface OperatorRow {
  /** On two ints; null where that is done as with all else. */
  readonly ints: IntForm | null;
  /** On two sets; null where it is not defined. */
  readonly sets: ((rt: Runtime, left: ThingSet, right: ThingSet) => Value) | null;
  /** The members that `set op= other` leaves; null where a set can't be changed so. */
  readonly members: Combine | null;
  /** On all else, with what that costs the query. */
  readonly others: (rt: Runtime) => Operate;
}

type Combine = (left: ReadonlySet<Thing>, right: ReadonlySet<Thing>) => Set<Thing>;

const SAFE = String(Number.MAX_SAFE_INTEGER);

const inRange = (operator: string): IntForm => ({
  kind: 'number',
  holds: (a, b, r) => `(${r} = ${a} ${operator} ${b}) <= ${SAFE} && ${r} >= -${SAFE}`,
  result: (_a, _b, r) => r,
});

/** Operators on bits; those of sets, too. */
const onBits = (op: '&' | '|' | '^', members: Combine): OperatorRow => ({
  ints: {
    kind: 'number',
    holds: (a, b) => `(${a} | 0) === ${a} && (${b} | 0) === ${b}`,
    result: (a, b) => `(${a} ${op} ${b})`,
  },
  ...onSets(members),
  others: () => (left, right) => bitwise(op, left, right),
});

const shift = (op: BitOp): OperatorRow => ({
  ints: null,
  sets: null,
  members: null,
  others: () => (left, right) => bitwise(op, left, right),
});

function onSets(members: Combine): Pick<OperatorRow, 'sets' | 'members'> {
  return {
    sets: (rt, left, right) => {
      chargeMembers(rt, left, right);
      return new ThingSet(members(left.members, right.members));
    },
    members,
  };
}

const onInts = (operator: string): IntForm => ({
  kind: 'boolean',
  holds: () => '',
  result: (a, b) => `${a} ${operator} ${b}`,
});

/** A comparison of values that have an order. */
const ordered = (
  operator: string,
  sets: (rt: Runtime, left: ThingSet, right: ThingSet) => boolean,
  holds: (order: number) => boolean,
): OperatorRow => ({
  ints: onInts(operator),
  sets,
  members: null,
  others: (rt) => (left, right) => {
    chargeLong(rt, left);
    return holds(compare(left, right));
  },
});

const equality = (operator: string, isWanted: boolean): OperatorRow => ({
  ints: onInts(operator),
  sets: null,
  members: null,
  others: (rt) => {
    const charge = (units: number): void => rt.charge(units);
    return (left, right) => {
      if (typeof left === 'object') chargeWalk(rt, left);
      return equals(left, right, charge) === isWanted;
    };
  },
});

export const OPERATORS: Readonly<Record<BinaryOp, OperatorRow>> = {
  '+': {
    ints: inRange('+'),
    sets: null,
    members: null,
    others: (rt) => (left, right) => {
      chargeJoin(rt, left, right);
      return add(left, right);
    },
  },
  '-': { ints: inRange('-'), ...onSets(difference), others: () => subtract },
  '*': {
    // A product of 0 and a negative number is -0, which no int is.
    ints: { ...inRange('*'), result: (_a, _b, r) => `(${r} + 0)` },
    sets: null,
    members: null,
    others: () => multiply,
  },
  '/': {
    ints: {
      kind: 'number',
      // Below 2^52 the quotient can't round up to the next integer.
      holds: (a, b) => `${b} !== 0 && ${a} < 4503599627370496 && ${a} > -4503599627370496`,
      result: (a, b) => `(Math.trunc(${a} / ${b}) + 0)`,
    },
    sets: null,
    members: null,
    others: () => divide,
  },
  '%': {
    ints: { kind: 'number', holds: (_a, b) => `${b} !== 0`, result: (a, b) => `(${a} % ${b} + 0)` },
    sets: null,
    members: null,
    others: () => modulo,
  },
  '&': onBits('&', (left, right) => new Set([...left].filter((thing) => right.has(thing)))),
  '|': onBits('|', union),
  '^': onBits('^', (left, right) => union(difference(left, right), difference(right, left))),
  '<<': shift('<<'),
  '>>': shift('>>'),
  '==': equality('===', true),
  '!=': equality('!==', false),
  '<': ordered('<', isProperSubset, (order) => order < 0),
  '>': ordered(
    '>',
    (rt, a, b) => isProperSubset(rt, b, a),
    (order) => order > 0,
  ),
  '<=': ordered('<=', isPartOf, (order) => order <= 0),
  '>=': ordered(
    '>=',
    (rt, a, b) => isPartOf(rt, b, a),
    (order) => order >= 0,
  ),
};

/** The prefix operators. */
const PREFIXES: Readonly<Record<string, (value: Value) => Value>> = {
  '!': (value) => !isTruthy(value),
  '-': negate,
  '+': plus,
  '~': complement,
};

export interface FirstTier {
  readonly operate: Operate;
  /** The same where two ints were looked at before. */
  readonly otherwise: Operate;
  /** Code of the operator with an operand and an int that is written out: without a call for the most frequent operands. */
  readonly withInt: (operand: Code, int: number) => Code;
}

export function firstTier(rt: Runtime, op: BinaryOp): FirstTier {
  const known = rt.operators.get(op);
  if (known !== undefined) return known;
  const make = MAKERS.get(op);
  if (make === undefined) throw new Error(`unknown operator ${op}`);
  const made = make(rt);
  rt.operators.set(op, made);
  return made;
}

export function binaryOperator(rt: Runtime, op: BinaryOp): Operate {
  return firstTier(rt, op).operate;
}

/** The operator of a compound assignment, except on sets, which it changes in place. */
export function assignOperator(rt: Runtime, op: Exclude<AssignOp, '='>): Operate {
  return binaryOperator(rt, operatorOf(op));
}

/** The binary operator of a compound assignment. */
export function operatorOf(op: Exclude<AssignOp, '='>): BinaryOp {
  return BINARY[op];
}

const BINARY: Readonly<Record<Exclude<AssignOp, '='>, BinaryOp>> = {
  '+=': '+',
  '-=': '-',
  '*=': '*',
  '/=': '/',
  '%=': '%',
  '&=': '&',
  '^=': '^',
  '|=': '|',
};

/** Makes the functions of an operator: text of its own for each, which Node.js optimises for the operands that this one meets. */
function makerOf({ ints, sets, others }: OperatorRow): (rt: Runtime) => FirstTier {
  const test = (...known: string[]): string =>
    [...known, ints?.holds('a', 'b', 'r') ?? 'false'].filter((part) => part !== '').join(' && ');
  const result = ints?.result('a', 'b', 'r') ?? 'null';
  const make = new Function(
    'rt, ThingSet, sets, others',
    `"use strict";
    const otherwise = ${sets === null ? 'others' : '(a, b) => a instanceof ThingSet && b instanceof ThingSet ? sets(rt, a, b) : others(a, b)'};
    const operate = (a, b) => {
      let r;
      return ${test('typeof a === "number"', 'typeof b === "number"')} ? ${result} : otherwise(a, b);
    };
    const withInt = (operand, b) => () => {
      let r;
      const a = operand();
      return ${test('typeof a === "number"')} ? ${result} : otherwise(a, b);
    };
    return { operate, otherwise, withInt };`,
  );
  return (rt) => make(rt, ThingSet, sets, others(rt));
}

const MAKERS: ReadonlyMap<string, (rt: Runtime) => FirstTier> = new Map(
  Object.entries(OPERATORS).map(([op, row]) => [op, makerOf(row)]),
);

/** `set op= other`: changes the set itself; every alias sees it. */
export function updateInPlace(
  rt: Runtime,
  set: ThingSet,
  op: Exclude<AssignOp, '='>,
  other: Value,
): ThingSet {
  const { members } = OPERATORS[operatorOf(op)];
  if (!(other instanceof ThingSet) || members === null) throw operandError(operatorOf(op), set, other);
  rt.transaction.assertWritable(set);
  if (set.lock !== 0) throw inUse('set');
  chargeMembers(rt, set, other);
  rt.transaction.assignMembers(set, members(set.members, other.members));
  return set;
}

export function prefixOperator(op: string): (value: Value) => Value {
  const operate = PREFIXES[op];
  if (operate === undefined) throw new Error(`unknown prefix operator ${op}`);
  return operate;
}

/** Counts the work of putting the members of two sets together. */
function chargeMembers(rt: Runtime, a: ThingSet, b: ThingSet): void {
  for (const set of [a, b]) {
    rt.chargeFill(set);
    rt.charge(UNITS_PER_MEMBER * set.size);
  }
}

function chargeWalk(rt: Runtime, value: Value): void {
  rt.charge(UNITS_PER_ITEM * sizeOf(value));
}

/** Units charged for comparing one item. */
const UNITS_PER_ITEM = 4;

function difference(left: ReadonlySet<Thing>, right: ReadonlySet<Thing>): Set<Thing> {
  return new Set([...left].filter((thing) => !right.has(thing)));
}

function union(left: ReadonlySet<Thing>, right: ReadonlySet<Thing>): Set<Thing> {
  assertMembers(left.size + right.size);
  return new Set([...left, ...right]);
}

function isProperSubset(rt: Runtime, a: ThingSet, b: ThingSet): boolean {
  return a.size < b.size && isPartOf(rt, a, b);
}

function isPartOf(rt: Runtime, a: ThingSet, b: ThingSet): boolean {
  for (const set of [a, b]) rt.chargeFill(set);
  rt.charge(UNITS_PER_MEMBER * a.size);
  return isSubset(a.members, b.members);
}
