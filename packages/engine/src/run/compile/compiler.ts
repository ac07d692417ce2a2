/**
 * Compiles a checked syntax tree into JavaScript closures, one for each node. Code is bound to the runtime that it is
 * compiled for, and runs as often as wanted.
 */
import type {
  Analysis,
  AssignOp,
  Entry as AstEntry,
  Changes,
  Closure as ClosureNode,
  If,
  Node,
  Param,
  Program,
  Return,
  Span,
} from '@althing/language';
import { compileRegex } from '@althing/regex';
import { Closure } from '../../value/closure.js';
import { isTruthy } from '../../value/kinds.js';
import { RegexValue } from '../../value/regex-value.js';
import { Float } from '../../value/scalars.js';
import type { Value } from '../../value/value.js';
import { anonymousLiteral } from '../anonymous.js';
import { compileCall } from '../call.js';
import { compileChain } from '../chain.js';
import { enumLiteral } from '../enum.js';
import { instanceLiteral } from '../instance.js';
import { translate } from '../jit/index.js';
import { Jump, Signal } from '../jump.js';
import { CALL_HEIGHT, COUNTER_HEIGHT, frameHeight, STEPS_PER_BODY, STEPS_PER_NODE } from '../limits.js';
import { checked, rulesOf } from '../parameters.js';
import type { Place } from '../place.js';
import type { Runtime } from '../runtime.js';
import type { Cell } from '../symbols.js';
import type { Code, Unit } from '../unit.js';
import { listCode, templateCode, thingCode } from './literals.js';
import { loopCode } from './loop.js';
import { isOperators, type Operators, operandsOf, operatorsCode } from './operations.js';
import type { Jumps, Position } from './position.js';
import { searchedProperty } from './search.js';
import { allInTurn, inTurn, type PlaceOf, statementOf, untilJump, WHOLE } from './sequence.js';
import { assignCode, compoundAssignCode, variableCode } from './variables.js';
import { warm } from './warm.js';

/** Compiles a whole query text. */
export function compileProgram(rt: Runtime, program: Program, analysis: Analysis): Unit {
  const compiler = new Compiler(rt, program.source, analysis, [], true);
  const body = compiler.sequence(program.statements);
  return compiler.unit(body, compiler.place(program), analysis.changes, analysis.changes);
}

/** Compiles one closure of a text. */
export function compileClosureNode(rt: Runtime, source: string, node: ClosureNode, analysis: Analysis): Unit {
  rt.step(STEPS_PER_BODY);
  const rules = rulesOf(rt, node.params);
  const compiler = new Compiler(rt, source, analysis, node.params, false, rules);
  const body = compiler.body(node.body, searchedProperty(node));
  const flags = analysis.closures.get(node);
  if (flags === undefined) throw new Error('a closure was compiled with the analysis of another text');
  const unit = compiler.unit(body, compiler.place(node.body), flags.changes, flags.alone);
  rt.noteUnit(unit);
  if (!unit.throwsJumps)
    warm(unit, compiler.hotRuns, () => {
      const translated = translate(compiler, node.body, true);
      return translated === null ? null : checked(unit.params, rules, translated);
    });
  return unit;
}

/** Operators of which the code of some operands is made. */
interface OpenOperators {
  readonly node: Operators;
  readonly operands: readonly Node[];
  readonly codes: Code[];
}

/** Compiles the body of one query or closure. */
export class Compiler {
  private readonly params: readonly Cell[];
  private readonly locals: Cell[] = [];
  /** The place of each local among them, once there are many. */
  private localPlaces: Map<Cell, number> | null = null;
  private level = 0;
  private nesting = 0;
  /** The jumps that were compiled so far. */
  readonly jumps: Jumps = { returns: 0, loops: 0, thrown: 0 };
  /** Code of the closures, which must be the same in both tiers: a closure is equal only to itself. */
  private closures: Map<ClosureNode, Code> | null = null;
  /** The first of them, which mostly is the only one. */
  private firstClosure: ClosureNode | null = null;
  private firstCode: Code | null = null;
  /** Runs after which a piece of code moves to the second tier; code that is explained stays where its statements are counted. */
  readonly hotRuns: number;

