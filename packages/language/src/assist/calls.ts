import type { Link, Node } from '../ast.js';
import { pushChildren } from '../children.js';
import { parse } from '../parse.js';

/**
 * Names of the functions and methods that a text calls, each once, in the order of the text.
 *
 * @throws {LanguageError} as `parse`
 */
export function calledNames(source: string): string[] {
  const names = new Set<string>();
  const stack: (Node | Link)[] = parse(source).statements.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.kind === 'call' || node.kind === 'method') names.add(node.name);
    pushChildren(stack, node);
  }
  return [...names];
}
