/**
 * The second tier: what runs hot is translated to JavaScript source, which the engine of Node.js optimises as a whole,
 * where the closures of the first tier cost a call for each node.
 *
 * It translates variables, constants, operators, assignments to variables, conditions, loops, reading of properties,
 * calls of closures and methods, and things that are written out; every other expression is the code of the first tier,
 * called. Both tiers do exactly the same in the same order, down to the counting of steps, so that a piece of code can
 * move from one to the other at any call.
 */
import type {
  Assign,
  BinaryOp,
  Call,
  Chain,
  Entry,
  For,
  Instance,
  Node,
  Operation,
  Return,
} from '@althing/language';
import { lookupError, typeError } from '../../error.js';
import { Closure } from '../../value/closure.js';
import { List, ThingSet } from '../../value/containers.js';
import { isTruthy } from '../../value/kinds.js';
import { Thing } from '../../value/thing.js';
import { typeName, type Value } from '../../value/value.js';
import { callMethod, readProperty } from '../chain.js';
import { lockForReading, unlockReading } from '../dispatch.js';
import { instanceSteps, makeInstance, wholeInstance } from '../instance.js';
import { call1, call2, unitOf } from '../invoke.js';
import { Jump, Signal } from '../jump.js';
import { literalShape, ownValue } from '../literal.js';
import { namedBy } from '../named.js';
import { assignOperator, binaryOperator, prefixOperator, updateInPlace } from '../operators.js';
import { type Runtime, share, UNTOUCHED } from '../runtime.js';
import type { Cell } from '../symbols.js';
import type { Code } from '../unit.js';
import { isQuiet, quickTest } from './instance.js';
import { NUMBER_OPERATORS } from './operators.js';
import { type Expression, Source } from './source.js';

/** Where the code stands: what the first tier makes of a part of it. */
export interface Surroundings {
  readonly rt: Runtime;
  /** Code of an expression in operand position. */
  operand(node: Node): Code;
  /** The number of a local of the body, or -1: see `Compiler`. */
  local(cell: Cell): number;
}

/** Longer texts of the language than this are not translated: Node.js would not optimise what comes out. */
const TEXT_LENGTH_MAX = 3000;

/** Levels of nodes at most; what lies deeper is left to the first tier. Keeps frames small. */
const NESTING_MAX = 30;

/** Links of a chain at most, each of which is a call inside a call. */
const CHAIN_LENGTH_MAX = 4;

/** Properties of a thing that is written out at most. */
const ENTRIES_MAX = 16;

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

class Translator {
  readonly source = new Source();
  /** Whether there are statements too deep inside others, so that nothing can come of it. */
  isTooDeep = false;
  private nesting = 0;
  private nestedCalls: number;
  private readonly around: Surroundings;
  private readonly rt: Runtime;
  /** Names of the constants that nearly every translation needs. */
  private readonly rtName: string;
  /** Labels of the loops around, innermost last. A jump out of all of them is a signal. */
  private readonly loops: string[] = [];

