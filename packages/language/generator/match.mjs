// @ts-check
/**
 * Writes the code that matches one parsing expression.
 *
 * The conventions of the generated code: `text` is the source with a 0 behind it, `p` the end of the last token matched
 * so far. In a rule that skips white space, the next token begins at `q` with the character `c`; looking does not move
 * `p`, so an alternative that fails at its first token has nothing to take back.
 *
 * @typedef {import('./read.mjs').Expr} Expr
 * @typedef {import('./charset.mjs').CharSet} CharSet
 * @typedef {import('./emit.mjs').Emitter} Emitter
 *
 * @typedef {(() => void)} Fail  writes what happens on a failure; it must leave the place (return, break)
 *
 * @typedef {object} Target      where the value of a part goes
 * @property {string} type       type of a variable that may hold the value on its way
 * @property {(value: string) => void} write
 * @property {() => void} reset  takes back what an abandoned attempt has written
 *
 * @typedef {object} Place       what is known about where the generated code stands
 * @property {boolean} lexical   white space is not skipped
 * @property {boolean} silent    failures are not noted: the token as a whole is what is missing
 * @property {string} start      the variable with the start of the rule
 * @property {Next | null} next  the next token, if already looked up
 * @property {boolean} synced    `this.pos` is `p`
 *
 * @typedef {{ q: string, c: string, known: CharSet }} Next  `known`: what the character can be
 */
import { ALL, condition, has, single } from './charset.mjs';

/** Number of values that an expression has. @param {Expr} expr @returns {number} */
export function arity(expr) {
  if (expr.op === 'not' || expr.op === 'closing' || expr.op === 'noLineEnd') return 0;
  if (expr.op === 'seq') return expr.parts.reduce((sum, part) => sum + arity(part), 0);
  if (expr.op === 'alt') return expr.parts[0] === undefined ? 0 : arity(expr.parts[0]);
  return 'body' in expr ? arity(expr.body) : 1;
}

/**
 * Matches an expression.
 *
 * @param {Emitter} e
 * @param {Place} place
 * @param {Expr} expr
 * @param {(Target | null)[]} targets  one for each value
 * @param {Fail} fail
 * @returns {void}
 */
export function match(e, place, expr, targets, fail) {
  switch (expr.op) {
    case 'set':
    case 'text':
      return matchToken(e, place, expr, targets[0] ?? null, fail);
    case 'end':
      return matchEnd(e, place, fail);
    case 'apply':
      return e.matchRule(place, expr.rule, targets[0] ?? null, fail);
    case 'island':
      return matchIsland(e, place, expr.rule, targets[0] ?? null, fail);
    case 'seq':
      return matchAll(e, place, expr.parts, targets, fail);
    case 'alt':
      return matchOneOf(e, place, expr.parts, targets, fail);
    case 'opt':
      return matchOptional(e, place, expr.body, targets);
    case 'star':
      return matchRepeated(e, place, expr.body, targets);
    case 'plus':
      match(e, place, expr.body, targets, fail);
      return matchRepeated(e, place, expr.body, targets);
    case 'not':
    case 'and':
      return look(e, place, expr, fail);
    case 'closing':
      e.w.line('this.closedAt = this.closing(p);');
      return;
    case 'lineEnd':
    case 'noLineEnd': {
      const { q } = lookAhead(e, place);
      e.w.open(`if (${q} ${expr.op === 'lineEnd' ? '!==' : '==='} this.closedAt) {`);
      fail();
      e.w.close();
    }
  }
}

/** @param {Emitter} e @param {Place} place @param {Expr[]} parts @param {(Target | null)[]} targets @param {Fail} fail */
function matchAll(e, place, parts, targets, fail) {
  let used = 0;
  for (const part of parts) {
    const count = arity(part);
    match(e, place, part, targets.slice(used, used + count), fail);
    used += count;
  }
}

/** Makes sure that the next token's start and first character are in variables. @param {Emitter} e @param {Place} place @returns {Next} */
export function lookAhead(e, place) {
  if (place.next !== null) return place.next;
  const { w } = e;
  const { q, c } = w.pair();
  if (place.lexical) {
    w.line(`${c} = text.charCodeAt(p);`);
    place.next = { q: 'p', c, known: ALL };
    return place.next;
  }
  w.line(`${q} = p;`);
  skipSpace(e, q, c);
  place.next = { q, c, known: ALL };
  return place.next;
}

/** Moves the variable `q` over white space and puts the character there into `c`. @param {Emitter} e @param {string} q @param {string} c */
export function skipSpace(e, q, c) {
  const { w } = e;
  w.line(`${c} = text.charCodeAt(${q});`);
  w.open(`if (${condition(e.spaceFirst, c)}) {`);
  w.line(`${q} = this.skip(${q});`);
  w.line(`${c} = text.charCodeAt(${q});`);
  w.close();
}

