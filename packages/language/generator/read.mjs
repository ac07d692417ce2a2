// @ts-check
/**
 * Reads an ohm grammar object into plain data: the rules that the start rule needs, with parameters filled in (the rule
 * `CommaList<Stmt>` stands beside `CommaList<Entry>`) and single characters gathered into sets.
 *
 * @typedef {import('./charset.mjs').CharSet} CharSet
 *
 * @typedef {{ op: 'set', set: CharSet, text?: string }} SetExpr   one character of the set; the text if it is just one
 * @typedef {{ op: 'text', text: string }} TextExpr      exactly this text
 * @typedef {{ op: 'end' }} EndExpr                      the end of the source
 * @typedef {{ op: 'closing' | 'lineEnd' | 'noLineEnd' }} LineExpr   see the rules in the grammar: `~closing`, `lineEnd`, `~lineEnd`
 * @typedef {{ op: 'seq' | 'alt', parts: Expr[] }} PartsExpr
 * @typedef {{ op: 'star' | 'plus' | 'opt' | 'not' | 'and', body: Expr }} BodyExpr
 * @typedef {{ op: 'apply' | 'island', rule: string }} ApplyExpr    a rule by its full name; `island` is ohm's
 *   applySyntactic: a rule that skips white space amid one that does not, with white space around it skipped too
 * @typedef {SetExpr | TextExpr | EndExpr | LineExpr | PartsExpr | BodyExpr | ApplyExpr} Expr
 *
 * @typedef {object} Case    one alternative of a rule; `label` names it in the table of actions
 * @property {string} label
 * @property {Expr[]} factors
 *
 * @typedef {object} Rule
 * @property {string} name          full name, such as `CommaList<Stmt>`
 * @property {string} base          name in the grammar file, such as `CommaList`
 * @property {string[]} args        full names of the rules given as parameters
 * @property {boolean} syntactic    skips white space before its parts
 * @property {string | null} description
 * @property {Case[]} cases         at least one, in order
 */
import * as ohm from 'ohm-js';
import { ALL, NONE, range, single } from './charset.mjs';

const { pexprs } = ohm;

/**
 * @param {ohm.Grammar} grammar
 * @param {string[]} roots  rules to begin with
 * @returns {Map<string, Rule>}
 */
export function readGrammar(grammar, roots) {
  /** @type {Map<string, Rule>} */
  const rules = new Map();
  for (const root of roots) readRule(grammar, rules, root, []);
  for (const rule of rules.values()) {
    if (rule.syntactic) continue;
    for (const each of rule.cases) each.factors = each.factors.map((part) => gather(part, rules));
    if (rule.cases.some(({ label }) => label !== rule.base)) continue;
    const all = gather(
      { op: 'alt', parts: rule.cases.map(({ factors }) => ({ op: 'seq', parts: factors })) },
      rules,
    );
    const parts = all.op === 'alt' ? all.parts : [all];
    rule.cases = parts.map((part) => ({
      label: rule.base,
      factors: part.op === 'seq' ? part.parts : [part],
    }));
  }
  return rules;
}

/** Rules without a body of their own here: the generator knows them. */
const BUILT_IN = new Set(['any', 'end', 'applySyntactic']);

/**
 * @param {ohm.Grammar} grammar
 * @param {Map<string, Rule>} rules
 * @param {string} base
 * @param {string[]} args
 * @returns {string} the rule's full name
 */
function readRule(grammar, rules, base, args) {
  const name = args.length === 0 ? base : `${base}<${args.join(',')}>`;
  if (rules.has(name)) return name;
  const info = grammar.rules[base];
  if (info === undefined) throw new Error(`no rule ${base}`);
  const syntactic = isSyntactic(base);
  /** @type {Rule} */
  const rule = { name, base, args, syntactic, description: info.description || null, cases: [] };
  rules.set(name, rule);

  /** @param {ohm.PExpr} pexpr @returns {Expr} */
  const read = (pexpr) => {
    if (pexpr === pexprs.any) return { op: 'set', set: ALL };
    if (pexpr === pexprs.end) return { op: 'end' };
    if (pexpr instanceof pexprs.Terminal) return { op: 'text', text: field(pexpr, 'obj') };
    if (pexpr instanceof pexprs.Range) {
      return { op: 'set', set: range(field(pexpr, 'from'), field(pexpr, 'to')) };
    }
    if (pexpr instanceof pexprs.Alt) return { op: 'alt', parts: pexpr.terms.map(read) };
    if (pexpr instanceof pexprs.Seq) return { op: 'seq', parts: pexpr.factors.map(read) };
    if (pexpr instanceof pexprs.Star) return { op: 'star', body: read(field(pexpr, 'expr')) };
    if (pexpr instanceof pexprs.Plus) return { op: 'plus', body: read(field(pexpr, 'expr')) };
    if (pexpr instanceof pexprs.Opt) return { op: 'opt', body: read(field(pexpr, 'expr')) };
    if (pexpr instanceof pexprs.Not) {
      const body = read(field(pexpr, 'expr'));
      if (body.op === 'closing') return body;
      return body.op === 'lineEnd' ? { op: 'noLineEnd' } : { op: 'not', body };
    }
    if (pexpr instanceof pexprs.Lookahead) return { op: 'and', body: read(field(pexpr, 'expr')) };
    if (pexpr instanceof pexprs.Param) return { op: 'apply', rule: parameter(args, field(pexpr, 'index')) };
    if (pexpr instanceof pexprs.Apply) return readApply(pexpr);
    throw new Error(`rule ${name}: the generator does not know ${pexpr.constructor.name}`);
  };

  /** @param {ohm.PExpr} pexpr @returns {Expr} */
  const readApply = (pexpr) => {
    /** @type {string} */
    const target = field(pexpr, 'ruleName');
    /** @type {ohm.PExpr[]} */
    const actual = field(pexpr, 'args');
    if (target === 'any') return { op: 'set', set: ALL };
    if (target === 'end' || target === 'closing' || target === 'lineEnd') return { op: target };
    const filled = actual.map((each) => {
      const filler = read(each);
      if (filler.op !== 'apply') throw new Error(`rule ${name}: a parameter must be a rule`);
      return filler.rule;
    });
    if (target === 'applySyntactic') return { op: 'island', rule: parameter(filled, 0) };
    if (BUILT_IN.has(target)) throw new Error(`rule ${name}: ${target} is not supported`);
    return { op: 'apply', rule: readRule(grammar, rules, target, filled) };
  };

  rule.cases = casesOf(grammar, base, info.body).map(([label, pexpr]) => {
    const expr = read(pexpr);
    return { label, factors: expr.op === 'seq' ? expr.parts : [expr] };
  });
  return name;
}

