// @ts-check
/**
 * Facts about the rules that are known before any text is seen: with which characters an expression may begin, whether it
 * may match nothing, what it expects, which rules are recursive.
 *
 * @typedef {import('./charset.mjs').CharSet} CharSet
 * @typedef {import('./read.mjs').Expr} Expr
 * @typedef {import('./read.mjs').Rule} Rule
 */
import { ALL, END, NONE, single } from './charset.mjs';

/** @param {Map<string, Rule>} rules */
export function factsOf(rules) {
  /** @type {Map<string, boolean>} */
  const nullableRules = new Map();
  /** @type {Map<string, CharSet>} */
  const firstOfRules = new Map();
  for (const name of rules.keys()) {
    nullableRules.set(name, false);
    firstOfRules.set(name, NONE);
  }

  /** @param {string} name @returns {Rule} */
  const ruleOf = (name) => {
    const rule = rules.get(name);
    if (rule === undefined) throw new Error(`no rule ${name}`);
    return rule;
  };

  /** True if the expression may match without a character. @param {Expr} expr @returns {boolean} */
  const nullable = (expr) => {
    switch (expr.op) {
      case 'set':
        return false;
      case 'text':
        return expr.text === '';
      case 'end':
      case 'star':
      case 'opt':
      case 'not':
      case 'and':
      case 'closing':
      case 'lineEnd':
      case 'noLineEnd':
        return true;
      case 'plus':
        return nullable(expr.body);
      case 'seq':
        return expr.parts.every(nullable);
      case 'alt':
        return expr.parts.some(nullable);
      case 'apply':
      case 'island':
        return nullableRules.get(expr.rule) === true;
    }
  };

  /** The characters that the expression may begin with, white space aside. @param {Expr} expr @returns {CharSet} */
  const first = (expr) => {
    switch (expr.op) {
      case 'set':
        return expr.set;
      case 'text':
        return single(expr.text.charCodeAt(0));
      case 'end':
        return END;
      case 'not':
      case 'and':
      case 'closing':
      case 'lineEnd':
      case 'noLineEnd':
        return NONE;
      case 'star':
      case 'plus':
      case 'opt':
        return first(expr.body);
      case 'alt':
        return expr.parts.reduce((set, part) => set | first(part), NONE);
      case 'seq':
        return firstOfAll(expr.parts);
      case 'island':
        return ALL;
      case 'apply':
        return firstOfRules.get(expr.rule) ?? NONE;
    }
  };

  /** @param {Expr[]} parts */
  const firstOfAll = (parts) => {
    let set = NONE;
    for (const part of parts) {
      set |= first(part);
      // `end` matches nothing but lets nothing follow either.
      if (part.op === 'end' || !nullable(part)) break;
    }
    return set;
  };

  // Both by repetition until nothing changes, since rules are recursive.
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, rule] of rules) {
      const empties = rule.cases.some(({ factors }) => factors.every(nullable));
      const firsts = rule.cases.reduce((set, { factors }) => set | firstOfAll(factors), NONE);
      if (empties !== nullableRules.get(name) || firsts !== firstOfRules.get(name)) changed = true;
      nullableRules.set(name, empties);
      firstOfRules.set(name, firsts);
    }
  }

  /**
   * A set in which the next character must be for the parts to have a chance: ALL if they may match nothing.
   *
   * @param {Expr[]} parts
   * @returns {CharSet}
   */
  const guard = (parts) => {
    const ends = parts.some((part) => part.op === 'end');
    return parts.every(nullable) && !ends ? ALL : firstOfAll(parts);
  };

  /** The beginning of the parts, in the words of an error message. @param {Expr[]} parts @returns {string[]} */
  const expected = (parts) => {
    /** @type {Set<string>} */
    const found = new Set();
    for (const part of parts) {
      for (const each of expectedOf(part)) found.add(each);
      // Nearly everywhere, the end of a line is nothing.
      if (part.op === 'end' || !nullable(part) || needsLineEnd(part)) break;
    }
    return [...found];
  };

  /** True if an expression matches nothing only at the end of a line. @param {Expr} expr @returns {boolean} */
  const needsLineEnd = (expr) =>
    expr.op === 'lineEnd' || (expr.op === 'alt' && expr.parts.some(needsLineEnd));

  /** @param {Expr} expr @returns {string[]} */
  const expectedOf = (expr) => {
    switch (expr.op) {
      case 'not':
      case 'and':
      case 'closing':
      case 'lineEnd':
      case 'noLineEnd':
        return [];
      case 'set':
      case 'text':
        if (expr.text === undefined) return [];
        return [JSON.stringify(expr.text)];
      case 'end':
        return ['the end'];
      case 'star':
      case 'plus':
      case 'opt':
        return expectedOf(expr.body);
      case 'seq':
        return expected(expr.parts);
      case 'alt':
        return expr.parts.flatMap(expectedOf);
      case 'apply':
      case 'island': {
        const rule = ruleOf(expr.rule);
        if (rule.description !== null) return [rule.description];
        if (rule.base === 'template') return ['a template'];
        return rule.cases.flatMap(({ factors }) => expected(factors));
      }
    }
  };

  /** True if a failure is possible. @param {Expr} expr @returns {boolean} */
  const canFail = (expr) => {
    if (expr.op === 'star' || expr.op === 'opt' || expr.op === 'closing') return false;
    if (expr.op === 'seq') return expr.parts.some(canFail);
    if (expr.op === 'apply' || expr.op === 'island')
      return ruleOf(expr.rule).cases.every(({ factors }) => factors.some(canFail));
    return true;
  };

  return { ruleOf, nullable, guard, expected, canFail };
}

/** @typedef {ReturnType<typeof factsOf>} Facts */

/** The rules applied in an expression, once for each place. @param {Expr} expr @returns {string[]} */
export function appliedIn(expr) {
  if ('rule' in expr) return [expr.rule];
  if ('parts' in expr) return expr.parts.flatMap(appliedIn);
  if ('body' in expr) return appliedIn(expr.body);
  return [];
}

/** The rules applied in a rule, once for each place. @param {Rule} rule */
export const appliedBy = (rule) => rule.cases.flatMap(({ factors }) => factors.flatMap(appliedIn));

/**
 * Rules that break every cycle of the grammar: each recursion of the parser passes through one of them. They are found
 * greedily, the most used first. The parser counts its nesting there and remembers where they failed.
 *
 * @param {Map<string, Rule>} rules
 * @returns {Set<string>}
 */
export function cycleBreakers(rules) {
  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const rule of rules.values()) {
    for (const name of appliedBy(rule)) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  /** @type {Set<string>} */
  const breakers = new Set();
  for (;;) {
    const recursive = [...rules.keys()].filter(
      (name) => !breakers.has(name) && reaches(rules, breakers, name, name),
    );
    if (recursive.length === 0) return breakers;
    recursive.sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0));
    breakers.add(/** @type {string} */ (recursive[0]));
  }
}

/** @param {Map<string, Rule>} rules @param {Set<string>} without @param {string} from @param {string} target */
function reaches(rules, without, from, target) {
  /** @type {Set<string>} */
  const seen = new Set();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const rule = rules.get(name);
    for (const next of rule === undefined ? [] : appliedBy(rule)) {
      if (next === target) return true;
      if (without.has(next) || seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return false;
}
