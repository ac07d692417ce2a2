// @ts-check
/**
 * Random texts from the grammar itself, for tests. Lookaheads are not obeyed and choices are free, so not every text fits
 * the grammar after all; most do, and the others come close.
 *
 * @typedef {import('./read.mjs').Expr} Expr
 * @typedef {import('./read.mjs').Rule} Rule
 */
import * as ohm from 'ohm-js';
import { has } from './charset.mjs';
import { appliedBy, appliedIn, cycleBreakers } from './facts.mjs';
import { readGrammar } from './read.mjs';

/** @param {string} grammarText @returns {(random: () => number, size: number) => string} */
export function createDeriver(grammarText) {
  const rules = readGrammar(ohm.grammar(grammarText), ['Query', 'space']);
  const heights = heightsOf(rules);
  const breakers = cycleBreakers(rules);

  /** @type {Map<Expr, number>} */
  const weights = new Map();
  /** @type {Map<string, Expr[]>} */
  const bodies = new Map();
  for (const [name, { cases }] of rules) {
    bodies.set(
      name,
      cases.map(({ factors }) => ({ op: 'seq', parts: factors })),
    );
  }
  /** @param {Expr} choice */
  const weightOf = (choice) => {
    const weight = weights.get(choice) ?? richness(rules, breakers, choice);
    weights.set(choice, weight);
    return weight;
  };

  return (random, size) => {
    let budget = size;
    /** @type {string[]} */
    const out = [];

    /** @param {number} count */
    const below = (count) => Math.floor(random() * count);

    const blank = () => {
      const text = ['', '', '', '', ' ', ' ', '\n', '/* c */', ' // c\n'][below(9)] ?? '';
      // Words must not run together.
      const last = out.at(-1) ?? '';
      out.push(/\w$/.test(last) && text === '' ? ' ' : text);
    };

    /** @param {string} name */
    const rule = (name) => {
      const found = rules.get(name);
      if (found === undefined) throw new Error(`no rule ${name}`);
      budget--;
      const choice = oneOf(bodies.get(name) ?? []);
      if (choice !== undefined) write(choice, found.syntactic);
    };

    /**
     * Any of the choices while there is room, then the one that ends soonest. The more rules a choice leads to, the more
     * often it is made.
     *
     * @param {Expr[]} choices
     */
    const oneOf = (choices) => {
      if (budget <= 0) return [...choices].sort((a, b) => heightOf(a, heights) - heightOf(b, heights))[0];
      const weights = choices.map(weightOf);
      let at = below(weights.reduce((sum, weight) => sum + weight, 0));
      return choices.find((_, i) => {
        at -= weights[i] ?? 0;
        return at < 0;
      });
    };

    /** @param {Expr} expr @param {boolean} syntactic */
    const write = (expr, syntactic) => {
      switch (expr.op) {
        case 'set': {
          /** @type {string[]} */
          const chars = ['é', '🙂'].filter(() => has(expr.set, 128));
          for (let code = 32; code < 127; code++)
            if (has(expr.set, code)) chars.push(String.fromCharCode(code));
          out.push(chars[below(chars.length)] ?? '\n');
          return;
        }
        case 'text':
          if (syntactic) blank();
          out.push(expr.text);
          return;
        case 'seq':
          for (const part of expr.parts) write(part, syntactic);
          return;
        case 'alt': {
          const choice = oneOf(expr.parts);
          if (choice !== undefined) write(choice, syntactic);
          return;
        }
        case 'opt':
          if (budget > 0 && random() < 0.6) write(expr.body, syntactic);
          return;
        case 'plus':
          write(expr.body, syntactic);
          while (budget > 0 && random() < 0.3) write(expr.body, syntactic);
          return;
        case 'star': {
          // There are many levels of operators: an operator at each would leave room for nothing else.
          const chance = syntactic ? 0.12 : 0.4;
          while (budget > 0 && random() < chance) write(expr.body, syntactic);
          return;
        }
        case 'apply':
        case 'island':
          if (syntactic && rules.get(expr.rule)?.syntactic === false) blank();
          rule(expr.rule);
          return;
        case 'lineEnd':
          out.push('\n');
          return;
        case 'end':
        case 'not':
        case 'and':
        case 'closing':
        case 'noLineEnd':
          return;
      }
    };

    rule('Query');
    return out.join('');
  };
}

/** The number of rules that an expression leads to before statements come again. @param {Map<string, Rule>} rules @param {Set<string>} breakers @param {Expr} expr */
function richness(rules, breakers, expr) {
  const seen = new Set(appliedIn(expr));
  for (const name of seen) {
    const rule = rules.get(name);
    if (rule === undefined || !rule.syntactic || breakers.has(name)) continue;
    for (const next of appliedBy(rule)) seen.add(next);
  }
  return 1 + seen.size;
}

/** The number of rules that a rule needs at least on top of each other. @param {Map<string, Rule>} rules */
function heightsOf(rules) {
  /** @type {Map<string, number>} */
  const heights = new Map();
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, { cases }] of rules) {
      const height =
        1 + Math.min(...cases.map(({ factors }) => heightOf({ op: 'seq', parts: factors }, heights)));
      if (height < (heights.get(name) ?? Number.POSITIVE_INFINITY)) {
        heights.set(name, height);
        changed = true;
      }
    }
  }
  return heights;
}

/** @param {Expr} expr @param {Map<string, number>} heights @returns {number} */
function heightOf(expr, heights) {
  switch (expr.op) {
    case 'seq':
      return Math.max(0, ...expr.parts.map((part) => heightOf(part, heights)));
    case 'alt':
      return Math.min(...expr.parts.map((part) => heightOf(part, heights)));
    case 'plus':
      return heightOf(expr.body, heights);
    case 'apply':
    case 'island':
      return heights.get(expr.rule) ?? Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}