/**
 * The alternatives of a rule's body; those with a case name (`-- name`), which ohm keeps as rules of their own, opened.
 *
 * @param {ohm.Grammar} grammar
 * @param {string} base
 * @param {ohm.PExpr} body
 * @returns {[string, ohm.PExpr][]}
 */
function casesOf(grammar, base, body) {
  const terms = body instanceof pexprs.Alt ? body.terms : [body];
  return terms.map((term) => {
    const target = term instanceof pexprs.Apply ? /** @type {string} */ (field(term, 'ruleName')) : '';
    const own = target.startsWith(`${base}_`) ? grammar.rules[target] : undefined;
    return own === undefined ? [base, term] : [target, own.body];
  });
}

/** @param {string[]} args @param {number} index */
function parameter(args, index) {
  const arg = args[index];
  if (arg === undefined) throw new Error(`parameter ${index} is missing`);
  return arg;
}

/** Turns every expression that matches exactly one character into a set. @param {Expr} expr @param {Map<string, Rule>} rules @returns {Expr} */
function gather(expr, rules) {
  if (expr.op === 'set') return expr;
  const set = setOf(expr, rules);
  if (set !== null) return expr.op === 'text' ? { op: 'set', set, text: expr.text } : { op: 'set', set };
  if (expr.op === 'seq') return { op: 'seq', parts: expr.parts.map((part) => gather(part, rules)) };
  if (expr.op === 'alt') {
    /** @type {Expr[]} */
    const parts = [];
    for (const part of expr.parts.map((each) => gather(each, rules))) {
      const last = parts.at(-1);
      // Neighbours that are one character each are one choice.
      if (last?.op === 'set' && part.op === 'set')
        parts[parts.length - 1] = { op: 'set', set: last.set | part.set };
      else parts.push(part);
    }
    return { op: 'alt', parts };
  }
  if ('body' in expr) return { op: expr.op, body: gather(expr.body, rules) };
  return expr;
}

/** @param {Expr} expr @param {Map<string, Rule>} rules @returns {CharSet | null} null: not a single character */
function setOf(expr, rules) {
  switch (expr.op) {
    case 'set':
      return expr.set;
    case 'text':
      return expr.text.length === 1 ? single(expr.text.charCodeAt(0)) : null;
    case 'alt':
      return union(expr.parts.map((part) => setOf(part, rules)));
    case 'seq': {
      // `~x y` with x and y single characters is the difference.
      const last = expr.parts.at(-1);
      let set = last === undefined ? null : setOf(last, rules);
      for (const part of expr.parts.slice(0, -1)) {
        const excluded = part.op === 'not' ? setOf(part.body, rules) : null;
        if (set === null || excluded === null) return null;
        set &= ~excluded;
      }
      return set;
    }
    case 'apply': {
      const rule = rules.get(expr.rule);
      if (rule === undefined || rule.syntactic) return null;
      return union(rule.cases.map(({ factors }) => setOf({ op: 'seq', parts: factors }, rules)));
    }
    default:
      return null;
  }
}

/** @param {(CharSet | null)[]} sets @returns {CharSet | null} */
function union(sets) {
  let all = NONE;
  for (const set of sets) {
    if (set === null) return null;
    all |= set;
  }
  return all;
}

/** @param {string} name */
export const isSyntactic = (name) => name.charAt(0) !== name.charAt(0).toLowerCase();

/** ohm's types leave out the fields of its expressions. @param {ohm.PExpr} pexpr @param {string} name @returns {any} */
function field(pexpr, name) {
  const value = Reflect.get(pexpr, name);
  if (value === undefined) throw new Error(`ohm's ${pexpr.constructor.name} has no ${name}`);
  return value;
}
