import type { Link, Node, Span } from './ast.js';
import { pushChildren } from './children.js';
import { LanguageError } from './error.js';
import { parseClosure } from './parse.js';
import { prettySource } from './pretty.js';

/**
 * The text of a closure in the layout of definitions, and where a node stands in it that stands at `span` in the stored text: people
 * read the one, and the places of errors are in the other. A span that is no node's gives the whole; a text that is no closure is its own.
 */
export function placeInDefinition(source: string, span: Span): { text: string } & Span {
  const stored = closureIn(source);
  if (stored === null) return { text: source, start: span.start, end: span.end };
  const text = prettySource(stored, source);
  const index = nodesOf(stored).findIndex(({ start, end }) => start === span.start && end === span.end);
  const found = index < 0 ? undefined : nodesOf(parseClosure(text))[index];
  return { text, start: found?.start ?? 0, end: found?.end ?? text.length };
}

function closureIn(source: string): Node | null {
  try {
    return parseClosure(source);
  } catch (error) {
    if (error instanceof LanguageError) return null;
    throw error;
  }
}

/** The nodes and links of a tree: the same of two texts that differ in layout alone. */
function nodesOf(root: Node): (Node | Link)[] {
  const nodes: (Node | Link)[] = [];
  const stack: (Node | Link)[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    nodes.push(node);
    pushChildren(stack, node);
  }
  return nodes;
}
