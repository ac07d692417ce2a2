/**
 * The second tier: what runs hot is translated to JavaScript source, which the engine of Node.js optimises as a whole,
 * where the closures of the first tier cost a call for each node.
 *
 * It translates variables, constants, operators, assignments to variables, conditions, loops, reading of properties,
 * calls of closures and methods, and things that are written out; every other expression is the code of the first tier,
 * called. Both tiers do exactly the same in the same order, down to the counting of steps, so that a piece of code can
 * move from one to the other at any call.
 */
import type { Assign, Call, Chain, Node, Return, Span } from '@althing/language';
import { Closure } from '../../value/closure.js';
import { share } from '../../value/containers.js';
import { isTruthy } from '../../value/kinds.js';
import { readProperty } from '../chain.js';
import { call1, call2, unitOf } from '../invoke.js';
import { Jump, Signal } from '../jump.js';
import { namedBy } from '../named.js';
import type { Place } from '../place.js';
import type { Runtime } from '../runtime.js';
import type { Cell } from '../symbols.js';
import { UNTOUCHED } from '../symbols.js';
import type { Code } from '../unit.js';
import { instanceLiteral, thingLiteral } from './literals.js';
import { loopText } from './loops.js';
import { methodCall } from './methods.js';
import { compoundAssignment, logical, operation, prefix } from './operations.js';
import { type Expression, Source } from './source.js';

/** Where the code stands: what the first tier makes of a part of it. */
export interface Surroundings {
  readonly rt: Runtime;
  /** Code of an expression in operand position. */
  operand(node: Node): Code;
  /** Where a node or a link stands. */
  place(span: Span): Place;
  /** The number of a local of the body, or -1: see `Compiler`. */
  local(cell: Cell): number;
}

/** Longer texts of the language than this are not translated: Node.js would not optimise what comes out. */
const TEXT_LENGTH_MAX = 3000;

/** Levels of nodes at most; what lies deeper is left to the first tier. Keeps frames small. */
const NESTING_MAX = 30;

/** Links of a chain at most, each of which is a call inside a call. */
const CHAIN_LENGTH_MAX = 4;

/** Calls inside the arguments of calls at most: each is compiled for the first tier too. */
const NESTED_CALLS_MAX = 4;

/**
 * Translates a statement that jumps only in statement position.
 *
 * @param isBody whether the value counts, as that of a closure's body does; that of a loop's body does not
 * @returns code that does what the first tier does, or null when it is too large
 */
export function translate(around: Surroundings, node: Node, isBody: boolean): Code | null {
  return translateInside(around, node, isBody, 0);
}

function translateInside(
  around: Surroundings,
  node: Node,
  isBody: boolean,
  nestedCalls: number,
): Code | null {
  if (node.end - node.start > TEXT_LENGTH_MAX) return null;
  const translator = new Translator(around, nestedCalls);
  const body = translator.statement(node, isBody);
  return translator.isTooDeep ? null : (translator.source.build(`${body}\nreturn null;`) as Code);
}

export class Translator {
  readonly source = new Source();
  /** True if there are statements too deep inside others, so that nothing can come of it. */
  isTooDeep = false;
  private nesting = 0;
  readonly rt: Runtime;
  /** Names of the constants that nearly every translation needs. */
  readonly rtName: string;
  /** Labels of the loops around, innermost last. A jump out of all of them is a signal. */
  readonly loops: string[] = [];

  constructor(
    readonly around: Surroundings,
    private nestedCalls: number,
  ) {
    this.rt = around.rt;
    this.rtName = this.source.constant(around.rt);
  }

  /** Statements; when the value counts, they return it. */
  statement(node: Node, isLast: boolean): string {
    this.nesting += 1;
    if (this.nesting > NESTING_MAX) this.isTooDeep = true;
    const text = this.isTooDeep ? '' : this.statementText(node, isLast);
    this.nesting -= 1;
    return text;
  }

  private statementText(node: Node, isLast: boolean): string {
    switch (node.kind) {
      case 'paren':
        return this.statement(node.body, isLast);
      case 'block': {
        const end = node.statements.length - 1;
        return node.statements.map((part, i) => this.statement(part, isLast && i === end)).join('\n');
      }
      case 'if':
      case 'ternary':
        return this.branches(node.condition, node.then, node.otherwise, isLast);
      case 'for':
        return loopText(this, node, isLast);
      case 'return':
        return this.return(node);
      case 'break':
      case 'continue':
        return this.jump(node.kind);
      default: {
        const { code } = this.expression(node);
        return isLast ? `return ${code};` : `${code};`;
      }
    }
  }

