/**
 * Closures and statements printed in one layout, comments removed: a tab for each level, blanks around binary
 * operators, a line for each statement of a block and for each element of a list or thing that has several.
 */
import type { Closure, Entry, Link, Node, Param, Program, TemplateLiteral } from './ast.js';
import { isBareReturn, isLastSlash } from './slashes.js';

/**
 * The text of a node in the layout of definitions. `source` is the text that the node's offsets refer to; literals are
 * taken from it as they are written. `indent` is the number of tabs in front of every line but the first.
 */
export function prettySource(node: Node, source: string, indent = 0): string {
  return printed([node], { literal: ({ start, end }) => source.slice(start, end), isOneLine: false }, indent);
}

/** A query with `?` for each int, float, str and regex, on one line: programs that differ in those alone have one shape. */
export function shapeOf({ statements }: Program, lengthMax: number): string {
  const items = statements.flatMap((statement, i): Item[] => (i === 0 ? [statement] : ['; ', statement]));
  const text = printed(items, { literal: shapeOfLiteral, isOneLine: true }, 0, lengthMax);
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}...`;
}

/** The documentation of a closure: the string that its block begins with, else `''`. */
export function closureDoc(closure: Closure): string {
  if (closure.body.kind !== 'block') return '';
  const first = closure.body.statements[0];
  return first?.kind === 'str' ? first.value : '';
}

/** A str literal with that value: in single quotes, or in double ones if only single ones occur in it. */
export function quoteStr(value: string): string {
  if (value.includes("'") && !value.includes('"')) return `"${value}"`;
  return `'${value.replaceAll("'", "''")}'`;
}

/** Longest source text of a ternary, or of a chain with several links, that is printed on one line. */
const LINE_MAX = 40;

const INDENT: unique symbol = Symbol('indent');
const DEDENT: unique symbol = Symbol('dedent');
const NEWLINE: unique symbol = Symbol('newline');

type Item = string | Node | Entry | typeof INDENT | typeof DEDENT | typeof NEWLINE;

type Literal = Extract<
  Node,
  { readonly kind: 'nil' | 'bool' | 'int' | 'float' | 'str' | 'template' | 'regex' }
>;

/** Options of printing. */
interface Style {
  /** The text of a literal; null for a template, whose parts are printed each. */
  readonly literal: (node: Literal) => string | null;
  readonly isOneLine: boolean;
}

/** @param lengthMax characters behind which nothing more is printed */
function printed(
  items: readonly Item[],
  style: Style,
  indent: number,
  lengthMax = Number.POSITIVE_INFINITY,
): string {
  const out: string[] = [];
  const work = [...items].reverse();
  let level = indent;
  let length = 0;
  for (let item = work.pop(); item !== undefined && length <= lengthMax; item = work.pop()) {
    if (typeof item === 'string') {
      out.push(item);
      length += item.length;
    } else if (item === INDENT) level++;
    else if (item === DEDENT) level--;
    else if (item === NEWLINE) out.push(style.isOneLine ? ' ' : `\n${'\t'.repeat(level)}`);
    else {
      const parts = 'kind' in item ? partsOf(item, style) : entryParts(item);
      for (let i = parts.length - 1; i >= 0; i--) work.push(parts[i]!);
    }
  }
  return out.join('');
}

function shapeOfLiteral(node: Literal): string | null {
  switch (node.kind) {
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'template':
      return node.parts.some((part) => typeof part !== 'string') ? null : '?';
    default:
      return '?';
  }
}

function partsOf(node: Node, style: Style): Item[] {
  const { isOneLine } = style;
  switch (node.kind) {
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'str':
    case 'template':
    case 'regex': {
      const text = style.literal(node);
      if (text !== null) return isLastSlash(node) && !isOneLine ? [text, NEWLINE] : [text];
      return node.kind === 'template' ? templateParts(node) : [];
    }
    case 'variable':
      return [node.name];
    case 'thing':
      return elements('{', node.entries, '}', isOneLine);
    case 'anonymous':
      return elements('&{', node.entries, '}', isOneLine);
    case 'list':
      return elements('[', isOneLine ? withoutRuns(node.items, style) : node.items, ']', isOneLine);
    case 'paren':
      return ['(', node.body, ')'];
    case 'assign':
      return [node.name, ` ${node.op} `, node.value];
    case 'call':
      return [node.name, '(', ...separated(node.args), ')'];
    case 'instance':
      return [node.name, node.thing];
    case 'enum':
      return [node.name, '{', node.closure ?? node.member ?? '', '}'];
    case 'chain':
      return chainParts(node.head, node.links, isOneLine ? 0 : node.end - node.start);
    case 'prefix': {
      // A sign directly before a digit would belong to the number.
      const isApart = /[-+]$/.test(node.ops) && beginsWithDigit(node.operand, style);
      return [node.ops, isApart ? ' ' : '', node.operand];
    }
    case 'operation':
      return node.operands.flatMap((operand, i): Item[] => {
        const left = node.operands[i - 1];
        if (left === undefined) return [operand];
        const op = node.ops[i - 1];
        return op === '/' && isBareReturn(left) ? [' /', NEWLINE, operand] : [` ${op} `, operand];
      });
    case 'and':
      return node.operands.flatMap((operand, i) => (i === 0 ? [operand] : [' && ', operand]));
    case 'or':
      return node.operands.flatMap((operand, i) => (i === 0 ? [operand] : [' || ', operand]));
    case 'ternary': {
      const { condition, then, otherwise } = node;
      if (isOneLine || node.end - node.start <= LINE_MAX) return [condition, ' ? ', then, ' : ', otherwise];
      return [condition, INDENT, NEWLINE, '? ', then, NEWLINE, ': ', otherwise, DEDENT];
    }
    case 'if': {
      const otherwise = node.otherwise === null ? [] : [' else ', node.otherwise];
      return ['if (', node.condition, ') ', node.then, ...otherwise];
    }
    case 'for':
      return ['for (', node.names.join(', '), ' in ', node.iterable, ') ', node.body];
    case 'return': {
      const values = [node.value, node.deep, node.flags].filter((value) => value !== null);
      return values.length === 0 ? ['return'] : ['return ', ...separated(values)];
    }
    case 'break':
    case 'continue':
      return [node.kind];
    case 'closure':
      return ['|', ...paramParts(node.params), '| ', node.body];
    case 'block': {
      const lines = node.statements.flatMap((statement): Item[] => [NEWLINE, statement, ';']);
      return ['{', INDENT, ...lines, DEDENT, NEWLINE, '}'];
    }
  }
}

