import type { PatternReader } from './pattern-reader.js';
import type { Node } from './syntax.js';

/**
 * The alternatives of a look-behind with their lengths. Each must have one fixed length; a group inside must have
 * alternatives of one length. Throws RegexSyntaxError.
 */
export function lookbehindBranches(
  body: Node,
  lengths: FixedLengths,
  reader: PatternReader,
  position: number,
): { body: Node; length: number }[] {
  const branches = body.kind === 'alternation' ? body.branches : [body];
  return branches.map((branch) => {
    const length = lengths.of(branch);
    if (length === null) {
      return reader.fail('each alternative of a look-behind must have one fixed length', position);
    }
    if (length > LOOKBEHIND_MAX) {
      return reader.fail(`a look-behind can not be longer than ${LOOKBEHIND_MAX} characters`, position);
    }
    return { body: branch, length };
  });
}

const LOOKBEHIND_MAX = 65_535;
/** Where lengths stop growing. */
const LENGTH_MAX = 0x3fffffff;

/** Works out lengths; each group that is referred to is looked at once. */
export class FixedLengths {
  readonly #bodies: ReadonlyMap<number, Node>;
  /** Lengths of referenced groups; a group whose length is being worked out has null. */
  readonly #groups = new Map<number, number | null>();

  constructor(bodies: ReadonlyMap<number, Node>) {
    this.#bodies = bodies;
  }

  /** The number of characters that the node matches, or null when it varies. */
  of(node: Node): number | null {
    switch (node.kind) {
      case 'string':
        return node.codes.length;
      case 'set':
        return 1;
      case 'sequence':
        return this.#sum(node.items);
      case 'alternation':
        return this.#common(node.branches);
      case 'capture':
      case 'atomic':
        return this.of(node.body);
      case 'repeat': {
        const length = node.min === node.max ? this.of(node.body) : null;
        return length === null ? null : Math.min(LENGTH_MAX, node.min * length);
      }
      case 'reference':
        return this.#group(node.groups);
      case 'newline':
      case 'grapheme':
        return null;
      case 'anchor':
      case 'keep':
      case 'lookahead':
      case 'lookbehind':
        return 0;
    }
  }

  #sum(items: readonly Node[]): number | null {
    let sum = 0;
    for (const item of items) {
      const length = this.of(item);
      if (length === null) return null;
      sum = Math.min(LENGTH_MAX, sum + length);
    }
    return sum;
  }

  #common(branches: readonly Node[]): number | null {
    let common: number | null = null;
    for (const branch of branches) {
      const length = this.of(branch);
      if (length === null || (common !== null && length !== common)) return null;
      common = length;
    }
    return common;
  }

  #group(groups: readonly number[]): number | null {
    const [group] = groups;
    const body = group === undefined || groups.length > 1 ? undefined : this.#bodies.get(group);
    if (group === undefined || body === undefined) return null;
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    this.#groups.set(group, null);
    const length = this.of(body);
    this.#groups.set(group, length);
    return length;
  }
}
