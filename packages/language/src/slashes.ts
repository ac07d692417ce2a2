/** Slashes whose meaning depends on what else is on their line. */
import type { Link, Node } from './ast.js';

/**
 * True if the node is a regex that ends at the last slash of its line, since all of them have a backslash before them:
 * another slash behind it on the same line would be a part of it.
 */
export function isLastSlash(node: Node | Link): boolean {
  return node.kind === 'regex' && node.body.endsWith('\\');
}

/** True if the node is a `return` without a value. A slash behind it divides only if it does not begin a regex. */
export function isBareReturn(node: Node | Link): boolean {
  return node.kind === 'return' && node.value === null;
}
