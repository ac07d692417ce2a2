// @ts-check
/**
 * Values of rules and their cases: their types, and how they are written as expressions.
 *
 * @typedef {import('./read.mjs').Expr} Expr
 * @typedef {import('./read.mjs').Rule} Rule
 * @typedef {import('./read.mjs').Case} Case
 * @typedef {import('./actions.mjs').Action} Action
 * @typedef {{ type: string, optional: boolean, many: boolean }} Child  one value of a part
 */
import { arity } from './match.mjs';

export class Values {
  /**
   * @param {Record<string, Action>} actions
   * @param {(name: string) => Rule} ruleOf
   */
  constructor(actions, ruleOf) {
    this.actions = actions;
    this.ruleOf = ruleOf;
  }

  /** True if the value of a case is that of its only part, a rule. @param {string} label @param {Expr[]} factors */
  isPassed(label, factors) {
    const action = this.actions[label];
    return (
      factors.length === 1 && factors[0]?.op === 'apply' && (action === undefined || action.make === 'pick')
    );
  }

  /** @param {Expr} expr @param {boolean} optional @param {boolean} many @returns {Child[]} */
  children(expr, optional, many) {
    switch (expr.op) {
      case 'not':
      case 'closing':
      case 'noLineEnd':
        return [];
      case 'seq':
        return expr.parts.flatMap((part) => this.children(part, optional, many));
      case 'opt':
        return this.children(expr.body, true, many);
      case 'star':
      case 'plus':
        return this.children(expr.body, optional, true);
      case 'and':
        return this.children(expr.body, optional, many);
      case 'alt': {
        const types = new Set(
          expr.parts.flatMap((part) => this.children(part, false, false)).map(({ type }) => type),
        );
        return [{ type: [...types].join(' | '), optional, many }];
      }
      case 'apply':
      case 'island':
        return [{ type: this.typeOf(this.ruleOf(expr.rule)), optional, many }];
      default:
        return [{ type: 'string', optional, many }];
    }
  }

  /** True if the value of a case needs its child. @param {Rule} rule @param {Case} each @param {number} index */
  wants(rule, each, index) {
    const action = this.actions[each.label];
    if (action === undefined) {
      const count = each.factors.reduce((sum, factor) => sum + arity(factor), 0);
      if (count !== 1) throw new Error(`rule ${rule.name} has ${count} parts and no action`);
      return true;
    }
    return 'shape' in action && action.shape[index] !== '_';
  }

  /** The value of a case as an expression. @param {Case} each @param {string[]} names @param {string} start */
  value(each, names, start) {
    const action = this.actions[each.label];
    if (action === undefined) return names[0] ?? '';
    const children = each.factors.flatMap((factor) => this.children(factor, false, false));
    if ('shape' in action && action.shape.length !== children.length) {
      throw new Error(
        `${each.label}: the shape names ${action.shape.length} parts, the rule has ${children.length}`,
      );
    }
    switch (action.make) {
      case 'node': {
        const kind = action.kind === '' ? [] : [`kind: '${action.kind}'`];
        const fields = action.shape.flatMap((field, i) => {
          if (field === '_') return [];
          const value = children[i]?.many ? `${names[i]} ?? []` : `${names[i]}`;
          return [`${field}: ${value}`];
        });
        const constants = Object.entries(action.constants).map(([field, value]) => `${field}: ${value}`);
        const begin = start === 'start' ? start : `start: ${start}`;
        return `{ ${[...kind, begin, 'end: p', ...fields, ...constants].join(', ')} }`;
      }
      case 'call': {
        const args = action.shape.flatMap((field, i) => (field === '_' ? [] : [names[i]]));
        return `${action.function}(${[start, 'p', ...args].join(', ')})`;
      }
      case 'list':
        return names.find((name) => name !== '') ?? '[]';
      case 'pick':
        return names[action.shape.findIndex((field) => field !== '_')] ?? '';
      default:
        throw new Error(`${each.label}: ${action.make} is for rules that are one token`);
    }
  }

  /** The value of a token that stands from q to end. @param {Rule} rule @param {string} q @param {string} end */
  tokenValue(rule, q, end) {
    const action = this.actionOf(rule.name);
    const slice = `this.source.slice(${q}, ${end})`;
    if (action === undefined) return slice;
    if (action.make === 'token') return `${action.convert}(${slice}${action.placed ? `, ${q}` : ''})`;
    if (action.make !== 'leaf') throw new Error(`rule ${rule.name}: unexpected action`);
    const converted = Object.entries(action.convert).map(
      ([field, convert]) => `${field}: ${convert}(${slice})`,
    );
    const constants = Object.entries(action.constants).map(([field, value]) => `${field}: ${value}`);
    return `{ kind: '${action.kind}', start: ${q}, end: ${end}${[...converted, ...constants].map((each) => `, ${each}`).join('')} }`;
  }

  /** @param {string} name */
  actionOf(name) {
    return this.actions[this.ruleOf(name).base];
  }

  /** True if only the text of the rule counts. @param {Rule} rule */
  isRecogniser(rule) {
    const make = this.actions[rule.base]?.make;
    return !rule.syntactic && (make === undefined || make === 'token' || make === 'leaf');
  }

  /** @param {Rule} rule */
  argTypes(rule) {
    return rule.args.map((arg) => this.typeOf(this.ruleOf(arg)));
  }

  /** @param {Rule} rule @returns {string} */
  typeOf(rule) {
    const types = new Set(
      rule.cases.map(({ label, factors }) => {
        const action = this.actions[label];
        if (action !== undefined) return action.type(this.argTypes(rule));
        if (!rule.syntactic) return 'string';
        return this.children({ op: 'seq', parts: factors }, false, false)[0]?.type ?? 'undefined';
      }),
    );
    return [...types].join(' | ');
  }
}
