// @ts-check
/**
 * The parser as ohm itself runs it: the same grammar, the same table of actions, no generated code. It is some hundred
 * times slower than the generated parser and recurses deeply; the tests use it to hold the generated parser to the grammar.
 *
 * @typedef {import('./actions.mjs').Action} Action
 * @typedef {(...args: any[]) => unknown} Maker
 */
import * as ohm from 'ohm-js';
import { actions } from './actions.mjs';

/**
 * @param {string} grammarText
 * @param {Record<string, unknown>} makers  the functions of src/build.ts and src/literals.ts
 * @returns {(source: string) => import('./ohm-parser.mjs').OhmResult}
 */
export function createOhmParser(grammarText, makers) {
  const grammar = ohm.grammar(grammarText);
  const ends = new LineEnds();
  replaceBody(grammar, 'closing', (state) => {
    const { source, pos } = state.inputStream;
    // The body may have asked here for a link before the closure ended, and ohm remembers the answer.
    if (ends.note(source, pos)) delete state.memoTable[pos]?.memo?.lineEnd;
    return false;
  });
  replaceBody(grammar, 'lineEnd', (state) => ends.places.has(state.inputStream.pos));
  const semantics = grammar.createSemantics();

  /** @param {string} name @returns {Maker} */
  const maker = (name) => {
    const found = makers[name];
    if (typeof found !== 'function') throw new Error(`no function ${name}`);
    return /** @type {Maker} */ (found);
  };

  /** @type {Record<string, (this: ohm.Node, ...children: ohm.Node[]) => unknown>} */
  const dictionary = {
    _terminal() {
      return this.sourceString;
    },
    _nonterminal(...children) {
      const [child] = children;
      const isLexical = this.ctorName.charAt(0) === this.ctorName.charAt(0).toLowerCase();
      return child === undefined || (isLexical && this.ctorName !== 'applySyntactic')
        ? this.sourceString
        : evaluate(child);
    },
    _iter(...children) {
      if (this.isOptional()) return children[0] === undefined ? null : evaluate(children[0]);
      return children.map(evaluate);
    },
  };
  for (const [name, action] of Object.entries(actions)) {
    const rule = grammar.rules[name];
    if (rule === undefined) throw new Error(`the table of actions has ${name}, the grammar does not`);
    const { length } = 'shape' in action ? action.shape : { length: arityOf(rule.body) };
    dictionary[name] = withArity(length, function (...children) {
      return apply(action, maker, this, children);
    });
  }
  semantics.addOperation('value', dictionary);

  /** @param {ohm.Node} node */
  const evaluate = (node) => Reflect.get(node, 'value').call(node);

  return (source) => {
    ends.places.clear();
    const match = grammar.match(source);
    if (match.failed()) {
      const position = Reflect.get(match, 'getRightmostFailurePosition').call(match);
      return { accepted: false, position, message: match.shortMessage ?? '' };
    }
    return { accepted: true, statements: semantics(match).value() };
  };

  /** @param {Action} action @param {(name: string) => Maker} maker @param {ohm.Node} node @param {ohm.Node[]} children */
  function apply(action, maker, node, children) {
    const { startIdx: start, endIdx: end } = node.source;
    const text = node.sourceString;
    /** @param {string[]} shape */
    const named = (shape) =>
      shape.flatMap((field, i) => {
        const child = children[i];
        return field === '_' || child === undefined
          ? []
          : [/** @type {[string, ohm.Node]} */ ([field, child])];
      });
    switch (action.make) {
      case 'node': {
        const fields = named(action.shape).map(([field, child]) => [field, evaluate(child)]);
        const kind = action.kind === '' ? {} : { kind: action.kind };
        return { ...kind, start, end, ...Object.fromEntries(fields), ...constantsOf(action.constants) };
      }
      case 'leaf': {
        const fields = Object.entries(action.convert).map(([field, convert]) => [
          field,
          maker(convert)(text),
        ]);
        return {
          kind: action.kind,
          start,
          end,
          ...Object.fromEntries(fields),
          ...constantsOf(action.constants),
        };
      }
      case 'token':
        return maker(action.convert)(text, start);
      case 'call':
        return maker(action.function)(start, end, ...named(action.shape).map(([, child]) => evaluate(child)));
      case 'list':
        return named(action.shape).flatMap(([, child]) => flat(evaluate(child)));
      case 'pick':
        return named(action.shape).map(([, child]) => evaluate(child))[0];
      case 'level': {
        const [first, ops, rest] = children.map(evaluate);
        if (ops.length === 0) return first;
        const operands = [first, ...rest];
        return action.kind === 'operation'
          ? { kind: 'operation', start, end, operands, ops }
          : { kind: action.kind, start, end, operands };
      }
    }
  }
}

/** @param {unknown} value @returns {unknown[]} */
const flat = (value) => (value === null ? [] : Array.isArray(value) ? value.flatMap(flat) : [value]);

/** @param {Record<string, string>} constants */
const constantsOf = (constants) =>
  Object.fromEntries(Object.entries(constants).map(([field, text]) => [field, JSON.parse(text)]));

/** ohm checks that an action takes as many arguments as its rule has parts. @param {number} length @param {(this: ohm.Node, ...children: ohm.Node[]) => unknown} run */
const withArity = (length, run) => Object.defineProperty(run, 'length', { value: length });

/** @param {ohm.PExpr} body @returns {number} */
const arityOf = (body) => Reflect.get(body, 'getArity').call(body);

/** Closures that ended with `}` at the end of a line: where the text goes on behind them. */
class LineEnds {
  /** @type {Set<number>} */
  places = new Set();

  /** Behind a closure, with the place of the next token: whether it is one of these. @param {string} source @param {number} next */
  note(source, next) {
    const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    for (
      let brace = source.lastIndexOf('}', next - 1);
      brace >= 0;
      brace = source.lastIndexOf('}', brace - 1)
    ) {
      space.lastIndex = brace + 1;
      space.test(source);
      if (space.lastIndex < next) break;
      if (space.lastIndex === next && source.slice(brace + 1, next).includes('\n')) {
        this.places.add(next);
        return true;
      }
      if (brace === 0) break;
    }
    return false;
  }
}

/** Replaces what a rule of the grammar matches. @param {ohm.Grammar} grammar @param {string} name @param {(state: any) => boolean} test */
function replaceBody(grammar, name, test) {
  const rule = grammar.rules[name];
  if (rule === undefined) throw new Error(`no rule ${name}`);
  const { body } = rule;
  rule.body = Object.assign(Object.create(body), { eval: test, getArity: () => 0 });
}
