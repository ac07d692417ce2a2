// @ts-check
/**
 * Writes the rules as methods of a class.
 *
 * - A rule whose text is all that counts becomes a *recogniser* `$rule(p)`: the end of the match, or -1.
 * - Every other rule becomes a method that takes the start of its first token and returns its value, or undefined if
 *   it does not match; `this.pos` is then the end of the match.
 * - A rule that only chooses between other rules and is applied in one place is written out in that place.
 *
 * Rules through which every recursion passes (cycleBreakers) count the nesting and remember where they failed: an
 * alternative that fails after having parsed much is never parsed again from the same place.
 *
 * Wherever something is missing, the method notes it if no place further right was noted before (`far`). A parser that is not asked
 * to note begins with a place that no text reaches, so that an ordinary parse pays one comparison for that.
 *
 * @typedef {import('./read.mjs').Expr} Expr
 * @typedef {import('./read.mjs').Rule} Rule
 * @typedef {import('./read.mjs').Case} Case
 * @typedef {import('./actions.mjs').Action} Action
 * @typedef {import('./match.mjs').Place} Place
 * @typedef {import('./match.mjs').Target} Target
 * @typedef {import('./match.mjs').Fail} Fail
 */
import { ALL, condition } from './charset.mjs';
import { appliedBy, cycleBreakers, factsOf } from './facts.mjs';
import { matchLadder, readLadder } from './ladder.mjs';
import { alternatives, consumed, lookAhead, match, note } from './match.mjs';
import { Values } from './values.mjs';
import { Writer } from './writer.mjs';

/**
 * Literals by the bracket that they begin with: each takes a place among the nested statements for what is in it, also when that is
 * nothing.
 *
 * @type {ReadonlyMap<string, string>}
 */
const NESTING_LITERALS = new Map([
  ['List', '['],
  ['Thing', '{'],
]);

export class Emitter {
  w = new Writer();
  /** Targets that have their value on the path through the code being written. @type {Set<Target>} */
  written = new Set();
  /** The lists of things that can be missing somewhere. @type {string[][]} */
  expectations = [];
  /** Rules that need a method. @type {Set<string>} */
  requested = new Set();