  constructor(around: Surroundings, nestedCalls: number) {
    this.around = around;
    this.nestedCalls = nestedCalls;
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
        return this.for(node, isLast);
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

  private for(node: For, isLast: boolean): string {
    const { source, rt, rtName } = this;
    const { mark } = source;
    const [container, items, length, index] = [source.temp(), source.temp(), source.temp(), source.temp()];
    const cells = node.names.map((name) => rt.symbols.cell(name));
    const { code: iterable, counts } = this.iterable(node.iterable);
    const isCount = `typeof ${container} === "number"`;
    const save = cells.map((cell) => this.save(cell)).join('');
    const [first, second, ...others] = cells.map((cell) => source.constant(cell));
    const itemsOf = source.constant(itemsToIterate);
    const secondOf = source.constant(secondVariable);
    const lock = source.constant(lockForReading);
    const unlock = source.constant(unlockReading);
    const label = source.label();
    this.loops.push(label);
    const body = this.statement(node.body, false);
    this.loops.pop();
    source.release(mark);
    return `${container} = ${iterable};
${items} = ${counts ? `${isCount} ? null : ` : ''}${itemsOf}(${rtName}, ${container});
${length} = ${counts ? `${isCount} ? ${container} : ` : ''}${items}.length;
if (${length} !== 0) {
${lock}(${container});
try {
${save}
${others.map((name) => `${name}.value = null;`).join('')}
${label}: for (${index} = 0; ${index} < ${length}; ${index}++) {
${first}.value = ${counts ? `${isCount} ? ${index} : ` : ''}${items}[${index}];
${second === undefined ? '' : `${second}.value = ${secondOf}(${container}, ${items}, ${index});`}
if (--${rtName}.steps < 0) ${rtName}.check();
${body}
}
} finally {
${unlock}(${container});
}
}${isLast ? ` else return ${container};\nreturn null;` : ''}`;
  }

  /** What a loop goes over: a function that only counts, as most loops do, needs no list. */
  private iterable(node: Node): { readonly code: string; readonly counts: boolean } {
    const { source } = this;
    const counts = node.kind === 'call' ? this.around.rt.functions.function(node.name)?.counts : null;
    const [only, ...others] = node.kind === 'call' ? node.args : [];
    if (counts === null || counts === undefined || only === undefined || others.length > 0) {
      return { code: this.expression(node).code, counts: false };
    }
    const { code } = this.expression(only);
    return { code: `${source.constant(counts)}(${this.rtName}, ${code})`, counts: true };
  }

  /** Notes what a local hides, before it is first assigned. */
  private save(cell: Cell): string {
    const local = this.around.local(cell);
    if (local < 0) return '';
    const untouched = this.source.constant(UNTOUCHED);
    const saved = `${this.rtName}.saved`;
    return `if (${saved}[${local}] === ${untouched}) ${saved}[${local}] = ${this.source.constant(cell)}.value;`;
  }

  /** An expression that evaluates a node once. */
  private expression(node: Node): Expression {
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
        return node.op === '=' ? this.assign(node) : this.compoundAssign(node);
      case 'operation':
        return this.operation(node);
      case 'prefix':
        return this.prefix(node.ops, node.operand);
      case 'and':
      case 'or':
        return this.logical(node.operands, node.kind);
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
        return this.thing(node, node.entries);
      case 'instance':
        return this.instance(node);
      default:
        return this.firstTier(node);
    }
  }

