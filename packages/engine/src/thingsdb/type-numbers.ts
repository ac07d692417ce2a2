/**
 * Ids of types and enums in dumps for ThingsDB, which has them below a limit and gives ids of deleted ones again. They stay as they are where
 * all lie below it; else those that are there are numbered in their order, and deleted types that still wrap something from the limit down.
 */
import type { Catalog } from '../schema/catalog.js';
import { ENUMS_MAX, TYPES_MAX } from '../schema/type.js';

export class TypeNumbers {
  private readonly types: ReadonlyMap<number, number> | null;
  private readonly enums: ReadonlyMap<number, number> | null;
  private readonly deleted = new Map<number, number>();

  constructor(schema: Catalog) {
    this.types = numbersOf(schema.allTypes(), schema.typeIds.nextId, TYPES_MAX);
    this.enums = numbersOf(schema.allEnums(), schema.enumIds.nextId, ENUMS_MAX);
  }

  type(id: number): number {
    return this.types === null ? id : (this.types.get(id) ?? this.deletedType(id));
  }

  enum(id: number): number {
    return this.enums?.get(id) ?? id;
  }

  private deletedType(id: number): number {
    const number = this.deleted.get(id) ?? Math.max(0, TYPES_MAX - 1 - this.deleted.size);
    this.deleted.set(id, number);
    return number;
  }
}

function numbersOf(
  present: Iterable<{ readonly id: number }>,
  nextId: number,
  max: number,
): ReadonlyMap<number, number> | null {
  if (nextId <= max) return null;
  const ids = Array.from(present, ({ id }) => id).sort((a, b) => a - b);
  return new Map(ids.map((id, number) => [id, number]));
}