/** Notes what would have been accepted here, if the parser is to note that. @param {Emitter} e @param {Place} place @param {string} q @param {string[]} expected */
export function note(e, place, q, expected) {
  if (place.silent || expected.length === 0) return;
  e.w.line(`if (${q} >= this.far) this.note(${q}, ${e.expectation(expected)});`);
}

/** Has somebody look at the clock now and then, in a loop that goes on through the text. @param {import('./writer.mjs').Writer} w */
export function lookAtClock(w) {
  w.line('if (p >= this.lookAt) this.look(p);');
}

/** @param {Place} place */
export function consumed(place) {
  place.next = null;
  place.synced = false;
}

/** @param {Emitter} e @param {Place} place @param {import('./read.mjs').SetExpr | import('./read.mjs').TextExpr} expr @param {Target | null} target @param {Fail} fail */
function matchToken(e, place, expr, target, fail) {
  const { w } = e;
  const { q, c, known } = lookAhead(e, place);
  const tests = [];
  if (expr.op === 'set') {
    if (has(expr.set, 0)) tests.push(`${q} < length`);
    if ((known & ~expr.set) !== 0n) tests.push(condition(expr.set, c));
  } else {
    for (let i = 0; i < expr.text.length; i++) {
      const code = expr.text.charCodeAt(i);
      if (i === 0 && known === single(code)) continue;
      tests.push(i === 0 ? `${c} === ${code}` : `text.charCodeAt(${q} + ${i}) === ${code}`);
    }
  }
  if (tests.length > 0) {
    w.open(`if (${negated(tests)}) {`);
    note(e, place, q, e.facts.expected([expr]));
    fail();
    w.close();
  }
  const width = expr.op === 'set' ? 1 : expr.text.length;
  w.line(q === 'p' ? `p += ${width};` : `p = ${q} + ${width};`);
  consumed(place);
  if (target === null) return;
  if (expr.text === undefined) throw new Error('a character of a set has no value: give the rule a name');
  target.write(quoted(expr.text));
}

/** @param {Emitter} e @param {Place} place @param {string} rule @param {Target | null} target @param {Fail} fail */
function matchIsland(e, place, rule, target, fail) {
  place.lexical = false;
  place.next = null;
  e.matchRule(place, rule, target, fail);
  e.w.line('p = this.skip(p);');
  place.lexical = true;
  consumed(place);
}

/** The condition that not all the tests hold. @param {string[]} tests */
function negated(tests) {
  const [test] = tests;
  return tests.length === 1 && test !== undefined && /^\w+ === \d+$/.test(test)
    ? test.replace('===', '!==')
    : `!(${tests.join(' && ')})`;
}

/** @param {Emitter} e @param {Place} place @param {Fail} fail */
function matchEnd(e, place, fail) {
  const { q } = lookAhead(e, place);
  e.w.open(`if (${q} !== this.length) {`);
  note(e, place, q, ['the end']);
  fail();
  e.w.close();
}

/** @param {Emitter} e @param {Place} place @param {Expr[]} parts @param {(Target | null)[]} targets @param {Fail} fail */
function matchOneOf(e, place, parts, targets, fail) {
  const { w } = e;
  const matched = w.label('alt');
  w.open(`${matched}: {`);
  const choices = parts.map((part) => ({
    parts: [part],
    write: (/** @type {Fail} */ failPart) => {
      match(e, place, part, targets, failPart);
      w.line(`break ${matched};`);
    },
  }));
  alternatives(e, place, choices, fail);
  w.close();
  consumed(place);
}

/**
 * Ordered choice. Each alternative is entered only if the next character fits; `write` must leave on success.
 *
 * @param {Emitter} e
 * @param {Place} place
 * @param {{ parts: Expr[], write: (fail: Fail) => void }[]} choices
 * @param {Fail} fail
 */
export function alternatives(e, place, choices, fail) {
  const { w } = e;
  const next = { ...lookAhead(e, place) };
  const before = choices.some(({ parts }) => moves(e, parts)) ? w.variable('number') : '';
  if (before !== '') w.line(`${before} = p;`);
  /** @type {string[]} */
  const expected = [];
  const written = [...e.written];
  for (const { parts, write } of choices) {
    const guard = e.facts.guard(parts);
    expected.push(...e.facts.expected(parts));
    if ((next.known & guard) === 0n) continue;
    place.next = { ...next, known: next.known & guard };
    place.synced = false;
    const isGuarded = (next.known & ~guard) !== 0n;
    let canFail = false;
    const failed = w.label('no');
    w.open(isGuarded ? `${failed}: if (${condition(guard, next.c)}) {` : `${failed}: {`);
    w.scoped(() =>
      write(() => {
        canFail = true;
        if (moves(e, parts)) w.line(`p = ${before};`);
        w.line(`break ${failed};`);
      }),
    );
    w.close();
    // A choice that has been made leaves; what follows is reached only by the others.
    e.written = new Set(written);
    if (!isGuarded && !canFail) return;
  }
  note(e, place, next.q, [...new Set(expected)]);
  fail();
}

