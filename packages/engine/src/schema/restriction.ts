import { type Item, storedItem } from './definition.js';
import { readStoredItem } from './parse-definition.js';
import { itemTests, type Test } from './rule.js';
import type { Type } from './type.js';

/** Finds the types and enums that restrictions name. */
export interface Named {
  readonly id: number;
  type(id: number): Type;
  enum(id: number): { readonly def: object | null };
}

/**
 * A restriction of the values of a plain thing. It ends with the type or enum that it names, and does not come back with a
 * later type of that id: so it says which generation of the type it means.
 *
 *   text := item ("!" generation)?       `item` as in `schema/definition.ts`; generation 0 is left out
 */
export class Restriction {
  readonly stored: string;
  /** Differs wherever the texts or the collections differ. */
  readonly key: string;
  readonly fits: Test;
  /** True for a value that does not fit, though others of its type could. */
  readonly isOfKind: Test;
  private readonly isThere: () => boolean;

  constructor(
    readonly item: Item,
    named: Named,
    generation = generationOf(item, named),
  ) {
    this.stored = generation === 0 ? storedItem(item) : `${storedItem(item)}!${generation}`;
    this.key = `${named.id}:${this.stored}`;
    const [fits, isOfKind] = itemTests(item);
    this.fits = fits;
    this.isOfKind = isOfKind;
    this.isThere = isThere(item, named, generation);
  }

  /** True if the type or enum that it names is still there. */
  get inForce(): boolean {
    return this.isThere();
  }

  /** The restriction of a stored text; null for an empty one. */
  static read(stored: string, named: Named): Restriction | null {
    if (stored === '') return null;
    const [item = '', generation = '0'] = stored.split('!');
    return new Restriction(readStoredItem(item), named, Number(generation));
  }
}

function generationOf({ base }: Item, named: Named): number {
  return base.kind === 'type' ? named.type(base.id).generation : 0;
}

function isThere({ base }: Item, named: Named, generation: number): () => boolean {
  if (base.kind === 'type') {
    const type = named.type(base.id);
    return () => type.def !== null && type.generation === generation;
  }
  if (base.kind === 'enum') {
    const of = named.enum(base.id);
    return () => of.def !== null;
  }
  return () => true;
}
