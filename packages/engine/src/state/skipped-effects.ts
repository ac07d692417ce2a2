import type { ByteReader } from '../bytes.js';
import { ShapeTree } from '../value/shape.js';
import { CollectionGroup } from './collection-group.js';
import { EMPTY_SOURCE } from './records.js';

/** Reads past effects of a collection that nobody looks into, and changes nothing: what they mention is made in a state of its own. */
export class SkippedEffects {
  private scratch: CollectionGroup | null = null;

  /** Reads past an effect whose code was read already. */
  pass(code: number, input: ByteReader): void {
    // Things to which tasks refer become stubs, which are not to become many.
    if (this.scratch === null || this.scratch.store.table.size > STUBS_MAX)
      this.scratch = new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE);
    this.scratch.pass(code, input);
  }
}

const STUBS_MAX = 10_000;