  private firstTier(node: Node): Expression {
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

  private truth({ code, kind }: Expression): string {
    if (kind === 'boolean') return code;
    if (kind === 'number') return `(${code} !== 0)`;
    const { source } = this;
    const { mark } = source;
    const value = source.temp();
    source.release(mark);
    return `((${value} = ${code}) === true || ${value} !== false && ${source.constant(isTruthy)}(${value}))`;
  }

  private variable(name: string): Expression {
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

  private compoundAssign({ name, op, value }: Assign): Expression {
    if (op === '=') throw new Error('a plain assignment is not compound');
    const { source, rt } = this;
    const { mark } = source;
    const cell = rt.symbols.cell(name);
    const cellName = source.constant(cell);
    const none = source.constant(() => {
      throw lookupError(`there is no variable '${name}' to modify`);
    });
    const operate = assignOperator(rt, op);
    const update = source.constant((left: Value | undefined, right: Value): Value => {
      if (left === undefined) throw lookupError(`there is no variable '${name}' to modify`);
      if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
      const result = operate(left, right);
      cell.value = result;
      return result;
    });
    const given = this.expression(value);
    const right = source.temp();
    const left = source.temp();
    const result = source.temp();
    source.release(mark);
    const otherwise = `${update}(${left}, ${right})`;
    const fast = NUMBER_OPERATORS[op.slice(0, -1) as BinaryOp];
    const evaluated = `${cellName}.value === undefined && ${none}(), ${right} = ${given.code}, ${left} = ${cellName}.value`;
    if (fast === undefined) return { code: `(${evaluated}, ${otherwise})`, kind: 'any' };
    const holds = [`typeof ${left} === "number"`];
    if (given.kind !== 'number') holds.push(`typeof ${right} === "number"`);
    const condition = fast.holds(left, right, result);
    if (condition !== '') holds.push(condition);
    const changed = `${cellName}.value = ${fast.result(left, right, result)}`;
    return { code: `(${evaluated}, ${holds.join(' && ')} ? ${changed} : ${otherwise})`, kind: 'any' };
  }

  private operation({ operands, ops }: Operation): Expression {
    const { source } = this;
    const [first, ...others] = operands;
    if (first === undefined) throw new Error('an operation has operands');
    let value = this.expression(first);
    for (const [i, operand] of others.entries()) {
      const { mark } = source;
      // The left side has been evaluated when the right one begins, and must survive it.
      const left = source.temp();
      const right = this.expression(operand);
      value = this.binary(ops[i] as BinaryOp, value, left, right);
      source.release(mark);
    }
    return value;
  }

  private binary(op: BinaryOp, a: Expression, left: string, b: Expression): Expression {
    const { source } = this;
    const right = source.temp();
    const result = source.temp();
    const otherwise = `${source.constant(binaryOperator(this.rt, op))}(${left}, ${right})`;
    const evaluated = `${left} = ${a.code}, ${right} = ${b.code}`;
    const fast = NUMBER_OPERATORS[op];
    if (fast === undefined) return { code: `(${evaluated}, ${otherwise})`, kind: 'any' };
    const holds: string[] = [];
    if (a.kind !== 'number') holds.push(`typeof ${left} === "number"`);
    if (b.kind !== 'number') holds.push(`typeof ${right} === "number"`);
    const condition = fast.holds(left, right, result);
    if (condition !== '') holds.push(condition);
    const value = fast.result(left, right, result);
    const code = holds.length === 0 ? value : `${holds.join(' && ')} ? ${value} : ${otherwise}`;
    // Every comparison gives a bool; the other operators may give anything when they are not on small ints.
    const kind = fast.kind === 'boolean' || holds.length === 0 ? fast.kind : 'any';
    return { code: `(${evaluated}, ${code})`, kind };
  }

  private prefix(ops: string, operand: Node): Expression {
    const { source } = this;
    let value = this.expression(operand);
    for (const op of [...ops].reverse()) {
      if (op === '!') value = { code: `!${this.truth(value)}`, kind: 'boolean' };
      else if (op === '-' && value.kind === 'number') value = { code: `(0 - ${value.code})`, kind: 'number' };
      else value = { code: `${source.constant(prefixOperator(op))}(${value.code})`, kind: 'any' };
    }
    return value;
  }

  private logical(operands: readonly Node[], kind: 'and' | 'or'): Expression {
    const { source } = this;
    const { mark } = source;
    const value = source.temp();
    let code = '';
    for (const [i, operand] of [...operands].reverse().entries()) {
      const { code: given } = this.expression(operand);
      if (i === 0) {
        code = given;
        continue;
      }
      const test = this.truth({ code: `(${value} = ${given})`, kind: 'any' });
      code = kind === 'and' ? `(${test} ? ${code} : ${value})` : `(${test} ? ${value} : ${code})`;
    }
    source.release(mark);
    return { code, kind: 'any' };
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

  private thing(node: Node, entries: readonly Entry[]): Expression {
    const { source, rt, rtName } = this;
    if (entries.length > ENTRIES_MAX) return this.firstTier(node);
    const shape = literalShape(
      rt,
      entries.map(({ key }) => key),
    );
    if (shape === null || shape.owned) return this.firstTier(node);
    const { mark } = source;
    const slots = source.temp();
    const thing = source.temp();
    const made = `${slots} = new Array(${entries.length}), ${thing} = new ${source.constant(Thing)}(0, ${source.constant(shape)}, ${slots})`;
    const set = entries.map(({ key, value }, i) => {
      const { code, kind } = value === null ? this.variable(key) : this.expression(value);
      if (kind !== 'any') return `${slots}[${i}] = ${code}`;
      const own = source.constant(ownValue);
      return `${slots}[${i}] = ${own}(${rtName}, ${thing}, ${source.constant(key)}, ${code})`;
    });
    source.release(mark);
    return { code: `(${[made, ...set, thing].join(', ')})`, kind: 'any' };
  }

  /**
   * An instance whose entries give each field one value, which is checked here if that can be told quickly. The first tier
   * takes over where the name means another type by then, or the type has changed.
   */
  private instance(node: Instance): Expression {
    const { source, rt, rtName } = this;
    const { entries } = node.thing;
    const whole = wholeInstance(
      rt,
      node.name,
      entries.map(({ key }) => key),
    );
    const isQuick =
      entries.length <= ENTRIES_MAX && entries.every(({ value }) => value === null || isQuiet(value));
    if (whole === null || !isQuick) return this.firstTier(node);
    const otherwise = this.firstTier(node).code;
    const { type, shape } = whole;
    const { mark } = source;
    const given = source.temp();
    const [typeConstant, shapeName] = [source.constant(type), source.constant(shape)];
    const isSame = `${source.constant(namedBy(rt, node.name))}() === ${typeConstant} && ${typeConstant}.shape === ${shapeName} && !${typeConstant}.isWrapOnly`;
    const set = entries.map(({ key, value }, i) => {
      const { code } = value === null ? this.variable(key) : this.expression(value);
      return `${given}[${whole.slots[i]}] = ${code}`;
    });
    const value = source.temp();
    const tests = shape.fields.map(
      (field) => `(${value} = ${given}[${field.slot}], ${quickTest(field, value, source)})`,
    );
    const steps = instanceSteps(shape.fields.length);
    const hasSteps = `${rtName}.steps >= ${steps}`;
    const quick = `(${rtName}.steps -= ${steps}, new ${source.constant(Thing)}(0, ${shapeName}, ${given}))`;
    const slow = `${source.constant((values: Value[]) => makeInstance(rt, type, values))}(${given})`;
    source.release(mark);
    const evaluated = [`${given} = new Array(${entries.length})`, ...set].join(', ');
    const made = `(${evaluated}, ${[...tests, hasSteps].join(' && ')} ? ${quick} : ${slow})`;
    return { code: `(${isSame} ? ${made} : ${otherwise})`, kind: 'any' };
  }

  /** Properties and methods; other chains are for the first tier. */
  private chain(node: Chain): Expression {
    const { head, links } = node;
    if (links.length > CHAIN_LENGTH_MAX) return this.firstTier(node);
    let code = head === null ? `${this.rtName}.rootThing()` : this.expression(head).code;
    for (const link of links) {
      const isPlain = link.kind === 'property' || link.kind === 'method';
      if (!isPlain || (link.optional && (head !== null || link !== links[0]))) return this.firstTier(node);
      const step =
        link.kind === 'property'
          ? readProperty(this.rt, link.name)
          : callMethod(
              this.rt,
              link.name,
              link.args.map((arg) => this.argument(arg)),
            );
      code = `${this.source.constant(step)}(${code})`;
    }
    return { code, kind: 'any' };
  }

  /** Code of an argument of a method: a function of its own, since the method decides when it runs. */
  private argument(node: Node): Code {
    const code =
      node.kind === 'thing' && this.nestedCalls < NESTED_CALLS_MAX
        ? translateInside(this.around, node, true, this.nestedCalls + 1)
        : null;
    return code ?? this.around.operand(node);
  }
}

function itemsToIterate(rt: Runtime, container: Value): readonly Value[] {
  if (container instanceof List) return container.items;
  if (container instanceof ThingSet) return Array.from(container.members);
  if (!(container instanceof Thing)) throw typeError(`cannot iterate over ${typeName(container)}`);
  rt.load(container);
  return Array.from(container.shape.index.keys());
}

/** What the second variable of a loop gets: the index, the id of a thing in a set, or the value of a property. */
function secondVariable(
  container: number | List | ThingSet | Thing,
  items: readonly Value[],
  index: number,
): Value {
  if (typeof container === 'number' || container instanceof List) return index;
  const item = items[index] as Value;
  if (item instanceof Thing) return item.id === 0 ? null : item.id;
  const value = container instanceof Thing && typeof item === 'string' ? container.get(item) : undefined;
  if (value === undefined) throw new Error('what is iterated is locked and stays as it is');
  share(value);
  return value;
}
