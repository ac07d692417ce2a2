import type { Entry, Link, Node } from './ast.js';

/** Pushes the direct children of a node or link so that the first in the text is popped first. */
export function pushChildren<Other>(stack: (Node | Link | Other)[], node: Node | Link): void {
  switch (node.kind) {
    case 'template':
      for (let i = node.parts.length - 1; i >= 0; i--) {
        const part = node.parts[i]!;
        if (typeof part !== 'string') stack.push(part);
      }
      return;
    case 'thing':
    case 'anonymous':
      pushEntries(stack, node.entries);
      return;
    case 'list':
      pushAll(stack, node.items);
      return;
    case 'paren':
      stack.push(node.body);
      return;
    case 'assign':
    case 'assign_property':
      stack.push(node.value);
      return;
    case 'call':
    case 'method':
      pushAll(stack, node.args);
      return;
    case 'instance':
      stack.push(node.thing);
      return;
    case 'enum':
      pushAll(stack, [node.closure]);
      return;
    case 'chain':
      pushAll(stack, node.links);
      pushAll(stack, [node.head]);
      return;
    case 'prefix':
      stack.push(node.operand);
      return;
    case 'operation':
    case 'and':
    case 'or':
      pushAll(stack, node.operands);
      return;
    case 'ternary':
      pushAll(stack, [node.condition, node.then, node.otherwise]);
      return;
    case 'if':
      pushAll(stack, [node.condition, node.then, node.otherwise]);
      return;
    case 'for':
      pushAll(stack, [node.iterable, node.body]);
      return;
    case 'return':
      pushAll(stack, [node.value, node.deep, node.flags]);
      return;
    case 'closure':
      stack.push(node.body);
      pushAll(
        stack,
        node.params.map(({ definition }) => definition),
      );
      return;
    case 'block':
      pushAll(stack, node.statements);
      return;
    case 'index':
      stack.push(node.index);
      return;
    case 'assign_index':
      pushAll(stack, [node.index, node.value]);
      return;
    case 'slice':
      pushAll(stack, [node.from, node.to, node.step]);
      return;
    case 'assign_slice':
      pushAll(stack, [node.from, node.to, node.step, node.value]);
      return;
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'str':
    case 'regex':
    case 'variable':
    case 'break':
    case 'continue':
    case 'property':
      return;
    default:
      return unknownNode(node);
  }
}

/** A kind of node that a list of all kinds has forgotten does not compile. */
export function unknownNode(node: never): never {
  throw new Error(`unknown kind of node: ${String(node)}`);
}

function pushAll<Other>(stack: (Node | Link | Other)[], nodes: readonly (Node | Link | null)[]): void {
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node !== null && node !== undefined) stack.push(node);
  }
}

function pushEntries<Other>(stack: (Node | Link | Other)[], entries: readonly Entry[]): void {
  for (let i = entries.length - 1; i >= 0; i--) {
    const { value } = entries[i]!;
    if (value !== null) stack.push(value);
  }
}