  constructor(
    readonly rt: Runtime,
    private readonly source: string,
    private readonly analysis: Analysis,
    params: readonly Pick<Param, 'name'>[],
    /** True if assignments bind in the outermost frame, which has nothing to hide. */
    private readonly outermost: boolean,
    /** The kinds that the parameters accept. */
    private readonly rules: Unit['rules'] = null,
  ) {
    this.params = params.map(({ name }) => rt.symbols.cell(name));
    this.hotRuns = rt.profile === null ? rt.hotRuns : Number.POSITIVE_INFINITY;
  }

  unit(body: Code, place: Place, changes: Changes, changesAlone: Changes): Unit {
    return {
      params: this.params,
      rules: this.rules,
      locals: this.locals,
      body: checked(this.params, this.rules, body),
      changes,
      changesAlone,
      mayChange: changes.collection || changes.thingsdb || changesAlone.collection || changesAlone.thingsdb,
      isLocal: this.analysis.isLocal,
      returns: this.jumps.returns > 0,
      throwsJumps: this.jumps.thrown > 0,
      simple: this.jumps.returns === 0 && this.jumps.thrown === 0 && this.locals.length === 0,
      place,
      onlyIn: this.rt.profile,
      height: this.nesting + CALL_HEIGHT,
    };
  }

  /** Where a node stands. */
  place({ start, end }: Span): Place {
    return { source: this.source, start, end };
  }

  /** Code of an expression in operand position. */
  operand(node: Node): Code {
    return this.compile(node, 'operand');
  }

  /** Code of some expressions in operand position, in their order. */
  operands(nodes: readonly Node[]): Code[] {
    const codes = new Array<Code>(nodes.length);
    for (let i = 0; i < codes.length; i++) codes[i] = this.compile(nodes[i]!, 'operand');
    return codes;
  }

  /** Code of an expression in statement position. */
  statement(node: Node): Code {
    return this.compile(node, 'statement');
  }

  /**
   * Code of the body of a closure or a loop.
   *
   * @param searched the property of its first argument that the closure compares; null for none
   */
  body(node: Node, searched: string | null = null): Code {
    const { profile } = this.rt;
    if (profile === null || node.kind === 'block') return this.statement(node);
    const code = this.counted(node, 'statement');
    const [argument] = this.params;
    if (searched === null || argument === undefined) return code;
    return profile.searching(this.place(node), argument, searched, code);
  }

  /** Code of a statement, which is counted where the run is explained. */
  private counted(node: Node, position: Position): Code {
    const { profile } = this.rt;
    if (profile === null) return this.compile(node, position);
    this.level += COUNTER_HEIGHT;
    const code = this.compile(node, position);
    this.level -= COUNTER_HEIGHT;
    return profile.counted(this.place(node), code);
  }

  /** Statements one after another; the value is that of the last. */
  sequence(statements: readonly Node[]): Code {
    const { rt } = this;
    const codes: Code[] = [];
    /** True if a jump may come out of the statement. */
    const jumps: boolean[] = [];
    let mayJump = false;
    const isQuery = this.outermost && this.level === 0;
    for (const statement of statements) {
      if (jumps.length > 0 && jumps[jumps.length - 1] === true) mayJump = true;
      const before = this.jumps.returns + this.jumps.loops;
      const code = this.counted(statement, 'statement');
      codes.push(isQuery && codes.length > 0 ? statementOf(rt, code) : code);
      jumps.push(this.jumps.returns + this.jumps.loops > before);
    }
    const [first, second] = codes;
    if (first === undefined) return nothing;
    if (second === undefined) return first;
    const placeOf: PlaceOf = (i) => this.place(statements[i] ?? WHOLE);
    if (!mayJump) return codes.length === 2 ? inTurn(first, second, placeOf) : allInTurn(codes, placeOf);
    return untilJump(rt, codes, jumps, placeOf);
  }

