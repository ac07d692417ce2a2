import { CharSet, isAsciiLetter, unite } from './char-set.js';

/** A parsed pattern. */
export interface Pattern {
  readonly root: Node;
  /** Number of capturing groups. */
  readonly groupCount: number;
  /** Groups by name; several only under the inline flag J. */
  readonly groupsByName: ReadonlyMap<string, readonly number[]>;
  /** True if a back reference occurs; what matches then depends on what was matched before. */
  readonly hasReferences: boolean;
  /** Groups that are referred to from inside themselves. */
  readonly selfReferenced: ReadonlySet<number>;
}

/** The places that an assertion without a body accepts. */
export type Anchor =
  | 'text start'
  | 'line start'
  | 'text end'
  | 'line end'
  | 'text end or final newline'
  | 'word boundary'
  | 'no word boundary'
  | 'search start';

export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

export type Node =
  /** Code points in a row; with `fold`, ASCII letters of either case (they stand here in lower case). */
  | { readonly kind: 'string'; readonly codes: readonly number[]; readonly fold: boolean }
  /** One character out of a set. */
  | { readonly kind: 'set'; readonly set: CharSet }
  /** `\R` */
  | { readonly kind: 'newline' }
  /** `\X` */
  | { readonly kind: 'grapheme' }
  | { readonly kind: 'anchor'; readonly anchor: Anchor }
  /** `\K` */
  | { readonly kind: 'keep' }
  | { readonly kind: 'sequence'; readonly items: readonly Node[]; readonly minLength: number }
  | { readonly kind: 'alternation'; readonly branches: readonly Node[]; readonly minLength: number }
  | { readonly kind: 'capture'; readonly group: number; readonly body: Node }
  | { readonly kind: 'atomic'; readonly body: Node }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      /** Infinity when there is no maximum. */
      readonly max: number;
      readonly mode: RepeatMode;
      readonly minLength: number;
    }
  | { readonly kind: 'lookahead'; readonly body: Node; readonly negative: boolean }
  | {
      readonly kind: 'lookbehind';
      /** Each alternative with the number of characters that it matches. */
      readonly branches: readonly { readonly body: Node; readonly length: number }[];
      readonly negative: boolean;
    }
  /** A back reference: the first of the groups that is set. */
  | { readonly kind: 'reference'; readonly groups: readonly number[]; readonly fold: boolean };

/** The fewest characters that a node can match (a lower bound). */
export function minLength(node: Node): number {
  switch (node.kind) {
    case 'string':
      return node.codes.length;
    case 'set':
    case 'newline':
    case 'grapheme':
      return 1;
    case 'sequence':
    case 'alternation':
    case 'repeat':
      return node.minLength;
    case 'capture':
    case 'atomic':
      return minLength(node.body);
    case 'anchor':
    case 'keep':
    case 'lookahead':
    case 'lookbehind':
    case 'reference':
      return 0;
  }
}

/** The set of characters, if the node matches exactly one character out of a set. */
export function singleCharacter(node: Node): CharSet | null {
  if (node.kind === 'set') return node.set;
  const code = node.kind === 'string' && node.codes.length === 1 ? node.codes[0] : undefined;
  if (node.kind !== 'string' || code === undefined) return null;
  return new CharSet(node.fold ? [code - 0x20, code - 0x20, code, code] : [code, code]);
}

export const EMPTY: Node = { kind: 'sequence', items: [], minLength: 0 };

export function sequence(items: readonly Node[]): Node {
  if (items.length === 1) return items[0]!;
  let length = 0;
  for (const item of items) length = Math.min(LENGTH_MAX, length + minLength(item));
  return { kind: 'sequence', items, minLength: length };
}

export function alternation(branches: readonly Node[]): Node {
  if (branches.length === 1) return branches[0]!;
  const sets = branches.map(singleCharacter);
  const union = sets.every((set) => set !== null) ? unite(sets) : null;
  if (union !== null) return { kind: 'set', set: union };
  let length = LENGTH_MAX;
  for (const branch of branches) length = Math.min(length, minLength(branch));
  return { kind: 'alternation', branches, minLength: length };
}

export function repeat(body: Node, min: number, max: number, mode: RepeatMode): Node {
  return { kind: 'repeat', body, min, max, mode, minLength: Math.min(LENGTH_MAX, min * minLength(body)) };
}

const LENGTH_MAX = 0x3fffffff;

/** Joins neighbouring characters to strings. */
export function joinStrings(items: readonly Node[]): Node[] {
  const result: Node[] = [];
  let last: { kind: 'string'; codes: number[]; fold: boolean } | null = null;
  for (const item of items) {
    if (item.kind !== 'string') {
      result.push(item);
      last = null;
    } else if (
      last !== null &&
      (item.fold === last.fold || !hasLetters(item.codes) || !hasLetters(last.codes))
    ) {
      // Without letters it doesn't matter whether case does.
      last.fold ||= item.fold;
      for (const code of item.codes) last.codes.push(code);
    } else {
      last = { kind: 'string', codes: [...item.codes], fold: item.fold };
      result.push(last);
    }
  }
  return result;
}

function hasLetters(codes: readonly number[]): boolean {
  return codes.some(isAsciiLetter);
}