  private branches(condition: Node, then: Node, otherwise: Node | null, isLast: boolean): string {
    const { source } = this;
    const { mark } = source;
    if (otherwise === null && isLast) {
      // The value of an if whose condition is false is that of the condition.
      const value = source.temp();
      const test = `${value} = ${this.expression(condition).code};`;
      const text = `${test}\nif (!${this.truth({ code: value, kind: 'any' })}) return ${value};`;
      source.release(mark);
      return `${text}\n${this.statement(then, isLast)}`;
    }
    const test = this.condition(condition);
    source.release(mark);
    const yes = this.statement(then, isLast);
    const no = otherwise === null ? '' : ` else {\n${this.statement(otherwise, isLast)}\n}`;
    return `if (${test}) {\n${yes}\n}${no}`;
  }

  private return({ deep, flags, value }: Return): string {
    const rt = this.rtName;
    const lines: string[] = [];
    if (deep !== null) lines.push(`${rt}.setDeep(${this.expression(deep).code});`);
    if (flags !== null) lines.push(`${rt}.addFlags(${this.expression(flags).code});`);
    lines.push(`${rt}.returned = ${value === null ? 'null' : this.expression(value).code};`);
    lines.push(`${rt}.signal = ${Signal.RETURN};`, 'return null;');
    return lines.join('\n');
  }

  private jump(kind: 'break' | 'continue'): string {
    const loop = this.loops.at(-1);
    if (loop !== undefined) return `${kind} ${loop};`;
    const { signal } = kind === 'break' ? Jump.BREAK : Jump.CONTINUE;
    return `${this.rtName}.signal = ${signal};\nreturn null;`;
  }

  /** Notes what a local hides, before it is first assigned. */
  save(cell: Cell): string {
    const local = this.around.local(cell);
    if (local < 0) return '';
    const untouched = this.source.constant(UNTOUCHED);
    const saved = `${this.rtName}.saved`;
    return `if (${saved}[${local}] === ${untouched}) ${saved}[${local}] = ${this.source.constant(cell)}.value;`;
  }

  /** An expression that evaluates a node once. */
  expression(node: Node): Expression {
    this.nesting += 1;
    const expression = this.nesting > NESTING_MAX ? this.firstTier(node) : this.expressionOf(node);
    this.nesting -= 1;
    return expression;
  }

  private expressionOf(node: Node): Expression {
    switch (node.kind) {
      case 'nil':
        return { code: 'null', kind: 'any' };
      case 'bool':
        return { code: String(node.value), kind: 'boolean' };
      case 'int':
        if (typeof node.value === 'number') return { code: `(${node.value})`, kind: 'number' };
        return this.constant(node.value);
      case 'str':
        return this.constant(node.value);
      case 'paren':
        return this.expression(node.body);
      case 'variable':
        return this.variable(node.name);
      case 'assign':
        return node.op === '=' ? this.assign(node) : compoundAssignment(this, node);
      case 'operation':
        return operation(this, node);
      case 'prefix':
        return prefix(this, node.ops, node.operand);
      case 'and':
      case 'or':
        return logical(this, node.operands, node.kind);
      case 'ternary': {
        const test = this.condition(node.condition);
        const yes = this.expression(node.then);
        const no = this.expression(node.otherwise);
        const kind = yes.kind === no.kind ? yes.kind : 'any';
        return { code: `(${test} ? ${yes.code} : ${no.code})`, kind };
      }
      case 'call':
        return this.call(node);
      case 'chain':
        return this.chain(node);
      case 'thing':
        return thingLiteral(this, node, node.entries);
      case 'instance':
        return instanceLiteral(this, node);
      default:
        return this.firstTier(node);
    }
  }

  firstTier(node: Node): Expression {
    return { code: `${this.source.constant(this.around.operand(node))}()`, kind: 'any' };
  }

  private constant(value: unknown): Expression {
    return { code: this.source.constant(value), kind: 'any' };
  }

  /** A JavaScript condition: whether the value of a node is true. */
  private condition(node: Node): string {
    switch (node.kind) {
      case 'paren':
        return this.condition(node.body);
      case 'and':
      case 'or': {
        const operator = node.kind === 'and' ? ' && ' : ' || ';
        return `(${node.operands.map((operand) => this.condition(operand)).join(operator)})`;
      }
      default:
        return this.truth(this.expression(node));
    }
  }

