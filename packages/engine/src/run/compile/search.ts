/** Closures that find things by the value of a property. */
import type { BinaryOp, Closure, Node } from '@althing/language';

const COMPARING: ReadonlySet<BinaryOp> = new Set(['==', '<', '<=', '>', '>=']);

/** The property of its first argument that a closure compares with something else, as in `|u| u.email == x && u.age > 3`; null for none. */
export function searchedProperty({ params, body }: Closure): string | null {
  const name = params[0]?.name;
  return name === undefined ? null : comparedProperty(body, name);
}

function comparedProperty(node: Node, argument: string): string | null {
  switch (node.kind) {
    case 'paren':
      return comparedProperty(node.body, argument);
    case 'and': {
      const found = node.operands.map((operand) => comparedProperty(operand, argument));
      return found.find((property) => property !== null) ?? null;
    }
    case 'operation': {
      const [left, right] = node.operands;
      const [op] = node.ops;
      if (left === undefined || right === undefined || node.operands.length > 2) return null;
      if (op === undefined || !COMPARING.has(op)) return null;
      const properties = [propertyOf(left, argument), propertyOf(right, argument)];
      // Two of them are compared with each other, which no index helps to find.
      return properties.includes(null) ? (properties.find((property) => property !== null) ?? null) : null;
    }
    default:
      return null;
  }
}

function propertyOf(node: Node, argument: string): string | null {
  if (node.kind !== 'chain' || node.links.length !== 1) return null;
  const [link] = node.links;
  const isArgument = node.head?.kind === 'variable' && node.head.name === argument;
  return isArgument && link?.kind === 'property' ? link.name : null;
}