/** True if the text of a node begins with a digit: a number does, and a chain with one in front. */
function beginsWithDigit(node: Node, style: Style): boolean {
  let first: Node | null = node;
  while (first?.kind === 'chain') first = first.head;
  return (first?.kind === 'int' || first?.kind === 'float') && /^\d/.test(style.literal(first) ?? '');
}

function templateParts({ parts }: TemplateLiteral): Item[] {
  return [
    '`',
    ...parts.flatMap((part): Item[] => (typeof part === 'string' ? ['?'] : ['{', part, '}'])),
    '`',
  ];
}

/** Keeps one of neighbours that are printed as `?`: lists of values of different lengths have one shape. */
function withoutRuns(items: readonly Node[], style: Style): readonly Node[] {
  const isPlain = (node: Node | undefined): boolean =>
    node !== undefined && isLiteral(node) && style.literal(node) === '?';
  return items.filter((item, i) => !isPlain(item) || !isPlain(items[i - 1]));
}

function isLiteral(node: Node): node is Literal {
  switch (node.kind) {
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'str':
    case 'template':
    case 'regex':
      return true;
    default:
      return false;
  }
}

function separated(nodes: readonly (Node | Entry)[]): Item[] {
  return nodes.flatMap((node, i) => (i === 0 ? [node] : [', ', node]));
}

function elements(open: string, items: readonly (Node | Entry)[], close: string, isOneLine: boolean): Item[] {
  if (items.length <= 1 || isOneLine) return [open, ...separated(items), close];
  return [open, INDENT, ...items.flatMap((item): Item[] => [NEWLINE, item, ',']), DEDENT, NEWLINE, close];
}

function paramParts(params: readonly Param[]): Item[] {
  return params.flatMap(({ name, definition }, i) => {
    const label = i === 0 ? name : `, ${name}`;
    return definition === null ? [label] : [`${label}: `, definition];
  });
}

function entryParts({ key, value }: Entry): Item[] {
  return value === null ? [`${key}:`] : [`${key}: `, value];
}

/** A long chain has its first link on the line of its head and each further one on a line of its own. */
function chainParts(head: Node | null, links: readonly Link[], length: number): Item[] {
  const isMember = (link: Link): boolean => 'name' in link;
  const further = links.filter(isMember).length - 1;
  const isBroken = further >= 2 && length > LINE_MAX;
  const parts: Item[] = [];
  if (head !== null) parts.push(head);
  // A dot must not touch a number.
  if (head !== null && (head.kind === 'int' || head.kind === 'float') && isMember(links[0]!)) parts.push(' ');
  let members = 0;
  for (const link of links) {
    if (isMember(link) && ++members > 1 && isBroken) {
      if (members === 2) parts.push(INDENT);
      parts.push(NEWLINE);
    }
    parts.push(...linkParts(link));
  }
  if (isBroken) parts.push(DEDENT);
  return parts;
}

function linkParts(link: Link): Item[] {
  switch (link.kind) {
    case 'property':
      return [link.optional ? '..' : '.', link.name];
    case 'method':
      return [link.optional ? '..' : '.', link.name, '(', ...separated(link.args), ')'];
    case 'assign_property':
      return [link.optional ? '..' : '.', link.name, ` ${link.op} `, link.value];
    case 'index':
      return ['[', link.index, ']'];
    case 'assign_index':
      return ['[', link.index, '] ', `${link.op} `, link.value];
    case 'slice':
      return ['[', ...sliceParts(link.from, link.to, link.step), ']'];
    case 'assign_slice':
      return ['[', ...sliceParts(link.from, link.to, link.step), '] ', `${link.op} `, link.value];
  }
}

function sliceParts(from: Node | null, to: Node | null, step: Node | null): Item[] {
  const parts: Item[] = [];
  if (from !== null) parts.push(from);
  parts.push(':');
  if (to !== null) parts.push(to);
  if (step !== null) parts.push(':', step);
  return parts;
}