/** @param {Emitter} e @param {Place} place @param {Expr} body @param {(Target | null)[]} targets */
function matchOptional(e, place, body, targets) {
  const { w } = e;
  const { q, c, known } = lookAhead(e, place);
  const guard = e.facts.guard([body]);
  const isGuarded = (known & ~guard) !== 0n;
  const expected = e.facts.expected([body]);
  const label = w.label('opt');
  w.open(isGuarded ? `${label}: if (${condition(guard, c)}) {` : `${label}: {`);
  place.next = { q, c, known: known & guard };
  w.scoped(() => match(e, place, body, targets, abandon(e, body, targets, label)));
  if (isGuarded && expected.length > 0 && !place.silent) {
    w.next('} else {');
    note(e, place, q, expected);
  }
  w.close();
  consumed(place);
}

/** @param {Emitter} e @param {Place} place @param {Expr} body @param {(Target | null)[]} targets */
function matchRepeated(e, place, body, targets) {
  const { w } = e;
  if (body.op === 'set' && place.lexical && (targets[0] ?? null) === null) {
    const within = has(body.set, 0) ? 'p < length && ' : '';
    w.line(`while (${within}${condition(body.set, 'text.charCodeAt(p)')}) p++;`);
    consumed(place);
    return;
  }
  const loop = w.label('loop');
  place.next = null;
  w.open(`${loop}: for (;;) {`);
  if (!place.silent) lookAtClock(w);
  w.scoped(() => {
    const { q, c, known } = lookAhead(e, place);
    const guard = e.facts.guard([body]);
    if ((known & ~guard) !== 0n) {
      w.open(`if (!(${condition(guard, c)})) {`);
      note(e, place, q, e.facts.expected([body]));
      w.line('break;');
      w.close();
    }
    place.next = { q, c, known: known & guard };
    match(e, place, body, targets, abandon(e, body, targets, loop));
  });
  w.close();
  consumed(place);
}

/**
 * Gives up an attempt at the body of an optional or repeated expression: position and values as before.
 *
 * @param {Emitter} e
 * @param {Expr} body
 * @param {(Target | null)[]} targets
 * @param {string} label
 * @returns {Fail}
 */
function abandon(e, body, targets, label) {
  const { w } = e;
  const before = moves(e, [body]) ? w.variable('number') : '';
  if (before !== '') w.line(`${before} = p;`);
  for (const target of targets) if (target !== null) e.written.delete(target);
  return () => {
    if (before !== '') w.line(`p = ${before};`);
    for (const target of targets) if (target !== null && e.written.has(target)) target.reset();
    w.line(`break ${label};`);
  };
}

/** @param {Emitter} e @param {Place} place @param {import('./read.mjs').BodyExpr} expr @param {Fail} fail */
function look(e, place, expr, fail) {
  const { w } = e;
  if (!place.lexical) throw new Error('lookahead belongs into rules that do not skip white space');
  const next = { ...lookAhead(e, place) };
  if (expr.body.op === 'set') {
    const test = condition(expr.body.set, next.c);
    const holds = has(expr.body.set, 0) ? `(p < length && ${test})` : test;
    w.open(expr.op === 'not' ? `if (${holds}) {` : `if (!(${holds})) {`);
    fail();
    w.close();
    return;
  }
  const before = w.variable('number');
  w.line(`${before} = p;`);
  w.scoped(() => {
    const silent = { ...place, silent: true };
    const failBack = () => {
      w.line(`p = ${before};`);
      fail();
    };
    if (expr.op === 'and') return match(e, silent, expr.body, [], failBack);
    const guard = e.facts.guard([expr.body]);
    const isGuarded = (next.known & ~guard) !== 0n;
    const label = w.label('not');
    w.open(isGuarded ? `${label}: if (${condition(guard, next.c)}) {` : `${label}: {`);
    silent.next = { ...next, known: next.known & guard };
    match(e, silent, expr.body, [], () => w.line(`break ${label};`));
    failBack();
    w.close();
  });
  w.line(`p = ${before};`);
  place.next = next;
}

/** Expressions that never move `p`. */
const STILL = new Set(['not', 'and', 'end', 'closing', 'lineEnd', 'noLineEnd']);

/** True if the parts may fail after they have moved `p`. @param {Emitter} e @param {Expr[]} parts @returns {boolean} */
function moves(e, parts) {
  let moved = false;
  for (const part of parts) {
    if (moved && e.facts.canFail(part)) return true;
    if (part.op === 'seq' && moves(e, part.parts)) return true;
    if (part.op === 'alt' && part.parts.some((each) => moves(e, [each]))) return true;
    if (part.op === 'plus' && moves(e, [part.body])) return true;
    if (part.op === 'apply' && e.isInlined(part.rule)) {
      if (e.facts.ruleOf(part.rule).cases.some(({ factors }) => moves(e, factors))) return true;
    }
    if (!STILL.has(part.op)) moved = true;
  }
  return false;
}

/** A TypeScript string literal. @param {string} text */
export const quoted = (text) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`;
