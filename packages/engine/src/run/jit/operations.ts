/** Operators in the second tier: numbers are done in place, all else by the operators of the first. */
import type { Assign, BinaryOp, Node, Operation } from '@althing/language';
import { lookupError } from '../../error.js';
import { ThingSet } from '../../value/containers.js';
import type { Value } from '../../value/value.js';
import {
  assignOperator,
  firstTier,
  OPERATORS,
  operatorOf,
  prefixOperator,
  updateInPlace,
} from '../operators.js';
import type { Translator } from './index.js';
import type { Expression } from './source.js';

export function compoundAssignment(translator: Translator, { name, op, value }: Assign): Expression {
  if (op === '=') throw new Error('a plain assignment is not compound');
  const { source, rt } = translator;
  const { mark } = source;
  const cell = rt.symbols.cell(name);
  const cellName = source.constant(cell);
  const none = source.constant(() => {
    throw lookupError(`there is no variable '${name}' to modify`);
  });
  const operate = assignOperator(rt, op);
  const update = source.constant((left: Value | undefined, right: Value): Value => {
    if (left === undefined) throw lookupError(`there is no variable '${name}' to modify`);
    if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
    const result = operate(left, right);
    cell.value = result;
    return result;
  });
  const given = translator.expression(value);
  const right = source.temp();
  const left = source.temp();
  const result = source.temp();
  source.release(mark);
  const otherwise = `${update}(${left}, ${right})`;
  const { ints } = OPERATORS[operatorOf(op)];
  const evaluated = `${cellName}.value === undefined && ${none}(), ${right} = ${given.code}, ${left} = ${cellName}.value`;
  if (ints === null) return { code: `(${evaluated}, ${otherwise})`, kind: 'any' };
  const holds = [`typeof ${left} === "number"`];
  if (given.kind !== 'number') holds.push(`typeof ${right} === "number"`);
  const condition = ints.holds(left, right, result);
  if (condition !== '') holds.push(condition);
  const changed = `${cellName}.value = ${ints.result(left, right, result)}`;
  return { code: `(${evaluated}, ${holds.join(' && ')} ? ${changed} : ${otherwise})`, kind: 'any' };
}

export function operation(translator: Translator, { operands, ops }: Operation): Expression {
  const { source } = translator;
  const [first, ...others] = operands;
  if (first === undefined) throw new Error('an operation has operands');
  let value = translator.expression(first);
  for (const [i, operand] of others.entries()) {
    const { mark } = source;
    // The left side has been evaluated when the right one begins, and must survive it.
    const left = source.temp();
    const right = translator.expression(operand);
    value = binary(translator, ops[i]!, value, left, right);
    source.release(mark);
  }
  return value;
}

function binary(
  translator: Translator,
  op: BinaryOp,
  a: Expression,
  left: string,
  b: Expression,
): Expression {
  const { source } = translator;
  const right = source.temp();
  const result = source.temp();
  const otherwise = `${source.constant(firstTier(translator.rt, op).otherwise)}(${left}, ${right})`;
  const evaluated = `${left} = ${a.code}, ${right} = ${b.code}`;
  const { ints } = OPERATORS[op];
  if (ints === null) return { code: `(${evaluated}, ${otherwise})`, kind: 'any' };
  const holds: string[] = [];
  if (a.kind !== 'number') holds.push(`typeof ${left} === "number"`);
  if (b.kind !== 'number') holds.push(`typeof ${right} === "number"`);
  const condition = ints.holds(left, right, result);
  if (condition !== '') holds.push(condition);
  const value = ints.result(left, right, result);
  const code = holds.length === 0 ? value : `${holds.join(' && ')} ? ${value} : ${otherwise}`;
  // Every comparison gives a bool; the other operators may give anything when they are not on small ints.
  const kind = ints.kind === 'boolean' || holds.length === 0 ? ints.kind : 'any';
  return { code: `(${evaluated}, ${code})`, kind };
}

export function prefix(translator: Translator, ops: string, operand: Node): Expression {
  const { source } = translator;
  let value = translator.expression(operand);
  for (const op of [...ops].reverse()) {
    if (op === '!') value = { code: `!${translator.truth(value)}`, kind: 'boolean' };
    else if (op === '-' && value.kind === 'number') value = { code: `(0 - ${value.code})`, kind: 'number' };
    else value = { code: `${source.constant(prefixOperator(op))}(${value.code})`, kind: 'any' };
  }
  return value;
}

export function logical(translator: Translator, operands: readonly Node[], kind: 'and' | 'or'): Expression {
  const { source } = translator;
  const { mark } = source;
  const value = source.temp();
  let code = '';
  for (const [i, operand] of [...operands].reverse().entries()) {
    const { code: given } = translator.expression(operand);
    if (i === 0) {
      code = given;
      continue;
    }
    const test = translator.truth({ code: `(${value} = ${given})`, kind: 'any' });
    code = kind === 'and' ? `(${test} ? ${code} : ${value})` : `(${test} ? ${value} : ${code})`;
  }
  source.release(mark);
  return { code, kind: 'any' };
}
