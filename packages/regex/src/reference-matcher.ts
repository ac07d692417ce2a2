import { isWordCode } from './char-set.js';
import type { Node } from './syntax.js';

/**
 * The semantics of patterns in their simplest form, for tests: a recursive matcher with continuations. It takes time
 * exponential in the text and a stack in proportion to it.
 *
 * Gives the bounds of the leftmost match and its groups as Regex.exec does, or null.
 */
export function referenceMatch(
  root: Node,
  groupCount: number,
  codes: readonly number[],
  start: number,
  stepLimit: number,
): number[] | null {
  for (let from = start; from <= codes.length; from++) {
    const initial: State = {
      position: from,
      bounds: [from, -1, ...new Array<number>(2 * groupCount).fill(-1)],
    };
    const matcher = new ReferenceMatcher(codes, start, stepLimit);
    const end = matcher.match(root, initial, (state) => state);
    if (end !== null) return [end.bounds[0]!, end.position, ...end.bounds.slice(2)];
  }
  return null;
}

/** The reference matcher has taken more steps than it was allowed. */
export class ReferenceLimit extends Error {}

interface State {
  readonly position: number;
  readonly bounds: readonly number[];
}

/** The next node to be matched; gives the state at the end, or null. */
type Next = (state: State) => State | null;

class ReferenceMatcher {
  readonly #codes: readonly number[];
  readonly #start: number;
  #steps: number;

  constructor(codes: readonly number[], start: number, steps: number) {
    this.#codes = codes;
    this.#start = start;
    this.#steps = steps;
  }

  match(node: Node, state: State, next: Next): State | null {
    if (--this.#steps < 0) throw new ReferenceLimit();
    const { position, bounds } = state;
    const advance = (length: number) => next({ position: position + length, bounds });
    switch (node.kind) {
      case 'string':
        return this.#sees(node.codes, position, node.fold) ? advance(node.codes.length) : null;
      case 'set':
        return position < this.#codes.length && node.set.has(this.#codes[position]!) ? advance(1) : null;
      case 'newline': {
        const [code, following] = [this.#codes[position], this.#codes[position + 1]];
        if (code === 0x0d && following === 0x0a) return advance(2);
        return code !== undefined && /^[\n\v\f\r\x85\u2028\u2029]$/.test(String.fromCodePoint(code))
          ? advance(1)
          : null;
      }
      case 'grapheme':
        throw new Error('\\X has no reference');
      case 'anchor':
        return this.#holds(node.anchor, position) ? next(state) : null;
      case 'keep':
        return next({ position, bounds: [position, ...bounds.slice(1)] });
      case 'sequence':
        return this.#sequence(node.items, 0, state, next);
      case 'alternation':
        for (const branch of node.branches) {
          const end = this.match(branch, state, next);
          if (end !== null) return end;
        }
        return null;
      case 'capture':
        return this.match(node.body, state, (inner) => {
          const noted = [...inner.bounds];
          noted[2 * node.group] = position;
          noted[2 * node.group + 1] = inner.position;
          return next({ position: inner.position, bounds: noted });
        });
      case 'atomic': {
        const end = this.match(node.body, state, (inner) => inner);
        return end === null ? null : next(end);
      }
      case 'repeat': {
        if (node.mode !== 'possessive')
          return this.#repeat(node.body, node.min, node.max, node.mode, state, next);
        const end = this.#repeat(node.body, node.min, node.max, 'greedy', state, (inner) => inner);
        return end === null ? null : next(end);
      }
      case 'lookahead': {
        const end = this.match(node.body, state, (inner) => inner);
        if (node.negative) return end === null ? next(state) : null;
        return end === null ? null : next({ position, bounds: end.bounds });
      }
      case 'lookbehind': {
        for (const { body, length } of node.branches) {
          if (length > position) continue;
          const end = this.match(body, { position: position - length, bounds }, (inner) => inner);
          if (end !== null) return node.negative ? null : next({ position, bounds: end.bounds });
        }
        return node.negative ? next(state) : null;
      }
      case 'reference': {
        const group = node.groups.find((one) => bounds[2 * one + 1]! >= 0);
        if (group === undefined) return null;
        const wanted = this.#codes.slice(bounds[2 * group], bounds[2 * group + 1]);
        return this.#sees(wanted, position, node.fold) ? advance(wanted.length) : null;
      }
    }
  }

  #sequence(items: readonly Node[], index: number, state: State, next: Next): State | null {
    const item = items[index];
    if (item === undefined) return next(state);
    return this.match(item, state, (inner) => this.#sequence(items, index + 1, inner, next));
  }

  #repeat(
    body: Node,
    min: number,
    max: number,
    mode: 'greedy' | 'lazy',
    state: State,
    next: Next,
  ): State | null {
    const once = (then: Next): State | null => this.match(body, state, then);
    if (max === 0) return next(state);
    // All but the last of the required iterations, and all of a bounded number, are written out.
    if (min > 1 || (min === 1 && max !== Infinity)) {
      return once((inner) => this.#repeat(body, min - 1, max - 1, mode, inner, next));
    }
    const iterate = (): State | null =>
      once((inner) => {
        if (max !== Infinity) return this.#repeat(body, 0, max - 1, mode, inner, next);
        return inner.position === state.position
          ? next(inner)
          : this.#repeat(body, 0, max, mode, inner, next);
      });
    if (min === 1) return iterate();
    return mode === 'greedy' ? (iterate() ?? next(state)) : (next(state) ?? iterate());
  }

  #sees(wanted: readonly number[], position: number, fold: boolean): boolean {
    if (position + wanted.length > this.#codes.length) return false;
    const lower = (code: number) => (fold && code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
    return wanted.every((code, i) => lower(this.#codes[position + i]!) === lower(code));
  }

  #holds(anchor: Extract<Node, { kind: 'anchor' }>['anchor'], position: number): boolean {
    const { length } = this.#codes;
    const before = this.#codes[position - 1];
    const after = this.#codes[position];
    switch (anchor) {
      case 'text start':
        return position === 0;
      case 'line start':
        return position === 0 || (before === 0x0a && position < length);
      case 'text end':
        return position === length;
      case 'line end':
        return position === length || after === 0x0a;
      case 'text end or final newline':
        return position === length || (after === 0x0a && position === length - 1);
      case 'word boundary':
        return isWordCode(before ?? -1) !== isWordCode(after ?? -1);
      case 'no word boundary':
        return isWordCode(before ?? -1) === isWordCode(after ?? -1);
      case 'search start':
        return position === this.#start;
    }
  }
}
