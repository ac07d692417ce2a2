/** Code of operators, from the code of their operands. */
import type { And, BinaryOp, Node, Operation, Or, Paren, Prefix } from '@althing/language';
import { isTruthy } from '../../value/kinds.js';
import type { Value } from '../../value/value.js';
import { binaryOperator, firstTier, type Operate, prefixOperator } from '../operators.js';
import type { Runtime } from '../runtime.js';
import type { Code } from '../unit.js';
import type { Position } from './position.js';

/** Nodes that combine operands and nothing else. */
export type Operators = Operation | And | Or | Prefix | Paren;

export function isOperators(node: Node, position: Position): node is Operators {
  switch (node.kind) {
    case 'operation':
    case 'and':
    case 'or':
    case 'prefix':
      return true;
    case 'paren':
      // As a statement it may hold a jump, which is a signal.
      return position === 'operand';
    default:
      return false;
  }
}

/** The operands of a node, in their order. */
export function operandsOf(node: Operators): readonly Node[] {
  switch (node.kind) {
    case 'paren':
      return [node.body];
    case 'prefix':
      return [node.operand];
    default:
      return node.operands;
  }
}

/** @param codes of all operands of a node, in their order */
export function operatorsCode(rt: Runtime, node: Operators, codes: readonly Code[]): Code {
  switch (node.kind) {
    case 'paren':
      return codes[0]!;
    case 'prefix':
      return prefix(rt, node.ops, codes[0]!);
    case 'operation':
      return operation(rt, node.operands, node.ops, codes);
    case 'and':
      return and(codes);
    case 'or':
      return or(codes);
  }
}

function prefix(rt: Runtime, ops: string, operand: Code): Code {
  if (ops.length === 1) {
    const operate = prefixOperator(ops);
    return () => operate(operand());
  }
  const operators = [...ops].reverse().map(prefixOperator);
  return () => {
    let value = operand();
    rt.step(operators.length);
    for (const operate of operators) value = operate(value);
    return value;
  };
}

function operation(
  rt: Runtime,
  nodes: readonly Node[],
  ops: readonly BinaryOp[],
  operands: readonly Code[],
): Code {
  const [first, second] = operands as readonly [Code, Code];
  if (operands.length === 2) {
    const { operate, withInt } = firstTier(rt, ops[0]!);
    const right = nodes[1];
    if (right?.kind === 'int' || right?.kind === 'str') {
      const value = second();
      return typeof value === 'number' ? withInt(first, value) : () => operate(first(), value);
    }
    const left = nodes[0];
    if (left?.kind === 'variable' && right?.kind === 'variable') {
      const a = rt.symbols.cell(left.name);
      const b = rt.symbols.cell(right.name);
      return () => {
        const x = a.value;
        const y = b.value;
        return operate(x === undefined ? first() : x, y === undefined ? second() : y);
      };
    }
    return () => {
      const x = first();
      return operate(x, second());
    };
  }
  const operators: Operate[] = [];
  for (const op of ops) operators.push(binaryOperator(rt, op));
  return () => {
    let value = first();
    for (let i = 0; i < operators.length; i++) {
      value = operators[i]!(value, operands[i + 1]!());
    }
    return value;
  };
}

function and(operands: readonly Code[]): Code {
  const [first, second] = operands as readonly [Code, Code];
  if (operands.length === 2) {
    return () => {
      const value = first();
      return isTruthy(value) ? second() : value;
    };
  }
  return () => {
    let value: Value = null;
    for (let i = 0; i < operands.length; i++) {
      value = operands[i]!();
      if (!isTruthy(value)) return value;
    }
    return value;
  };
}

function or(operands: readonly Code[]): Code {
  const [first, second] = operands as readonly [Code, Code];
  if (operands.length === 2) {
    return () => {
      const value = first();
      return isTruthy(value) ? value : second();
    };
  }
  return () => {
    let value: Value = null;
    for (let i = 0; i < operands.length; i++) {
      value = operands[i]!();
      if (isTruthy(value)) return value;
    }
    return value;
  };
}
