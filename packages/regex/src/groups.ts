/** The groups of a pattern that is being parsed: their numbers and names, and what refers to them. */
import { FixedLengths, lookbehindBranches } from './fixed-length.js';
import type { PatternReader } from './pattern-reader.js';
import type { Node, Pattern } from './syntax.js';

type Reference = Extract<Node, { kind: 'reference' }>;
type Lookbehind = Extract<Node, { kind: 'lookbehind' }>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Groups {
  readonly #reader: PatternReader;
  #count = 0;
  /** Bodies of the groups that have been closed, by number. */
  readonly #bodies = new Map<number, Node>();
  readonly #open = new Set<number>();
  readonly #byName = new Map<string, number[]>();
  readonly #selfReferenced = new Set<number>();
  /** References whose group may follow later. */
  readonly #pending: { node: Mutable<Reference>; target: number | string; position: number }[] = [];
  /** Look-behinds, whose length is known when all groups are. */
  readonly #lookbehinds: { node: Mutable<Lookbehind>; body: Node; position: number }[] = [];

  constructor(reader: PatternReader) {
    this.#reader = reader;
  }

  /** Groups that have begun so far. */
  get count(): number {
    return this.#count;
  }

  /** Begins a group, with a name or null; returns its number. */
  open(name: string | null, mayRepeat: boolean, position: number): number {
    const group = ++this.#count;
    this.#open.add(group);
    if (name === null) return group;
    const groups = this.#byName.get(name);
    if (groups === undefined) this.#byName.set(name, [group]);
    else if (mayRepeat) groups.push(group);
    else this.#reader.fail(`there are two groups with the name ${name}`, position);
    return group;
  }

  close(group: number, body: Node): void {
    this.#open.delete(group);
    this.#bodies.set(group, body);
  }

  /** A back reference to a group, by its number or name. */
  reference(fold: boolean, target: number | string, position: number): Node {
    const groups = typeof target === 'number' ? [target] : (this.#byName.get(target) ?? []);
    for (const group of groups) if (this.#open.has(group)) this.#selfReferenced.add(group);
    const node: Mutable<Reference> = { kind: 'reference', groups: [], fold };
    this.#pending.push({ node, target, position });
    return node;
  }

  lookbehind(body: Node, negative: boolean, position: number): Node {
    const node: Mutable<Lookbehind> = { kind: 'lookbehind', branches: [], negative };
    this.#lookbehinds.push({ node, body, position });
    return node;
  }

  /** The pattern, in which now all references and look-behinds are known. */
  patternOf(root: Node): Pattern {
    for (const { node, target, position } of this.#pending) node.groups = this.#groupsOf(target, position);
    const lengths = new FixedLengths(this.#bodies);
    for (const { node, body, position } of this.#lookbehinds) {
      node.branches = lookbehindBranches(body, lengths, this.#reader, position);
    }
    return {
      root,
      groupCount: this.#count,
      groupsByName: this.#byName,
      hasReferences: this.#pending.length > 0,
      selfReferenced: this.#selfReferenced,
    };
  }

  #groupsOf(target: number | string, position: number): readonly number[] {
    if (typeof target === 'string') {
      const groups = this.#byName.get(target);
      return groups ?? this.#reader.fail(`there is no group with the name ${target}`, position);
    }
    if (target < 1 || target > this.#count) this.#reader.fail(`there is no group number ${target}`, position);
    return [target];
  }
}