  private compile(node: Node, position: Position): Code {
    const height = frameHeight(node);
    this.rt.step(STEPS_PER_NODE);
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
    const nested = operandsOf(root);
    if (!nested.some(isNested)) return operatorsCode(this.rt, root, this.operands(nested));
    const open: OpenOperators[] = [{ node: root, operands: nested, codes: [] }];
    for (;;) {
      const { node, operands, codes } = open[open.length - 1]!;
      const operand = operands[codes.length];
      if (operand === undefined) {
        const code = operatorsCode(this.rt, node, codes);
        open.pop();
        const outer = open[open.length - 1];
        if (outer === undefined) return code;
        this.level -= frameHeight(node);
        outer.codes.push(code);
      } else if (isOperators(operand, 'operand')) {
        this.rt.step(STEPS_PER_NODE);
        this.level += frameHeight(operand);
        if (this.level > this.nesting) this.nesting = this.level;
        open.push({ node: operand, operands: operandsOf(operand), codes: [] });
      } else {
        codes.push(this.operand(operand));
      }
    }
  }

  private compileNode(node: Node, position: Position): Code {
    switch (node.kind) {
      case 'nil':
        return nothing;
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
        return templateCode(
          this.rt,
          node.parts.map((part) => (typeof part === 'string' ? part : this.operand(part))),
        );
      case 'thing':
        return thingCode(
          this.rt,
          node.entries.map(({ key }) => key),
          this.entryCodes(node.entries),
        );
      case 'list':
        return listCode(this.rt, this.operands(node.items));
      case 'paren':
        return this.compile(node.body, position);
      case 'variable':
        return variableCode(this.rt, node.name);
      case 'assign':
        return this.assign(node.name, node.op, this.operand(node.value));
      case 'call':
        return compileCall(this.rt, node.name, this.operands(node.args), this.place(node));
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
        return loopCode(this, node, position);
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

  private entryCodes(entries: readonly AstEntry[]): Code[] {
    return entries.map(({ key, value }) =>
      value === null ? variableCode(this.rt, key) : this.operand(value),
    );
  }

  private assign(name: string, op: AssignOp, value: Code): Code {
    const cell = this.rt.symbols.cell(name);
    if (op !== '=') return compoundAssignCode(this.rt, cell, op, value);
    return assignCode(this.rt, cell, this.local(cell), value);
  }

  /**
   * The number of a local of this body, for saving what it hides; -1 for names that need none: parameters, and
   * everything in the outermost frame.
   */
  local(cell: Cell): number {
    if (this.params.includes(cell)) return -1;
    const place = this.placeOf(cell);
    return this.outermost ? -1 : place;
  }

  /** The place of a local among the locals. */
  private placeOf(cell: Cell): number {
    const { locals } = this;
    if (this.localPlaces === null) {
      const place = locals.indexOf(cell);
      if (place >= 0) return place;
      if (locals.length < FEW_LOCALS) return locals.push(cell) - 1;
      this.localPlaces = new Map(locals.map((local, i) => [local, i]));
    }
    let place = this.localPlaces.get(cell);
    if (place === undefined) {
      place = locals.push(cell) - 1;
      this.localPlaces.set(cell, place);
    }
    return place;
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

  private return(node: Return, position: Position): Code {
    const { rt } = this;
    const deep = node.deep === null ? null : this.operand(node.deep);
    const flags = node.flags === null ? null : this.operand(node.flags);
    const value = node.value === null ? null : this.operand(node.value);
    this.jumps.returns += 1;
    if (position === 'operand') this.jumps.thrown += 1;
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
      this.jumps.thrown += 1;
      return () => {
        throw jump;
      };
    }
    this.jumps.loops += 1;
    return () => {
      rt.signal = jump.signal;
      return null;
    };
  }

  /** A block as an operand: jumps inside it must leave the expression around it. */
  private operandBlock(statements: readonly Node[]): Code {
    const codes = statements.map((statement) => this.counted(statement, 'operand'));
    return allInTurn(codes, (i) => this.place(statements[i] ?? WHOLE));
  }

  private closure(node: ClosureNode): Code {
    const known = node === this.firstClosure ? this.firstCode : this.closures?.get(node);
    if (known !== null && known !== undefined) return known;
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
    if (this.firstClosure === null) {
      this.firstClosure = node;
      this.firstCode = code;
    } else {
      this.closures ??= new Map();
      this.closures.set(node, code);
    }
    return code;
  }
}

function isNested(operand: Node): boolean {
  return isOperators(operand, 'operand');
}

function nothing(): Value {
  return null;
}

/** Locals that are looked for one by one. */
const FEW_LOCALS = 8;

function constant(value: Value): Code {
  return () => value;
}
