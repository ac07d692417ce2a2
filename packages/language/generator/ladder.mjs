// @ts-check
/**
 * The levels of binary operators. In the grammar each level is a rule of its own, `Or = And (orOp And)*` and so on; a
 * parser that follows this to the letter makes a call for each level on its way to every operand. The rules of a ladder
 * are therefore written out as one loop with a stack of open levels, and an operand that no operator follows costs
 * nothing more than a look at the next character.
 *
 * This is the same language as long as no two operators of the ladder can match at the same place, which `readLadder`
 * checks: then the only level that can go on after an operand is the one whose operator stands there.
 *
 * @typedef {import('./read.mjs').Rule} Rule
 * @typedef {import('./emit.mjs').Emitter} Emitter
 * @typedef {import('./match.mjs').Place} Place
 *
 * @typedef {{ text: string, notBefore: string[], level: number }} Operator  `notBefore`: texts that must not follow
 *
 * @typedef {object} Ladder
 * @property {string} top                 the rule with the loosest level
 * @property {string[]} rules             from the loosest to the tightest
 * @property {('or' | 'and' | 'operation')[]} kinds
 * @property {string} operand             the rule of the operands
 * @property {Operator[]} operators
 * @property {string[]} expected          what an operator is called in messages
 */
import { condition, NONE, single } from './charset.mjs';
import { consumed, lookAhead, lookAtClock, note, quoted, skipSpace } from './match.mjs';

/**
 * The ladder that begins with the given rule.
 *
 * @param {Map<string, Rule>} rules
 * @param {string} top
 * @param {(rule: string) => import('./actions.mjs').Action | undefined} actionOf
 * @returns {Ladder}
 */
export function readLadder(rules, top, actionOf) {
  /** @type {Ladder} */
  const ladder = { top, rules: [], kinds: [], operand: top, operators: [], expected: [] };
  /** @type {Set<string>} */
  const expected = new Set();
  for (;;) {
    const action = actionOf(ladder.operand);
    if (action?.make !== 'level') break;
    const factors = rules.get(ladder.operand)?.cases[0]?.factors ?? [];
    const [next, rest] = factors;
    const body = rest?.op === 'star' && rest.body.op === 'seq' ? rest.body.parts : [];
    const [op, again] = body;
    if (next?.op !== 'apply' || op?.op !== 'apply' || again?.op !== 'apply' || next.rule !== again.rule) {
      throw new Error(`rule ${ladder.operand}: a level must have the form Next (op Next)*`);
    }
    const opRule = rules.get(op.rule);
    if (opRule === undefined) throw new Error(`no rule ${op.rule}`);
    expected.add(opRule.description ?? op.rule);
    ladder.operators.push(...operatorsOf(opRule, ladder.rules.length));
    ladder.rules.push(ladder.operand);
    ladder.kinds.push(action.kind);
    ladder.operand = next.rule;
  }
  ladder.expected = [...expected];
  refuseOverlaps(ladder.operators);
  // The longest first, so that the first that fits is the one that is meant.
  ladder.operators.sort((a, b) => b.text.length - a.text.length);
  return ladder;
}

/** @param {Rule} rule @param {number} level @returns {Operator[]} */
function operatorsOf(rule, level) {
  /** @type {Operator[]} */
  const operators = [];
  for (const { factors } of rule.cases) {
    const [token, ...rest] = factors.flatMap((factor) => (factor.op === 'seq' ? factor.parts : [factor]));
    const texts = token?.op === 'set' ? textsOf(token.set) : token?.op === 'text' ? [token.text] : [];
    const notBefore = rest.map((part) =>
      part.op === 'not' && (part.body.op === 'set' || part.body.op === 'text') ? part.body.text : undefined,
    );
    if (texts.length === 0 || notBefore.includes(undefined)) {
      throw new Error(`rule ${rule.name}: an operator must be a text, at most with ~"text" behind it`);
    }
    for (const text of texts) {
      operators.push({ text, notBefore: notBefore.filter((each) => each !== undefined), level });
    }
  }
  return operators;
}

/** @param {import('./charset.mjs').CharSet} set */
function textsOf(set) {
  const texts = [];
  for (let code = 0; code < 128; code++)
    if ((set & single(code)) !== 0n) texts.push(String.fromCharCode(code));
  return texts;
}

/** @param {Operator[]} operators */
function refuseOverlaps(operators) {
  for (const short of operators) {
    for (const long of operators) {
      if (short === long || short.level === long.level || !long.text.startsWith(short.text)) continue;
      const rest = long.text.slice(short.text.length);
      if (rest !== '' && short.notBefore.some((text) => rest.startsWith(text))) continue;
      throw new Error(
        `the operators ${short.text} and ${long.text} of different levels can match at the same place`,
      );
    }
  }
}

/** Characters with which an operator of the ladder may begin. @param {Ladder} ladder */
const firstOfOperators = (ladder) =>
  ladder.operators.reduce((set, { text }) => set | single(text.charCodeAt(0)), NONE);

/**
 * Matches the ladder where it is applied. Operands that wait for their level to end stand in a list of open levels,
 * which is made only when there is an operator at all.
 *
 * @param {Emitter} e
 * @param {Place} place
 * @param {Ladder} ladder
 * @param {import('./match.mjs').Target | null} target
 * @param {import('./match.mjs').Fail} fail
 */
