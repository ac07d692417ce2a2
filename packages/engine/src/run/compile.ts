/**
 * Compiles a checked syntax tree into JavaScript closures, one for each node. Code is bound to the runtime that it is
 * compiled for, and runs as often as wanted.
 */
import type {
  Analysis,
  And,
  AssignOp,
  Entry as AstEntry,
  BinaryOp,
  Changes,
  Closure as ClosureNode,
  For,
  If,
  Node,
  Operation,
  Or,
  Paren,
  Prefix,
  Program,
  Return,
} from '@althing/language';
import { compileRegex } from '@althing/regex';
import { lookupError, typeError } from '../error.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet, toItem } from '../value/containers.js';
import { toText } from '../value/convert.js';
import { isTruthy } from '../value/kinds.js';
import { RegexValue } from '../value/regex-value.js';
import { Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { anonymousLiteral } from './anonymous.js';
import { compileCall } from './call.js';
import { compileChain } from './chain.js';
import { lockForReading, unlockReading } from './dispatch.js';
import { enumLiteral } from './enum.js';
import { instanceLiteral } from './instance.js';
import { translate } from './jit/index.js';
import { Jump, Signal } from './jump.js';
import { CALL_HEIGHT, frameHeight } from './limits.js';
import { literalShape, ownValue } from './literal.js';
import {
  assignOperator,
  binaryOperator,
  compareWithInt,
  prefixOperator,
  updateInPlace,
} from './operators.js';
import { type Runtime, share, UNTOUCHED } from './runtime.js';
import type { Cell } from './symbols.js';
import type { Code, Unit } from './unit.js';

/** Nodes that combine operands and nothing else. */
type Operators = Operation | And | Or | Prefix | Paren;

/** Where an expression stands: a jump in statement position is a signal, elsewhere it is thrown. */
type Position = 'statement' | 'operand';

/** Compiles a whole query text. */
export function compileProgram(rt: Runtime, program: Program, analysis: Analysis): Unit {
  const compiler = new Compiler(rt, program.source, analysis, [], true);
  const body = compiler.sequence(program.statements);
  return compiler.unit(body, analysis.changes, analysis.changes);
}

/** Compiles one closure of a text. */
export function compileClosureNode(rt: Runtime, source: string, node: ClosureNode, analysis: Analysis): Unit {
  const compiler = new Compiler(rt, source, analysis, node.params, false);
  const body = compiler.statement(node.body);
  const flags = analysis.closures.get(node);
  if (flags === undefined) throw new Error('a closure was compiled with the analysis of another text');
  const unit = compiler.unit(body, flags.changes, flags.alone);
  if (!unit.throwsJumps) warm(unit, rt.hotRuns, () => translate(compiler, node.body, true));
  return unit;
}

/** Has a body counted, and moved to the second tier when it has run often enough. */
function warm(unit: Unit, hotRuns: number, translation: () => Code | null): void {
  const cold = unit.body;
  let runs = 0;
  unit.body = () => {
    runs += 1;
    if (runs < hotRuns) return cold();
    unit.body = translation() ?? cold;
    return unit.body();
  };
}

/** Compiles the body of one query or closure. */
export class Compiler {
  readonly rt: Runtime;
  private readonly source: string;
  private readonly analysis: Analysis;
  private readonly params: readonly Cell[];
  private readonly locals: Cell[] = [];
  /** The place of each local among them: a text may have very many. */
  private readonly localPlaces = new Map<Cell, number>();
  /** Whether assignments bind in the outermost frame, which has nothing to hide. */
  private readonly outermost: boolean;
  private level = 0;
  private nesting = 0;
  private returns = 0;
  private loopJumps = 0;
  private thrown = 0;
  /** Code of the closures, which must be the same in both tiers: a closure is equal only to itself. */
  private readonly closures = new Map<ClosureNode, Code>();

  constructor(
    rt: Runtime,
    source: string,
    analysis: Analysis,
    params: readonly string[],
    outermost: boolean,
  ) {
    this.rt = rt;
    this.source = source;
    this.analysis = analysis;
    this.params = params.map((name) => rt.symbols.cell(name));
    this.outermost = outermost;
  }

  unit(body: Code, changes: Changes, changesAlone: Changes): Unit {
    return {
      params: this.params,
      locals: this.locals,
      body,
      changes,
      changesAlone,
      mayChange: changes.collection || changes.thingsdb || changesAlone.collection || changesAlone.thingsdb,
      returns: this.returns > 0,
      throwsJumps: this.thrown > 0,
      simple: this.returns === 0 && this.thrown === 0 && this.locals.length === 0,
      height: this.nesting + CALL_HEIGHT,
    };
  }

  /** Code of an expression in operand position. */
  operand(node: Node): Code {
    return this.compile(node, 'operand');
  }

  /** Code of an expression in statement position. */
  statement(node: Node): Code {
    return this.compile(node, 'statement');
  }

  /** Statements one after another; the value is that of the last. */
  sequence(statements: readonly Node[]): Code {
    const { rt } = this;
    const codes: Code[] = [];
    /** Whether a jump may come out of the statement. */
    const jumps: boolean[] = [];
    const isQuery = this.outermost && this.level === 0;
    for (const statement of statements) {
      const before = this.returns + this.loopJumps;
      const code = this.statement(statement);
      codes.push(isQuery && codes.length > 0 ? statementOf(rt, code) : code);
      jumps.push(this.returns + this.loopJumps > before);
    }
    const [first, second] = codes;
    if (first === undefined) return () => null;
    if (second === undefined) return first;
    if (!jumps.slice(0, -1).includes(true)) {
      if (codes.length === 2) {
        return () => {
          first();
          return second();
        };
      }
      const last = codes[codes.length - 1] as Code;
      const others = codes.slice(0, -1);
      return () => {
        for (const code of others) code();
        return last();
      };
    }
    return () => {
      let value: Value = null;
      for (let i = 0; i < codes.length; i++) {
        value = (codes[i] as Code)();
        if (jumps[i] && rt.signal !== Signal.NONE) return null;
      }
      return value;
    };
  }

  private compile(node: Node, position: Position): Code {
    const height = frameHeight(node);
    this.level += height;
    if (this.level > this.nesting) this.nesting = this.level;
    const code = isOperators(node, position) ? this.operators(node) : this.compileNode(node, position);
    this.level -= height;
    return code;
  }

  /**
   * Operators. A text can nest ten times as many of them as of anything else, so this does not recurse from one to the
   * next: the code of the operands is made first, and kept until all of a node are there.
   */
  private operators(root: Operators): Code {
    const open: { readonly node: Operators; readonly codes: Code[] }[] = [{ node: root, codes: [] }];
    for (;;) {
      const { node, codes } = open[open.length - 1] as (typeof open)[number];
      const operand = operandsOf(node)[codes.length];
      if (operand === undefined) {
        const code = this.operatorsOf(node, codes);
        open.pop();
        const outer = open[open.length - 1];
        if (outer === undefined) return code;
        this.level -= frameHeight(node);
        outer.codes.push(code);
      } else if (isOperators(operand, 'operand')) {
        this.level += frameHeight(operand);
        if (this.level > this.nesting) this.nesting = this.level;
        open.push({ node: operand, codes: [] });
      } else {
        codes.push(this.operand(operand));
      }
    }
  }

  private operatorsOf(node: Operators, codes: readonly Code[]): Code {
    switch (node.kind) {
      case 'paren':
        return codes[0] as Code;
      case 'prefix':
        return this.prefix(node.ops, codes[0] as Code);
      case 'operation':
        return this.operation(node.operands, node.ops, codes);
      case 'and':
        return and(codes);
      case 'or':
        return or(codes);
    }
  }

  private compileNode(node: Node, position: Position): Code {
    switch (node.kind) {
      case 'nil':
        return () => null;
      case 'bool':
      case 'str':
        return constant(node.value);
      case 'int':
        return constant(node.value as number | bigint);
      case 'float':
        return constant(new Float(node.value));
      case 'regex':
        return constant(new RegexValue(node.body, node.flags, compileRegex(node.body, node.flags)));
      case 'template':
        return this.template(node.parts);
      case 'thing':
        return this.thing(node.entries);
      case 'list':
        return this.list(node.items);
      case 'paren':
        return this.compile(node.body, position);
      case 'variable':
        return this.variable(node.name);
      case 'assign':
        return this.assign(node.name, node.op, this.operand(node.value));
      case 'call':
        return compileCall(
          this.rt,
          node.name,
          node.args.map((arg) => this.operand(arg)),
        );
      case 'chain':
        return compileChain(this, node);
      case 'prefix':
      case 'operation':
      case 'and':
      case 'or':
        return this.operators(node);
      case 'ternary':
        return this.choice(node.condition, node.then, node.otherwise, position);
      case 'if':
        return this.if(node, position);
      case 'for':
        return this.for(node, position);
      case 'return':
        return this.return(node, position);
      case 'break':
        return this.jump(Jump.BREAK, position);
      case 'continue':
        return this.jump(Jump.CONTINUE, position);
      case 'closure':
        return this.closure(node);
      case 'block':
        return position === 'statement' ? this.sequence(node.statements) : this.operandBlock(node.statements);
      case 'anonymous':
        return anonymousLiteral(this.rt, node.entries, this.entryCodes(node.entries));
      case 'instance':
        return instanceLiteral(this.rt, node.name, node.thing.entries, this.entryCodes(node.thing.entries));
      case 'enum':
        return enumLiteral(
          this.rt,
          node.name,
          node.member,
          node.closure === null ? null : this.operand(node.closure),
        );
    }
  }

  private template(parts: readonly (string | Node)[]): Code {
    const { rt } = this;
    const pieces = parts.map((part) => (typeof part === 'string' ? part : this.operand(part)));
    return () => {
      let text = '';
      for (const piece of pieces) text += typeof piece === 'string' ? piece : toText(piece());
      if (text.length > 1000) rt.chargeLength(text.length);
      return text;
    };
  }

  private thing(entries: readonly AstEntry[]): Code {
    const { rt } = this;
    const keys = entries.map((entry) => entry.key);
    const codes = this.entryCodes(entries);
    const shape = literalShape(rt, keys);
    if (shape === null) {
      return () => {
        const thing = new Thing(0, rt.shapes.empty(), []);
        for (let i = 0; i < keys.length; i++) {
          rt.transaction.setProperty(thing, keys[i] as string, (codes[i] as Code)());
        }
        return thing;
      };
    }
    return () => {
      const slots = new Array<Value>(codes.length);
      const thing = new Thing(0, shape.owned ? shape.own() : shape, slots);
      for (let i = 0; i < slots.length; i++) {
        slots[i] = ownValue(rt, thing, keys[i] as string, (codes[i] as Code)());
      }
      return thing;
    };
  }

  private entryCodes(entries: readonly AstEntry[]): Code[] {
    return entries.map(({ key, value }) => (value === null ? this.variable(key) : this.operand(value)));
  }

  private list(nodes: readonly Node[]): Code {
    const { rt } = this;
    const codes = nodes.map((node) => this.operand(node));
    return () => {
      const items = new Array<Value>(codes.length);
      const list = new List(items);
      for (let i = 0; i < items.length; i++) items[i] = toOwnItem((codes[i] as Code)(), list);
      if (list.inner > 0) rt.charge(list.inner);
      return list;
    };
  }

  /** Reads a variable; without one: a procedure of the scope, then a constant. */
  private variable(name: string): Code {
    const { rt } = this;
    const cell = rt.symbols.cell(name);
    return () => {
      const value = cell.value;
      return value !== undefined ? value : rt.nameWithoutVariable(name);
    };
  }

  private assign(name: string, op: AssignOp, value: Code): Code {
    const { rt } = this;
    const cell = rt.symbols.cell(name);
    if (op !== '=') return this.compoundAssign(cell, op, value);
    const local = this.local(cell);
    if (local < 0) {
      return () => {
        const assigned = value();
        share(assigned);
        cell.value = assigned;
        return assigned;
      };
    }
    return () => {
      const assigned = value();
      share(assigned);
      if (rt.saved[local] === UNTOUCHED) rt.saved[local] = cell.value;
      cell.value = assigned;
      return assigned;
    };
  }

  private compoundAssign(cell: Cell, op: Exclude<AssignOp, '='>, value: Code): Code {
    const { rt } = this;
    const operate = assignOperator(rt, op);
    return () => {
      if (cell.value === undefined) throw lookupError(`there is no variable '${cell.name}' to modify`);
      const right = value();
      const left = cell.value;
      if (left === undefined) throw lookupError(`there is no variable '${cell.name}' to modify`);
      if (left instanceof ThingSet) return updateInPlace(rt, left, op, right);
      const result = operate(left, right);
      cell.value = result;
      return result;
    };
  }

  /**
   * The number of a local of this body, for saving what it hides; -1 for names that need none: parameters, and
   * everything in the outermost frame.
   */
  local(cell: Cell): number {
    if (this.params.includes(cell)) return -1;
    let place = this.localPlaces.get(cell);
    if (place === undefined) {
      place = this.locals.length;
      this.locals.push(cell);
      this.localPlaces.set(cell, place);
    }
    return this.outermost ? -1 : place;
  }

  private prefix(ops: string, operand: Code): Code {
    const operators = [...ops].reverse().map(prefixOperator);
    const [first] = operators;
    if (first !== undefined && operators.length === 1) return () => first(operand());
    return () => {
      let value = operand();
      for (const operate of operators) value = operate(value);
      return value;
    };
  }

  private operation(nodes: readonly Node[], ops: readonly BinaryOp[], operands: readonly Code[]): Code {
    const operators = ops.map((op) => binaryOperator(this.rt, op));
    const [first, second] = operands as readonly [Code, Code];
    const [operate] = operators as [(a: Value, b: Value) => Value];
    if (operands.length === 2) {
      const right = nodes[1];
      if (right?.kind === 'int' || right?.kind === 'str') {
        const value = second();
        const compared =
          typeof value === 'number' ? compareWithInt(ops[0] as BinaryOp, first, value, operate) : null;
        return compared ?? (() => operate(first(), value));
      }
      const left = nodes[0];
      if (left?.kind === 'variable' && right?.kind === 'variable') {
        const a = this.rt.symbols.cell(left.name);
        const b = this.rt.symbols.cell(right.name);
        return () => {
          const x = a.value;
          const y = b.value;
          return operate(x === undefined ? first() : x, y === undefined ? second() : y);
        };
      }
      return () => {
        const x = first();
        return operate(x, second());
      };
    }
    return () => {
      let value = first();
      for (let i = 0; i < operators.length; i++) {
        value = (operators[i] as (a: Value, b: Value) => Value)(value, (operands[i + 1] as Code)());
      }
      return value;
    };
  }

  private choice(condition: Node, then: Node, otherwise: Node, position: Position): Code {
    const test = this.operand(condition);
    const yes = this.compile(then, position);
    const no = this.compile(otherwise, position);
    return () => (isTruthy(test()) ? yes() : no());
  }

  private if(node: If, position: Position): Code {
    if (node.otherwise !== null) return this.choice(node.condition, node.then, node.otherwise, position);
    const test = this.operand(node.condition);
    const yes = this.compile(node.then, position);
    return () => {
      const value = test();
      return isTruthy(value) ? yes() : value;
    };
  }

  private for(node: For, position: Position): Code {
    const { rt } = this;
    const thrownBefore = this.thrown;
    const iterable = this.operand(node.iterable);
    const variables = node.names.map((name) => {
      const cell = rt.symbols.cell(name);
      return { cell, local: this.local(cell) };
    });
    const { loopJumps, thrown, returns } = this;
    let body = this.statement(node.body);
    const mayReturn = this.returns > returns;
    const jumps = this.loopJumps > loopJumps || mayReturn;
    const catches = this.thrown > thrown;
    this.loopJumps = loopJumps;
    // As an operand the loop can't hand a signal on to the expression around it.
    const throwsReturn = mayReturn && position === 'operand';
    if (throwsReturn) this.thrown += 1;
    const [first, second] = variables as [(typeof variables)[0], (typeof variables)[0] | undefined];
    const others = variables.slice(2);
    const isTranslatable = this.thrown === thrownBefore;
    const { hotRuns } = rt;
    let rounds = 0;
    /** The loop in the second tier, for the next time that it begins. */
    let whole: Code | null = null;

    const becomeHot = (): void => {
      body = translate(this, node.body, false) ?? body;
      if (position === 'statement') whole = translate(this, node, true);
    };

    /** Runs the body once; returns false when the loop is to end. */
    const round = (): boolean => {
      if (--rt.steps < 0) rt.check();
      rounds += 1;
      if (rounds === hotRuns && isTranslatable) becomeHot();
      if (catches) {
        try {
          body();
        } catch (error) {
          if (error === Jump.CONTINUE) return true;
          if (error === Jump.BREAK) return false;
          throw error;
        }
      } else {
        body();
      }
      if (!jumps || rt.signal === Signal.NONE) return true;
      if (rt.signal === Signal.RETURN) return false;
      const goOn = rt.signal === Signal.CONTINUE;
      rt.signal = Signal.NONE;
      return goOn;
    };

    const loop = (container: List | ThingSet | Thing): void => {
      for (const { cell, local } of variables) {
        if (local >= 0 && rt.saved[local] === UNTOUCHED) rt.saved[local] = cell.value;
      }
      for (const { cell } of others) cell.value = null;
      const a = first.cell;
      const b = second?.cell;
      if (container instanceof List) {
        const items = container.items;
        for (let i = 0; i < items.length; i++) {
          a.value = items[i] as Value;
          if (b !== undefined) b.value = i;
          if (!round()) return;
        }
      } else if (container instanceof ThingSet) {
        for (const thing of container.members) {
          a.value = thing;
          if (b !== undefined) b.value = thing.id === 0 ? null : thing.id;
          if (!round()) return;
        }
      } else {
        for (const [key, slot] of container.shape.index) {
          a.value = key;
          if (b !== undefined) {
            const value = container.slots[slot] as Value;
            share(value);
            b.value = value;
          }
          if (!round()) return;
        }
      }
    };

    return () => {
      if (whole !== null) return whole();
      const container = iterable();
      if (!(container instanceof List || container instanceof ThingSet || container instanceof Thing)) {
        throw typeError(`cannot iterate over ${typeName(container)}`);
      }
      if (container instanceof Thing) rt.load(container);
      if (!isTruthy(container)) return container;
      lockForReading(container);
      try {
        loop(container);
      } finally {
        unlockReading(container);
      }
      if (throwsReturn && rt.signal === Signal.RETURN) throw Jump.RETURN;
      return null;
    };
  }

  private return(node: Return, position: Position): Code {
    const { rt } = this;
    const deep = node.deep === null ? null : this.operand(node.deep);
    const flags = node.flags === null ? null : this.operand(node.flags);
    const value = node.value === null ? null : this.operand(node.value);
    this.returns += 1;
    if (position === 'operand') this.thrown += 1;
    return () => {
      if (deep !== null) rt.setDeep(deep());
      if (flags !== null) rt.addFlags(flags());
      const returned = value === null ? null : value();
      rt.returned = returned;
      if (position === 'operand') throw Jump.RETURN;
      rt.signal = Signal.RETURN;
      return null;
    };
  }

  private jump(jump: Jump, position: Position): Code {
    const { rt } = this;
    if (position === 'operand') {
      this.thrown += 1;
      return () => {
        throw jump;
      };
    }
    this.loopJumps += 1;
    return () => {
      rt.signal = jump.signal;
      return null;
    };
  }

  /** A block as an operand: jumps inside it must leave the expression around it. */
  private operandBlock(statements: readonly Node[]): Code {
    const codes = statements.map((statement) => this.operand(statement));
    const last = codes[codes.length - 1] as Code;
    const others = codes.slice(0, -1);
    return () => {
      for (const code of others) code();
      return last();
    };
  }

  private closure(node: ClosureNode): Code {
    const known = this.closures.get(node);
    if (known !== undefined) return known;
    const { rt, source, analysis } = this;
    const text = source.slice(node.start, node.end);
    const unit = compileClosureNode(rt, source, node, analysis);
    // One closure for each run of the query: its state must not outlive it.
    let epoch = -1;
    let closure: Closure | null = null;
    const code = (): Closure => {
      if (closure === null || epoch !== rt.epoch) {
        closure = new Closure(text, unit);
        epoch = rt.epoch;
      }
      return closure;
    };
    this.closures.set(node, code);
    return code;
  }
}

/** A statement of the query itself. */
function statementOf(rt: Runtime, code: Code): Code {
  return () => {
    rt.beginStatement();
    return code();
  };
}

function and(operands: readonly Code[]): Code {
  const [first, second] = operands as readonly [Code, Code];
  if (operands.length === 2) {
    return () => {
      const value = first();
      return isTruthy(value) ? second() : value;
    };
  }
  return () => {
    let value: Value = null;
    for (let i = 0; i < operands.length; i++) {
      value = (operands[i] as Code)();
      if (!isTruthy(value)) return value;
    }
    return value;
  };
}

function or(operands: readonly Code[]): Code {
  const [first, second] = operands as readonly [Code, Code];
  if (operands.length === 2) {
    return () => {
      const value = first();
      return isTruthy(value) ? value : second();
    };
  }
  return () => {
    let value: Value = null;
    for (let i = 0; i < operands.length; i++) {
      value = (operands[i] as Code)();
      if (isTruthy(value)) return value;
    }
    return value;
  };
}

function isOperators(node: Node, position: Position): node is Operators {
  switch (node.kind) {
    case 'operation':
    case 'and':
    case 'or':
    case 'prefix':
      return true;
    case 'paren':
      // As a statement it may hold a jump, which is a signal.
      return position === 'operand';
    default:
      return false;
  }
}

function operandsOf(node: Operators): readonly Node[] {
  switch (node.kind) {
    case 'paren':
      return [node.body];
    case 'prefix':
      return [node.operand];
    default:
      return node.operands;
  }
}

function constant(value: Value): Code {
  return () => value;
}

function toOwnItem(value: Value, list: List): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Closure) value.store();
  return toItem(value, list);
}
