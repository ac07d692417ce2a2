import type { Structure } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import { Tag } from './tag.js';
import type { Thing } from './thing.js';

/** An anonymous type: a structure that wraps, as a value. */
export class Anonymous {
  /** @param bytesOf the bytes by which structures are compared; see `anonymousOf` in `schema/structure.ts` */
  constructor(
    readonly structure: Structure,
    private readonly bytesOf: (structure: Structure) => Uint8Array,
  ) {}

  get bytes(): Uint8Array {
    return this.bytesOf(this.structure);
  }

  get tag(): typeof Tag.ANONYMOUS {
    return Tag.ANONYMOUS;
  }
}

/** A thing with what decides how much of it a client gets. The type may be gone: then it shows everything. */
export class Wrap {
  constructor(
    readonly thing: Thing,
    readonly by: Type | Anonymous,
  ) {}

  get tag(): typeof Tag.WRAP {
    return Tag.WRAP;
  }

  /** The name that `type(w)` gives. */
  get typeName(): string {
    if (this.by instanceof Anonymous) return '<<anonymous>>';
    return this.by.def === null ? '<thing>' : `<${this.by.def.name}>`;
  }
}
