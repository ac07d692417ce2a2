import type { Link, Node, Span } from './ast.js';
import { pushChildren } from './children.js';
import { LanguageError } from './error.js';
import { parseClosure } from './parse.js';
import { prettySource } from './pretty.js';

/** A part of the text of a definition. */
export type DefinitionPlace = { readonly text: string } & Span;

/**
 * The text of a closure in the layout of definitions, and where nodes stand in it: people read the one, and the places of errors are in
 * the other.
 *
 * @param source the stored text
 * @returns finds a node by where it stands in the stored text. A span that is no node's gives the whole; a text that is no closure is its own
 */
export function placesInDefinition(source: string): (span: Span) => DefinitionPlace {
  const stored = closureIn(source);
  if (stored === null) return ({ start, end }) => ({ text: source, start, end });
  const text = prettySource(stored, source);
  const nodes = nodesOf(stored);
  let shown: (Node | Link)[] | null = null;
  return (span) => {
    const index = nodes.findIndex(({ start, end }) => start === span.start && end === span.end);
    if (index >= 0) shown ??= nodesOf(parseClosure(text));
    const found = shown?.[index];
    return { text, start: found?.start ?? 0, end: found?.end ?? text.length };
  };
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