export function matchLadder(e, place, ladder, target, fail) {
  const { w } = e;
  /** @type {import('./read.mjs').Expr} */
  const operand = { op: 'apply', rule: ladder.operand };
  const value = w.variable('Node | undefined');
  const levels = w.variable('Level[] | undefined');
  const at = w.variable('number');
  const op = w.variable('number');
  w.line(`${levels} = undefined;`);
  w.line(`${at} = ${lookAhead(e, place).q};`);
  place.next = null;
  w.open('for (;;) {');
  lookAtClock(w);
  w.line(`${value} = this.${e.methodOf(ladder.operand)}(${at});`);
  w.open(`if (${value} === undefined) {`);
  w.open(`if (${levels} === undefined) {`);
  fail();
  w.close();
  w.line('// No operand behind the operator: it does not belong to this expression.');
  w.line(`${value} = unshift(${levels});`);
  w.line('break;');
  w.close();
  w.line('p = this.pos;');
  const { q, c } = lookAhead(e, place);
  w.line(`${op} = ${condition(firstOfOperators(ladder), c)} ? this.operator(${q}) : -1;`);
  w.open(`if (${op} < 0) {`);
  note(e, place, q, ladder.expected);
  w.line('break;');
  w.close();
  w.line(`${at} = ${q} + WIDTHS[${op}]!;`);
  skipSpace(e, at, c);
  w.open(`if (!(${condition(e.facts.guard([operand]), c)})) {`);
  note(e, place, at, e.facts.expected([operand]));
  w.line('break;');
  w.close();
  w.line(`if (${levels} === undefined) ${levels} = [];`);
  w.line(`shift(${levels}, ${value}, ${op});`);
  w.close();
  w.line(`if (${levels} !== undefined) ${value} = close(${levels}, ${value});`);
  consumed(place);
  target?.write(value);
}

/** The method that finds the operator at a place. @param {Emitter} e @param {Ladder} ladder */
export function writeScan(e, ladder) {
  const { w } = e;
  /** @type {Map<string, Operator[]>} */
  const byFirst = new Map();
  for (const operator of ladder.operators) {
    const first = operator.text.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), operator]);
  }
  w.line('/** The operator at `q`, as an index into the tables of operators, or -1. */');
  w.function('operator(q: number): number {', () => {
    w.line('const text = this.text;');
    w.open('switch (text.charCodeAt(q)) {');
    for (const [first, operators] of byFirst) {
      w.open(`case ${first.charCodeAt(0)}: // ${first}`);
      let isCertain = false;
      for (const operator of operators) {
        const { text, notBefore } = operator;
        const tests = [];
        for (let i = 1; i < text.length; i++) {
          tests.push(`text.charCodeAt(q + ${i}) === ${text.charCodeAt(i)}`);
        }
        for (const not of notBefore) tests.push(`!text.startsWith(${quoted(not)}, q + ${text.length})`);
        const test = tests.length > 0 ? `if (${tests.join(' && ')}) ` : '';
        w.line(`${test}return ${ladder.operators.indexOf(operator)};`);
        isCertain ||= tests.length === 0;
      }
      if (!isCertain) w.line('return -1;');
      w.close('');
    }
    w.open('default:');
    w.line('return -1;');
    w.close('');
    w.close();
  });
}

/** The table of the operators' lengths. @param {Ladder} ladder */
export const widthsTable = ({ operators }) => `
/** The lengths of the operators. */
const WIDTHS: readonly number[] = [${operators.map(({ text }) => text.length).join(', ')}];
`;

/** Tables of operators, and how operands become nodes. @param {Ladder} ladder */
export function levelHelpers({ operators, kinds }) {
  const levelsOf = (/** @type {string} */ kind) =>
    kinds.flatMap((each, level) => (each === kind ? [`level === ${level}`] : [])).join(' || ') || 'false';
  const ops = operators.map(({ text, level }) => (kinds[level] === 'operation' ? quoted(text) : 'undefined'));
  return `
/** Precedence of the operators (0 is the loosest), and their names in an operation. */
const LEVELS: readonly number[] = [${operators.map(({ level }) => level).join(', ')}];
const OPS: readonly (BinaryOp | undefined)[] = [${ops.join(', ')}];

/** The operators of a level whose node does not name them. */
const NO_OPS: BinaryOp[] = [];

/** Operands of one level of operators that wait for the last one. */
interface Level {
  readonly level: number;
  readonly operands: Node[];
  readonly ops: BinaryOp[];
}

/** Takes up an operand and the operator behind it. The open levels get tighter from first to last. */
function shift(open: Level[], operand: Node, operator: number): void {
  const level = LEVELS[operator]!;
  const op = OPS[operator];
  let last = operand;
  let top = open[open.length - 1];
  while (top !== undefined && top.level > level) {
    last = toNode(top, last);
    open.pop();
    top = open[open.length - 1];
  }
  if (top === undefined || top.level < level) {
    open.push({ level, operands: [last], ops: op === undefined ? NO_OPS : [op] });
    return;
  }
  top.operands.push(last);
  if (op !== undefined) top.ops.push(op);
}

/** Takes back the last \`shift\`; the operand. */
function unshift(open: Level[]): Node {
  const top = open[open.length - 1]!;
  if (top.ops.length > 0) top.ops.pop();
  if (top.operands.length === 1) open.pop();
  return top.operands.pop()!;
}

/** Ends all open levels with the last operand. */
function close(open: Level[], operand: Node): Node {
  let last = operand;
  for (let top = open.pop(); top !== undefined; top = open.pop()) last = toNode(top, last);
  return last;
}

function toNode({ level, operands: before, ops }: Level, last: Node): Node {
  let operands = before;
  if (operands.length === 0) return last;
  const first = operands[0]!;
  const { start } = first;
  // Mostly there are two, and an array that grows makes room for sixteen more.
  if (operands.length > 1) operands.push(last);
  else operands = [first, last];
  if (${levelsOf('or')}) return { kind: 'or', start, end: last.end, operands };
  if (${levelsOf('and')}) return { kind: 'and', start, end: last.end, operands };
  return { kind: 'operation', start, end: last.end, operands, ops };
}
`;
}
