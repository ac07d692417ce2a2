/**
 * The nodes that a plain list of fields does not describe. The table of actions (generator/actions.mjs) names these
 * functions; both parsers call them with the start and the end of the rule and the values of its parts. A list that
 * stayed empty may come as undefined.
 */
import type { AssignOp, Link, Node } from './ast.js';

/** The statements of a query, which may have none. */
export function orNone(_start: number, _end: number, statements: readonly Node[] | null): readonly Node[] {
  return statements ?? [];
}

/** `condition ? then : otherwise`, or only what would be the condition. */
export function ternary(
  start: number,
  end: number,
  condition: Node,
  then: Node | null,
  otherwise: Node | null,
): Node {
  if (then === null || otherwise === null) return condition;
  return { kind: 'ternary', start, end, condition, then, otherwise };
}

/** An expression with prefix operators, or without. */
export function prefixed(
  start: number,
  end: number,
  tildes: readonly string[] | undefined,
  signs: readonly string[] | undefined,
  operand: Node,
): Node {
  const ops = (tildes === undefined ? '' : tildes.join('')) + (signs === undefined ? '' : signs.join(''));
  return ops === '' ? operand : { kind: 'prefix', start, end, ops, operand };
}

/** A chain that starts at the root: `.a.b`. */
export function rootChain(start: number, end: number, first: Link, links: readonly Link[] | undefined): Node {
  return {
    kind: 'chain',
    start,
    end,
    head: null,
    links: links === undefined ? [first] : [first, ...links],
  };
}

/** A head with its links, or the head alone. */
export function headedChain(
  start: number,
  end: number,
  head: Node,
  links: readonly Link[] | undefined,
): Node {
  if (links === undefined || links.length === 0) return head;
  return { kind: 'chain', start, end, head, links };
}

/** The content of brackets: one expression alone is an index, everything else a slice. */
export function indexLink(
  start: number,
  end: number,
  from: Node | null,
  colon: string | null,
  to: Node | null,
  step: Node | null,
  op: AssignOp | null,
  value: Node | null,
): Link {
  if (from !== null && colon === null) {
    if (op === null || value === null) return { kind: 'index', start, end, index: from };
    return { kind: 'assign_index', start, end, index: from, op, value };
  }
  if (op === null || value === null) return { kind: 'slice', start, end, from, to, step };
  return { kind: 'assign_slice', start, end, from, to, step, op, value };
}