  /**
   * @param {Map<string, Rule>} rules
   * @param {Record<string, Action>} actions
   */
  constructor(rules, actions) {
    this.rules = rules;
    this.actions = actions;
    this.facts = factsOf(rules);
    this.values = new Values(actions, this.facts.ruleOf);
    this.breakers = cycleBreakers(rules);
    this.spaceFirst = this.facts.guard([{ op: 'apply', rule: 'space' }]);
    /** @type {Map<string, number>} */
    this.uses = new Map();
    for (const rule of rules.values()) {
      for (const name of appliedBy(rule)) this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
    }
    const top = [...rules.keys()].find((name) => this.#isLevel(name) && !this.#isAppliedByLevel(name));
    if (top === undefined) throw new Error('the grammar has no levels of operators');
    this.ladder = readLadder(rules, top, (name) => this.values.actionOf(name));
  }

  /** @param {string} name */
  methodOf(name) {
    const rule = this.facts.ruleOf(name);
    this.requested.add(name);
    const method = [rule.base, ...rule.args].join('Of');
    return this.values.isRecogniser(rule) ? `$${method}` : method;
  }

  /** The number of a list of expectations in the table EXPECTED. @param {string[]} expected */
  expectation(expected) {
    const sorted = [...expected].sort();
    const known = this.expectations.findIndex((each) => each.join('\n') === sorted.join('\n'));
    return known >= 0 ? known : this.expectations.push(sorted) - 1;
  }

  /** True if the rule is written out where it is applied, instead of being a method. @param {string} name */
  isInlined(name) {
    const rule = this.facts.ruleOf(name);
    if (!rule.syntactic || this.breakers.has(name) || this.#isLevel(name) || name === this.ladder.operand)
      return false;
    // Rules that make a node or recur at once have frames of their own, or else one frame would hold the variables
    // of them all.
    const isLarge =
      rule.cases.some(({ label }) => this.actions[label]?.make === 'node') ||
      appliedBy(rule).some((each) => this.breakers.has(each));
    const isSmall =
      rule.cases.length <= 2 &&
      rule.cases.every(({ label, factors }) => this.values.isPassed(label, factors));
    return rule.args.length > 0 || isSmall || (!isLarge && this.uses.get(name) === 1);
  }

  /** Matches a rule. @param {Place} place @param {string} name @param {Target | null} target @param {Fail} fail */
  matchRule(place, name, target, fail) {
    const { w } = this;
    const rule = this.facts.ruleOf(name);
    if (name === this.ladder.top) return matchLadder(this, place, this.ladder, target, fail);
    if (this.isInlined(name)) return this.#matchInlined(place, rule, target, fail);
    const { q } = lookAhead(this, place);
    if (this.values.isRecogniser(rule)) {
      w.lent('number', (end) => {
        w.line(`${end} = this.${this.methodOf(name)}(${q});`);
        w.open(`if (${end} < 0) {`);
        note(this, place, q, this.facts.expected([{ op: 'apply', rule: name }]));
        fail();
        w.close();
        target?.write(this.values.tokenValue(rule, q, end));
        w.line(`p = ${end};`);
      });
      consumed(place);
    } else {
      const value = w.variable(`${target?.type ?? this.values.typeOf(rule)} | undefined`);
      w.line(`${value} = this.${this.methodOf(name)}(${q});`);
      w.open(`if (${value} === undefined) {`);
      fail();
      w.close();
      w.line('p = this.pos;');
      target?.write(value);
      place.next = null;
      place.synced = true;
    }
  }

  /** @param {Place} place @param {Rule} rule @param {Target | null} target @param {Fail} fail */
  #matchInlined(place, rule, target, fail) {
    const { w } = this;
    const label = w.label('rule');
    const { q } = lookAhead(this, place);
    const outerStart = place.start;
    if (q !== place.start) {
      place.start = w.variable('number');
      w.line(`${place.start} = ${q};`);
    }
    w.open(`${label}: {`);
    w.scoped(() => {
      this.#cases(place, rule, rule.cases, 0, [], fail, (value) => {
        target?.write(value);
        w.line(`break ${label};`);
      });
    });
    w.close();
    place.start = outerStart;
    consumed(place);
  }

  /** Writes the method of a rule. @param {Rule} rule */
  writeRule(rule) {
    if (this.values.isRecogniser(rule)) this.#recogniser(rule);
    else this.#valueRule(rule);
  }

  /** @param {Rule} rule */
  #recogniser(rule) {
    const { w } = this;
    const parts = rule.cases.map(({ factors }) => /** @type {Expr} */ ({ op: 'seq', parts: factors }));
    const [only] = parts;
    const body = parts.length === 1 && only !== undefined ? only : /** @type {Expr} */ ({ op: 'alt', parts });
    w.function(`${this.methodOf(rule.name)}(start: number): number {`, () => {
      w.line('const text = this.text;');
      w.line('const length = this.length;');
      w.line('let p = start;');
      /** @type {Place} */
      const place = { lexical: true, silent: true, start: 'start', next: null, synced: false };
      match(this, place, body, [], () => w.line('return -1;'));
      w.line('return p;');
    });
  }

  /** @param {Rule} rule */
  #valueRule(rule) {
    const { w } = this;
    const isBreaker = this.breakers.has(rule.name);
    const { name } = rule;
    w.function(`${this.methodOf(name)}(start: number): ${this.values.typeOf(rule)} | undefined {`, () => {
      if (isBreaker) {
        w.line(`if (this.failed${name} !== undefined && this.failed${name}.has(start)) return undefined;`);
        w.line('if (++this.depth > NESTING_MAX) throw nestedTooDeep(start);');
      }
      w.line('const text = this.text;');
      /** @type {Place} */
      const place = { lexical: !rule.syntactic, silent: false, start: 'start', next: null, synced: false };
      if (isBreaker) {
        // Nothing was parsed yet, so there is nothing to remember.
        w.line('const first = text.charCodeAt(start);');
        w.open(`if (!(${condition(this.facts.guard([{ op: 'apply', rule: name }]), 'first')})) {`);
        note(this, place, 'start', this.facts.expected([{ op: 'apply', rule: name }]));
        w.line('this.depth--;');
        w.line('return undefined;');
        w.close();
      }
      w.line('const length = this.length;');
      w.line('let p = start;');
      if (rule.syntactic) {
        w.line('const c0 = text.charCodeAt(start);');
        const bracket = NESTING_LITERALS.get(name);
        if (bracket !== undefined)
          w.line(
            `if (c0 === ${bracket.charCodeAt(0)} && this.depth >= NESTING_MAX) throw nestedTooDeep(start);`,
          );
        place.next = { q: 'start', c: 'c0', known: ALL };
      }
      const fail = () => w.line(isBreaker ? `return this.giveUp${name}(start);` : 'return undefined;');
      this.#cases(place, rule, rule.cases, 0, [], fail, (value, synced) => {
        if (isBreaker) w.line('this.depth--;');
        if (!synced) w.line('this.pos = p;');
        w.line(`return ${value};`);
      });
    });
  }

  /**
   * Matches one of the cases of a rule. What they begin with in common is matched once.
   *
   * @param {Place} place
   * @param {Rule} rule
   * @param {Case[]} cases
   * @param {number} from   factors already matched
   * @param {string[]} names  variables with the values of the children so far ('' for none)
   * @param {Fail} fail
   * @param {(value: string, synced: boolean) => void} done
   */
  #cases(place, rule, cases, from, names, fail, done) {
    const [first, ...others] = cases;
    if (first === undefined) throw new Error(`rule ${rule.name} has no cases`);
    const factor = first.factors[from];
    if (others.length === 0 && factor === undefined) {
      done(this.values.value(first, names, place.start), place.synced);
      return;
    }
    if (factor !== undefined && others.every((each) => same(each.factors[from], factor))) {
      const before = names.length;
      const targets = this.#declare(rule, cases, factor, names);
      match(this, place, factor, targets, fail);
      this.#cases(place, rule, cases, from + 1, names, fail, done);
      names.length = before;
      return;
    }
    // Cases that begin alike stand together in one alternative.
    /** @type {Case[][]} */
    const groups = [];
    for (const each of cases) {
      const group = groups.at(-1);
      if (group?.[0] !== undefined && same(group[0].factors[from], each.factors[from])) group.push(each);
      else groups.push([each]);
    }
    alternatives(
      this,
      place,
      groups.map((group) => ({
        parts: commonParts(group, from),
        write: (failGroup) => this.#cases(place, rule, group, from, names, failGroup, done),
      })),
      fail,
    );
  }

  /**
   * Declares the variables for the values of a factor that a case wants, and says how they are set.
   *
   * @param {Rule} rule
   * @param {Case[]} cases
   * @param {Expr} factor
   * @param {string[]} names
   * @returns {(Target | null)[]}
   */
  #declare(rule, cases, factor, names) {
    const { w } = this;
    return this.values.children(factor, false, false).map((child) => {
      const index = names.length;
      const wanted = cases.some((each) => this.values.wants(rule, each, index));
      names.push('');
      if (!wanted) return null;
      const action = this.actions[cases[0]?.label ?? ''];
      if (action?.make === 'list') {
        const item = action.item(this.values.argTypes(rule));
        const items = names.find((name) => name !== '') ?? w.variable(`${item}[] | undefined`);
        if (names.every((name) => name === '')) w.line(`${items} = [];`);
        names[index] = items;
        return this.#pushing(item, (value) => {
          // Most lists have one item, and an array that grows makes room for sixteen more.
          w.line(`if (${items}.length === 0) ${items} = [${value}];`);
          w.line(`else ${items}.push(${value});`);
        });
      }
      if ('rule' in factor && !this.isInlined(factor.rule)) {
        // The value stays in the variable in which it arrives, or goes on at once.
        const isPassed = cases.every(({ label, factors }) => this.values.isPassed(label, factors));
        return this.#target(
          isPassed ? this.values.typeOf(rule) : child.type,
          (value) => {
            names[index] = isPassed ? value : this.#named(value, child.type);
          },
          () => {},
        );
      }
      if (child.many) {
        const name = w.variable(`${listOf(child.type)} | undefined`);
        names[index] = name;
        w.line(`${name} = undefined;`);
        return this.#pushing(child.type, (value) => {
          w.line(`if (${name} === undefined) ${name} = [${value}];`);
          w.line(`else ${name}.push(${value});`);
        });
      }
      const name = w.variable(`${child.type} | ${child.optional ? 'null' : 'undefined'}`);
      names[index] = name;
      if (child.optional) w.line(`${name} = null;`);
      return this.#target(
        child.type,
        (value) => w.line(`${name} = ${value};`),
        () => child.optional && w.line(`${name} = null;`),
      );
    });
  }

  /** @param {string} type @param {(value: string) => void} write @param {() => void} reset @returns {Target} */
  #target(type, write, reset) {
    /** @type {Target} */
    const target = {
      type,
      write: (value) => {
        this.written.add(target);
        write(value);
      },
      reset,
    };
    return target;
  }

  /** @param {string} type @param {(value: string) => void} write */
  #pushing(type, write) {
    return this.#target(type, write, () => {
      throw new Error('a list cannot take back an item: its part must be the last that can fail');
    });
  }

  /** The value in a variable of its own, unless it is one. @param {string} value @param {string} type */
  #named(value, type) {
    if (/^\w+$/.test(value)) return value;
    const name = this.w.variable(`${type} | undefined`);
    this.w.line(`${name} = ${value};`);
    return name;
  }

  /** @param {string} name */
  #isLevel(name) {
    return this.values.actionOf(name)?.make === 'level';
  }

  /** @param {string} name */
  #isAppliedByLevel(name) {
    return [...this.rules.values()].some(
      (rule) => this.#isLevel(rule.name) && appliedBy(rule).includes(name),
    );
  }
}

/** @param {string} type */
const listOf = (type) => (type.includes('|') ? `(${type})[]` : `${type}[]`);

/** @param {Expr | undefined} a @param {Expr | undefined} b */
const same = (a, b) => a !== undefined && b !== undefined && show(a) === show(b);

/** @param {Expr} expr */
const show = (expr) =>
  JSON.stringify(expr, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/**
 * The characters that the cases of a group begin with, as far as the choice between groups needs it.
 *
 * @param {Case[]} group
 * @param {number} from
 * @returns {Expr[]}
 */
function commonParts(group, from) {
  const [only] = group;
  if (group.length === 1) return only?.factors.slice(from) ?? [];
  // The rest of the cases may fail once the first factor has matched.
  const first = only?.factors[from];
  return first === undefined
    ? []
    : [
        first,
        { op: 'alt', parts: group.map(({ factors }) => ({ op: 'seq', parts: factors.slice(from + 1) })) },
      ];
}