  truth({ code, kind }: Expression): string {
    if (kind === 'boolean') return code;
    if (kind === 'number') return `(${code} !== 0)`;
    const { source } = this;
    const { mark } = source;
    const value = source.temp();
    source.release(mark);
    return `((${value} = ${code}) === true || ${value} !== false && ${source.constant(isTruthy)}(${value}))`;
  }

  variable(name: string): Expression {
    const { source, rt } = this;
    const { mark } = source;
    const value = source.temp();
    source.release(mark);
    const cell = source.constant(rt.symbols.cell(name));
    const otherwise = source.constant(() => rt.nameWithoutVariable(name));
    return { code: `((${value} = ${cell}.value) !== undefined ? ${value} : ${otherwise}())`, kind: 'any' };
  }

  private assign({ name, value }: Assign): Expression {
    const { source } = this;
    const cell = this.rt.symbols.cell(name);
    const { mark } = source;
    const given = this.expression(value);
    const assigned = source.temp();
    source.release(mark);
    const local = this.around.local(cell);
    const parts = [`${assigned} = ${given.code}`];
    if (given.kind === 'any') {
      parts.push(`typeof ${assigned} === "object" && ${source.constant(share)}(${assigned})`);
    }
    if (local >= 0) {
      const saved = `${this.rtName}.saved`;
      const cellName = source.constant(cell);
      parts.push(
        `${saved}[${local}] === ${source.constant(UNTOUCHED)} && (${saved}[${local}] = ${cellName}.value)`,
      );
    }
    parts.push(`${source.constant(cell)}.value = ${assigned}`);
    return { code: `(${parts.join(', ')})`, kind: given.kind };
  }

  /** A call of a closure in a variable; while there are procedures, any may have the name, and the first tier decides. */
  private call(node: Call): Expression {
    const { source, rt, rtName } = this;
    const { name, args } = node;
    const count = args.length;
    const isBuiltIn = rt.functions.function(name) !== undefined;
    if (isBuiltIn || count < 1 || count > 2 || this.nestedCalls === NESTED_CALLS_MAX)
      return this.firstTier(node);
    const otherwise = this.firstTier(node).code;
    this.nestedCalls += 1;
    const { mark } = source;
    const closure = source.temp();
    const unit = source.temp();
    const values = args.map((arg) => this.expression(arg).code);
    this.nestedCalls -= 1;
    source.release(mark);
    const isClosure = `(${closure} = ${source.constant(rt.symbols.cell(name))}.value) instanceof ${source.constant(Closure)}`;
    const takes = `(${unit} = ${source.constant(unitOf)}(${rtName}, ${closure})).params.length === ${count}`;
    const called = `${source.constant(count === 1 ? call1 : call2)}(${rtName}, ${closure}, ${unit}, ${values.join(', ')})`;
    const named = source.constant(namedBy(rt, name));
    const isFree = `(${rtName}.schema.count === 0 || ${named}() === null)`;
    const code = `(${rtName}.procedures.size === 0 && ${isFree} && ${isClosure} && ${takes} ? ${called} : ${otherwise})`;
    return { code, kind: 'any' };
  }

  /** Properties and methods; other chains are for the first tier. */
  private chain(node: Chain): Expression {
    const { head, links } = node;
    if (links.length > CHAIN_LENGTH_MAX) return this.firstTier(node);
    let code = head === null ? `${this.rtName}.rootThing()` : this.expression(head).code;
    for (const link of links) {
      const isPlain = link.kind === 'property' || link.kind === 'method';
      if (!isPlain || (link.optional && (head !== null || link !== links[0]))) return this.firstTier(node);
      code =
        link.kind === 'method'
          ? methodCall(this, code, link)
          : `${this.source.constant(readProperty(this.rt, link.name, this.around.place(link)))}(${code})`;
    }
    return { code, kind: 'any' };
  }

  /** Code of an argument of a method: a function of its own, since the method decides when it runs. */
  argument(node: Node): Code {
    const code =
      node.kind === 'thing' && this.nestedCalls < NESTED_CALLS_MAX
        ? translateInside(this.around, node, true, this.nestedCalls + 1)
        : null;
    return code ?? this.around.operand(node);
  }
}
