/** Instances that are written out in a text: what the second tier has to know to make them without the first. */
import type { Node } from '@althing/language';
import type { Base } from '../../schema/definition.js';
import type { Test } from '../../schema/rule.js';
import type { Field } from '../../schema/type.js';
import { Float } from '../../value/scalars.js';
import type { Source } from './source.js';

/**
 * True if evaluating a node runs no code of users and calls nothing, so that nothing can change a type meanwhile. What is
 * more is left to the first tier, which keeps the type as it is.
 */
export function isQuiet(node: Node): boolean {
  switch (node.kind) {
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'str':
    case 'variable':
      return true;
    case 'paren':
      return isQuiet(node.body);
    case 'prefix':
      return isQuiet(node.operand);
    case 'operation':
    case 'and':
    case 'or':
      return node.operands.every(isQuiet);
    case 'ternary':
      return isQuiet(node.condition) && isQuiet(node.then) && isQuiet(node.otherwise);
    case 'chain':
      return (
        (node.head === null || isQuiet(node.head)) && node.links.every(({ kind }) => kind === 'property')
      );
    default:
      return false;
  }
}

/**
 * A JavaScript condition under which a value is one that a field accepts, and needs nothing else: it has no parts that belong
 * to the instance, and is no partner in a relation. What does not meet it may fit all the same.
 *
 * @param value a variable
 */
export function quickTest({ definition, rule }: Field, value: string, source: Source): string {
  const test = testOf(definition.base, rule.fits, value, source);
  if (test === null) return `(${simple(value, source)} && ${source.constant(rule.fits)}(${value}))`;
  return definition.nillable ? `(${value} === null || ${test})` : `(${test})`;
}

/** The condition under which a value has no parts. */
function simple(value: string, source: Source): string {
  return `(typeof ${value} !== "object" || ${value} === null || ${isFloat(value, source)})`;
}

function isFloat(value: string, source: Source): string {
  return `${value} instanceof ${source.constant(Float)}`;
}

/** The test of what is not nil; null for what only its rule can tell. */
function testOf(base: Base, fits: Test, value: string, source: Source): string | null {
  switch (base.kind) {
    case 'plain':
      return plainTest(base, value, source);
    case 'bool':
      return `typeof ${value} === "boolean"`;
    case 'int': {
      const { min, max } = base;
      if (typeof min === 'bigint' || typeof max === 'bigint') return null;
      return `typeof ${value} === "number" && ${value} >= (${min}) && ${value} <= (${max})`;
    }
    case 'float': {
      const { min, max } = base;
      return `${isFloat(value, source)} && ${value}.value >= (${min}) && ${value}.value <= (${max})`;
    }
    case 'str':
      // A character is one unit or two.
      return `typeof ${value} === "string" && (${value}.length >= ${2 * base.min} && ${value}.length <= ${base.max} || ${source.constant(fits)}(${value}))`;
    default:
      return null;
  }
}

function plainTest({ name }: Extract<Base, { kind: 'plain' }>, value: string, source: Source): string | null {
  switch (name) {
    case 'any':
      return simple(value, source);
    case 'str':
    case 'utf8':
      return `typeof ${value} === "string"`;
    case 'int':
      return `typeof ${value} === "number"`;
    case 'uint':
      return `typeof ${value} === "number" && ${value} >= 0`;
    case 'pint':
      return `typeof ${value} === "number" && ${value} > 0`;
    case 'nint':
      return `typeof ${value} === "number" && ${value} < 0`;
    case 'bool':
      return `typeof ${value} === "boolean"`;
    case 'float':
      return isFloat(value, source);
    default:
      return null;
  }
}
