// @ts-check
/**
 * Writes the module around the rules: the parser, which also notes where and why a text does not fit, if it is asked to.
 *
 * @typedef {import('./read.mjs').Rule} Rule
 * @typedef {import('./actions.mjs').Action} Action
 */
import { Emitter } from './emit.mjs';
import { levelHelpers, widthsTable, writeScan } from './ladder.mjs';

const HEAD =
  '// Made from grammar.ohm by generator/main.mjs. Do not edit: change the grammar and run the build.\n';

/**
 * @param {Map<string, Rule>} rules  as read with the roots `start` and `space`
 * @param {Record<string, Action>} actions
 * @param {string} start
 * @returns {string} the source text of the module with the class `GeneratedParser`
 */
export function parserModule(rules, actions, start) {
  const e = new Emitter(rules, actions);
  const { w } = e;
  w.open('export class GeneratedParser {');
  writeFields(e);
  w.line('/**');
  w.line(' * @param notes whether to note what is missing: to be asked for when a text is known not to fit');
  w.line(' * @param watch is called time and again on the way through a long text');
  w.line(' */');
  w.function('constructor(readonly source: string, notes = false, watch: Watch = null) {', () => {
    w.line("this.text = source + '\\0';");
    w.line('this.length = source.length;');
    w.line('this.far = notes ? -1 : NOWHERE;');
    w.line('this.watch = watch;');
    w.line('this.lookAt = watch === null ? NOWHERE : CHARACTERS_PER_LOOK;');
  });
  w.function('look(p: number): void {', () => {
    w.line('this.lookAt = p + CHARACTERS_PER_LOOK;');
    w.line('this.watch?.();');
  });
  w.function('note(q: number, expectation: number): void {', () => {
    w.open('if (q > this.far) {');
    w.line('this.far = q;');
    w.line('this.noted = 0;');
    w.close();
    w.line('this.wanted[this.noted++] = expectation;');
  });
  w.line('/** The value of the whole source, or undefined if it does not fit the grammar. */');
  w.function(`parse(): ${e.values.typeOf(e.facts.ruleOf(start))} | undefined {`, () => {
    w.line(`return this.${e.methodOf(start)}(this.skip(0));`);
  });
  writeMethods(e);
  w.close();

  const body = `${w}${widthsTable(e.ladder)}${levelHelpers(e.ladder)}`;
  const used = (/** @type {string[]} */ names) =>
    [...new Set(names)].filter((name) => new RegExp(`\\b${name}\\b`).test(body)).sort();
  const table = Object.values(actions);
  const types = [...rules.values()].flatMap((rule) => e.values.typeOf(rule).match(/\b[A-Z]\w+/g) ?? []);
  const builders = table.flatMap((action) => (action.make === 'call' ? [action.function] : []));
  const literals = table.flatMap((action) => {
    if (action.make === 'token') return [action.convert];
    return action.make === 'leaf' ? Object.values(action.convert) : [];
  });
  const [breaker] = e.breakers;
  const statement = breaker === undefined ? [] : e.facts.expected([{ op: 'apply', rule: breaker }]);
  return `${HEAD}import type { ${used(['BinaryOp', ...types]).join(', ')} } from './ast.js';
import { ${used(builders).join(', ')} } from './build.js';
import { CHARACTERS_PER_LOOK, NESTING_MAX, nestedTooDeep, type Watch } from './limits.js';
import { ${used(literals).join(', ')} } from './literals.js';

/** Tokens that can be missing at a place, in the words of the grammar. */
export const EXPECTED: readonly (readonly string[])[] = [
${e.expectations.map((each) => `  ${JSON.stringify(each)},`).join('\n')}
];

/** Tokens that any statement may begin with. */
export const STATEMENT: readonly string[] = ${JSON.stringify([...new Set(statement)].sort())};

/** Behind the end of every text: nothing is noted, and nobody looks. */
const NOWHERE = 2 ** 30;

${body}`;
}

/** @param {Emitter} e */
function writeFields({ w, breakers }) {
  w.line('/** Rightmost place at which something was missing; -1 as long as nothing was. */');
  w.line('far: number;');
  w.line('/** Tokens that were missing there: the first `noted` are indexes into EXPECTED. */');
  w.line('readonly wanted: number[] = [];');
  w.line('noted = 0;');
  w.line(
    '/** The source with a 0 behind it, so that looking behind its last character is no special case. */',
  );
  w.line('readonly text: string;');
  w.line('readonly length: number;');
  w.line('/** End of what the last successful rule matched. */');
  w.line('pos = 0;');
  w.line('/** Statements around the current place. */');
  w.line('depth = -1;');
  for (const name of breakers) {
    w.line(`/** Where ${name} has failed: it need not be tried there again. */`);
    w.line(`failed${name}: Set<number> | undefined;`);
  }
  w.line('/** The last stretch of white space that was skipped. */');
  w.line('skippedFrom = -1;');
  w.line('skippedTo = -1;');
  w.line(
    '/** Where the text goes on behind a closure that ended with } at the end of a line; -1 behind any other. */',
  );
  w.line('closedAt = -1;');
  w.line('readonly watch: Watch;');
  w.line('/** Where `watch` is called next. */');
  w.line('lookAt: number;');
  w.line('');
}

/** @param {Emitter} e */
function writeMethods(e) {
  const { w } = e;
  w.line('/** The first place from `from` on that is not white space. */');
  w.function('skip(from: number): number {', () => {
    w.line('if (from === this.skippedFrom) return this.skippedTo;');
    w.line('let p = from;');
    w.line(`for (let end = this.${e.methodOf('space')}(p); end >= 0; end = this.$space(p)) p = end;`);
    w.line('this.skippedFrom = from;');
    w.line('this.skippedTo = p;');
    w.line('return p;');
  });
  w.line('/** The value of `closedAt` for a closure that ends at `p`. */');
  w.function('closing(p: number): number {', () => {
    w.line('if (this.text.charCodeAt(p - 1) !== 125) return -1;');
    w.line('const q = this.skip(p);');
    w.line("return this.text.slice(p, q).includes('\\n') ? q : -1;");
  });
  for (const name of e.breakers) {
    w.function(`giveUp${name}(start: number): undefined {`, () => {
      w.line('this.depth--;');
      w.line(`if (this.failed${name} === undefined) this.failed${name} = new Set();`);
      w.line(`this.failed${name}.add(start);`);
      w.line('return undefined;');
    });
  }
  writeScan(e, e.ladder);
  // Methods are written as they are asked for; those asked for by none are not needed.
  for (const name of e.requested) e.writeRule(e.facts.ruleOf(name));
}
